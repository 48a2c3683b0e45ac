/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/limits.h"
#include "cli/app/place.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_index.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/ssh/reach.h"
#include "oci/layout.h"

#include <string.h>

struct options {
	bool dry_run, shell_on_failure, clear, no_facts;
	const char *engine, *output, *on;
	struct words allow;
	struct limit_options limits;
};

static const struct opt options[] = {
	{0, "engine", "NAME", "@{engines} or auto, not build.engine", OPT_TEXT,
	 offsetof(struct options, engine)},
	{'o', "output", "DST", "also write the image to oci:DIR[:TAG] or docker-archive:FILE",
	 OPT_TEXT, offsetof(struct options, output)},
	{0, "on", "HOST", "build with the engine of a host, or of [USER@]ADDRESS[:PORT]", OPT_TEXT,
	 offsetof(struct options, on)},
	{0, "shell-on-failure", NULL, "a shell in the step that fails (native engine, terminal)",
	 OPT_FLAG, offsetof(struct options, shell_on_failure)},
	ALLOW_OPTION(struct options, allow),
	FACTS_OPTION(struct options, no_facts),
	LIMIT_OPTIONS(struct options, limits),
	{0, "clear", NULL, "remove what native builds keep here; nothing is built", OPT_FLAG,
	 offsetof(struct options, clear)},
	{0, "dry-run", NULL, "print what would be done, as commands", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	OPT_END,
};

static int build_print_commands(struct stages *s, const struct spec *spec,
				const struct build_request *request, struct error *err)
{
	struct build_options build = {.cache_folder = stage_cache_folder(s),
				      .engine = request->engine,
				      .on = request->on};
	_cleanup_(str_release) struct str out = STR_INIT;

	if (build_commands(&s->cluster, spec, &build, s->arena, &out, err) < 0)
		return -1;
	command_print_script(s->ctx, out.text);
	return 0;
}

/* Whether the registry of the cluster file has the image; false when it does not answer. */
static bool is_in_registry(struct stages *s)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct error err = {0};
	bool found = false;

	if (!*s->cluster.registry.address)
		return false;
	if (stage_reference(s, &err) < 0 || stage_registry(s, NULL, &registry, &err) < 0 ||
	    stage_find_image(s, registry, &found, &err) < 0) {
		log_debug("the registry was not asked: %s", err.text);
		return false;
	}
	return found;
}

static int write_output(struct stages *s, const struct image *image, const struct place *place,
			struct descriptor *manifest, struct error *err)
{
	struct place_image target = {0};
	const char *scratch = cluster_state_path(&s->cluster, "image", s->arena), *layout;
	int rc;

	if ((!image->kept && stage_state(s, err) < 0) ||
	    image_export(image, scratch, s->arena, &layout, manifest, err) < 0)
		return -1;
	target = (struct place_image){.layout = layout, .manifest = *manifest};
	if (place->kind != PLACE_LAYOUT) {
		rc = place_write(place, &target, s->arena, err);
	} else {
		rc = layout_copy(layout, place->path, manifest, err);
		if (rc == 0)
			rc = layout_tag(place->path, manifest, place->name, err);
	}
	return folder_remove(scratch, rc < 0 ? &(struct error){0} : err) < 0 ? -1 : rc;
}

/* `recipe`: the hash of what the image was made from. */
static void build_print_result(struct stages *s, const char *recipe, const struct image *image,
			       const struct descriptor *manifest)
{
	if (s->ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "image", image->name);
		json_add_text(json, "engine", image->backend ? image->backend->name : "");
		cJSON_AddStringToObject(json, "recipe", recipe);
		json_add_text(json, "digest", manifest->digest);
		cJSON_AddBoolToObject(json, "built", image->built);
		json_print(stdout, json);
		return;
	}
	say("%s %s%s%s\n", image->name, image->built ? "built" : "is there already",
	    *manifest->digest ? ", " : "", manifest->digest);
}

/* Connects to HOST. */
static int reach(struct stages *s, const char *text, struct build_host *on, struct ssh **ssh,
		 struct error *err)
{
	struct ssh_target *target = ARENA_NEW(s->arena, struct ssh_target);
	struct host *host = ARENA_NEW(s->arena, struct host);

	if (cluster_host_named(&s->cluster, text, s->arena, host, err) < 0)
		return error_wrap(err, "--on");
	if (reach_host(&s->cluster, host, s->ctx->timeout_s, s->arena, target, err) < 0)
		return -1;
	*on = (struct build_host){.name = text, .sudo = target->sudo};
	return ssh_open_words(target, ssh, &on->reach, err);
}

/* Of two images the one that this machine, or `on`, can build; the first when it can build neither. */
static int build_choose(struct stages *s, const struct build_host *on, const struct spec **spec,
			struct error *err)
{
	bool first = true, second = false;

	*spec = s->spec;
	if (!s->other_spec)
		return 0;
	if (build_fits(s->spec, on, s->arena, &first, err) < 0 ||
	    (!first && build_fits(s->other_spec, on, s->arena, &second, err) < 0))
		return -1;
	if (!first && second)
		*spec = s->other_spec;
	return 0;
}

/* What is missing of an image for two processors. */
static void build_say_other(struct stages *s, const struct spec *built)
{
	const struct spec *other = built == s->spec ? s->other_spec : s->spec;
	const char *hosts = other ? stage_index_hosts(s, other->arch) : "";
	struct error ignored = {0};

	bool fits = false;

	if (!other)
		return;
	if (build_fits(other, NULL, s->arena, &fits, &ignored) == 0 && fits)
		log_info("this is the image for %s; 'ringup push' makes that for %s too",
			 built->arch, other->arch);
	else
		log_info(
			"this is the image for %s; 'ringup build --on HOST' makes that for %s on a host that is %s%s%s%s, and 'ringup push' sends both",
			built->arch, other->arch, other->arch, *hosts ? " (" : "", hosts,
			*hosts ? ")" : "");
}

/* Writes -o: the image, or the index of both into a layout, which alone can hold one. */
static int build_write(struct stages *s, const struct image *image, const struct spec *built,
		       const struct place *place, struct descriptor *manifest, struct error *err)
{
	if (s->other_spec && place->kind == PLACE_LAYOUT)
		return stage_index_write(s, place->path, place->name, manifest, err);
	if (s->other_spec)
		log_warn("an archive holds one image: it gets that for %s; oci:DIR holds both",
			 built->arch);
	return write_output(s, image, place, manifest, err);
}

static int build_or_keep(struct stages *s, const struct options *o, const struct place *place,
			 struct error *err)
{
	_cleanup_(ssh_closep) struct ssh *ssh = NULL;
	struct build_request request = {.engine = o->engine,
					.shell_on_failure = o->shell_on_failure};
	struct descriptor manifest = {0};
	const struct spec *spec;
	struct build_host on;
	struct image image = {0};

	if (!o->output && !o->engine && !o->dry_run && is_in_registry(s)) {
		image.name = reference_text(&s->reference, s->arena);
		build_print_result(s, s->recipe, &image, &manifest);
		return 0;
	}
	if (o->on) {
		if (reach(s, o->on, &on, &ssh, err) < 0)
			return -1;
		request.on = &on;
	}
	if (build_choose(s, request.on, &spec, err) < 0)
		return -1;
	if (o->dry_run)
		return build_print_commands(s, spec, &request, err);
	if (stage_build(s, spec, &request, &image, err) < 0 ||
	    (o->output && build_write(s, &image, spec, place, &manifest, err) < 0))
		return -1;
	build_print_result(s, spec->hash, &image, &manifest);
	if (!o->output)
		build_say_other(s, spec);
	return 0;
}

static int build_clear_cache(struct context *ctx, bool dry_run, struct error *err)
{
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	const char *folder;

	if (dry_run) {
		command_print_script(ctx, "ringup build --clear\n");
		return 0;
	}
	if (build_clear(stage_cache_folder(&s), ctx->arena, &folder, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "removed", folder);
		json_print(stdout, json);
		return 0;
	}
	say("%s removed\n", folder);
	return 0;
}

static int build_run(struct context *ctx, void *values, const char *const *arguments,
		     struct error *err)
{
	const struct options *o = values;
	struct place place;
	struct stages s;

	(void)arguments;
	if (o->clear)
		return build_clear_cache(ctx, o->dry_run, err);
	if (o->output && place_parse(o->output, ctx->arena, &place, err) < 0)
		return -1;
	if (o->output && place.kind == PLACE_REGISTRY)
		return error_set(
			err, ERROR_USAGE,
			"build -o writes to oci:DIR or docker-archive:FILE; 'ringup push' sends the image to the registry");
	if (stage_cluster(&s, ctx, err) < 0)
		return -1;
	s.allow = o->allow;
	s.no_facts = o->no_facts;
	if (limits_of(&o->limits, &s.cluster, &s.limits, err) < 0 || stage_plan(&s, err) < 0 ||
	    stage_recipe(&s, err) < 0)
		return -1;
	return build_or_keep(&s, o, &place, err);
}

/* The engines in the order in which `auto` tries them. */
static void build_fill_engines(const char *name, struct str *out)
{
	(void)name;
	for (int rank = 0; rank <= BACKEND_RANK_MAX; rank++)
		for (const struct backend *const *b = backends; *b; b++)
			if ((*b)->rank == rank)
				str_addf(out, "%s%s", out->length ? ", " : "", (*b)->name);
}

const struct command command_build = {
	.name = "build",
	.arguments = "",
	.summary = "builds the image of the stack",
	.help = "Builds with the engine of cluster.yaml's `build`, or natively: without any daemon, by\n"
		"overlay mounts and crun or runc, as root or in a user namespace (see /etc/subuid).\n"
		"The base root filesystem is made first when it is missing. Nothing is built when the\n"
		"registry or the engine has an image of the same content. The same lock, base and files\n"
		"give the same digest again.\n\n"
		"A cluster of two processors has two images: the one that this machine, or HOST, has the\n"
		"processor of is built, and 'ringup push' and 'ringup up' send both as one index. '-o oci:DIR'\n"
		"writes that index with both; the image that is not built here has to be there already.\n\n"
		"With --on the context goes to HOST over SSH, an engine of HOST builds it (docker, podman or\n"
		"buildah), and the image comes back; nothing stays there. 'ringup push' sends it to the registry.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.fill = build_fill_engines,
	.run = build_run,
};
