/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_pin.h"

#include "builder/recipe/pinning.h"
#include "builder/recipe/recipe.h"
#include "cli/app/place_rootfs.h"
#include "cli/app/stage_build.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/temporary.h"

#include <string.h>

#define ANSWER_BYTES_MAX MIB

static void stage_pin_add(struct pin_list *pins, const char *name, const char *value)
{
	pins->list[pins->count++] = (struct pin){name, value};
}

/* The version of a line "NAME VERSION" of the answer, or "". */
static const char *answer_of(const char *answer, const char *name, struct arena *arena)
{
	size_t length = strlen(name);

	for (; *answer; answer += *answer == '\n') {
		size_t line = strcspn(answer, "\n");
		const char *version = answer + length + 1;

		if (line > length + 1 && answer[length] == ' ' &&
		    strncmp(answer, name, length) == 0)
			return arena_strndup(arena, version, line - length - 1);
		answer += line;
	}
	return "";
}

/* The file that the question's image has. */
static int read_answer(struct stages *s, const struct image *image, const char *scratch,
		       char **answer, struct error *err)
{
	const char *export = arena_printf(s->arena, "%s/image", scratch);
	struct place place = {.path = arena_printf(s->arena, "%s/root", scratch),
			      .limits = &s->limits};
	struct place_image from = {0};

	if (image_export(image, export, s->arena, &from.layout, &from.manifest, err) < 0 ||
	    place_unpack(&place, &from, s->arena, err) < 0)
		return -1;
	return file_read(arena_printf(s->arena, "%s/" PACKAGES_ANSWER, place.path),
			 ANSWER_BYTES_MAX, s->arena, answer, NULL, err);
}

static int take_answer(struct stages *s, const struct image *image, char **answer,
		       struct error *err)
{
	const char *beside = arena_printf(s->arena, "%s/answer", stage_cache_folder(s)), *scratch;
	_cleanup_(fd_close) int fd =
		temporary_make(beside, TEMPORARY_FOLDER, s->arena, &scratch, err);
	int rc;

	if (fd < 0)
		return -1;
	rc = read_answer(s, image, scratch, answer, err);
	return folder_remove(scratch, rc < 0 ? &(struct error){0} : err) < 0 ? -1 : rc;
}

/* Builds the question's image, reads the answer out of it, and lets it go. */
static int ask_packages(struct stages *s, const struct words *names, char **answer,
			struct error *err)
{
	struct cluster cluster = s->cluster;
	struct build_options options;
	struct image image;
	struct spec spec;
	int rc;

	cluster.image.name = "packages"; /* so that progress says what is built */
	stage_build_options(s, s->spec, &options);
	if (recipe_render_question(&cluster, &s->plan, &s->catalog, names->list, s->arena, &spec,
				   err) < 0 ||
	    build_image(&cluster, &spec, &options, s->arena, &image, err) < 0)
		return -1;
	rc = take_answer(s, &image, answer, err);
	if (rc == 0 && image.backend && image.backend->forget)
		rc = image.backend->forget(image.backend, &image.target, image.name, "", err);
	return rc;
}

static int pin_packages(struct stages *s, struct error *err)
{
	struct words names = WORDS_INIT(s->arena), none = WORDS_INIT(s->arena);
	struct pin_list *pins = &s->plan.pinned.packages;
	char *answer;

	pinning_packages(s->spec->dockerfile, catalog_table(&s->catalog, "package_manager"),
			 &names);
	pins->list = ARENA_ARRAY(s->arena, names.count + 1, struct pin);
	if (!names.count)
		return 0;
	if (names.count > PINNED_MAX)
		return error_set(err, ERROR_FAILED, "the recipe names more than %d packages",
				 PINNED_MAX);
	if (ask_packages(s, &names, &answer, err) < 0)
		return error_wrap(err, "versions of packages");
	for (size_t i = 0; i < names.count; i++) {
		const char *version = answer_of(answer, names.list[i], s->arena);

		if (*version && !pin_is_version(version))
			return error_set(err, ERROR_FAILED,
					 "the package manager of %s says '%s' is the version of %s",
					 s->spec->os, version, names.list[i]);
		if (!*version)
			words_add(&none, names.list[i]);
		stage_pin_add(pins, names.list[i], version);
	}
	if (none.count == names.count)
		return error_set(
			err, ERROR_FAILED,
			"the package manager of %s knows none of the %zu packages that the recipe names; -v shows what it says",
			s->spec->os, names.count);
	if (none.count)
		log_warn("the archives of %s have no version of: %s", s->spec->os,
			 words_join(&none, ", "));
	return 0;
}

static int pin_images(struct stages *s, struct error *err)
{
	struct words names = WORDS_INIT(s->arena);
	struct pin_list *pins = &s->plan.pinned.images;

	pinning_images(s->spec->dockerfile, &names);
	pins->list = ARENA_ARRAY(s->arena, names.count + 1, struct pin);
	for (size_t i = 0; i < names.count; i++) {
		struct descriptor manifest;

		if (stage_digest(s, names.list[i], &manifest, err) < 0)
			return error_wrap(err, "digest of %s", names.list[i]);
		stage_pin_add(pins, names.list[i], arena_strdup(s->arena, manifest.digest));
	}
	return 0;
}

/* Pins s->plan, which is for one processor. */
static int stage_pin_plan(struct stages *s, struct error *err)
{
	char *at = ARENA_ARRAY(s->arena, 24, char);

	s->plan.pinned = (struct pinned){0};
	if (stage_recipe(s, err) < 0)
		return -1;
	clock_iso8601(at);
	s->plan.pinned.at = at;
	if (pin_packages(s, err) < 0 || pin_images(s, err) < 0) {
		s->plan.pinned = (struct pinned){0};
		return -1;
	}
	return 0;
}

/* Of a stack for two processors, the plan whose archives this machine can ask. */
static int stage_pin_one(struct stages *s, struct error *err)
{
	struct plan *other = ARENA_NEW(s->arena, struct plan);
	struct stages own = *s;
	bool is_first, fits;

	*other = *s->plan.other;
	if (stage_recipe(s, err) < 0 || build_fits(s->spec, NULL, s->arena, &is_first, err) < 0 ||
	    build_fits(s->other_spec, NULL, s->arena, &fits, err) < 0)
		return -1;
	if (!is_first && !fits)
		return error_set(
			err, ERROR_FAILED,
			"this machine is neither %s nor %s, and a package manager answers on a machine of its processor",
			plan_arch(&s->plan), plan_arch(other));
	own.plan = is_first ? s->plan : *other;
	own.plan.other = NULL;
	if (stage_pin_plan(&own, err) < 0)
		return error_wrap(err, "for %s", plan_arch(&own.plan));
	*(is_first ? &s->plan.pinned : &other->pinned) = own.plan.pinned;
	s->plan.other = other;
	log_info(
		"pinned for %s; 'ringup resolve --pin' with the same ringup.lock pins %s on a machine of that processor%s",
		plan_arch(&own.plan), plan_arch(is_first ? other : &s->plan),
		(is_first ? other : &s->plan)->pinned.at ? ", what is pinned for it stays" : "");
	return 0;
}

int stage_pin(struct stages *s, struct error *err)
{
	int rc;

	if (s->cluster.stack && cluster_has_no_stack(&s->cluster))
		return error_set(
			err, ERROR_USAGE,
			"%s: a stack of nothing has no packages to pin; name a base by its digest as image.base",
			s->cluster.path);
	rc = s->plan.other ? stage_pin_one(s, err) : stage_pin_plan(s, err);
	s->spec = NULL; /* it was rendered without them */
	return rc;
}
