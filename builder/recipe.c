/* SPDX-License-Identifier: MIT */
#include "builder/recipe.h"

#include "builder/host_script.h"
#include "builder/image_words.h"
#include "builder/parts.h"
#include "builder/stack_values.h"
#include "builder/context_files.h"
#include "core/file.h"
#include "core/quote.h"
#include "core/template.h"
#include "core/words.h"
#include "oci/layout.h"

#include <string.h>
#include <sys/stat.h>

struct renderer {
	const struct cluster *cluster;
	const struct plan *plan;
	struct arena *arena;
	struct spec *spec;
	bool is_script;
	struct values values;
	struct error *err;
};

static void set(struct renderer *r, const char *name, const char *value)
{
	values_set(&r->values, name, value);
}

static void set_str(struct renderer *r, const char *name, struct str *value)
{
	set(r, name, arena_strdup(r->arena, value->text));
	str_release(value);
}

/* What the person wants on top of the stack: image.apt or image.yum, by the OS. */
static int set_user_packages(struct renderer *r)
{
	const struct cluster_image *image = &r->cluster->image;
	const char *manager = values_get(&r->values, "os.package_manager"), *text = "";
	bool has_apt = strcmp(manager, "apt") == 0;
	const char *const *words = has_apt ? image->apt : image->yum;

	if (!words[0] && (has_apt ? image->yum : image->apt)[0])
		return error_set(r->err, ERROR_USAGE,
				 "%s: image.%s: %s has %s: name its packages in image.%s",
				 r->cluster->path, has_apt ? "yum" : "apt",
				 values_get(&r->values, "os.version"), manager,
				 has_apt ? "apt" : "yum");
	for (const char *const *word = words; *word; word++)
		text = arena_printf(r->arena, "%s%s%s", text, *text ? ";" : "", *word);
	set(r, "user.packages", text);
	set(r, "user.packages.key", has_apt ? "image.apt" : "image.yum");
	set(r, "user.packages.lines", package_lines(text, r->arena));
	return 0;
}

static void set_env(struct renderer *r)
{
	struct str env;

	str_init(&env);
	for (const char *const *pair = r->cluster->image.env; *pair; pair++) {
		const char *equals = strchr(*pair, '=');

		if (r->is_script) {
			str_addf(&env, "export %.*s", (int)(equals + 1 - *pair), *pair);
			quote_word(&env, equals + 1);
			str_add_char(&env, '\n');
			continue;
		}
		str_addf(&env, "ENV %.*s=\"", (int)(equals - *pair), *pair);
		for (const char *p = equals + 1; *p; p++) {
			if (strchr("\"\\$", *p))
				str_add_char(&env, '\\');
			str_add_char(&env, *p);
		}
		str_add(&env, "\"\n");
	}
	set_str(r, "user.env", &env);
}

static void set_user_pip(struct renderer *r)
{
	struct str words;

	str_init(&words);
	if (r->cluster->image.pip[0])
		quote_words(&words, r->cluster->image.pip);
	set_str(r, "user.pip", &words);
}

/* Adds files of a folder of ours to the context. */
static int add_folder(struct renderer *r, const char *folder, const char *suffix,
		      const char *context, mode_t mode)
{
	return context_add_folder(r->spec, folder, suffix, context, mode, r->arena, r->err);
}

static int add_user_files(struct renderer *r)
{
	struct str layers;

	str_init(&layers);
	if (context_add_user_files(r->cluster, r->is_script, r->spec, r->arena, &layers, r->err) <
	    0) {
		str_release(&layers);
		return -1;
	}
	set_str(r, "user.files", &layers);
	return 0;
}

static int add_context(struct renderer *r)
{
	return add_folder(r, "images/worker", ".c", "worker", 0644) < 0 ||
			       add_folder(r, "images/worker", ".h", "worker", 0644) < 0 ||
			       add_folder(r, "images/worker", ".sh", "worker", 0755) < 0 ||
			       add_folder(r, "images/worker/mpi", ".c", "worker/mpi", 0644) < 0 ||
			       add_folder(r, "images/worker/mpi", ".h", "worker/mpi", 0644) < 0 ||
			       (!r->is_script &&
				add_folder(r, "images/entry", "", "entry", 0755) < 0)
		       ? -1
		       : add_user_files(r);
}

/* The base that is made here, of the stack's OS; not when the person names another. */
static bool base_is_made(const struct renderer *r)
{
	return !r->is_script && strcmp(r->cluster->image.base, "auto") == 0 &&
	       *values_get(&r->values, "os.base");
}

/* The root filesystem that ringup makes itself: its script, and a name that changes with it. */
static int set_made_base(struct renderer *r)
{
	char digest[DIGEST_TEXT_BYTES];
	const char *script;

	if (share_path(
		    r->arena,
		    arena_printf(r->arena, "images/base/%s.sh", values_get(&r->values, "os.base")),
		    &script, r->err) < 0 ||
	    digest_of_file(script, digest, r->err) < 0)
		return -1;
	r->spec->base_script = script;
	r->spec->base_name =
		arena_printf(r->arena, "ringup-base:%s-%.12s", values_get(&r->values, "os.version"),
			     digest + strlen("sha256:"));
	return 0;
}

/* An image in a layout on this machine counts by its digest, not by its name. */
static int set_base_place(struct renderer *r)
{
	const char *place = r->spec->base_name, *colon, *slash;
	struct descriptor manifest;
	bool named;

	if (!starts_with(place, "oci:"))
		return 0;
	place = cluster_path(r->cluster, place + strlen("oci:"), r->arena);
	colon = strrchr(place, ':');
	slash = strrchr(place, '/');
	named = colon && (!slash || colon > slash);
	r->spec->base_place = place;
	if (layout_find(named ? arena_strndup(r->arena, place, (size_t)(colon - place)) : place,
			named ? colon + 1 : NULL, &manifest, r->err) < 0)
		return error_wrap(r->err, "%s: image.base", r->cluster->path);
	r->spec->base_digest = arena_strdup(r->arena, manifest.digest);
	return 0;
}

/* What the image starts from: the person's, the plan's, ringup's own, or the OS's published one. */
static int set_base(struct renderer *r)
{
	const char *planned = values_get(&r->values, "base.name"); /* recipes may do without it */
	const char *os = NULL; /* without what NVIDIA adds to it */

	if (strcmp(r->cluster->image.base, "auto") != 0)
		r->spec->base_name = r->cluster->image.base;
	else if (*planned)
		r->spec->base_name = planned;
	else if (!base_is_made(r))
		r->spec->base_name = values_get(&r->values, "os.image");
	else if (set_made_base(r) < 0)
		return -1;
	if (r->spec->base_name == planned && !*values_get(&r->values, "base.packages"))
		os = values_get(&r->values, "os.image");
	set(r, "base", r->spec->base_name);
	set(r, "base.os", os ? os : r->spec->base_name);
	/* a recipe says so when the build stage needs nothing of the stack's */
	if (strcmp(values_get(&r->values, "build.from"), "base") == 0)
		set(r, "build.from", r->spec->base_name);
	return set_base_place(r);
}

static void set_mirrors(struct renderer *r)
{
	struct words args = WORDS_INIT(r->arena);
	const struct cluster_mirrors *mirrors = &r->cluster->mirrors;

	if (*mirrors->apt)
		words_addf(&args, "APT_MIRROR=%s", mirrors->apt);
	if (*mirrors->yum)
		words_addf(&args, "YUM_MIRROR=%s", mirrors->yum);
	if (*mirrors->pip)
		words_addf(&args, "PIP_INDEX_URL=%s", mirrors->pip);
	if (*mirrors->downloads)
		words_addf(&args, "DOWNLOADS_MIRROR=%s", mirrors->downloads);
	set(r, "mirrors.yum", *mirrors->yum ? "yes" : "");
	r->spec->build_args = args.list;
}

/* The expanded text of a section, without blank lines at its end. */
static int expand(struct renderer *r, const struct part *part, const struct section *section,
		  const char **text)
{
	_cleanup_(str_release) struct str out = {0};

	str_init(&out);
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
		if (expand(r, &parts->list[i], section, &text) < 0)
			return -1;
		all = arena_printf(r->arena, "%s%s%s", all, *all && *text ? between : "", text);
	}
	set(r, name, all);
	return 0;
}

static int gather_image(struct renderer *r, const struct parts *parts)
{
	if (gather(r, parts, "before", "\n") < 0)
		return -1;
	if (*values_get(&r->values, "before"))
		set(r, "before",
		    arena_printf(r->arena, "%s\n\n", values_get(&r->values, "before")));
	return gather(r, parts, "stack", "\n") < 0 || gather(r, parts, "build", "\n") < 0 ||
			       gather(r, parts, "image", "\n") < 0 ||
			       gather(r, parts, "check", "; \\\n    ") < 0
		       ? -1
		       : 0;
}

/* What one part does on a host: its section for that, or what it does in the stages of an image. */
static int add_host_steps(struct renderer *r, const struct part *part, struct str *out)
{
	static const char *const names[] = {"before", "stack", "build", "image"};
	const struct section *section = part_section(part, "host");
	const char *text;

	if (section) {
		if (expand(r, part, section, &text) < 0)
			return -1;
		str_addf(out, "%s%s", text, *text ? "\n\n" : "");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		section = part_section(part, names[i]);
		/* what was built is in its place already */
		if (!section || (i + 1 == ARRAY_LEN(names) && part_section(part, "build")))
			continue;
		if (expand(r, part, section, &text) < 0)
			return -1;
		host_script_add_steps(out, text);
	}
	return 0;
}

static int add_host_check(struct renderer *r, const struct part *part, struct str *out)
{
	const struct section *section = part_section(part, "host check");
	const char *text;

	section = section ? section : part_section(part, "check");
	if (!section)
		return 0;
	if (expand(r, part, section, &text) < 0)
		return -1;
	host_script_add_lines(out, text);
	return 0;
}

static int gather_script(struct renderer *r, const struct parts *parts)
{
	_cleanup_(str_release) struct str steps = {0}, checks = {0};

	str_init(&steps);
	str_init(&checks);
	for (size_t i = 0; i < parts->count; i++)
		if (add_host_steps(r, &parts->list[i], &steps) < 0 ||
		    add_host_check(r, &parts->list[i], &checks) < 0)
			return -1;
	str_trim(&steps);
	str_trim(&checks);
	set(r, "steps", arena_strdup(r->arena, steps.text));
	set(r, "check", arena_strdup(r->arena, checks.text));
	return 0;
}

/* A recipe may say that a stack cannot be built, and what to ask for instead. */
static bool refuses(struct renderer *r, const struct part *part)
{
	const struct section *section = part_section(part, "cannot");
	const char *text;

	if (!section)
		return false;
	if (expand(r, part, section, &text) == 0)
		error_set(r->err, ERROR_FAILED, "no recipe: %s", text);
	return true;
}

/* Keeps the parts that apply, in their order, and sets the values that they define. */
static int choose_parts(struct renderer *r, struct parts *parts)
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
			if (expand(r, part, &part->sections[s], &text) < 0)
				return -1;
			set(r, part->sections[s].name + strlen("value "), text);
		}
		if (kept != i)
			parts->list[kept] = *part;
		kept++;
	}
	parts->count = kept;
	return 0;
}

/* recipes/NAME.layout with the values of all parts. */
static int render_layout(struct renderer *r, const char *name)
{
	struct part layout = {0};
	char *text;

	if (share_path(r->arena, arena_printf(r->arena, "recipes/%s.layout", name), &layout.path,
		       r->err) < 0 ||
	    file_read(layout.path, FILE_CEILING_BYTES, r->arena, &text, NULL, r->err) < 0 ||
	    expand(r, &layout, &(struct section){.text = text, .line = 1}, &r->spec->dockerfile) <
		    0)
		return -1;
	r->spec->dockerfile = arena_printf(r->arena, "%s\n", r->spec->dockerfile);
	return 0;
}

static int render(struct renderer *r)
{
	struct parts *parts = ARENA_NEW(r->arena, struct parts);
	const char *folder;

	if (share_path(r->arena, "recipes", &folder, r->err) < 0 ||
	    parts_load(folder, r->arena, parts, r->err) < 0 || choose_parts(r, parts) < 0 ||
	    (!r->is_script && set_base(r) < 0) ||
	    (r->is_script ? gather_script(r, parts) : gather_image(r, parts)) < 0)
		return -1;
	return render_layout(r, r->is_script ? "script" : "image");
}

/* The worker as this machine has it, and the entry scripts: for a base that can run them. */
static int add_worker(struct renderer *r)
{
	const char *program = arena_printf(r->arena, "%s/allreduce", path_program_folder(r->arena));

	set(r, "worker", "");
	if (strcmp(r->spec->base_name, "scratch") == 0)
		return 0;
	if (!file_exists(program))
		return error_set(r->err, ERROR_FAILED, "the worker %s is missing; run make",
				 program);
	set(r, "worker",
	    "COPY worker/allreduce entry/ /usr/local/bin/\nCMD "
	    "[\"/usr/local/bin/ringup-entry\"]\n");
	return context_add_file(r->spec, "worker/allreduce", program, 0755, r->arena, r->err) < 0
		       ? -1
		       : add_folder(r, "images/entry", "", "entry", 0755);
}

/* The image of an empty stack: a base, and what goes on top of it. */
static int render_files(struct renderer *r)
{
	r->spec->os = "";
	r->spec->base_name = r->cluster->image.base;
	set(r, "base", r->spec->base_name);
	set(r, "title", arena_printf(r->arena, "Cluster image on %s", r->spec->base_name));
	set_env(r);
	set_mirrors(r);
	if (set_base_place(r) < 0 || add_worker(r) < 0 || add_user_files(r) < 0 ||
	    render_layout(r, "files") < 0)
		return -1;
	return spec_hash(r->spec, r->err);
}

static int render_all(struct renderer *r)
{
	r->spec->os = values_get(&r->values, "os.version");
	set(r, "base.made", base_is_made(r) ? "yes" : "");
	set(r, "base.named", strcmp(r->cluster->image.base, "auto") == 0 ? "" : "yes");
	set(r, "title",
	    arena_printf(r->arena, "Cluster %s for %s, %s", r->is_script ? "host" : "image",
			 r->spec->os, r->plan->accelerator));
	set_env(r);
	set_user_pip(r);
	set_mirrors(r);
	if (set_user_packages(r) < 0 || add_context(r) < 0 || render(r) < 0)
		return -1;
	return spec_hash(r->spec, r->err);
}

int recipe_render(const struct cluster *cluster, const struct plan *plan,
		  const struct catalog *catalog, struct arena *arena, struct spec *spec,
		  struct error *err)
{
	struct renderer *r = ARENA_NEW(arena, struct renderer);

	*r = (struct renderer){
		.cluster = cluster, .plan = plan, .arena = arena, .spec = spec, .err = err};
	*spec = (struct spec){
		.base_name = "", .base_script = "", .base_place = "", .base_digest = ""};
	if (image_words_check(r->cluster, r->err) < 0)
		return -1;
	if (!plan->count)
		return render_files(r);
	return stack_values(plan, catalog, arena, &r->values, err) < 0 ? -1 : render_all(r);
}

int recipe_render_script(const struct cluster *cluster, const struct plan *plan,
			 const struct catalog *catalog, struct arena *arena, struct spec *spec,
			 struct error *err)
{
	struct renderer *r = ARENA_NEW(arena, struct renderer);

	*r = (struct renderer){.cluster = cluster,
			       .plan = host_script_plan(plan, catalog, arena),
			       .arena = arena,
			       .spec = spec,
			       .is_script = true,
			       .err = err};
	*spec = (struct spec){
		.base_name = "", .base_script = "", .base_place = "", .base_digest = ""};
	if (image_words_check(r->cluster, r->err) < 0 ||
	    stack_values(r->plan, catalog, arena, &r->values, err) < 0)
		return -1;
	set(r, "script", "yes");
	set(r, "base", "");
	set(r, "base.os", "");
	return render_all(r);
}
