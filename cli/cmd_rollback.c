/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_apply.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/bringup/bringup.h"
#include "deployer/records/history.h"
#include "plan/lock.h"
#include "registry-client/manifest.h"

#include <stdlib.h>
#include <string.h>

struct options {
	struct job_care care;
	struct words hosts;
	int rolling;
};

static const struct opt options[] = {
	ROLLING_OPTION(struct options, rolling),
	HOSTS_OPTION(struct options, hosts),
	JOB_CARE_OPTIONS(struct options, care),
	OPT_END,
};

/* What the history has of the state to go back to; text is "" where there is none. */
struct rollback {
	int number;
	const char *time, *image, *recipe;
	bool has_lock; /* there was a ringup.lock: the stack or the image is ringup's */
};

static int rollback_read(struct stages *s, const cJSON *document, struct rollback *r,
			 struct error *err)
{
	const cJSON *lock = json_member(document, "lock");
	const char *image = json_text(document, "image", s->arena);
	const char *recipe = json_text(document, "recipe", s->arena);
	const char *time = json_text(document, "time", s->arena);
	const char *accelerator = json_text(document, "accelerator", s->arena);

	*r = (struct rollback){.number = json_int(document, "number", 0),
			       .time = time ? time : "",
			       .image = image ? image : "",
			       .recipe = recipe ? recipe : "",
			       .has_lock = cJSON_GetArraySize(json_member(lock, "stack")) > 0 ||
					   (image && *image)};
	if (r->has_lock && plan_from_json(lock, s->arena, &s->plan, err) < 0)
		return error_wrap(err, "number %d of the history", r->number);
	if (!r->has_lock || !s->plan.count)
		s->plan.accelerator = accelerator ? accelerator : "cpu";
	return *r->image ? reference_parse(r->image, s->arena, &s->reference, err) : 0;
}

static int rollback_find(struct stages *s, const char *number, struct rollback *r,
			 struct error *err)
{
	_cleanup_(json_free) cJSON *documents = NULL;
	const cJSON *document;
	char *end = NULL;
	long wanted = number ? strtol(number, &end, 10) : 0;

	if (number && (*end || wanted < 1 || wanted > 999999))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a number of the history; 'ringup history' lists them",
				 number);
	if (history_read(&s->cluster, &documents, err) < 0 ||
	    history_find(documents, (int)wanted, &document, err) < 0)
		return -1;
	return rollback_read(s, document, r, err);
}

/* Whether the registry has the image; if not, *why says so. */
static bool rollback_in_registry(struct stages *s, struct error *why)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct descriptor manifest;
	bool found = false;

	if (stage_registry(s, NULL, &registry, why) < 0 ||
	    registry_head_manifest(registry, &s->reference, &manifest, &found, why) < 0)
		return false;
	if (!found)
		error_set(why, ERROR_FAILED, "the registry does not have it");
	return found;
}

struct rollback_look {
	const char *image;
	bool *there; /* by the members' indexes */
};

static int rollback_look_at(struct member *m, void *arg, struct error *err)
{
	struct rollback_look *look = arg;

	(void)err;
	look->there[m->index] = member_has_image(m, look->image);
	return 0;
}

static bool rollback_lacks(const struct member *m, const void *arg)
{
	const struct rollback_look *look = arg;

	return member_is_active(m) && !look->there[m->index];
}

/* Before anything is changed: every host has the image, or can get it. */
static int rollback_check_image(struct stages *s, const struct rollback *r, struct error *err)
{
	struct rollback_look look = {r->image, ARENA_ARRAY(s->arena, s->fleet.count, bool)};
	_cleanup_(str_release) struct str lacking = STR_INIT;
	struct error why = {0};

	if (!*r->image || rollback_in_registry(s, &why))
		return 0;
	if (interrupt_check(err) < 0)
		return -1;
	fleet_each(&s->fleet, rollback_look_at, &look);
	if (fleet_add_names(&s->fleet, rollback_lacks, &look, &lacking))
		return error_set(
			err, ERROR_FAILED,
			"the image of number %d, %s, cannot be had: %s; and it is not on %s; nothing was changed",
			r->number, r->image, why.text, lacking.text);
	log_warn("%s; the hosts have the image", why.text);
	return 0;
}

/* cluster.yaml is the person's own file and stays; what it asks for beside the stack may be newer. */
static void rollback_note_recipe(struct stages *s, const struct rollback *r)
{
	struct error ignored = {0};

	if (!*r->recipe || stage_catalog(s, &ignored) < 0 || stage_recipe(s, &ignored) < 0 ||
	    strcmp(s->recipe, r->recipe) == 0)
		return;
	log_warn(
		"%s describes another image than this one: the next 'ringup up' brings that; put the file back, too, if you want to stay",
		s->cluster.path);
}

static int rollback_apply(struct stages *s, const struct rollback *r, int rolling,
			  struct error *err)
{
	const struct apply apply = {
		.command = arena_printf(s->arena, "rollback to %d", r->number),
		.recipe = r->recipe,
		.rolling = rolling,
	};

	if (fleet_failures(&s->fleet) == fleet_asked(&s->fleet))
		return fleet_result(&s->fleet, err);
	if (stage_check_gpus(s, err) < 0 || rollback_check_image(s, r, err) < 0)
		return -1;
	log_info("  %-20s number %d of %s: %s", "back to", r->number, r->time,
		 *r->image ? r->image : "the stack of the hosts");
	if (r->has_lock && lock_write(stage_lock_path(s), &s->plan, *r->recipe ? r->recipe : NULL,
				      *r->image ? r->image : NULL, err) < 0)
		return -1;
	return stage_apply(s, &apply, err);
}

static int rollback_run(struct context *ctx, void *values, const char *const *arguments,
			struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin = clock_usec();
	struct rollback r = {0};
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_ask_only(&s, &o->hosts, NULL, err) < 0 ||
	    stage_hold_idle(&s, &o->care, &lock, err) < 0 ||
	    rollback_find(&s, arguments[0], &r, err) < 0)
		return -1;
	rc = stage_meet_hosts(&s, false, err);
	if (rc == 0)
		rc = rollback_apply(&s, &r, o->rolling, err);
	stage_print_outcome(&s, begin, rc, err);
	if (rc == 0)
		rollback_note_recipe(&s, &r);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_rollback = {
	.name = "rollback",
	.arguments = "[NUMBER]",
	.summary = "brings back the image and ringup.lock of an earlier 'up'",
	.help = "Without a NUMBER, it goes back to the newest 'up' or 'rollback' that ended well with another image\n"
		"or stack than the last one; 'ringup history' has the numbers. The image is taken by its digest:\n"
		"when neither the registry nor the hosts have it, nothing is changed. cluster.yaml stays as it is,\n"
		"so its settings of containers hold. With --hosts only these hosts go back: the others keep what they\n"
		"have until the next 'rollback' or 'up', and 'ringup status' names them.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = 1,
	.run = rollback_run,
};
