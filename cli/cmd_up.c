/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/limits.h"
#include "cli/app/stage_apply.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_index.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_push.h"
#include "cli/app/stage_seeds.h"
#include "cli/app/stage_watch.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/bringup/claim.h"

#include <string.h>
#include <time.h>

struct options {
	bool dry_run, take_over, watch;
	struct job_care care;
	int rolling, min_hosts, retries, every_s, repairs;
	struct words allow, hosts;
	struct limit_options limits;
};

static const struct opt options[] = {
	{0, "dry-run", NULL, "print what would be done, as commands a person could paste", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	{0, "take-over", NULL, "replace what somebody else started under this name on the hosts",
	 OPT_FLAG, offsetof(struct options, take_over)},
	ROLLING_OPTION(struct options, rolling),
	JOB_CARE_OPTIONS(struct options, care),
	{0, "min-hosts", "N", "N hosts are enough: change nothing when fewer can be used", OPT_INT,
	 offsetof(struct options, min_hosts)},
	{0, "retry", "N", "try the hosts that failed N more times, after 2, 4, 8 ... seconds",
	 OPT_INT, offsetof(struct options, retries)},
	{0, "watch", NULL, "then go on: look at the hosts and repair what breaks, until Ctrl-C",
	 OPT_FLAG, offsetof(struct options, watch)},
	{0, "every", "S", "seconds between two looks of --watch (15)", OPT_INT,
	 offsetof(struct options, every_s)},
	{0, "repairs", "N", "--watch gives a host up after N repairs in a row (5)", OPT_INT,
	 offsetof(struct options, repairs)},
	HOSTS_OPTION(struct options, hosts),
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
	if (s->plan.other)
		str_addf(&line, ", for %s and %s", plan_arch(&s->plan), plan_arch(s->plan.other));
	log_info("  %-20s %s (%s)", "stack", line.length ? line.text : "the image's own",
		 s->plan.accelerator);
}

/* What only a container can have is left out on hosts without containers, and said. */
static void up_warn_of_no_container(const struct cluster_container *container)
{
	const struct {
		const char *key;
		bool is_given;
	} keys[] = {{"volumes", container->volumes[0]},
		    {"ulimits", container->ulimits[0]},
		    {"memory", *container->memory},
		    {"cpus", *container->cpus},
		    {"privileged", container->privileged}};
	_cleanup_(str_release) struct str given = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].is_given)
			str_addf(&given, "%scontainer.%s", given.length ? ", " : "", keys[i].key);
	if (given.length)
		log_warn("%s: left out, since these hosts have no containers (engine: none)",
			 given.text);
}

static int up_converge(struct stages *s, int rolling, struct error *err)
{
	struct apply apply = {.command = "up", .rolling = rolling};
	bool is_new = false;

	if (fleet_failures(&s->fleet) == fleet_asked(&s->fleet))
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
		up_warn_of_no_container(&s->cluster.container);
	}
	if (stage_lock(s, err) < 0)
		return -1;
	apply.image_is_new = is_new;
	return stage_apply(s, &apply, err);
}

/* An image that this machine cannot build is built on a host that can. */
static int up_build_commands(struct stages *s, const struct spec *spec, struct str *out,
			     struct error *err)
{
	struct build_options build = {.cache_folder = stage_cache_folder(s)};
	const char *hosts = stage_index_hosts(s, spec->arch);
	size_t first = strcspn(hosts, ",");
	bool fits = true;

	if (s->other_spec && build_fits(spec, NULL, s->arena, &fits, err) < 0)
		return -1;
	if (fits)
		return build_commands(&s->cluster, spec, &build, s->arena, out, err);
	str_addf(out, "ringup -f %s build --on %.*s\n", s->cluster.path, first ? (int)first : 4,
		 first ? hosts : "HOST");
	return 0;
}

/* The image's part of a dry run; there is nothing to do when the registry has it. */
static int image_commands(struct stages *s, struct str *out, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	bool found = false;

	if (stage_find_or_recall(s, &registry, &found, err) < 0)
		return -1;
	if (found) {
		str_addf(out, "# here: nothing to do, the image is %s\n",
			 reference_text(&s->reference, s->arena));
		return 0;
	}
	str_add(out, "# here: the image\n");
	if (up_build_commands(s, s->spec, out, err) < 0 ||
	    (s->other_spec && up_build_commands(s, s->other_spec, out, err) < 0))
		return -1;
	str_addf(out, "ringup -f %s push", s->cluster.path);
	for (size_t i = 0; i < s->allow.count; i++)
		str_addf(out, " --allow %s", s->allow.list[i]);
	str_add(out, "\n");
	return 0;
}

/* "node01, node02: CHANGES" for all hosts with the changes of this one; none for a later one of them. */
static void up_add_group(const struct stages *s, const struct bringup_plan *plans, size_t first,
			 struct str *out)
{
	const char *changes = plans[first].changes;
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < s->fleet.count; i++) {
		if (!plans[i].changes || strcmp(plans[i].changes, changes) != 0)
			continue;
		if (i < first)
			return;
		str_addf(&names, "%s%s", names.length ? ", " : "", s->fleet.members[i].host->name);
	}
	str_addf(out, "# %s: %s\n", names.text, *changes ? changes : "nothing to do");
}

/* "# seeds: node01, node02: ..." where hosts would serve the image to the others. */
static void up_add_seeds(struct stages *s, const struct bringup *bringup, struct str *out)
{
	struct member **chosen;
	size_t count = stage_seeds_choose(s, bringup, &chosen);

	for (size_t i = 0; i < count; i++)
		str_addf(out, "%s%s", i ? ", " : "# seeds: ", chosen[i]->host->name);
	if (count)
		str_add(out, ": pull the image first and serve it to the other hosts\n");
}

static void up_print_plan_json(struct stages *s, const struct bringup *bringup,
			       const struct bringup_plan *plans, const char *image,
			       const struct words *remote)
{
	struct member **chosen;
	size_t seeds = stage_seeds_choose(s, bringup, &chosen);
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");
	cJSON *seed_list = cJSON_AddArrayToObject(json, "seeds");
	cJSON *list = cJSON_AddArrayToObject(json, "commands");
	char *copy = arena_strdup(s->arena, image), *line;

	for (size_t i = 0; i < s->fleet.count; i++) {
		cJSON *item;

		if (s->fleet.members[i].left_out)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(hosts, item);
		cJSON_AddStringToObject(item, "host", s->fleet.members[i].host->name);
		if (plans[i].changes)
			cJSON_AddStringToObject(item, "changes", plans[i].changes);
	}
	for (size_t i = 0; i < seeds; i++)
		cJSON_AddItemToArray(seed_list, cJSON_CreateString(chosen[i]->host->name));
	while ((line = strsep(&copy, "\n")))
		if (*line && *line != '#')
			cJSON_AddItemToArray(list, cJSON_CreateString(line));
	for (size_t i = 0; i < remote->count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(remote->list[i]));
	json_print(stdout, json);
}

/* The commands of all hosts, each host's behind its name; the script that they share stands once. */
static int up_gather(struct stages *s, const struct bringup *bringup, struct bringup_plan *plans,
		     struct words *remote, const char *image, struct str *out, struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *line;

	for (size_t i = 0; i < s->fleet.count; i++) {
		struct member *m = &s->fleet.members[i];

		if (m->failed || m->left_out)
			continue;
		if (bringup_plan(m, bringup, &plans[i], err) < 0 ||
		    (plans[i].commands.count && !remote->count &&
		     bringup_receive_line(m, &line, err) < 0))
			return -1;
		if (plans[i].commands.count && !remote->count)
			words_add(remote, line);
		if (plans[i].commands.count)
			str_addf(&text, "# %s\n", m->host->name);
		for (size_t k = 0; k < plans[i].commands.count; k++) {
			words_add(remote, plans[i].commands.list[k]);
			str_addf(&text, "%s\n", plans[i].commands.list[k]);
		}
	}
	for (size_t i = 0; i < s->fleet.count; i++)
		if (plans[i].changes)
			up_add_group(s, plans, i, out);
	up_add_seeds(s, bringup, out);
	str_addf(out, "\n%s", image);
	if (remote->count)
		str_addf(out, "# what puts the files of standard input there\n%s\n",
			 remote->list[0]);
	str_add(out, text.text);
	return 0;
}

static int up_print_commands(struct stages *s, struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT, image = STR_INIT;
	struct words remote = WORDS_INIT(s->arena);
	struct bringup_plan *plans;
	struct bringup bringup;

	if (fleet_failures(&s->fleet) == fleet_asked(&s->fleet))
		return fleet_result(&s->fleet, err);
	if (stage_plan(s, err) < 0 || stage_check_gpus(s, err) < 0 ||
	    (stage_has_containers(s) && image_commands(s, &image, err) < 0) ||
	    stage_bringup(s, &bringup, err) < 0)
		return -1;
	if (stage_has_containers(s)) /* by tag while there is no digest yet */
		bringup.image = reference_text(&s->reference, s->arena);
	plans = ARENA_ARRAY(s->arena, s->fleet.count, struct bringup_plan);
	if (up_gather(s, &bringup, plans, &remote, image.text, &out, err) < 0)
		return -1;
	keys_wipe(&bringup.keys);
	if (s->ctx->json)
		up_print_plan_json(s, &bringup, plans, image.text, &remote);
	else
		say("%s", out.text);
	return fleet_result(&s->fleet, err);
}

/* Fewer hosts than --min-hosts change nothing. */
static int up_check_count(const struct stages *s, int min_hosts, struct error *err)
{
	struct error why = {0};
	size_t usable = fleet_active(&s->fleet);

	if (usable >= (size_t)min_hosts)
		return 0;
	fleet_result(&s->fleet, &why);
	return error_set(
		err, ERROR_FAILED,
		"%zu of %zu hosts can be used, and --min-hosts asks for %d, so nothing was changed: %s",
		usable, fleet_asked(&s->fleet), min_hosts, why.text);
}

static int up_once(struct stages *s, const struct options *o, struct error *err)
{
	if (stage_meet_hosts(s, o->take_over, err) < 0)
		return -1;
	if (o->take_over && !o->care.force)
		fleet_check_their_jobs(&s->fleet);
	if (up_check_count(s, o->min_hosts, err) < 0)
		return -1;
	return o->dry_run ? up_print_commands(s, err) : up_converge(s, o->rolling, err);
}

/* Whether hosts are why it failed, so that another try may help. */
static bool up_may_try_again(const struct stages *s, const struct error *err)
{
	return err->kind != ERROR_INTERRUPTED && err->kind != ERROR_USAGE && s->fleet.members &&
	       fleet_failures(&s->fleet) > 0;
}

static int up_pause(int tries, struct error *err)
{
	const struct timespec step = {.tv_nsec = 100000000};

	for (int left = 10 << (tries < 5 ? tries : 5); left > 0; left--) {
		if (interrupt_check(err) < 0)
			return -1;
		nanosleep(&step, NULL);
	}
	return 0;
}

/* Each try is a whole `up`, which changes nothing on the hosts that are as they should be. */
static int up_tries(struct stages *s, const struct options *o, struct error *err)
{
	const struct stages fresh = *s;
	int rc = up_once(s, o, err);

	for (int tries = 1; rc < 0 && tries <= o->retries && up_may_try_again(s, err); tries++) {
		log_warn("%s", err->text);
		log_info("  %-20s once more in %d s, %d of %d", "retry",
			 1 << (tries < 5 ? tries : 5), tries, o->retries);
		*err = (struct error){0};
		fleet_close(&s->fleet);
		*s = fresh;
		if (up_pause(tries, err) < 0)
			return -1;
		rc = up_once(s, o, err);
	}
	if (rc == 0 || !o->min_hosts || err->kind != ERROR_PARTIAL ||
	    fleet_active(&s->fleet) < (size_t)o->min_hosts)
		return rc;
	log_warn("%s", err->text);
	*err = (struct error){0};
	return 0;
}

static int up_check_options(const struct stages *s, const struct options *o, struct error *err)
{
	if (o->watch && (o->dry_run || s->ctx->json))
		return error_set(err, ERROR_USAGE, "--watch does not go with --%s",
				 o->dry_run ? "dry-run" : "json");
	if (!o->watch && (o->every_s || o->repairs))
		return error_set(err, ERROR_USAGE, "--%s is about --watch",
				 o->every_s ? "every" : "repairs");
	if ((size_t)o->min_hosts > s->cluster.host_count)
		return error_set(err, ERROR_USAGE, "--min-hosts %d: the cluster has %zu hosts",
				 o->min_hosts, s->cluster.host_count);
	return 0;
}

static int up_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	const struct options *o = values;
	_cleanup_(fd_close) int lock = -1;
	uint64_t begin = clock_usec();
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || up_check_options(&s, o, err) < 0 ||
	    stage_ask_only(&s, &o->hosts, arguments, err) < 0 ||
	    limits_of(&o->limits, &s.cluster, &s.limits, err) < 0 ||
	    stage_check_jobs(&s, err) < 0 ||
	    (o->dry_run ? stage_hold(&s, &lock, err) : stage_hold_idle(&s, &o->care, &lock, err)) <
		    0)
		return -1;
	s.allow = o->allow;
	rc = up_tries(&s, o, err);
	if (!o->dry_run && s.fleet.members)
		stage_print_outcome(&s, begin, rc, err);
	log_debug("%u SSH connections opened", ssh_connections_opened());
	fleet_close(&s.fleet);
	if (!o->watch || (rc < 0 && err->kind != ERROR_PARTIAL))
		return rc;
	if (rc < 0)
		log_warn("%s", err->text);
	*err = (struct error){0};
	fd_close(&lock);
	stage_watch(&s, &(struct watch){o->every_s, o->repairs}, err);
	if (err->kind == ERROR_INTERRUPTED)
		*err->text = '\0'; /* Ctrl-C is the way in which it ends */
	return -1;
}

const struct command command_up = {
	.name = "up",
	.arguments = "[HOST...]",
	.summary = "brings the cluster up: resolve, build, push, deploy, verify",
	.help = "Each host is compared with what is wanted, and only what differs is changed: a second run\n"
		"changes nothing, and the next run continues an interrupted one. When a host fails, the others\n"
		"are finished all the same; the exit status is 4 then.\n"
		"A new container replaces the old one only when it runs and lets a login in; otherwise the old one\n"
		"is put back. --rolling N does so on N hosts at a time, and the next ones wait until these are up.\n"
		"--min-hosts N ends with 0 when N hosts are up, and changes nothing when fewer can be used. --retry N\n"
		"tries again. --watch stays: it prints a line when the state of a host changes, brings back\n"
		"containers that ended, vanished or differ, later and later when that does not help, and says so.\n"
		"With hosts only these are changed; they get the names and keys of all. Run 'ringup up' without\n"
		"hosts when others must learn of a new one.\n"
		"A cluster of the same name that somebody else started on a host is left alone: ringup says who\n"
		"started it, when and from where. --take-over makes it yours.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = up_run,
};
