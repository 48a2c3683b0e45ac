/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/limits.h"
#include "cli/app/stage_apply.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"

struct options {
	bool dry_run, take_over, force;
	struct words allow;
	struct limit_options limits;
};

static const struct opt options[] = {
	{0, "dry-run", NULL, "print what would be done, as commands a person could paste", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	{0, "take-over", NULL, "replace what somebody else started under this name on the hosts",
	 OPT_FLAG, offsetof(struct options, take_over)},
	{0, "force", NULL, "also while a job runs on the cluster", OPT_FLAG,
	 offsetof(struct options, force)},
	ALLOW_OPTION(struct options, allow),
	LIMIT_OPTIONS(struct options, limits),
	OPT_END,
};

static void up_print_stack(const struct stages *s)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	for (size_t i = 0; i < s->plan.count; i++)
		str_addf(&line, "%s%s %s", i ? ", " : "", s->plan.choices[i].name,
			 s->plan.choices[i].version);
	log_info("  %-20s %s (%s)", "stack", line.text, s->plan.accelerator);
}

static int up_converge(struct stages *s, struct error *err)
{
	struct apply apply = {.command = "up"};
	bool is_new = false;

	if (fleet_failures(&s->fleet) == s->fleet.count)
		return fleet_result(&s->fleet, err);
	if (stage_plan(s, err) < 0)
		return -1;
	up_print_stack(s);
	if (stage_check_gpus(s, err) < 0)
		return -1;
	if (stage_has_containers(s)) {
		if (stage_provide_or_recall(s, &is_new, err) < 0)
			return -1;
	} else {
		log_info(
			"  %-20s engine: none, so the hosts' own stack is used and no image is built",
			"image");
	}
	if (stage_lock(s, err) < 0)
		return -1;
	apply.image_is_new = is_new;
	return stage_apply(s, &apply, err);
}

/* The image's part of a dry run; there is nothing to do when the registry has it. */
static int image_commands(struct stages *s, struct str *out, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct build_options build = {.cache_folder = stage_cache_folder(s)};
	bool found = false;

	if (stage_find_or_recall(s, &registry, &found, err) < 0)
		return -1;
	if (found) {
		str_addf(out, "# here: nothing to do, the image is %s\n",
			 reference_text(&s->reference, s->arena));
		return 0;
	}
	str_add(out, "# here: the image\n");
	if (build_commands(&s->cluster, s->spec, &build, s->arena, out, err) < 0)
		return -1;
	str_addf(out, "ringup -f %s push", s->cluster.path);
	for (size_t i = 0; i < s->allow.count; i++)
		str_addf(out, " --allow %s", s->allow.list[i]);
	str_add(out, "\n");
	return 0;
}

static int up_print_commands(struct stages *s, struct error *err)
{
	struct bringup bringup;
	_cleanup_(str_release) struct str out = STR_INIT;

	if (fleet_failures(&s->fleet) == s->fleet.count)
		return fleet_result(&s->fleet, err);
	if (stage_plan(s, err) < 0 || stage_check_gpus(s, err) < 0 ||
	    (stage_has_containers(s) && image_commands(s, &out, err) < 0) ||
	    stage_bringup(s, &bringup, err) < 0)
		return -1;
	if (stage_has_containers(s)) /* by tag while there is no digest yet */
		bringup.image = reference_text(&s->reference, s->arena);
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed &&
		    bringup_commands(&s->fleet.members[i], &bringup, &out, err) < 0)
			return -1;
	keys_wipe(&bringup.keys);
	command_print_script(s->ctx, out.text);
	return fleet_result(&s->fleet, err);
}

static int up_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin = clock_usec();
	struct stages s;
	int rc;

	(void)arguments;
	if (stage_cluster(&s, ctx, err) < 0 ||
	    limits_of(&o->limits, &s.cluster, &s.limits, err) < 0 ||
	    stage_check_jobs(&s, err) < 0 ||
	    (!o->force && !o->dry_run && stage_no_jobs(&s, err) < 0) ||
	    stage_hold(&s, &lock, err) < 0)
		return -1;
	s.allow = o->allow;
	rc = stage_meet_hosts(&s, o->take_over, err);
	if (rc == 0) {
		rc = o->dry_run ? up_print_commands(&s, err) : up_converge(&s, err);
		if (!o->dry_run && (rc == 0 || err->kind == ERROR_PARTIAL || ctx->json))
			stage_print_outcome(&s, begin);
	}
	log_debug("%u SSH connections opened", ssh_connections_opened());
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_up = {
	.name = "up",
	.arguments = "",
	.summary = "brings the cluster up: resolve, build, push, deploy, verify",
	.help = "Each host is compared with what is wanted, and only what differs is changed: a second run\n"
		"changes nothing, and the next run continues an interrupted one. When a host fails, the others\n"
		"are finished all the same; the exit status is 4 then.\n"
		"A cluster of the same name that somebody else started on a host is left alone: ringup says who\n"
		"started it, when and from where. --take-over makes it yours.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.run = up_run,
};
