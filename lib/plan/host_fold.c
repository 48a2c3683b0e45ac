/* SPDX-License-Identifier: MIT */
#include "plan/host_fold.h"

#include "core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_DIGITS_MAX 9

/* A name as STEM NUMBER TAIL: "rack1-gpu07.lan" is "rack1-gpu", "07" and ".lan". */
struct fold_name {
	const char *text;
	size_t stem, digits; /* lengths; no digits: the name is never part of a range */
	long number;
};

static struct fold_name fold_split(const char *text)
{
	size_t end = strcspn(text, "."), start;
	struct fold_name name = {.text = text};

	/* of an address in numbers the last part counts */
	if (!text[strspn(text, "0123456789.")])
		end = strlen(text);
	while (end > 0 && !isdigit((unsigned char)text[end - 1]))
		end--;
	for (start = end; start > 0 && isdigit((unsigned char)text[start - 1]);)
		start--;
	/* an IPv6 address, and a name that is a number, stay as they are */
	if (start == 0 || end - start > FOLD_DIGITS_MAX || strchr(text, ':'))
		return name;
	name.stem = start;
	name.digits = end - start;
	name.number = strtol(text + start, NULL, 10);
	return name;
}

static bool fold_together(const struct fold_name *a, const struct fold_name *b)
{
	return a->digits && a->digits == b->digits && a->stem == b->stem &&
	       strncmp(a->text, b->text, a->stem) == 0 &&
	       strcmp(a->text + a->stem + a->digits, b->text + b->stem + b->digits) == 0;
}

/* "01-03,07" of names[0..count). */
static void fold_add_ranges(struct str *out, const struct fold_name *names, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t k = i;

		while (k + 1 < count && names[k + 1].number == names[k].number + 1)
			k++;
		str_addf(out, "%s%.*s", i ? "," : "", (int)names[i].digits,
			 names[i].text + names[i].stem);
		if (k > i)
			str_addf(out, "-%.*s", (int)names[k].digits, names[k].text + names[k].stem);
		i = k + 1;
	}
}

void hosts_fold_words(const char *const *list, struct words *entries)
{
	size_t count = 0;
	struct fold_name *names;

	while (list[count])
		count++;
	names = ARENA_ARRAY(entries->arena, count + 1, struct fold_name);
	for (size_t i = 0; i < count; i++)
		names[i] = fold_split(list[i]);
	for (size_t i = 0; i < count;) {
		_cleanup_(str_release) struct str out = STR_INIT;
		size_t end = i + 1;

		while (end < count && fold_together(&names[i], &names[end]))
			end++;
		if (end - i == 1) {
			words_add(entries, list[i++]);
			continue;
		}
		str_add_bytes(&out, list[i], names[i].stem);
		str_add(&out, "[");
		fold_add_ranges(&out, names + i, end - i);
		str_addf(&out, "]%s", list[i] + names[i].stem + names[i].digits);
		words_add(entries, out.text);
		i = end;
	}
}

const char *hosts_fold(const char *const *names, struct arena *arena)
{
	struct words entries = WORDS_INIT(arena);

	hosts_fold_words(names, &entries);
	return words_join(&entries, ",");
}
