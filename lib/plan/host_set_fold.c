/* SPDX-License-Identifier: MIT */
/*
 * Names to the shortest set. A name is a box: texts with numbers between. Two boxes that differ in one place
 * become one, with both numbers there; this is done for each place, from the last one to the first.
 */
#include "plan/host_set.h"

#include "core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 8 /* numbers in a name; what follows them counts as text */
#define DIGITS_MAX 9

struct box {
	const char *template; /* the name with '#' for each number */
	size_t count;
	const char *places[PLACES_MAX]; /* each as text: one number, or "01-03,7" */
};

static struct box box_of(const char *name, struct arena *arena)
{
	_cleanup_(str_release) struct str template = STR_INIT;
	struct box box = {0};

	while (*name) {
		size_t digits = strspn(name, "0123456789");

		if (!digits || digits > DIGITS_MAX || box.count == PLACES_MAX) {
			size_t length = digits ? digits : 1;

			str_add_bytes(&template, name, length);
			name += length;
			continue;
		}
		box.places[box.count++] = arena_strndup(arena, name, digits);
		str_add_char(&template, '#');
		name += digits;
	}
	box.template = arena_strdup(arena, template.text);
	return box;
}

/* Numbers by value, then by width: 7 before 07 before 8. */
static int fold_compare_places(const char *left, const char *right)
{
	unsigned long a = strtoul(left, NULL, 10), b = strtoul(right, NULL, 10);

	return a != b ? (a > b) - (a < b) : strcmp(right, left);
}

static bool is_alike(const struct box *a, const struct box *b, size_t place)
{
	if (strcmp(a->template, b->template) != 0)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (i != place && strcmp(a->places[i], b->places[i]) != 0)
			return false;
	return true;
}

/* By everything but the place, then by the place. */
static int compare_boxes(const void *left, const void *right, void *arg)
{
	const struct box *a = left, *b = right;
	size_t place = *(const size_t *)arg;
	int order = strcmp(a->template, b->template);

	for (size_t i = 0; !order && i < a->count; i++)
		if (i != place)
			order = fold_compare_places(a->places[i], b->places[i]);
	for (size_t i = 0; !order && i < a->count; i++)
		if (i != place)
			order = strcmp(a->places[i], b->places[i]);
	return !order && place < a->count ? fold_compare_places(a->places[place], b->places[place])
					  : order;
}

/* Whether `next` is what counting on from `last` gives, in a range whose numbers have this width. */
static bool follows(const char *last, const char *next, size_t width)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "%0*lu", (int)width, strtoul(last, NULL, 10) + 1);
	return strcmp(wanted, next) == 0;
}

/* The numbers of these boxes in that place, "01-03,7". Equal ones stand once. */
static const char *fold_numbers(const struct box *boxes, size_t count, size_t place,
				struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < count;) {
		const char *first = boxes[i].places[place], *last = first;
		size_t width = strlen(first);

		for (i++; i < count; i++) {
			const char *next = boxes[i].places[place];

			if (strcmp(next, last) == 0)
				continue;
			if (!follows(last, next, width))
				break;
			last = next;
		}
		str_addf(&text, "%s%s", text.length ? "," : "", first);
		if (last != first)
			str_addf(&text, "-%s", last);
	}
	return arena_strdup(arena, text.text);
}

/* Joins the boxes that differ in this place only; returns how many are left. */
static size_t fold_boxes(struct box *boxes, size_t count, size_t place, struct arena *arena)
{
	size_t kept = 0;

	qsort_r(boxes, count, sizeof(*boxes), compare_boxes, &place);
	for (size_t i = 0; i < count;) {
		size_t end = i + 1;

		while (end < count && place < boxes[i].count &&
		       is_alike(&boxes[i], &boxes[end], place))
			end++;
		boxes[kept] = boxes[i];
		if (end > i + 1)
			boxes[kept].places[place] = fold_numbers(boxes + i, end - i, place, arena);
		kept++;
		i = end;
	}
	return kept;
}

static void fold_add(const struct box *box, struct str *out)
{
	size_t place = 0;

	for (const char *at = box->template; *at; at++) {
		const char *text = *at == '#' ? box->places[place++] : NULL;

		if (!text)
			str_add_char(out, *at);
		else if (strpbrk(text, "-,"))
			str_addf(out, "[%s]", text);
		else
			str_add(out, text);
	}
}

static size_t skip_repeated(struct box *boxes, size_t count)
{
	size_t kept = 0, place = PLACES_MAX;

	qsort_r(boxes, count, sizeof(*boxes), compare_boxes, &place);
	for (size_t i = 0; i < count; i++)
		if (!kept || !is_alike(&boxes[i], &boxes[kept - 1], PLACES_MAX))
			boxes[kept++] = boxes[i];
	return kept;
}

void host_set_fold_words(const char *const *names, struct words *entries)
{
	struct box *boxes;
	size_t count = 0, most = 0;

	while (names[count])
		count++;
	boxes = ARENA_ARRAY(entries->arena, count + 1, struct box);
	for (size_t i = 0; i < count; i++) {
		boxes[i] = box_of(names[i], entries->arena);
		most = boxes[i].count > most ? boxes[i].count : most;
	}
	count = skip_repeated(boxes, count);
	while (most-- > 0)
		count = fold_boxes(boxes, count, most, entries->arena);
	for (size_t i = 0; i < count; i++) {
		_cleanup_(str_release) struct str out = STR_INIT;

		fold_add(&boxes[i], &out);
		words_add(entries, out.text);
	}
}

const char *host_set_fold(const char *const *names, struct arena *arena)
{
	struct words entries = WORDS_INIT(arena);

	host_set_fold_words(names, &entries);
	return words_join(&entries, ",");
}
