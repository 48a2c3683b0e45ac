/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_lease.h"
#include "cli/app/stage_simulated.h"
#include "cli/job_files.h"
#include "cli/run_again.h"
#include "cli/run_dry.h"
#include "cli/run_on.h"
#include "cli/run_view.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "core/proc.h"
#include "core/quote.h"
#include "core/term.h"
#include "deployer/container/gpus.h"
#include "deployer/job/console/input.h"
#include "deployer/job/console/keyboard.h"
#include "deployer/job/run.h"
#include "deployer/job/sync/shared.h"
#include "deployer/launcher/launcher.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *launcher, *name, *workdir, *sync, *roles, *input, *on, *kind;
	struct words hosts, env, settings;
	int nodes, ranks, per_host, gpus, timeout_s, hang_timeout_s, start_timeout_s, grace_s,
		retries;
	bool hang_idle, local, detach, dry_run, tty, mixed_versions, wait, spread, force;
};

static const struct opt options[] = {
	{0, "launcher", "NAME", "how ranks are started: auto, or one of the launchers above",
	 OPT_TEXT, offsetof(struct options, launcher)},
	{'n', "ranks", "N", "ranks in all (default: as many as the hosts have slots)", OPT_COUNT,
	 offsetof(struct options, ranks)},
	{0, "ppn", "N", "ranks per host (default: its slots, or one per GPU)", OPT_COUNT,
	 offsetof(struct options, per_host)},
	{0, "roles", "ROLE=N,...", "roles of ranks 0, 1 ...: chief=1,worker=2,ps=1 (TensorFlow)",
	 OPT_TEXT, offsetof(struct options, roles)},
	HOSTS_OPTION(struct options, hosts),
	{0, "gpus", "N", "GPUs of its own for each rank (default: each sees all of its host)",
	 OPT_COUNT, offsetof(struct options, gpus)},
	{0, "wait", NULL, "wait in line until the GPUs are free", OPT_FLAG,
	 offsetof(struct options, wait)},
	{0, "spread", NULL, "spread the ranks of --gpus over many hosts instead of few", OPT_FLAG,
	 offsetof(struct options, spread)},
	{0, "force", NULL, "without --gpus: begin although others have GPUs that the ranks see",
	 OPT_FLAG, offsetof(struct options, force)},
	{'e', "env", "NAME[=VALUE]",
	 "for every rank (NAME: its value here); may be given more than once", OPT_LIST,
	 offsetof(struct options, env)},
	{0, "workdir", "DIR", "where the command runs, in the container", OPT_TEXT,
	 offsetof(struct options, workdir)},
	{0, "sync", "DIR[:TARGET]",
	 "brings the folder to every host first, and runs the command there", OPT_TEXT,
	 offsetof(struct options, sync)},
	{0, "name", "JOB", "name of the job (default: job-1, job-2 ...)", OPT_TEXT,
	 offsetof(struct options, name)},
	{0, "limit", "S", "seconds that the job may take, each start of --retries anew", OPT_COUNT,
	 offsetof(struct options, timeout_s)},
	{0, "hang-timeout", "S",
	 "end the job when no rank prints for S seconds; stacks.txt then says why", OPT_COUNT,
	 offsetof(struct options, hang_timeout_s)},
	{0, "hang-idle", NULL, "a job is not taken for hung while it uses a processor", OPT_FLAG,
	 offsetof(struct options, hang_idle)},
	{0, "retries", "N", "start a failed job again, N times at most", OPT_INT,
	 offsetof(struct options, retries)},
	{0, "start-limit", "S", "seconds until all ranks have begun (60)", OPT_COUNT,
	 offsetof(struct options, start_timeout_s)},
	{0, "grace", "S", "seconds between SIGTERM and SIGKILL when the job ends (4)", OPT_COUNT,
	 offsetof(struct options, grace_s)},
	{0, "mixed-versions", NULL, "hosts may have different versions of torch, MPI and so on",
	 OPT_FLAG, offsetof(struct options, mixed_versions)},
	{0, "local", NULL, "on this machine, without a cluster, containers and logins", OPT_FLAG,
	 offsetof(struct options, local)},
	{0, "on", "ENGINE", "as a job of a scheduler: @{schedulers}", OPT_TEXT,
	 offsetof(struct options, on)},
	{0, "nodes", "N", "with --on: nodes there (default: ranks / ppn, or the hosts)", OPT_COUNT,
	 offsetof(struct options, nodes)},
	{0, "kind", "KIND", "with --on: what it becomes there, of 'ringup help export'", OPT_TEXT,
	 offsetof(struct options, kind)},
	{'s', "set", "NAME=VALUE",
	 "with --on: a setting of 'ringup help export'; may be given again", OPT_LIST,
	 offsetof(struct options, settings)},
	{'d', "detach", NULL, "the job goes on without this terminal; see ps, logs, wait and stop",
	 OPT_FLAG, offsetof(struct options, detach)},
	{0, "stdin", "RANK", "rank that gets ringup's standard input, or none (0)", OPT_TEXT,
	 offsetof(struct options, input)},
	{'t', "tty", NULL, "gives that rank a terminal; \"~.\" at the begin of a line ends the job",
	 OPT_FLAG, offsetof(struct options, tty)},
	{0, "dry-run", NULL, "print every rank's command and environment; nothing runs", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	OPT_END,
};

struct job {
	struct stages *stages;
	const struct options *options;
	const char *origin; /* with --on: the command line */
	struct job_options wish;
	struct job_sync sync; /* with --sync */
	struct job_roles roles;
	struct job_record record;
	struct job_result result;
	struct detached detached;
	bool began;
	struct run_again again;
	struct host *all_hosts; /* that it may use; some of them may get no rank */
	size_t all_count;
	int lock; /* of the record; -1: there is none yet */
};

/*
 * The first argument may be a job of cluster.yaml: its keys stand for the options that the command
 * line does not give, and the other arguments follow its command.
 */
static int take_job(const struct stages *s, struct options *o, const char *const **arguments,
		    struct error *err)
{
	const struct cluster_job *job = cluster_job(&s->cluster, (*arguments)[0]);
	struct words env = WORDS_INIT(s->arena);
	bool is_said = o->per_host;

	if (job && stage_check_job(s, job, err) < 0)
		return -1;
	if (job)
		words_add_all(&env, job->env); /* of two with one name the later counts */
	if (stage_take_env(&o->env, &env, err) < 0)
		return -1;
	o->env = env;
	if (!job)
		return 0;
	if (!o->hosts.count && !o->local)
		words_add_all(&o->hosts, job->hosts);
	o->name = o->name ? o->name : job->name;
	o->launcher = o->launcher ? o->launcher : job->launcher;
	o->roles = o->roles || !*job->roles ? o->roles : job->roles;
	o->workdir = o->workdir ? o->workdir : job->workdir;
	if (!o->sync && *job->sync)
		o->sync = cluster_path(&s->cluster, job->sync, s->arena);
	stage_job_ranks(job, o->roles, o->nodes, &o->ranks, &o->per_host);
	/* how many ranks a host of the cluster has says nothing of this machine */
	if (o->local && o->ranks && !is_said)
		o->per_host = 0;
	o->gpus = o->gpus ? o->gpus : job->gpus;
	o->timeout_s = o->timeout_s ? o->timeout_s : job->timeout_s;
	o->hang_timeout_s = o->hang_timeout_s ? o->hang_timeout_s : job->hang_timeout_s;
	o->hang_idle |= job->hang_idle;
	o->start_timeout_s = o->start_timeout_s ? o->start_timeout_s : job->start_timeout_s;
	o->grace_s = o->grace_s ? o->grace_s : job->grace_s;
	o->retries = o->retries ? o->retries : job->retries;
	return stage_job_command(s, job, *arguments + 1, arguments, err);
}

/* What a person most likely means otherwise than ringup takes it. */
static void run_hint(const struct stages *s, const struct options *o, const char *const *arguments)
{
	struct words names = WORDS_INIT(s->arena);
	const char *near;

	if (s->ctx->timeout_s && !o->timeout_s)
		log_warn(
			"--timeout %d is how long ringup waits for a host's connection; --limit S limits the job",
			s->ctx->timeout_s);
	for (size_t i = 0; i < s->cluster.job_count; i++)
		words_add(&names, s->cluster.jobs[i].name);
	if (arguments[1] || cluster_job(&s->cluster, arguments[0]) || strchr(arguments[0], '/') ||
	    proc_exists(arguments[0]))
		return;
	near = nearest_word(arguments[0], words_list(&names));
	if (near)
		log_warn(
			"there is no job '%s' in %s, so it is run as a command; did you mean '%s'?",
			arguments[0], s->cluster.path, near);
}

/* The sum of the roles is the number of ranks. */
static int job_wish_roles(struct job *job, struct error *err)
{
	const struct options *o = job->options;

	if (!o->roles)
		return 0;
	if (job_roles_parse(o->roles, job->wish.launcher->roles, job->stages->arena, &job->roles,
			    err) < 0)
		return -1;
	if (o->ranks && o->ranks != job->roles.ranks)
		return error_set(err, ERROR_USAGE, "--roles %s are %d ranks, and -n says %d",
				 o->roles, job->roles.ranks, o->ranks);
	job->wish.roles = &job->roles;
	job->wish.ranks = job->roles.ranks;
	return 0;
}

/* A container has the libraries of its image; a host has what somebody installed. */
static bool job_needs_stack(const struct job *job)
{
	return !job->options->local && strcmp(job->stages->cluster.container.engine, "none") == 0;
}

static int job_find_launcher(struct job *job, const struct plan *plan, struct error *err)
{
	const struct options *o = job->options;
	const struct launcher_wish wish = {
		.plan = plan, .command = job->wish.command, .has_roles = o->roles};

	return launcher_find_for_job(o->launcher ? o->launcher : "auto", &wish, &job->wish.launcher,
				     err);
}

static int job_wish(struct job *job, const char *const *command, struct error *err)
{
	const struct options *o = job->options;
	const struct plan *plan;

	if (!*command[0])
		return error_set(err, ERROR_USAGE, "the command is empty");
	job->wish = (struct job_options){.command = command,
					 .env = words_list(&o->env),
					 .workdir = o->workdir ? o->workdir : "",
					 .ranks = o->ranks,
					 .per_host = o->per_host,
					 .gpus = o->gpus,
					 .timeout_s = o->timeout_s,
					 .hang_timeout_s = o->hang_timeout_s,
					 .hang_idle = o->hang_idle,
					 .start_timeout_s = o->start_timeout_s,
					 .grace_s = o->grace_s,
					 .mixed_versions = o->mixed_versions};
	if (o->grace_s > JOB_GRACE_MAX_S)
		return error_set(err, ERROR_USAGE, "--grace %d: %d seconds are the most",
				 o->grace_s, JOB_GRACE_MAX_S);
	if (job_input_choose(o->input, o->tty, o->detach, &job->wish, err) < 0 ||
	    (o->sync && job_sync_parse(o->sync, job->stages->arena, &job->sync, err) < 0) ||
	    stage_built_plan(job->stages, &plan, err) < 0 ||
	    job_find_launcher(job, plan, err) < 0 || job_wish_roles(job, err) < 0)
		return -1;
	job->wish.lock = job_needs_stack(job) ? plan : NULL;
	return 0;
}

/*
 * With --sync the command runs in the folder that it brought, or below it; with --local in DIR itself.
 */
static void run_in_synced(struct job *job)
{
	if (!job->options->sync || *job->wish.workdir == '/')
		return;
	if (job->options->local)
		job->wish.workdir =
			path_expand(job->stages->arena, job->sync.folder, job->wish.workdir);
	else
		job->wish.workdirs = job_sync_workdirs(&job->stages->fleet, &job->sync,
						       job->wish.workdir, job->stages->arena);
}

static int dry_run(struct job *job, struct error *err)
{
	struct stages *s = job->stages;
	struct job_plan plan;

	job->wish.name = job->options->name ? job->options->name : "job";
	if (run_dry_plan(s, &job->wish, &plan, err) < 0)
		return -1;
	run_in_synced(job);
	return run_dry_print(s, &plan, err);
}

static void job_began(void *arg, const struct job_plan *plan)
{
	struct job *job = arg;
	struct error ignored = {0};

	struct words names = WORDS_INIT(plan->arena);

	for (size_t i = 0; i < plan->host_count; i++)
		words_add(&names, plan->hosts[i].member->host->name);
	job->began = true;
	job->record.id = arena_strdup(plan->arena, plan->id);
	job->record.host_names = words_list(&names);
	job->record.state = "running";
	job->record.ranks = plan->world;
	job->record.hosts = (int)plan->host_count;
	job_record_write(&job->record, &ignored);
	if (!job->options->detach)
		log_info("%s: %d rank%s on %zu host%s by %s; logs in %s", job->record.name,
			 plan->world, plan->world == 1 ? "" : "s", plan->host_count,
			 plan->host_count == 1 ? "" : "s", job->wish.launcher->name,
			 job->record.folder);
}

/* Also for a job that waits in line: nobody has to keep a terminal for that. */
static void job_leaves(void *arg)
{
	struct job *job = arg;

	if (job->options->detach)
		detached_began(&job->detached, job->record.name, job->record.folder);
}

static void print_result(const struct job *job)
{
	_cleanup_(json_free) cJSON *json = json_document();
	const struct job_result *result = &job->result;

	if (!job->stages->ctx->json || !job->record.name || (job->options->detach && job->began))
		return;
	cJSON_AddStringToObject(json, "job", job->record.name);
	if (!job->options->local)
		stage_add_simulated_on_file(job->stages, json);
	cJSON_AddStringToObject(json, "state", job->record.state);
	cJSON_AddNumberToObject(json, "status", job->record.status);
	cJSON_AddNumberToObject(json, "ranks", job->record.ranks);
	cJSON_AddStringToObject(json, "folder", job->record.folder);
	if (result->rank >= 0)
		cJSON_AddNumberToObject(json, "rank", result->rank);
	json_add_text(json, "host", result->host);
	json_add_text(json, "reason", job->record.reason);
	json_print(stdout, json);
}

/* What ended so is started again. */
static bool job_is_due(const struct job *job, int rc)
{
	return (rc < 0 || job->result.status) && job->again.left > 0 && job->began &&
	       !job->result.is_interrupted && !interrupted();
}

/* SIGTERM and SIGHUP have statuses of their own. */
static void run_note_signal(int rc, struct error *err)
{
	if (rc < 0 && err->kind == ERROR_INTERRUPTED)
		err->kind = (enum error_kind)interrupt_status();
}

/* Gives back the GPUs. Hosts where that could not be done, or that did not end the job, may have processes of it. */
static void job_settle(struct job *job)
{
	struct words kept = WORDS_INIT(job->stages->arena), all = WORDS_INIT(job->stages->arena);

	if (job->result.unswept)
		words_add_all(&all, job->result.unswept);
	stage_give_back(job->stages, &job->wish, &kept);
	for (size_t i = 0; i < kept.count; i++)
		words_add_new(&all, kept.list[i]);
	job->record.unswept = words_list(&all);
}

/* Notes how the job ended; its status becomes the command's. */
static int job_conclude(struct job *job, int rc, struct error *err)
{
	const struct job_result *result = &job->result;
	struct arena *arena = job->stages->arena;
	char now[24];

	job_settle(job);
	clock_iso8601(now);
	run_note_signal(rc, err);
	job->record.status = rc < 0 ? (int)err->kind : result->status;
	job->record.reason = rc < 0 ? arena_strdup(arena, err->text) : result->reason;
	if (job_is_due(job, rc)) {
		run_again_keep(&job->again, &job->record, arena_strdup(arena, now), &job->lock);
	} else {
		job->record.ended = arena_strdup(arena, now);
		job->record.state = result->is_interrupted || (rc < 0 && interrupted()) ? "stopped"
				    : job->record.status != 0				? "failed"
											: "done";
		run_keep_end(&job->record);
		fd_close(&job->lock);
	}
	if (rc == 0 && !result->status)
		job_leaves(job); /* it ended well before it could */
	if (rc < 0 || !result->status)
		return rc;
	error_set(err, ERROR_FAILED, "%s: %s", job->record.name, result->reason);
	err->kind = (enum error_kind)result->status; /* the job's status is the command's */
	return -1;
}

/* Makes the record of a job that does not run yet: from now on ps, logs, wait and stop know it. */
static int job_open(struct job *job, const char *const *command, const char *state,
		    struct error *err)
{
	struct stages *s = job->stages;
	_cleanup_(str_release) struct str line = STR_INIT;
	char now[24];

	clock_iso8601(now);
	quote_words(&line, command);
	job->record = (struct job_record){.state = state,
					  .command = arena_strdup(s->arena, line.text),
					  .launcher = job->wish.launcher->name,
					  .started = arena_strdup(s->arena, now),
					  .ended = "",
					  .reason = "",
					  .next = "",
					  .id = "",
					  .sync = job->sync.folder ? job_sync_name(&job->sync) : "",
					  .pid = getpid(),
					  .grace_s = job->options->grace_s,
					  .is_local = job->options->local};
	if (job_record_create(&s->cluster, job->options->name ? job->options->name : "", s->arena,
			      &job->record, &job->lock, err) < 0)
		return -1;
	run_again_conclude(&job->again, job->record.name);
	job->wish.name = job->record.name;
	return 0;
}

/* The record says that the job starts, and nobody changes the cluster meanwhile. With `knows`, whoever does waits for this job. */
static int job_enter(struct job *job, const char *const *command, bool knows, struct error *err)
{
	struct stages *s = job->stages;
	_cleanup_(fd_close) int cluster = -1;

	if (!job->options->local && !knows && stage_hold_for_job(s, &cluster, err) < 0)
		return -1;
	if (job->lock < 0)
		return job_open(job, command, "starting", err);
	job->record.state = "starting";
	return job_record_write(&job->record, err);
}

/* Of a job without leases; 'stop' finds what it leaves by its record. */
static int job_make_id(struct job *job, struct error *err)
{
	char *id = arena_alloc(job->stages->arena, JOB_ID_BYTES);

	job->wish.id = id;
	return job_new_id(id, err);
}

static int job_start_leased(struct job *job, struct error *err)
{
	struct stages *s = job->stages;
	struct job_output output = {.shows = !s->ctx->json && !job->options->detach,
				    .is_colored = log_color() && term_is_tty(stdout)};
	const struct job_watch watch = {job_began, job_leaves, job};

	run_in_synced(job);
	if (job->wish.workdirs)
		log_info("the command runs in %s", job->wish.workdirs[0]);
	interrupt_keep(keyboard_restore);
	signal(SIGTSTP, SIG_IGN); /* Ctrl-Z: the hosts end a job that nobody watches */
	return job_run(&s->fleet, &job->wish, job->record.folder, &output, &watch, s->arena,
		       &job->result, err);
}

static int job_start(struct job *job, const char *const *command, struct error *err)
{
	const struct options *o = job->options;
	struct stages *s = job->stages;
	const struct stage_lease_wish lease = {.spread = o->spread,
					       .waits = o->wait,
					       .force = o->force,
					       .waiting = job_leaves,
					       .arg = job};
	bool again = job->again.before.name, is_leased;
	int rc;

	job->lock = -1;
	job->result = (struct job_result){.rank = -1, .host = "", .reason = ""};
	if (o->sync && !o->local && job_sync(&s->fleet, &job->sync, s->arena, err) < 0)
		return -1;
	/* whoever meets its leases learns its name; one that waits in line keeps nobody from changing the cluster */
	if ((o->wait ? job_open(job, command, again ? "starting" : "waiting", err)
		     : job_enter(job, command, again, err)) < 0)
		return job->lock < 0 ? -1 : job_conclude(job, -1, err);
	rc = o->local && !o->gpus ? 0 : stage_lease(s, &job->wish, &lease, err);
	is_leased = job->wish.id;
	if (rc == 0 && !is_leased)
		rc = job_make_id(job, err);
	if (job->wish.id)
		job->record.id = job->wish.id;
	if (rc == 0)
		rc = job_enter(job, command, again || !o->wait, err);
	if (rc == 0)
		rc = job_start_leased(job, err);
	if (!is_leased)
		job->wish.id = NULL; /* there is nothing to give back */
	return job_conclude(job, rc, err);
}

/* The hosts that it may use. */
static int run_hosts(struct job *job, struct error *err)
{
	const struct options *o = job->options;
	struct cluster *cluster = &job->stages->cluster;

	if (job->all_hosts) {
		cluster->hosts = job->all_hosts;
		cluster->host_count = job->all_count;
	}
	job->all_hosts = cluster->hosts;
	job->all_count = cluster->host_count;
	if (!o->local)
		return stage_select(job->stages, &o->hosts, NULL, err);
	if (o->hosts.count)
		return error_set(err, ERROR_USAGE, "--local does not go with --hosts");
	return stage_local(job->stages, o->per_host ? o->per_host : o->ranks, err);
}

/* Starts the job, and again when it fails: each time it is a job of its own, with its own logs. */
static int job_start_all(struct job *job, const char *const *command, struct error *err)
{
	struct stages *s = job->stages;

	for (job->again.left = job->options->retries;; job->again.left--) {
		int rc = job_start(job, command, err);

		if (!job_is_due(job, rc)) {
			run_again_conclude(&job->again, "");
			return rc;
		}
		log_warn("%s", err->text);
		*err = (struct error){0};
		fleet_close(&s->fleet); /* a connection may be lost */
		if (run_again_wait(&job->again, s, err) < 0 || run_hosts(job, err) < 0) {
			run_again_conclude(&job->again, "");
			job->record.state = job->again.before.state;
			return -1;
		}
	}
}

/* --- on a scheduler --------------------------------------------------------------------------- */

static int run_check_on(const struct options *o, struct error *err)
{
	const struct exporter *exporter;
	const char *other;

	if (!o->on)
		return o->nodes || o->settings.count || o->kind
			       ? error_set(err, ERROR_USAGE,
					   "--nodes, --set and --kind go with --on ENGINE")
			       : 0;
	if (run_on_find(o->on, &exporter, err) < 0)
		return -1;
	other = o->local					? "--local"
		: o->hosts.count				? "--hosts"
		: o->tty					? "--tty"
		: o->wait					? "--wait"
		: o->spread					? "--spread"
		: o->force					? "--force"
		: o->hang_timeout_s				? "--hang-timeout"
		: o->start_timeout_s				? "--start-limit"
		: o->grace_s && !exporter->scheduler->has_grace ? "--grace"
								: NULL;
	return other ? error_set(
			       err, ERROR_USAGE,
			       "%s does not go with --on %s, which has the nodes and the ranks in its hands",
			       other, o->on)
		     : 0;
}

static int run_on_scheduler(struct job *job, const char *const *arguments, struct error *err)
{
	const struct options *o = job->options;
	struct stages *s = job->stages;
	struct run_on on = {.stages = s,
			    .engine = o->on,
			    .wish = {.origin = job->origin,
				     .settings = words_list(&o->settings),
				     .nodes = o->nodes,
				     .kind = o->kind,
				     .retries = o->retries},
			    .detach = o->detach,
			    .dry_run = o->dry_run};
	struct options quiet = *o;
	int rc;

	quiet.detach = true; /* nobody's stdin */
	quiet.local = true;  /* the folder of --sync is the nodes', too */
	job->options = &quiet;
	if (job_wish(job, arguments, err) < 0)
		return -1;
	run_in_synced(job);
	job->options = o;
	job->wish.name = o->name ? o->name : "";
	on.wish.job = job->wish;
	rc = run_on(&on, err);
	if (o->dry_run || !on.record.name)
		return rc;
	job->record = on.record;
	job->result = (struct job_result){
		.status = on.record.status, .rank = -1, .host = "", .reason = on.record.reason};
	job->began = o->detach;
	if (o->detach)
		run_view_begin(s, on.record.name);
	print_result(job);
	return rc;
}

static void run_fill_launchers(const char *name, struct str *out)
{
	if (strcmp(name, "schedulers") == 0) {
		run_on_fill(out);
		return;
	}
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->tasks)
			str_addf(out, "%s%s", out->length ? ", " : "", (*l)->name);
}

static int run_run(struct context *ctx, void *values, const char *const *arguments,
		   struct error *err)
{
	struct options *o = values;
	_cleanup_(stages_close) struct stages s = {.ctx = ctx, .arena = ctx->arena};
	struct job job = {.stages = &s, .options = o, .again = {.lock = -1}, .lock = -1};
	bool is_parent = false;
	int rc;

	if ((o->local ? stage_cluster_or_defaults(&s, ctx, err) : stage_cluster(&s, ctx, err)) < 0)
		return -1;
	if (run_check_on(o, err) < 0)
		return -1;
	run_hint(&s, o, arguments);
	job.origin = job_files_origin(ctx, WORDS("run"), options, o, &o->env, arguments);
	if (take_job(&s, o, &arguments, err) < 0)
		return -1;
	signals_pass();
	if (o->on)
		return run_on_scheduler(&job, arguments, err);
	if (run_hosts(&job, err) < 0 || job_wish(&job, arguments, err) < 0)
		return -1;
	if ((o->spread || (o->wait && o->local)) && !o->gpus)
		return error_set(err, ERROR_USAGE, "--%s is about the GPUs of --gpus N",
				 o->spread ? "spread" : "wait");
	if (o->force && (o->gpus || o->local))
		return error_set(err, ERROR_USAGE, "--force does not go with --%s",
				 o->gpus ? "gpus, which takes free GPUs" : "local");
	if (ctx->json && o->tty)
		return error_set(err, ERROR_USAGE, "--json does not go with --tty");
	if (!o->local)
		stage_say_simulated_on_file(&s);
	if (o->dry_run)
		return dry_run(&job, err);
	if (o->detach && detach(&job.detached, &is_parent, err) < 0)
		return -1;
	rc = is_parent ? 0 : job_start_all(&job, arguments, err);
	run_note_signal(rc, err);
	if (is_parent)
		run_view_begin(&s, job.detached.name);
	print_result(&job);
	return rc;
}

const struct command command_run = {
	.name = "run",
	.arguments = "[--] CMD...|JOB [ARG...]",
	.summary = "runs a training job on the cluster",
	.help = "CMD runs once per rank, in the cluster's containers or on hosts without containers. Each line of\n"
		"output stands behind its rank and host; each rank's own output is in .ringup/jobs/JOB/rank-N.log.\n"
		"The exit status is that of the rank that failed first. When a rank fails, on Ctrl-C, and when\n"
		"ringup or a connection ends, everything of the job ends on every host.\n"
		"JOB is an entry of 'jobs' in cluster.yaml: its keys stand for the options that are not given here,\n"
		"and each ARG follows its command.\n"
		"--gpus N leases N GPUs for each rank, on all hosts or on none: none that another job, cluster or\n"
		"process has. The ranks go to as few hosts as possible, or with --spread to as many, and on a host\n"
		"to GPUs that NVLink joins. The leases end with the job. 'ringup ps --gpus' shows who has what.\n"
		"Without --gpus a job has all GPUs that its ranks see, and begins when nobody else has one of them;\n"
		"-e CUDA_VISIBLE_DEVICES= is for a job that needs none.\n"
		"--sync DIR brings DIR to /workspace/NAME in every container (TARGET: another folder). The command\n"
		"runs there unless --workdir says otherwise. Without containers the folder is sync/NAME in ringup's\n"
		"folder on the host. Only what changed is sent, and what is gone from DIR is removed there; other\n"
		"files there stay. Left out: .git, __pycache__, .ringup, and what DIR/.ringupignore names by\n"
		"patterns as in .gitignore.\n"
		"Launchers: @{launchers}.\n"
		"  ringup run -n 6 -- python3 train.py --epochs 3\n"
		"  ringup run --launcher torchrun --ppn 8 -- python3 train.py\n"
		"  ringup run --local -n 2 -- python3 train.py\n"
		"--on ENGINE hands the job to a scheduler, where it goes on without ringup: ringup follows it, Ctrl-C\n"
		"asks what becomes of it, and ps, logs, wait and stop know it (docs/slurm.md, docs/engines.md).\n"
		"  ringup run --sync . -- python3 train.py\n"
		"  ringup run --on slurm --set partition=gpu --nodes 4 train\n"
		"  ringup run --on kubernetes --set namespace=team --nodes 4 train\n"
		"  ringup run -n 2 train --epochs 1\n"
		"  ringup run --launcher mpirun -- python3 horovod_train.py\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = -1,
	.stop_at_argument = true,
	.fill = run_fill_launchers,
	.run = run_run,
};
