/* SPDX-License-Identifier: MIT */
#include "builder/recipe/pinning.h"

#include "core/str.h"

#include <ctype.h>
#include <string.h>

/*
 * --- package words ------------------------------------------------------------------------------
 */

struct package_word {
	const char *text;
	size_t length;
	bool is_rpm; /* written NAME-VERSION, not NAME=VERSION */
};

struct scan {
	const struct table *managers;
	const char *next;	    /* the instruction after this one */
	const char *run, *at, *end; /* a RUN, what of it was not looked at yet, and its end */
	bool is_rpm, is_in;	    /* inside of a command */
};

/* Its last line's end. Comments between the lines belong to it. */
static const char *instruction_end(const char *text)
{
	bool is_comment = *text == '#';

	for (;;) {
		const char *end = text + strcspn(text, "\n");
		bool goes_on = *text == '#' ? !is_comment : end > text && end[-1] == '\\';

		if (!*end || !goes_on)
			return end;
		text = end + 1;
	}
}

static bool next_run(struct scan *scan)
{
	while (*scan->next) {
		scan->run = scan->at = scan->next;
		scan->end = instruction_end(scan->at);
		scan->next = scan->end + (*scan->end == '\n');
		if (starts_with(scan->at, "RUN "))
			return true;
	}
	return false;
}

static bool is_in_comment(const struct scan *scan, const char *at)
{
	while (at > scan->run && at[-1] != '\n')
		at--;
	return *at == '#';
}

/* Where the RUN has the command and a blank behind it next, outside of comments; NULL: nowhere. */
static const char *next_command(const struct scan *scan, const char *command)
{
	size_t length = strlen(command);
	const char *at = length ? strstr(scan->at, command) : NULL;

	while (at && at < scan->end && (at[length] != ' ' || is_in_comment(scan, at)))
		at = strstr(at + 1, command);
	return at && at < scan->end ? at : NULL;
}

/* Goes behind the next command that installs packages. */
static bool pinning_find_command(struct scan *scan)
{
	const char *first = scan->end, *behind = scan->end;

	for (size_t row = 0; scan->managers && row < scan->managers->row_count; row++) {
		const char *command = table_cell(scan->managers, row, "install");
		const char *at = next_command(scan, command);

		if (!at || at >= first)
			continue;
		first = at;
		behind = at + strlen(command) + 1;
		scan->is_rpm =
			strcmp(table_cell(scan->managers, row, "exact"), "NAME-VERSION") == 0;
		scan->is_in = true;
	}
	scan->at = behind;
	return scan->is_in;
}

/* Spaces, lines that go on, and comments between them. */
static void skip_gap(struct scan *scan)
{
	for (;;) {
		const char *at = scan->at + strspn(scan->at, " \t");

		if (starts_with(at, "\\\n")) {
			at += 2;
			while (*at == '#')
				at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
		}
		if (at == scan->at)
			return;
		scan->at = at;
	}
}

static bool next_word(struct scan *scan, struct package_word *word)
{
	for (;;) {
		if (!scan->is_in && !pinning_find_command(scan)) {
			if (!next_run(scan))
				return false;
			continue;
		}
		skip_gap(scan);
		word->length = strcspn(scan->at, " \t\n;&|<>()\\");
		word->text = scan->at;
		word->is_rpm = scan->is_rpm;
		scan->at += word->length;
		if (word->length)
			return true;
		scan->is_in = false;
	}
}

/* NAME-VERSION-RELEASE: both begin with a digit, and one of them has a dot ("gcc-toolset-12-gcc"
 * and "cuda-compat-12-1" have no version). */
static bool has_rpm_version(const char *name)
{
	const char *release = strrchr(name, '-'), *version = release;

	if (!release || !isdigit((unsigned char)release[1]))
		return false;
	while (version > name && *--version != '-')
		continue;
	return *version == '-' && isdigit((unsigned char)version[1]) && strchr(version, '.');
}

/* The name, or NULL for a word that is none without a version. */
static const char *bare_name(const struct package_word *word, struct arena *arena)
{
	const char *name = arena_strndup(arena, word->text, word->length);

	if (!isalnum((unsigned char)*name) || strpbrk(name, "=:/@*'\"$") ||
	    (word->is_rpm && has_rpm_version(name)))
		return NULL;
	return name;
}

static void add_once(struct words *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->list[i], name) == 0)
			return;
	words_add(names, name);
}

void pinning_packages(const char *dockerfile, const struct table *managers, struct words *names)
{
	struct scan scan = {.managers = managers, .next = dockerfile, .at = "", .end = ""};
	struct package_word word;

	while (next_word(&scan, &word)) {
		const char *name = bare_name(&word, names->arena);

		if (name)
			add_once(names, name);
	}
}

static const char *pinned_word(const struct package_word *word, const struct pinned *pinned,
			       struct arena *arena)
{
	const char *name = bare_name(word, arena);
	const char *version = name ? pin_find(&pinned->packages, name) : NULL, *epoch;

	if (!version || !*version)
		return NULL;
	if (!word->is_rpm)
		return arena_printf(arena, "%s=%s", name, version);
	/* yum takes an epoch before the name, dnf behind it; both take none */
	epoch = strchr(version, ':');
	return arena_printf(arena, "%s-%s", name, epoch ? epoch + 1 : version);
}

static const char *apply_packages(const char *dockerfile, const struct table *managers,
				  const struct pinned *pinned, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	struct scan scan = {.managers = managers, .next = dockerfile, .at = "", .end = ""};
	struct package_word word;
	const char *done = dockerfile;

	while (next_word(&scan, &word)) {
		const char *text = pinned_word(&word, pinned, arena);

		if (!text)
			continue;
		str_addf(&out, "%.*s%s", (int)(word.text - done), done, text);
		done = word.text + word.length;
	}
	str_addf(&out, "%s", done);
	return arena_strdup(arena, out.text);
}

/*
 * --- images --------------------------------------------------------------------------------------
 */

#define FROM "FROM "

/* The image of the line's FROM; *rest is what stands behind it. NULL for other lines. */
static const char *pinning_from_image(const char *line, const char **rest, struct arena *arena)
{
	if (!starts_with(line, FROM))
		return NULL;
	line += strlen(FROM);
	*rest = line + strcspn(line, " \n");
	return arena_strndup(arena, line, (size_t)(*rest - line));
}

/* Adds the stage's name that `rest` gives it, if any. */
static void note_stage(struct words *stages, const char *rest)
{
	static const char as[] = " AS ";

	if (!starts_with(rest, as))
		return;
	rest += strlen(as);
	words_add(stages, arena_strndup(stages->arena, rest, strcspn(rest, " \n")));
}

/* No stage before it, and nothing that is made or lies on this machine. */
static bool is_published(const struct words *stages, const char *image)
{
	for (size_t i = 0; i < stages->count; i++)
		if (strcmp(stages->list[i], image) == 0)
			return false;
	return strcmp(image, "scratch") != 0 && !strchr(image, '@') &&
	       !starts_with(image, "oci:") && !starts_with(image, "ringup-base:");
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

void pinning_images(const char *dockerfile, struct words *names)
{
	struct words stages = WORDS_INIT(names->arena);

	for (const char *line = dockerfile, *rest; *line; line = next_line(line)) {
		const char *image = pinning_from_image(line, &rest, names->arena);

		if (!image)
			continue;
		if (is_published(&stages, image))
			add_once(names, image);
		note_stage(&stages, rest);
	}
}

const char *pinning_image(const char *image, const struct pinned *pinned, struct arena *arena)
{
	const char *digest = pin_find(&pinned->images, image);

	return digest && *digest ? arena_printf(arena, "%s@%s", image, digest) : image;
}

static const char *apply_images(const char *dockerfile, const struct pinned *pinned,
				struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	struct words stages = WORDS_INIT(arena);

	for (const char *line = dockerfile, *rest; *line; line = next_line(line)) {
		const char *image = pinning_from_image(line, &rest, arena), *next = next_line(line);

		if (!image) {
			str_addf(&out, "%.*s", (int)(next - line), line);
			continue;
		}
		if (is_published(&stages, image))
			image = pinning_image(image, pinned, arena);
		str_addf(&out, FROM "%s%.*s", image, (int)(next - rest), rest);
		note_stage(&stages, rest);
	}
	return arena_strdup(arena, out.text);
}

const char *pinning_apply(const char *dockerfile, const struct table *managers,
			  const struct pinned *pinned, struct arena *arena)
{
	if (!pinned->at)
		return dockerfile;
	return apply_images(apply_packages(dockerfile, managers, pinned, arena), pinned, arena);
}
