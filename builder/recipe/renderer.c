/* SPDX-License-Identifier: MIT */
#include "builder/recipe/renderer.h"

#include "builder/recipe/host_script.h"
#include "builder/recipe/stack_values.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/str.h"
#include "core/template.h"

#include <string.h>

#define KEY_CHARS 16 /* of a SHA-256 in hex */

bool renderer_is_script(const struct renderer *r)
{
	return strcmp(r->layout, "script") == 0;
}

/* The expanded text of a section, without blank lines at its end. */
static int renderer_expand(struct renderer *r, const struct part *part,
			   const struct section *section, const char **text)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	if (template_expand(part->path, section->line, section->text, r->values.list, &out,
			    r->err) < 0)
		return -1;
	while (out.length && strchr(" \n", out.text[out.length - 1]))
		out.length--;
	*text = arena_strndup(r->arena, out.text, out.length);
	return 0;
}

/* The texts of one section of all parts, one below the other. */
static int gather(struct renderer *r, const struct parts *parts, const char *name,
		  const char *between)
{
	const char *all = "", *text;

	for (size_t i = 0; i < parts->count; i++) {
		const struct section *section = part_section(&parts->list[i], name);

		if (!section)
			continue;
		if (renderer_expand(r, &parts->list[i], section, &text) < 0)
			return -1;
		all = arena_printf(r->arena, "%s%s%s", all, *all && *text ? between : "", text);
	}
	values_set(&r->values, name, all);
	return 0;
}

/* What is compiled against the frameworks is a stage of its own, with the last one behind it. */
static int lay_out_extensions(struct renderer *r)
{
	const char *text;

	if (!*values_get(&r->values, "extensions"))
		return 0;
	if (renderer_lay_out(r, "extensions", &text) < 0)
		return -1;
	values_set(&r->values, "extensions", text);
	return 0;
}

static int gather_image(struct renderer *r, const struct parts *parts)
{
	static const char *const stages[] = {"stack", "build", "frameworks", "extensions", "image"};

	if (gather(r, parts, "before", "\n") < 0)
		return -1;
	if (*values_get(&r->values, "before"))
		values_set(&r->values, "before",
			   arena_printf(r->arena, "%s\n\n", values_get(&r->values, "before")));
	for (size_t i = 0; i < ARRAY_LEN(stages); i++)
		if (gather(r, parts, stages[i], "\n") < 0)
			return -1;
	return gather(r, parts, "check", "; \\\n    ") < 0 ? -1 : lay_out_extensions(r);
}

static int add_host_section(struct renderer *r, const struct part *part, const char *name,
			    struct str *out)
{
	const struct section *section = part_section(part, name);
	const char *text;

	if (!section)
		return 0;
	if (renderer_expand(r, part, section, &text) < 0)
		return -1;
	host_script_add_steps(out, text);
	return 0;
}

/* What one part does on a host: its section for that, or what it does in the stages of an image. */
static int add_host_steps(struct renderer *r, const struct part *part, struct str *out)
{
	static const char *const names[] = {"before", "stack", "build", "extensions"};
	static const char *const results[] = {"frameworks", "image"};
	const struct section *section = part_section(part, "host");
	const char *text;

	if (section) {
		if (renderer_expand(r, part, section, &text) < 0)
			return -1;
		str_addf(out, "%s%s", text, *text ? "\n\n" : "");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (add_host_section(r, part, names[i], out) < 0)
			return -1;
	/* what was built is in its place already */
	for (size_t i = 0; i < ARRAY_LEN(results) && !part_section(part, "build"); i++)
		if (add_host_section(r, part, results[i], out) < 0)
			return -1;
	return 0;
}

static int add_host_check(struct renderer *r, const struct part *part, struct str *out)
{
	const struct section *section = part_section(part, "host check");
	const char *text;

	section = section ? section : part_section(part, "check");
	if (!section)
		return 0;
	if (renderer_expand(r, part, section, &text) < 0)
		return -1;
	host_script_add_lines(out, text);
	return 0;
}

/* A name for what these steps make: the same only for the same steps. */
static const char *renderer_key(const char *steps, struct arena *arena)
{
	char digest[DIGEST_TEXT_BYTES];

	digest_of(steps, strlen(steps), digest);
	return arena_printf(arena, "%.*s", KEY_CHARS, strchr(digest, ':') + 1);
}

static int gather_script(struct renderer *r, const struct parts *parts)
{
	_cleanup_(str_release) struct str steps = STR_INIT, checks = STR_INIT;

	for (size_t i = 0; i < parts->count; i++)
		if (add_host_steps(r, &parts->list[i], &steps) < 0 ||
		    add_host_check(r, &parts->list[i], &checks) < 0)
			return -1;
	str_trim(&steps);
	str_trim(&checks);
	values_set(&r->values, "steps", arena_strdup(r->arena, steps.text));
	values_set(&r->values, "steps.key", renderer_key(steps.text, r->arena));
	values_set(&r->values, "check", arena_strdup(r->arena, checks.text));
	if (gather(r, parts, "prepare", "\n") < 0)
		return -1;
	if (*values_get(&r->values, "prepare"))
		values_set(&r->values, "prepare",
			   arena_printf(r->arena, "\n%s\n", values_get(&r->values, "prepare")));
	return 0;
}

/* A recipe may say that a stack cannot be built, and what to ask for instead. */
static bool refuses(struct renderer *r, const struct part *part)
{
	const struct section *section = part_section(part, "cannot");
	const char *text;

	if (!section)
		return false;
	if (renderer_expand(r, part, section, &text) == 0)
		error_set(r->err, ERROR_FAILED, "no recipe: %s", text);
	return true;
}

static int renderer_keep_parts(struct renderer *r, struct parts *parts)
{
	size_t kept = 0;

	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->list[i];
		bool applies;

		if (part_applies(part, &r->values, &applies, r->err) < 0)
			return -1;
		if (!applies)
			continue;
		if (refuses(r, part))
			return -1;
		for (size_t s = 0; s < part->section_count; s++) {
			const char *text;

			if (!starts_with(part->sections[s].name, "value "))
				continue;
			if (renderer_expand(r, part, &part->sections[s], &text) < 0)
				return -1;
			if (ends_with(part->sections[s].name, "packages.lines"))
				text = package_lines_flow(text, r->arena);
			values_set(&r->values, part->sections[s].name + strlen("value "), text);
		}
		if (kept != i)
			parts->list[kept] = *part;
		kept++;
	}
	parts->count = kept;
	return 0;
}

int renderer_choose(struct renderer *r, struct parts *parts)
{
	const char *folder;

	if (share_path(r->arena, "recipes", &folder, r->err) < 0 ||
	    parts_load(folder, r->arena, parts, r->err) < 0)
		return -1;
	return renderer_keep_parts(r, parts);
}

int renderer_gather(struct renderer *r, const struct parts *parts)
{
	return renderer_is_script(r) ? gather_script(r, parts) : gather_image(r, parts);
}

int renderer_lay_out(struct renderer *r, const char *name, const char **laid_out)
{
	struct part layout = {0};
	char *text;

	if (share_path(r->arena, arena_printf(r->arena, "recipes/%s.layout", name), &layout.path,
		       r->err) < 0 ||
	    file_read(layout.path, FILE_CEILING_BYTES, r->arena, &text, NULL, r->err) < 0 ||
	    renderer_expand(r, &layout, &(struct section){.text = text, .line = 1}, laid_out) < 0)
		return -1;
	*laid_out = arena_printf(r->arena, "%s\n", *laid_out);
	return 0;
}
