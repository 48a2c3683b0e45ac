/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/limits.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"
#include "cli/app/stage_simulated.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/claim.h"
#include "deployer/gpus.h"
#include "deployer/probe.h"

struct options {
	bool dry_run, take_over, force;
	struct words allow, hosts;
	struct limit_options limits;
};

static const struct opt options[] = {
	{0, "dry-run", NULL, "print what would be done, as commands a person could paste", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	{0, "take-over", NULL, "replace what somebody else started under this name on the hosts",
	 OPT_FLAG, offsetof(struct options, take_over)},
	{0, "force", NULL, "also while a job runs on the cluster", OPT_FLAG,
	 offsetof(struct options, force)},
	HOSTS_OPTION(struct options, hosts),
	ALLOW_OPTION(struct options, allow),
	LIMIT_OPTIONS(struct options, limits),
	OPT_END,
};

/* The image in the registry. */
static int provide_image(struct stages *s, bool *is_new, struct error *err)
{
	if (stage_provide(s, NULL, is_new, err) < 0)
		return -1;
	if (!*is_new)
		log_info("  %-20s %s is in the registry", "image",
			 reference_text(&s->reference, s->arena));
	return 0;
}

static bool has_containers(const struct stages *s)
{
	return s->fleet.members[0].engine->has_containers;
}

static void up_print_stack(const struct stages *s)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	for (size_t i = 0; i < s->plan.count; i++)
		str_addf(&line, "%s%s %s", i ? ", " : "", s->plan.choices[i].name,
			 s->plan.choices[i].version);
	log_info("  %-20s %s (%s)", "stack", line.text, s->plan.accelerator);
}

/* Hosts that cannot give their GPUs fail here, before the image is built; the others go on. */
static int up_check_gpus(struct stages *s, struct error *err)
{
	fleet_check_gpus(&s->fleet, s->plan.accelerator);
	return fleet_failures(&s->fleet) == fleet_asked(&s->fleet) ? fleet_result(&s->fleet, err)
								   : 0;
}

static int up_converge(struct stages *s, struct error *err)
{
	struct bringup bringup;
	bool is_new = false;

	if (fleet_failures(&s->fleet) == fleet_asked(&s->fleet))
		return fleet_result(&s->fleet, err);
	if (stage_plan(s, err) < 0)
		return -1;
	up_print_stack(s);
	if (up_check_gpus(s, err) < 0)
		return -1;
	if (has_containers(s)) {
		if (provide_image(s, &is_new, err) < 0)
			return -1;
	} else {
		log_info(
			"  %-20s engine: none, so the hosts' own stack is used and no image is built",
			"image");
	}
	if (stage_lock(s, err) < 0 || stage_bringup(s, &bringup, err) < 0)
		return -1;
	bringup.image_is_new = is_new;
	fleet_bringup(&s->fleet, &bringup);
	keys_wipe(&bringup.keys);
	return fleet_result(&s->fleet, err);
}

/* The image's part of a dry run; there is nothing to do when the registry has it. */
static int image_commands(struct stages *s, struct str *out, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct build_options build = {.cache_folder = stage_cache_folder(s)};
	bool found = false;

	if (stage_recipe(s, err) < 0 || stage_reference(s, err) < 0 ||
	    stage_registry(s, NULL, &registry, err) < 0 ||
	    stage_find_image(s, registry, &found, err) < 0)
		return -1;
	if (found) {
		str_addf(out, "# here: nothing to do, %s is in the registry\n",
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

	if (fleet_failures(&s->fleet) == fleet_asked(&s->fleet))
		return fleet_result(&s->fleet, err);
	if (stage_plan(s, err) < 0 || up_check_gpus(s, err) < 0 ||
	    (has_containers(s) && image_commands(s, &out, err) < 0) ||
	    stage_bringup(s, &bringup, err) < 0)
		return -1;
	if (has_containers(s)) /* by tag while there is no digest yet */
		bringup.image = reference_text(&s->reference, s->arena);
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed && !s->fleet.members[i].left_out &&
		    bringup_commands(&s->fleet.members[i], &bringup, &out, err) < 0)
			return -1;
	keys_wipe(&bringup.keys);
	command_print_script(s->ctx, out.text);
	return fleet_result(&s->fleet, err);
}

static void add_json(const struct stages *s)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		cJSON *item;

		if (m->left_out)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "host", m->host->name);
		cJSON_AddBoolToObject(item, "ok", !m->failed);
		cJSON_AddBoolToObject(item, "changed", m->changed);
		json_add_text(item, "container", m->state.container_id);
		json_add_text(item, "error", m->failed ? m->err.text : NULL);
		cJSON_AddItemToArray(hosts, item);
	}
	if (s->reference.digest)
		cJSON_AddStringToObject(json, "image", reference_text(&s->reference, s->arena));
	stage_add_simulated(s, json);
	cJSON_AddNumberToObject(json, "ssh_connections", ssh_connections_opened());
	json_print(stdout, json);
}

static void up_print_result(const struct stages *s, uint64_t begin)
{
	size_t changed = 0, up = fleet_asked(&s->fleet) - fleet_failures(&s->fleet);

	if (s->ctx->json) {
		add_json(s);
		return;
	}
	for (size_t i = 0; i < s->fleet.count; i++)
		changed += s->fleet.members[i].changed && !s->fleet.members[i].failed;
	if (up)
		say("cluster %s: %zu of %zu hosts up, %zu changed, %.1f s\n", s->cluster.name, up,
		    fleet_asked(&s->fleet), changed, clock_seconds_since(begin));
	for (size_t i = 0; up && i < s->cluster.job_count; i++)
		log_info("  %-20s ringup run %s", i ? "" : "jobs", s->cluster.jobs[i].name);
}

static int up_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin = clock_usec();
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_ask_only(&s, &o->hosts, arguments, err) < 0 ||
	    limits_of(&o->limits, &s.cluster, &s.limits, err) < 0 ||
	    stage_check_jobs(&s, err) < 0 ||
	    (!o->force && !o->dry_run && stage_no_jobs(&s, err) < 0) ||
	    stage_hold(&s, &lock, err) < 0)
		return -1;
	s.allow = o->allow;
	rc = stage_probe(&s, err);
	if (rc == 0) {
		s.fleet.takes_over = o->take_over;
		rc = owner_load(&s.cluster, true, s.arena, &s.fleet.owner, err);
	}
	if (rc == 0) {
		fleet_check(&s.fleet);
		fleet_check_owner(&s.fleet);
		rc = o->dry_run ? up_print_commands(&s, err) : up_converge(&s, err);
		if (!o->dry_run && (rc == 0 || err->kind == ERROR_PARTIAL || ctx->json))
			up_print_result(&s, begin);
	}
	log_debug("%u SSH connections opened", ssh_connections_opened());
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_up = {
	.name = "up",
	.arguments = "[HOST...]",
	.summary = "brings the cluster up: resolve, build, push, deploy, verify",
	.help = "Each host is compared with what is wanted, and only what differs is changed: a second run\n"
		"changes nothing, and the next run continues an interrupted one. When a host fails, the others\n"
		"are finished all the same; the exit status is 4 then.\n"
		"With hosts only these are changed; they get the names and keys of all. Run 'ringup up' without\n"
		"hosts when others must learn of a new one.\n"
		"A cluster of the same name that somebody else started on a host is left alone: ringup says who\n"
		"started it, when and from where. --take-over makes it yours.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = up_run,
};
