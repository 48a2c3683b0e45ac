/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_plan.h"

#include "cli/app/catalog_age.h"
#include "cli/app/stage_facts.h"

#include "core/file.h"
#include "core/log.h"
#include "core/words.h"
#include "plan/lock.h"
#include "resolver/allow.h"
#include "resolver/matrix/matrix.h"
#include "resolver/matrix/matrix_check.h"
#include "resolver/os_find.h"
#include "resolver/platforms.h"
#include "resolver/unsatisfied.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* $XDG_DATA_HOME/ringup/catalog or ~/.local/share/ringup/catalog: rows of the user's own. */
static const char *user_catalog(struct stages *s)
{
	const char *data = path_from_environment("XDG_DATA_HOME");

	if (data)
		return arena_printf(s->arena, "%s/ringup/catalog", data);
	return path_expand(s->arena, NULL, "~/.local/share/ringup/catalog");
}

static bool stage_plan_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A cell that cannot be read would admit everything: rows of the user's own are looked at first. */
static int check_own_rows(struct stages *s, struct error *err)
{
	struct matrix_report report;

	if (!s->catalog.has_overlay)
		return 0;
	matrix_check(&s->catalog, s->arena, &report);
	for (size_t i = 0; i < report.count; i++)
		if (!starts_with(report.findings[i].file, s->catalog.folder))
			return error_set(err, ERROR_USAGE, "%s:%zu: %s", report.findings[i].file,
					 report.findings[i].line, report.findings[i].text);
	return 0;
}

int stage_catalog_folders(struct stages *s, struct words *folders, struct error *err)
{
	const char *environment = getenv("RINGUP_CATALOG"), *installed;

	if (s->ctx->catalog && !stage_plan_is_folder(s->ctx->catalog))
		return error_set(err, ERROR_USAGE, "--catalog: there is no folder %s",
				 s->ctx->catalog);
	if (s->ctx->catalog)
		words_add(folders, s->ctx->catalog);
	if (environment && *environment && !stage_plan_is_folder(environment))
		return error_set(err, ERROR_USAGE, "RINGUP_CATALOG: there is no folder %s",
				 environment);
	if (environment && *environment)
		words_add(folders, environment);
	words_add(folders, user_catalog(s));
	if (share_path(s->arena, "recipes/catalog", &installed, err) < 0)
		return -1;
	words_add(folders, installed);
	return 0;
}

int stage_catalog(struct stages *s, struct error *err)
{
	struct words folders = WORDS_INIT(s->arena);

	if (stage_catalog_folders(s, &folders, err) < 0 ||
	    catalog_load_path(folders.list, s->arena, &s->catalog, err) < 0 ||
	    check_own_rows(s, err) < 0)
		return -1;
	catalog_age_warn(&s->catalog);
	return 0;
}

/* The ids of --allow and of the cluster file, each once. */
static const char *const *stage_allowed(struct stages *s)
{
	struct words ids = WORDS_INIT(s->arena);

	for (size_t i = 0; i < s->allow.count; i++)
		if (!allow_names(words_list(&ids), s->allow.list[i]))
			words_add(&ids, s->allow.list[i]);
	for (const char *const *id = s->cluster.allow; id && *id; id++)
		if (!allow_names(words_list(&ids), *id))
			words_add(&ids, *id);
	return words_list(&ids);
}

/* What the person has overruled is said each time that the stack is used. */
static void warn_overruled(const struct plan *plan)
{
	for (size_t i = 0; i < plan->overruled_count; i++) {
		const struct overruled *rule = &plan->overruled[i];

		log_warn("--allow %s: %s%s%s%s", rule->id, rule->because, *rule->source ? " [" : "",
			 rule->source, *rule->source ? "]" : "");
	}
}

void stage_note_unused(const struct stages *s)
{
	for (size_t i = 0; i < s->plan.allow_count; i++)
		if (!plan_breaks(&s->plan, s->plan.allow[i]))
			log_warn("--allow %s: this stack does not break that rule",
				 s->plan.allow[i]);
}

void stage_print_notes(const struct stages *s)
{
	for (size_t i = 0; i < s->plan.note_count; i++)
		log_warn("%s", s->plan.notes[i]);
}

/*
 * The warning about Docker's small /dev/shm says nothing to people whose containers get a larger one
 * from container.shm_size, as all do by default. It asks for 1 GB.
 */
static const char *const *stage_plan_met(const struct stages *s)
{
	static const char *const large_shm[] = {"nccl-shared-memory", NULL};
	uint64_t bytes = 0;

	if (!parse_bytes(s->cluster.container.shm_size, &bytes))
		return NULL;
	return bytes >= GIB ? large_shm : NULL;
}

/* image.platforms, or else the processors that the cluster file names for all hosts; or NULL. */
static const char *const *stage_plan_platforms(const struct stages *s)
{
	struct words platforms = WORDS_INIT(s->arena);

	if (s->cluster.image.platforms && *s->cluster.image.platforms)
		return s->cluster.image.platforms;
	for (size_t i = 0; i < s->cluster.host_count; i++) {
		const char *arch = arch_by_name(s->cluster.hosts[i].arch);

		if (!arch)
			return NULL;
		words_addf(&platforms, "linux/%s", arch_of_image(arch));
	}
	return platforms.count ? words_list(&platforms) : NULL;
}

/* --- the stack of bare hosts ----------------------------------------------------------------- */

/* Whether one of the requests names an OS. */
static bool stage_plan_names_os(const struct stages *s, const char *const *requests)
{
	struct error ignored = {0};
	struct requirement req;

	for (; *requests; requests++)
		if (requirement_parse(*requests, s->arena, &req, &ignored) == 0 &&
		    strcmp(req.name, "os") == 0)
			return true;
	return false;
}

/* The catalog's name of the host's OS, or the host's own where the catalog has none. */
static const char *stage_plan_os(const struct stages *s, const struct facts *facts)
{
	const char *os = os_of_host(&s->catalog, facts->os);

	return os ? os : facts->os;
}

/* The hosts are of several OSes: each with those that have it. */
static int stage_plan_refuse_mix(struct stages *s, const struct resolve_input *input,
				 struct error *err)
{
	s->why = (struct unsatisfied){.nothing = "with engine: none it is for the hosts' own OS, "
						 "and they have several"};
	for (size_t i = 0; i < input->fact_count; i++) {
		const char *os = stage_plan_os(s, &input->facts[i]);
		struct group *group = s->why.groups;

		while (group < s->why.groups + s->why.group_count && strcmp(group->stack, os) != 0)
			group++;
		if (group == s->why.groups + CONFLICTS_MAX || !*os)
			continue;
		if (group == s->why.groups + s->why.group_count) {
			s->why.group_count++;
			*group = (struct group){input->facts[i].host, os};
		} else {
			group->members = arena_printf(s->arena, "%s, %s", group->members,
						      input->facts[i].host);
		}
	}
	return unsatisfied_say(&s->why, s->arena, err);
}

static bool stage_plan_has_stack(struct stages *s, const struct resolve_input *input,
				 struct error *err)
{
	struct unsatisfied why;
	struct plan plan;

	return resolve_platforms(&s->catalog, input, s->arena, &plan, &why, err) == 0;
}

/* Adds the request for the OS. Where no stack is for it, the hosts get the one of another OS, with a warning. */
static void stage_plan_ask_os(struct stages *s, struct resolve_input *input, const char *os)
{
	struct words requests = WORDS_INIT(s->arena);
	struct resolve_input with = *input;
	struct error err = {0}, ignored = {0};

	words_add_all(&requests, input->requests);
	words_addf(&requests, "os==%s", os);
	with.requests = words_list(&requests);
	if (stage_plan_has_stack(s, &with, &err))
		*input = with;
	else if (stage_plan_has_stack(s, input, &ignored))
		log_warn("the stack is not for the hosts' own OS: %s", err.text);
}

#define SUITED_OS_MAX 64

/*
 * The names in image.apt are those of packages of Debian and Ubuntu, and those in image.yum of the others: an OS that has none of them is
 * left out, as long as a stack is left.
 */
static void stage_plan_suit_packages(struct stages *s, struct resolve_input *input)
{
	bool apt = s->cluster.image.apt[0], yum = s->cluster.image.yum[0];
	struct words requests = WORDS_INIT(s->arena);
	struct resolve_input with = *input;

	if (apt == yum)
		return;
	words_add_all(&requests, input->requests);
	for (int tries = 0; tries < SUITED_OS_MAX; tries++) {
		const struct choice *os;
		struct unsatisfied why;
		struct error ignored = {0};
		struct plan plan;
		const char *manager;

		with.requests = words_list(&requests);
		if (resolve_platforms(&s->catalog, &with, s->arena, &plan, &why, &ignored) < 0)
			return;
		os = plan_choice(&plan, "os");
		manager =
			os ? catalog_named(&s->catalog, "os", os->version, "package_manager") : "";
		if (!os || strcmp(catalog_named(&s->catalog, "package_manager", manager, "list"),
				  apt ? "apt" : "yum") == 0) {
			*input = with;
			return;
		}
		words_addf(&requests, "os!=%s", os->version);
	}
}

/*
 * Where no request names an OS: with engine: none nothing but the hosts' own can hold the stack, and it becomes the last of the
 * requests. Otherwise it is one for which the cluster file's packages have names.
 */
static int stage_plan_add_os(struct stages *s, struct resolve_input *input, struct error *err)
{
	const struct facts *first = NULL;

	if (stage_plan_names_os(s, input->requests))
		return 0;
	if (strcmp(s->cluster.container.engine, "none") != 0) {
		stage_plan_suit_packages(s, input);
		return 0;
	}
	for (size_t i = 0; i < input->fact_count; i++) {
		const struct facts *facts = &input->facts[i];

		if (!*facts->os)
			continue;
		if (!first)
			first = facts;
		if (strcmp(stage_plan_os(s, first), stage_plan_os(s, facts)) != 0)
			return stage_plan_refuse_mix(s, input, err);
	}
	if (!first)
		return 0;
	if (!os_of_host(&s->catalog, first->os)) {
		error_set(
			err, ERROR_UNSATISFIED,
			"with engine: none the stack is for the hosts' own OS, and the catalog has none for %s (host %s)",
			first->os, first->host);
		return error_advise(
			err,
			"'stack: []' uses what the hosts have; os==NAME in `stack` names an OS of 'ringup matrix os' that is near enough");
	}
	stage_plan_ask_os(s, input, stage_plan_os(s, first));
	return 0;
}

/* The lock has the requests of a person: another host may have another OS tomorrow. */
static void stage_plan_drop_os(struct stages *s, size_t added)
{
	struct plan *other;

	s->plan.request_count -= added;
	if (!s->plan.other)
		return;
	other = ARENA_NEW(s->arena, struct plan);
	*other = *s->plan.other;
	other->request_count -= added;
	s->plan.other = other;
}

static size_t stage_plan_count(const char *const *requests)
{
	size_t count = 0;

	while (requests[count])
		count++;
	return count;
}

/* --------------------------------------------------------------------------------------------- */

/* What is asked for: the words of the command line or the cluster file's, and the fleet's facts. */
static void fill_input(struct stages *s, const char *const *requests, struct resolve_input *input)
{
	static const char *const nothing[] = {NULL};
	struct facts *facts;

	*input = (struct resolve_input){
		.requests = requests	       ? requests
			    : s->cluster.stack ? s->cluster.stack
					       : nothing,
		.accelerator = s->cluster.accelerator ? s->cluster.accelerator : "auto",
		.arch = s->arch,
		.platforms = requests ? NULL : stage_plan_platforms(s),
		.kept_arch = s->kept_arch,
		.base = s->cluster.image.base,
		.oldest = s->oldest,
		.keep = s->keep,
		.move = s->move,
		.allow = stage_allowed(s),
		.met = stage_plan_met(s),
	};
	if (!s->fleet.count)
		return;
	facts = ARENA_ARRAY(s->arena, s->fleet.count, struct facts);
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed && s->fleet.members[i].facts.host)
			facts[input->fact_count++] = s->fleet.members[i].facts;
	input->facts = facts;
}

static int name_file(const struct stages *s, const char *const *requests, struct error *err)
{
	bool allow = starts_with(err->text, "allow:");

	if (allow && err->kind == ERROR_USAGE && s->cluster.path && !s->allow.count)
		return error_wrap(err, "%s", s->cluster.path);
	if (!allow && !requests && err->kind == ERROR_USAGE && s->cluster.path)
		return error_wrap(err, "%s: stack", s->cluster.path);
	return -1;
}

/*
 * The facts of the last probe count where the hosts were not asked. A question that names drivers or GPUs is
 * about other hosts than the cluster's.
 */
static int stage_plan_find_facts(struct stages *s, const char *const *requests, struct error *err)
{
	for (; requests && *requests; requests++) {
		size_t length = strcspn(*requests, " =<>!~");

		if ((length == 3 && starts_with(*requests, "gpu")) ||
		    (length == 6 && starts_with(*requests, "driver")))
			return 0;
	}
	return stage_facts_on_file(s, err);
}

const char *stage_plan_accelerator(const struct stages *s)
{
	if (strcmp(s->cluster.accelerator, "auto") != 0)
		return s->cluster.accelerator;
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed && s->fleet.members[i].facts.host &&
		    *s->fleet.members[i].facts.driver)
			return "cuda";
	return "cpu";
}

/* An image without a stack is for the processors of image.platforms, or for no certain one. */
static void stage_plan_empty(struct stages *s)
{
	const char *const *platform = stage_plan_platforms(s);
	struct plan *other = ARENA_NEW(s->arena, struct plan);
	bool has[2] = {false, false};

	s->plan.accelerator = stage_plan_accelerator(s);
	for (; platform && *platform; platform++)
		has[strcmp(arch_of_platform(*platform), ARCH_DEFAULT) != 0] = true;
	*other = s->plan;
	other->arch = "aarch64";
	if (has[0] && has[1])
		s->plan.other = other;
	else if (has[1])
		s->plan = *other;
}

int stage_resolve(struct stages *s, const char *const *requests, struct error *err)
{
	struct resolve_input input;
	size_t asked;

	if (stage_catalog(s, err) < 0 || stage_plan_find_facts(s, requests, err) < 0)
		return -1;
	if (!requests && s->cluster.stack && cluster_has_no_stack(&s->cluster)) {
		stage_plan_empty(s);
		return 0;
	}
	fill_input(s, requests, &input);
	asked = stage_plan_count(input.requests);
	if (stage_plan_add_os(s, &input, err) < 0)
		return -1;
	if (resolve_platforms(&s->catalog, &input, s->arena, &s->plan, &s->why, err) < 0)
		return name_file(s, requests, err);
	stage_plan_drop_os(s, stage_plan_count(input.requests) - asked);
	warn_overruled(&s->plan);
	return 0;
}

int stage_resolve_all(struct stages *s, const char *const *requests, size_t limit,
		      bool (*each)(const struct plan *plan, void *arg), void *arg,
		      struct error *err)
{
	struct resolve_input input;

	if (stage_catalog(s, err) < 0 || stage_plan_find_facts(s, requests, err) < 0)
		return -1;
	fill_input(s, requests, &input);
	if (stage_plan_add_os(s, &input, err) < 0)
		return -1;
	if (resolve_all(&s->catalog, &input, limit, each, arg, s->arena, &s->why, err) < 0)
		return name_file(s, requests, err);
	return 0;
}

const char *stage_lock_path(struct stages *s)
{
	const char *folder =
		s->cluster.folder ? s->cluster.folder : path_folder(s->arena, s->ctx->cluster_path);

	return arena_printf(s->arena, "%s/ringup.lock", folder);
}

/* Of a lock for two processors --arch takes one. */
static void stage_plan_choose(struct stages *s)
{
	const char *arch = s->arch ? arch_by_name(s->arch) : NULL;

	if (arch && s->plan.other && strcmp(arch, plan_arch(s->plan.other)) == 0)
		s->plan = *s->plan.other;
	else if (arch)
		s->plan.other = NULL;
}

int stage_plan(struct stages *s, struct error *err)
{
	const char *path = stage_lock_path(s);
	struct resolve_input input;
	struct lock lock;
	bool found;

	if (stage_facts_on_file(s, err) < 0)
		return -1;
	if (s->cluster.stack && cluster_has_no_stack(&s->cluster)) {
		stage_plan_empty(s);
		return stage_catalog(s, err);
	}
	if (lock_read(path, s->arena, &lock, &found, err) < 0)
		return -1;
	if (!found) {
		if (stage_resolve(s, NULL, err) < 0)
			return -1;
		stage_note_unused(s);
		return 0;
	}
	fill_input(s, NULL, &input);
	if (lock_match(&lock, path, input.requests, input.allow, input.accelerator, err) < 0 ||
	    stage_catalog(s, err) < 0 || stage_plan_add_os(s, &input, err) < 0)
		return -1;
	if (platforms_check(&s->catalog, &input, &lock.plan, s->arena, &s->why, err) < 0) {
		name_file(s, NULL, err);
		error_wrap(err, "%s is locked to a stack that does not fit any more", path);
		return error_advise(err, "'ringup resolve --update' looks for another");
	}
	s->plan = lock.plan;
	stage_plan_choose(s);
	for (s->plan.allow_count = 0; input.allow[s->plan.allow_count]; s->plan.allow_count++)
		s->plan.allow[s->plan.allow_count] = input.allow[s->plan.allow_count];
	warn_overruled(&s->plan);
	stage_note_unused(s);
	return 0;
}

const char *stage_misfit(struct stages *s, const struct facts *facts, size_t count)
{
	struct resolve_input input;
	struct error err = {0};
	struct lock lock;
	bool found;

	if (lock_read(stage_lock_path(s), s->arena, &lock, &found, &err) < 0 || !found ||
	    stage_catalog(s, &err) < 0)
		return "";
	fill_input(s, NULL, &input);
	input.facts = facts;
	input.fact_count = count;
	if (platforms_check(&s->catalog, &input, &lock.plan, s->arena, &s->why, &err) == 0 ||
	    err.kind != ERROR_UNSATISFIED)
		return "";
	return arena_strdup(s->arena, err.text);
}

int stage_lock(struct stages *s, struct error *err)
{
	const char *path = stage_lock_path(s), *recipe = NULL, *image = NULL;
	struct error ignored = {0};
	struct lock old;
	bool found;

	/* the image of a stack that did not move is still the image */
	if (lock_read(path, s->arena, &old, &found, &ignored) == 0 && found &&
	    lock_is_same(&old.plan, &s->plan)) {
		recipe = *old.recipe ? old.recipe : NULL;
		image = *old.image ? old.image : NULL;
	}
	if (s->spec)
		recipe = s->recipe;
	if (s->reference.digest)
		image = reference_text(&s->reference, s->arena);
	return lock_write(path, &s->plan, recipe, image, err);
}
