/* SPDX-License-Identifier: MIT */
#include "builder/pinning.h"

#include "core/str.h"

#include <ctype.h>
#include <string.h>

/* --- package words ------------------------------------------------------------------------------
 */

struct package_word {
	const char *text;
	size_t length;
	bool is_rpm; /* what separates a version: "-", or "=" */
};

struct scan {
	const char *at;	    /* what was not looked at yet */
	bool is_rpm, is_in; /* inside of a command */
};

static bool is_in_comment(const char *dockerfile, const char *at)
{
	while (at > dockerfile && at[-1] != '\n')
		at--;
	return *at == '#';
}

/* Goes behind the next command that installs packages. */
static bool find_command(const char *dockerfile, struct scan *scan)
{
	static const char *const commands[] = {"apt-get install ", "yum install ", "dnf install "};
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const char *at = strstr(scan->at, commands[i]);

		while (at && is_in_comment(dockerfile, at))
			at = strstr(at + 1, commands[i]);
		if (!at || (first && at > first))
			continue;
		first = at;
		scan->is_rpm = i > 0;
		scan->is_in = true;
	}
	if (first)
		scan->at = strchr(first, ' ') + strlen(" install ");
	return first;
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

static bool next_word(const char *dockerfile, struct scan *scan, struct package_word *word)
{
	while (scan->is_in || find_command(dockerfile, scan)) {
		skip_gap(scan);
		word->length = strcspn(scan->at, " \t\n;&|<>()\\");
		if (!word->length) {
			scan->is_in = false;
			continue;
		}
		word->text = scan->at;
		word->is_rpm = scan->is_rpm;
		scan->at += word->length;
		return true;
	}
	return false;
}

/* NAME-VERSION-RELEASE: a version has a dot, and both begin with a digit ("gcc-toolset-12-gcc" has
 * neither). */
static bool has_rpm_version(const char *name)
{
	const char *release = strrchr(name, '-'), *version = release;

	if (!release || !isdigit((unsigned char)release[1]))
		return false;
	while (version > name && *--version != '-')
		continue;
	return *version == '-' && isdigit((unsigned char)version[1]) &&
	       memchr(version, '.', (size_t)(release - version));
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

void pinning_packages(const char *dockerfile, struct words *names)
{
	struct scan scan = {.at = dockerfile};
	struct package_word word;

	while (next_word(dockerfile, &scan, &word)) {
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
	epoch = strchr(version,
		       ':'); /* yum wants it before the name, dnf behind it: none is right too */
	return arena_printf(arena, "%s-%s", name, epoch ? epoch + 1 : version);
}

static const char *apply_packages(const char *dockerfile, const struct pinned *pinned,
				  struct arena *arena)
{
	_cleanup_(str_release) struct str out = {0};
	struct scan scan = {.at = dockerfile};
	struct package_word word;
	const char *done = dockerfile;

	str_init(&out);
	while (next_word(dockerfile, &scan, &word)) {
		const char *text = pinned_word(&word, pinned, arena);

		if (!text)
			continue;
		str_addf(&out, "%.*s%s", (int)(word.text - done), done, text);
		done = word.text + word.length;
	}
	str_addf(&out, "%s", done);
	return arena_strdup(arena, out.text);
}

/* --- images --------------------------------------------------------------------------------------
 */

#define FROM "FROM "

/* The image of the line's FROM; *rest is what stands behind it. NULL for other lines. */
static const char *from_image(const char *line, const char **rest, struct arena *arena)
{
	if (!starts_with(line, FROM))
		return NULL;
	line += strlen(FROM);
	*rest = line + strcspn(line, " \n");
	return arena_strndup(arena, line, (size_t)(*rest - line));
}

/* A name without a tag is a stage's, or "scratch"; ringup's own bases have no registry. */
static bool is_published(const char *image)
{
	return strpbrk(image, ":/") && !strchr(image, '@') && !starts_with(image, "oci:") &&
	       !starts_with(image, "ringup-base:");
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

void pinning_images(const char *dockerfile, struct words *names)
{
	for (const char *line = dockerfile, *rest; *line; line = next_line(line)) {
		const char *image = from_image(line, &rest, names->arena);

		if (image && is_published(image))
			add_once(names, image);
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
	_cleanup_(str_release) struct str out = {0};

	str_init(&out);
	for (const char *line = dockerfile, *rest; *line; line = next_line(line)) {
		const char *image = from_image(line, &rest, arena), *next = next_line(line);

		if (image)
			str_addf(&out, FROM "%s%.*s", pinning_image(image, pinned, arena),
				 (int)(next - rest), rest);
		else
			str_addf(&out, "%.*s", (int)(next - line), line);
	}
	return arena_strdup(arena, out.text);
}

const char *pinning_apply(const char *dockerfile, const struct pinned *pinned, struct arena *arena)
{
	if (!pinned->at)
		return dockerfile;
	return apply_images(apply_packages(dockerfile, pinned, arena), pinned, arena);
}
