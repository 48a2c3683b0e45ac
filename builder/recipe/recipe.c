/* SPDX-License-Identifier: MIT */
#include "builder/recipe/recipe.h"

#include "builder/context.h"
#include "builder/machine.h"
#include "builder/recipe/host_script.h"
#include "builder/recipe/image_words.h"
#include "builder/recipe/pinning.h"
#include "builder/recipe/renderer.h"
#include "builder/recipe/stack_values.h"
#include "builder/recipe/context_files.h"
#include "core/credential_files.h"
#include "core/file.h"
#include "core/quote.h"
#include "core/words.h"
#include "oci/layout.h"

#include <string.h>
#include <sys/stat.h>

#define NOT_PINNED                                                   \
	"The OS's packages stand without versions: 'ringup resolve " \
	"--pin' asks its archives for them."

static void recipe_set(struct renderer *r, const char *name, const char *value)
{
	values_set(&r->values, name, value);
}

static void set_str(struct renderer *r, const char *name, struct str *value)
{
	recipe_set(r, name, arena_strdup(r->arena, value->text));
	str_release(value);
}

/*
 * What the person wants on top of the stack: the list of cluster.yaml that package_manager.csv
 * names. A list for other package managers is passed over, unless it is the only one.
 */
static int set_user_packages(struct renderer *r)
{
	const struct {
		const char *name;
		const char *const *words;
	} lists[] = {{"apt", r->cluster->image.apt}, {"yum", r->cluster->image.yum}};
	const char *wanted = values_get(&r->values, "os.package_manager.list");
	const char *text = "", *other = NULL;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (strcmp(lists[i].name, wanted) != 0)
			other = lists[i].words[0] ? lists[i].name : other;
		else
			for (const char *const *word = lists[i].words; *word; word++)
				text = arena_printf(r->arena, "%s%s%s", text, *text ? ";" : "",
						    *word);
	if (!*text && other)
		return error_set(r->err, ERROR_USAGE,
				 "%s: image.%s: %s has %s: name its packages in image.%s",
				 r->cluster->path, other, values_get(&r->values, "os.version"),
				 values_get(&r->values, "os.package_manager"), wanted);
	recipe_set(r, "user.packages", text);
	recipe_set(r, "user.packages.key", arena_printf(r->arena, "image.%s", wanted));
	recipe_set(r, "user.packages.lines", package_lines(text, r->arena));
	return 0;
}

static void set_env(struct renderer *r)
{
	struct str env = STR_INIT;

	for (const char *const *pair = r->cluster->image.env; *pair; pair++) {
		const char *equals = strchr(*pair, '=');

		if (renderer_is_script(r)) {
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
	struct str words = STR_INIT;

	if (r->cluster->image.pip[0])
		quote_words(&words, r->cluster->image.pip);
	set_str(r, "user.pip", &words);
}

/* Adds the files of a folder of ringup's own, and of those in it, to the context. */
static int recipe_add_folder(struct renderer *r, const char *folder, const char *suffix,
			     const char *context, mode_t mode)
{
	return context_add_folder(r->spec, folder, suffix, context, mode, r->arena, r->err);
}

static int add_user_files(struct renderer *r)
{
	struct str layers = STR_INIT;

	if (context_add_user_files(r->cluster, renderer_is_script(r), r->spec, r->arena, &layers,
				   r->err) < 0) {
		str_release(&layers);
		return -1;
	}
	set_str(r, "user.files", &layers);
	return 0;
}

static int add_context(struct renderer *r)
{
	if (recipe_add_folder(r, "images/worker", ".c", "worker", 0644) < 0 ||
	    recipe_add_folder(r, "images/worker", ".h", "worker", 0644) < 0 ||
	    recipe_add_folder(r, "images/worker", ".sh", "worker", 0755) < 0)
		return -1;
	if (!renderer_is_script(r) && recipe_add_folder(r, "images/entry", "", "entry", 0755) < 0)
		return -1;
	return add_user_files(r);
}

/* The base that is made here, of the stack's OS; not when the person names another. */
static bool base_is_made(const struct renderer *r)
{
	return !renderer_is_script(r) && strcmp(r->cluster->image.base, "auto") == 0 &&
	       *values_get(&r->values, "os.base");
}

static bool is_question(const struct renderer *r)
{
	return strcmp(r->layout, "question") == 0;
}

/*
 * "-20261122T130500Z", when the archive was asked: packages of that day go onto a base of that day.
 */
static const char *pinned_time(const struct renderer *r)
{
	_cleanup_(str_release) struct str time = STR_INIT;
	const char *at = r->plan->pinned.at;

	if (!at || is_question(r))
		return "";
	for (str_add_char(&time, '-'); *at; at++)
		if (!strchr("-:", *at))
			str_add_char(&time, *at);
	return arena_strdup(r->arena, time.text);
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
	r->spec->base_release = values_get(&r->values, "os.codename");
	r->spec->base_name = arena_printf(r->arena, "ringup-base:%s-%.12s%s",
					  values_get(&r->values, "os.version"),
					  digest + strlen("sha256:"), pinned_time(r));
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

/* The image that it starts from: the person's, the plan's, ringup's own, or the OS's published one. */
static int recipe_set_base(struct renderer *r)
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
	recipe_set(r, "base", r->spec->base_name);
	recipe_set(r, "base.os", os ? os : r->spec->base_name);
	/* a recipe sets it when the build stage needs nothing of the stack */
	if (strcmp(values_get(&r->values, "build.from"), "base") == 0)
		recipe_set(r, "build.from", r->spec->base_name);
	return set_base_place(r);
}

/* The time in the address of a snapshot (apt.recipe), or "": ".../debian/20261122T130500Z". */
static const char *snapshot_time(const char *mirror)
{
	const char *slash = strrchr(mirror, '/');

	return slash && slash[1] == '2' ? slash + 1 : "";
}

static void set_mirrors(struct renderer *r)
{
	struct words args = WORDS_INIT(r->arena);
	const struct cluster_mirrors *mirrors = &r->cluster->mirrors;

	if (*mirrors->apt)
		words_addf(&args, "APT_MIRROR=%s", mirrors->apt);
	r->spec->snapshot = snapshot_time(mirrors->apt);
	if (*mirrors->yum)
		words_addf(&args, "YUM_MIRROR=%s", mirrors->yum);
	if (*mirrors->pip)
		words_addf(&args, "PIP_INDEX_URL=%s", mirrors->pip);
	if (*mirrors->pytorch)
		words_addf(&args, "PYTORCH_MIRROR=%s", mirrors->pytorch);
	if (*mirrors->downloads)
		words_addf(&args, "DOWNLOADS_MIRROR=%s", mirrors->downloads);
	recipe_set(r, "mirrors.yum", *mirrors->yum ? "yes" : "");
	r->spec->build_args = args.list;
}

static int add_ca(struct renderer *r)
{
	const char *path = cluster_path(r->cluster, r->cluster->build.ca, r->arena);
	struct error ignored = {0};
	int64_t expires;

	if (!file_exists(path))
		return error_set(r->err, ERROR_USAGE, "%s: build.ca: there is no file %s",
				 r->cluster->path, path);
	if (certificate_expiry(path, &expires, &ignored) < 0)
		return error_set(r->err, ERROR_USAGE, "%s: build.ca: %s holds no certificate (PEM)",
				 r->cluster->path, path);
	return context_add_file(r->spec, CONTEXT_CA, path, 0644, r->arena, r->err);
}

/* The program that the image's RUNs call, recipes/step.layout, and the certificates that it uses. */
static int add_step(struct renderer *r)
{
	const char *text;

	if (*r->cluster->build.ca && add_ca(r) < 0)
		return -1;
	return renderer_lay_out(r, "step", &text) < 0
		       ? -1
		       : context_add_text(r->spec, "step", text, 0755, r->arena, r->err);
}

/* A question is asked of the OS's own image, without what NVIDIA adds to it. */
static int render(struct renderer *r)
{
	struct parts *parts = ARENA_NEW(r->arena, struct parts);

	if (renderer_choose(r, parts) < 0 || (!renderer_is_script(r) && recipe_set_base(r) < 0))
		return -1;
	if (is_question(r))
		r->spec->base_name = values_get(&r->values, "base.os");
	else if (renderer_gather(r, parts) < 0)
		return -1;
	if (!renderer_is_script(r) && add_step(r) < 0)
		return -1;
	return renderer_lay_out(r, r->layout, &r->spec->dockerfile);
}

/* Which of the names have no version: nobody asked for it, or the archives do not have it. */
static void add_bare(const struct words *names, const struct pin_list *pins, struct words *unasked,
		     struct words *bare)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *value = pin_find(pins, names->list[i]);

		if (!value)
			words_add(unasked, names->list[i]);
		if (!value || !*value)
			words_add(bare, names->list[i]);
	}
}

static const char *pinned_note(struct renderer *r)
{
	const struct pinned *pinned = &r->plan->pinned;
	struct words packages = WORDS_INIT(r->arena), images = WORDS_INIT(r->arena);
	struct words unasked = WORDS_INIT(r->arena), bare = WORDS_INIT(r->arena);

	pinning_packages(r->spec->dockerfile, r->managers, &packages);
	pinning_images(r->spec->dockerfile, &images);
	add_bare(&packages, &pinned->packages, &unasked, &bare);
	add_bare(&images, &pinned->images, &unasked, &bare);
	r->spec->unpinned = words_join(&unasked, ", ");
	return arena_printf(r->arena, "The OS's packages and the base images are those of %s%s%s.",
			    pinned->at, bare.count ? "; not pinned: " : "",
			    words_join(&bare, ", "));
}

/* Exact versions are for images: a bare host keeps what it has. */
static int recipe_pin(struct renderer *r)
{
	const struct pinned *pinned = &r->plan->pinned;
	const char *digest = pin_find(&pinned->images, r->spec->base_name);

	if (renderer_is_script(r) || is_question(r) || !pinned->at)
		return 0;
	recipe_set(r, "pinned", pinned_note(r));
	if (renderer_lay_out(r, r->layout, &r->spec->dockerfile) < 0)
		return -1;
	r->spec->dockerfile = pinning_apply(r->spec->dockerfile, r->managers, pinned, r->arena);
	if (digest && *digest) {
		r->spec->base_digest = digest;
		r->spec->base_name = pinning_image(r->spec->base_name, pinned, r->arena);
	}
	return 0;
}

static int add_program(struct renderer *r, const char *name)
{
	const char *path = arena_printf(r->arena, "%s/%s", path_program_folder(r->arena), name);

	if (!file_exists(path))
		return error_set(r->err, ERROR_FAILED, "the program %s is missing; run make", path);
	return context_add_file(r->spec, arena_printf(r->arena, "worker/%s", name), path, 0755,
				r->arena, r->err);
}

/* OpenSSH of this machine with its libraries (images/ssh/collect.sh), where there is such a folder. */
static int recipe_add_ssh(struct renderer *r, bool *is_there)
{
	const char *folder = arena_printf(r->arena, "%s/ringup-ssh", path_program_folder(r->arena));
	const char **names;

	*is_there = file_exists(folder);
	if (!*is_there)
		return 0;
	if (folder_list(folder, "", r->arena, &names, r->err) < 0)
		return -1;
	for (; *names; names++)
		if (context_add_file(r->spec, arena_printf(r->arena, "ssh/%s", *names),
				     arena_printf(r->arena, "%s/%s", folder, *names), 0755,
				     r->arena, r->err) < 0)
			return -1;
	return 0;
}

/*
 * The worker as this machine has it, the entry scripts, and OpenSSH for a base without one: for a base
 * that can run them. The base's own entry point and user would keep ringup's entry from its work.
 */
static int add_worker(struct renderer *r)
{
	bool fits, has_ssh;

	recipe_set(r, "worker", "");
	if (strcmp(r->spec->base_name, "scratch") == 0)
		return 0;
	if (machine_fits(r->spec->arch, NULL, r->arena, &fits, r->err) < 0)
		return -1;
	if (!fits)
		return error_set(
			r->err, ERROR_USAGE,
			"%s: image.platforms: an image without a stack has the worker of this machine, which is not %s; take a stack, or image.base: scratch",
			r->cluster->path, r->spec->arch);
	if (recipe_add_ssh(r, &has_ssh) < 0 || add_program(r, "allreduce") < 0 ||
	    add_program(r, "ringup-job") < 0)
		return -1;
	recipe_set(r, "worker",
		   arena_printf(r->arena,
				"COPY worker/ entry/ /usr/local/bin/\n%s"
				"ENTRYPOINT []\nCMD [\"/usr/local/bin/ringup-entry\"]\nUSER 0\n",
				has_ssh ? "COPY ssh/ /usr/local/lib/ringup/ssh/\n" : ""));
	return recipe_add_folder(r, "images/entry", "", "entry", 0755);
}

/* The image of an empty stack: a base, and the files on top of it. */
static int render_files(struct renderer *r)
{
	r->spec->base_name = r->cluster->image.base;
	recipe_set(r, "base", r->spec->base_name);
	recipe_set(r, "title", arena_printf(r->arena, "Cluster image on %s", r->spec->base_name));
	/* the same text for two processors would be one image to a registry */
	recipe_set(r, "files.arch",
		   r->plan->arch
			   ? arena_printf(r->arena, " org.ringup.stack.arch=\"%s\"", r->plan->arch)
			   : "");
	set_env(r);
	set_mirrors(r);
	if (set_base_place(r) < 0 || add_worker(r) < 0 || add_user_files(r) < 0 ||
	    renderer_lay_out(r, "files", &r->spec->dockerfile) < 0)
		return -1;
	return spec_hash(r->spec, r->err);
}

/* What the recipe's parts can refer to, beside the stack's own values. */
static int recipe_set_all(struct renderer *r)
{
	const char *vendor = values_get(&r->values, "os.vendor");

	r->spec->os = values_get(&r->values, "os.version");
	r->spec->os_vendor = *vendor ? vendor : values_get(&r->values, "os.id");
	recipe_set(r, "pinned", NOT_PINNED);
	recipe_set(r, "base.made", base_is_made(r) ? "yes" : "");
	recipe_set(r, "title",
		   arena_printf(r->arena, "Cluster %s for %s, %s",
				renderer_is_script(r) ? "host" : "image", r->spec->os,
				r->plan->accelerator));
	recipe_set(r, "user.size", r->cluster->image.size);
	recipe_set(r, "user.ca", *r->cluster->build.ca ? "yes" : "");
	set_env(r);
	set_user_pip(r);
	set_mirrors(r);
	return set_user_packages(r);
}

static int render_all(struct renderer *r)
{
	if (recipe_set_all(r) < 0 || (!is_question(r) && add_context(r) < 0) || render(r) < 0)
		return -1;
	if (recipe_pin(r) < 0)
		return -1;
	return spec_hash(r->spec, r->err);
}

static struct renderer *recipe_begin(const struct cluster *cluster, const struct plan *plan,
				     const struct catalog *catalog, const char *layout,
				     struct arena *arena, struct spec *spec, struct error *err)
{
	struct renderer *r = ARENA_NEW(arena, struct renderer);

	*r = (struct renderer){.cluster = cluster,
			       .plan = plan,
			       .arena = arena,
			       .spec = spec,
			       .layout = layout,
			       .managers = catalog_table(catalog, "package_manager"),
			       .err = err};
	*spec = (struct spec){.base_name = "",
			      .base_script = "",
			      .base_release = "",
			      .os = "",
			      .arch = plan->count || plan->arch || plan->other ? plan_arch(plan)
									       : "",
			      .os_vendor = "",
			      .base_place = "",
			      .base_digest = "",
			      .unpinned = "",
			      .snapshot = ""};
	/* what the values of the stack depend on */
	recipe_set(r, "base.named", strcmp(cluster->image.base, "auto") == 0 ? "" : "yes");
	recipe_set(r, "script", renderer_is_script(r) ? "yes" : "");
	return r;
}

int recipe_render(const struct cluster *cluster, const struct plan *plan,
		  const struct catalog *catalog, struct arena *arena, struct spec *spec,
		  struct error *err)
{
	struct renderer *r = recipe_begin(cluster, plan, catalog, "image", arena, spec, err);

	if (image_words_check(cluster, err) < 0)
		return -1;
	if (!plan->count)
		return render_files(r);
	return stack_values(plan, catalog, arena, &r->values, err) < 0 ? -1 : render_all(r);
}

int recipe_check(const struct cluster *cluster, const struct plan *plan,
		 const struct catalog *catalog, struct arena *arena, const char **base,
		 struct error *err)
{
	struct spec *spec = ARENA_NEW(arena, struct spec);
	struct renderer *r = recipe_begin(cluster, plan, catalog, "image", arena, spec, err);
	struct parts *parts = ARENA_NEW(arena, struct parts);

	*base = cluster->image.base;
	if (!plan->count)
		return 0;
	if (stack_values(plan, catalog, arena, &r->values, err) < 0 || recipe_set_all(r) < 0 ||
	    renderer_choose(r, parts) < 0 || recipe_set_base(r) < 0 ||
	    renderer_gather(r, parts) < 0)
		return -1;
	*base = spec->base_name;
	return 0;
}

int recipe_render_script(const struct cluster *cluster, const struct plan *plan,
			 const struct catalog *catalog, struct arena *arena, struct spec *spec,
			 struct error *err)
{
	struct renderer *r = recipe_begin(cluster, host_script_plan(plan, catalog, arena), catalog,
					  "script", arena, spec, err);

	if (image_words_check(cluster, err) < 0 ||
	    stack_values(r->plan, catalog, arena, &r->values, err) < 0)
		return -1;
	recipe_set(r, "base", "");
	recipe_set(r, "base.os", "");
	return render_all(r);
}

int recipe_render_question(const struct cluster *cluster, const struct plan *plan,
			   const struct catalog *catalog, const char *const *names,
			   struct arena *arena, struct spec *spec, struct error *err)
{
	struct renderer *r = recipe_begin(cluster, plan, catalog, "question", arena, spec, err);
	_cleanup_(str_release) struct str words = STR_INIT;

	quote_words(&words, names);
	recipe_set(r, "asked.names", arena_strdup(arena, words.text));
	recipe_set(r, "asked.at", plan->pinned.at);
	return stack_values(plan, catalog, arena, &r->values, err) < 0 ? -1 : render_all(r);
}
