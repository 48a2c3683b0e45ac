/* SPDX-License-Identifier: MIT */
#include "deployer/job/hang.h"

#include "core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES 160
#define PLACES_SHOWN 5
#define RANGES_SHOWN 4

/* What is known of one rank. */
struct hang_rank {
	char kernel[PLACE_BYTES]; /* of its first process */
	char inner[PLACE_BYTES];  /* the innermost frame; "": no stack came */
	char own[PLACE_BYTES];	  /* the innermost one of the person's own code, if another */
	bool is_main;		  /* the next frames are the main thread's */
	bool has_main;		  /* they have come */
};

struct job_hang {
	struct hang_rank *ranks;
	int world;
};

/* One frame of a stack. */
struct hang_frame {
	const char *function, *file;
	const char *line; /* its number, and more text */
	int function_length, file_length;
	bool is_package; /* it is not the person's own */
};

struct job_hang *job_hang_new(int world, struct arena *arena)
{
	struct job_hang *hang = ARENA_NEW(arena, struct job_hang);

	hang->ranks = ARENA_ARRAY(arena, (size_t)world + 1, struct hang_rank);
	hang->world = world;
	return hang;
}

/* "    synchronize (/path/cuda/__init__.py:1162)", as py-spy writes it. */
static bool hang_parse_py_spy(const char *text, struct hang_frame *frame)
{
	const char *colon = strrchr(text, ':'), *open, *function, *dot;

	if (strncmp(text, "    ", 4) != 0 || !(open = strstr(text + 4, " (")) || !colon ||
	    colon < open + 2)
		return false;
	for (function = text + 4; (dot = memchr(function, '.', (size_t)(open - function)));)
		function = dot + 1; /* without the class, as faulthandler has it */
	*frame = (struct hang_frame){
		.function = function,
		.function_length = (int)(open - function),
		.file = open + 2,
		.file_length = (int)(colon - open - 2),
		.line = colon + 1,
	};
	return true;
}

/* "  File "/path/cuda/__init__.py", line 1162 in synchronize", as faulthandler writes it. */
static bool hang_parse_faulthandler(const char *text, struct hang_frame *frame)
{
	static const char begin[] = "  File \"", middle[] = "\", line ";
	const char *file = text + strlen(begin), *end, *in;

	if (strncmp(text, begin, strlen(begin)) != 0 || !(end = strstr(file, middle)) ||
	    !(in = strstr(end, " in ")))
		return false;
	*frame = (struct hang_frame){
		.function = in + 4,
		.function_length = (int)strlen(in + 4),
		.file = file,
		.file_length = (int)(end - file),
		.line = end + strlen(middle),
	};
	return true;
}

/*
 * "#1  0x00007f0a in sleep () from /lib/libc.so.6" or "#3  main () at train.c:5", as gdb writes it. What is neither in a shared
 * library nor in the sources of one ("at ../sysdeps/posix/sleep.c:55") is the program's own.
 */
static bool hang_parse_gdb(const char *text, struct hang_frame *frame)
{
	const char *in = strstr(text, " in "), *at = strstr(text, " at "), *from;
	const char *function = text + strcspn(text, " "), *colon = strrchr(text, ':');

	if (text[0] != '#' || text[1] < '0' || text[1] > '9')
		return false;
	function = in ? in + 4 : function + strspn(function, " ");
	*frame = (struct hang_frame){
		.function = function,
		.function_length = (int)strcspn(function, " ("),
		.file = "",
	};
	from = strstr(text, " from /");
	if (at && colon >= at + 4) {
		frame->file = at + 4;
		frame->file_length = (int)(colon - frame->file);
		frame->line = colon + 1;
	}
	frame->is_package = from || strncmp(frame->file, "../", 3) == 0;
	if (frame->is_package)
		frame->file_length = 0;
	return true;
}

/* The end of the file's path that names it among Python's packages; NULL: it is none of them. */
static const char *hang_package_path(const struct hang_frame *frame)
{
	static const char *const folders[] = {"site-packages/", "dist-packages/"};
	const char *end = frame->file + frame->file_length, *found;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		size_t length = strlen(folders[i]);

		found = memmem(frame->file, (size_t)frame->file_length, folders[i], length);
		if (found)
			return found + length;
	}
	found = memmem(frame->file, (size_t)frame->file_length, "/lib/python", 11);
	if (found) {
		const char *version = memchr(found + 5, '/', (size_t)(end - found - 5));

		return version ? version + 1 : found;
	}
	return *frame->file == '<' ? frame->file : NULL;
}

static void hang_write(char place[static PLACE_BYTES], const struct hang_frame *frame)
{
	const char *file = hang_package_path(frame);

	if (!file)
		file = frame->file;
	if (frame->file_length)
		snprintf(place, PLACE_BYTES, "%.*s (%.*s:%.*s)", frame->function_length,
			 frame->function, (int)(frame->file + frame->file_length - file), file,
			 (int)strspn(frame->line, "0123456789"), frame->line);
	else
		snprintf(place, PLACE_BYTES, "%.*s", frame->function_length, frame->function);
}

static void hang_take_frame(struct hang_rank *rank, const struct hang_frame *frame)
{
	bool is_own = !frame->is_package && !hang_package_path(frame);

	if (!*rank->inner) {
		hang_write(rank->inner, frame);
		rank->has_main = true;
		rank->is_main = !is_own;
	} else if (is_own) {
		hang_write(rank->own, frame);
		rank->is_main = false;
	}
}

/* Whether a line begins the frames of a thread, and of which. */
static bool hang_is_thread(const char *text, bool *is_main)
{
	if (strncmp(text, "Current thread ", 15) == 0)
		*is_main = true;
	else if (strncmp(text, "Thread ", 7) == 0)
		*is_main = strstr(text, "\"MainThread\"");
	else
		return false;
	return true;
}

/* "pid 7 state S waits in futex_wait: python3 train.py": what the kernel says. */
static void hang_take_process(struct hang_rank *rank, const char *text)
{
	const char *waits = strstr(text, " waits in "), *state = strstr(text, " state ");
	const char *words = waits ? strstr(waits, ": ") : NULL;

	if (*rank->kernel || !words || !state)
		return;
	if (state[7] == 'R')
		snprintf(rank->kernel, PLACE_BYTES, "runs%s", words);
	else
		snprintf(rank->kernel, PLACE_BYTES, "waits in %s", waits + strlen(" waits in "));
}

void job_hang_hear(struct job_hang *hang, int number, const char *text)
{
	struct hang_rank *rank = &hang->ranks[number];
	struct hang_frame frame;
	bool is_main;

	if (strncmp(text, "pid ", 4) == 0) {
		hang_take_process(rank, text);
	} else if (hang_is_thread(text, &is_main)) {
		rank->is_main = is_main && !rank->has_main;
	} else if (strncmp(text, "#0 ", 3) == 0) {
		rank->is_main = !rank->has_main;
	}
	if (rank->is_main && (hang_parse_py_spy(text, &frame) || hang_parse_gdb(text, &frame) ||
			      hang_parse_faulthandler(text, &frame)))
		hang_take_frame(rank, &frame);
}

/* Where a rank is; "" when nothing is known. */
static const char *hang_place(const struct hang_rank *rank, struct arena *arena)
{
	if (*rank->inner && *rank->own)
		return arena_printf(arena, "%s from %s", rank->inner, rank->own);
	return *rank->inner ? rank->inner : rank->kernel;
}

/* Ranks at the same place. */
struct hang_group {
	const char *place;
	int count, first;
};

static int hang_compare(const void *a, const void *b)
{
	const struct hang_group *x = a, *y = b;

	return x->count != y->count ? x->count - y->count : x->first - y->first;
}

/* "0-2 and 4-7", or "0, 2, 4, 6 and others". */
static void hang_add_ranks(struct str *text, const char *const *places, int world,
			   const char *place)
{
	int ranges = 0;

	for (int i = 0; i < world; i++) {
		int last = i;

		if (places[i] != place)
			continue;
		while (last + 1 < world && places[last + 1] == place)
			last++;
		if (ranges == RANGES_SHOWN) {
			str_add(text, " and others");
			return;
		}
		str_addf(text, "%s%d", ranges++ ? ", " : "", i);
		if (last > i)
			str_addf(text, "-%d", last);
		i = last;
	}
}

/* Makes equal places one text, and counts them. */
static int hang_group(const struct job_hang *hang, const char **places, struct hang_group *groups,
		      struct arena *arena)
{
	int count = 0;

	for (int i = 0; i < hang->world; i++) {
		const char *place = hang_place(&hang->ranks[i], arena);
		int at = 0;

		while (at < count && strcmp(groups[at].place, place) != 0)
			at++;
		if (at == count)
			groups[count++] = (struct hang_group){place, 0, i};
		groups[at].count++;
		places[i] = groups[at].place;
	}
	return count;
}

const char *job_hang_places(const struct job_hang *hang, struct arena *arena)
{
	const char **places = ARENA_ARRAY(arena, (size_t)hang->world + 1, const char *);
	struct hang_group *groups = ARENA_ARRAY(arena, (size_t)hang->world + 1, struct hang_group);
	_cleanup_(str_release) struct str text = STR_INIT;
	int count = hang_group(hang, places, groups, arena), shown = 0;

	qsort(groups, (size_t)count, sizeof(*groups), hang_compare);
	for (int i = 0; i < count && shown < PLACES_SHOWN; i++) {
		if (!*groups[i].place)
			continue;
		str_addf(&text, "\n  rank%s ", groups[i].count == 1 ? "" : "s");
		hang_add_ranks(&text, places, hang->world, groups[i].place);
		if (groups[i].count > 1)
			str_addf(&text, " (%d)", groups[i].count);
		str_addf(&text, ": %s", groups[i].place);
		shown++;
	}
	if (count > PLACES_SHOWN)
		str_addf(&text, "\n  and %d more places", count - PLACES_SHOWN);
	return arena_strdup(arena, text.text);
}
