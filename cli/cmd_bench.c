/* SPDX-License-Identifier: MIT */
#include "cli/bench_backend.h"
#include "cli/bench_health.h"
#include "cli/bench_on.h"
#include "cli/bench_view.h"
#include "cli/job_files.h"
#include "cli/app/command.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_simulated.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/bench/bench.h"
#include "deployer/bench/bench_history.h"
#include "deployer/bringup/claim.h"
#include "deployer/probe.h"
#include "plan/gpu_wish.h"
#include "resolver/links/expectation.h"
#include "resolver/links/link_notes.h"

#include <string.h>

struct options {
	const char *launcher, *from, *facts, *on, *kind;
	int limit, min_percent, nodes, per_host;
	bool health;
	struct words hosts, settings;
};

static const struct opt options[] = {
	{0, "launcher", "NAME", "how ranks are started: @{launchers}", OPT_TEXT,
	 offsetof(struct options, launcher)},
	{0, "health", NULL, "look at each GPU by itself and compare them; no ranks are started",
	 OPT_FLAG, offsetof(struct options, health)},
	{0, "limit", "S", "seconds that the whole run may take (300, with --health 60)", OPT_INT,
	 offsetof(struct options, limit)},
	HOSTS_OPTION(struct options, hosts),
	{0, "min-percent", "P", "bad verdict below P % of what the hardware should give", OPT_INT,
	 offsetof(struct options, min_percent)},
	{0, "from", "FILE", "judge a worker's JSON document that is there; nothing is run",
	 OPT_TEXT, offsetof(struct options, from)},
	{0, "on", "ENGINE", "as a job of a scheduler: @{schedulers}", OPT_TEXT,
	 offsetof(struct options, on)},
	{0, "nodes", "N", "with --on: nodes there (default: ranks / ppn, or the hosts)", OPT_INT,
	 offsetof(struct options, nodes)},
	{0, "kind", "KIND", "with --on: what it becomes there, of 'ringup help export'", OPT_TEXT,
	 offsetof(struct options, kind)},
	{0, "ppn", "N", "with --on: ranks per node", OPT_INT, offsetof(struct options, per_host)},
	{'s', "set", "NAME=VALUE",
	 "with --on: a setting of 'ringup help export'; may be given again", OPT_LIST,
	 offsetof(struct options, settings)},
	{0, "facts", "FILE", "with --from: facts of the hosts (see 'probe -o')", OPT_TEXT,
	 offsetof(struct options, facts)},
	OPT_END,
};

/* The facts of the hosts that answered. */
static struct facts *all_facts(const struct stages *s, size_t *count)
{
	struct facts *facts = ARENA_ARRAY(s->arena, s->fleet.count + 1, struct facts);

	*count = 0;
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed)
			facts[(*count)++] = s->fleet.members[i].facts;
	return facts;
}

static int judge_percent(const struct report_expected *expected, int min_percent,
			 struct report *report, struct arena *arena, struct error *err)
{
	if (!min_percent || strcmp(report->verdict, "pass") != 0)
		return 0;
	if (expected->busbw > 0 && expected->percent >= min_percent)
		return 0;
	report->verdict = "below threshold";
	if (expected->busbw > 0)
		report->reason = arena_printf(
			arena,
			"busbw %.3f GB/s is %.1f %% of the %.3f expected, below --min-percent %d",
			report_peak(report), expected->percent, expected->busbw, min_percent);
	else
		report->reason =
			arena_printf(arena, "--min-percent %d cannot be judged: no expectation: %s",
				     min_percent, expected->because);
	return error_set(err, ERROR_VERDICT, "%s", report->reason);
}

/* A verdict about CPUs must not look like one about the GPUs that the hosts have. */
static void bench_note_cpu(const struct report *report, const struct facts *facts, size_t count,
			   struct words *notes)
{
	size_t gpus = 0;

	for (size_t i = 0; i < count; i++)
		gpus += gpu_count(&facts[i]);
	if (gpus && strcmp(report->backend, "cpu") == 0)
		words_addf(
			notes,
			"the hosts have %zu GPUs, and this was measured on CPUs; 'ringup bench -- --backend nccl' measures GPUs",
			gpus);
}

/* A warning for the first host whose image is not that of the others; NULL when all have one. */
static const char *bench_other_image(const struct fleet *fleet, struct arena *arena)
{
	for (size_t i = 1; i < fleet->count; i++) {
		const struct member *a = &fleet->members[0], *b = &fleet->members[i];

		if (a->state.image && b->state.image && strcmp(a->state.image, b->state.image) != 0)
			return arena_printf(
				arena,
				"%s has another image than %s: different programs are measured together; 'ringup status' compares the hosts",
				b->host->name, a->host->name);
	}
	return NULL;
}

/* $NCCL_IB_HCA in the container, which has the image's unless its own says another; NULL: none. */
static const char *bench_ib_hca(const struct cluster *cluster)
{
	static const char name[] = "NCCL_IB_HCA=";
	const char *const *lists[] = {cluster->image.env, cluster->container.env};
	const char *value = NULL;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const char *const *pair = lists[i]; pair && *pair; pair++)
			if (starts_with(*pair, name))
				value = *pair + strlen(name);
	return value;
}

/* What the hardware should give, what is wrong with it, and --min-percent. */
static int bench_judge(struct stages *s, const struct options *o, const struct facts *facts,
		       size_t count, struct report *report, struct error *err)
{
	struct words notes = WORDS_INIT(s->arena);
	const char *other;

	if (stage_catalog(s, err) < 0) {
		if (o->min_percent)
			return -1;
		log_warn("the speed is not judged: %s", err->text);
		return 0;
	}
	expectation_judge(&s->catalog, facts, count, bench_ib_hca(&s->cluster), s->arena, report);
	for (size_t i = 0; i < count; i++)
		link_notes(&s->catalog, &facts[i], &notes);
	bench_note_cpu(report, facts, count, &notes);
	for (size_t i = 0; i < notes.count; i++)
		log_warn("%s", notes.list[i]);
	other = bench_other_image(&s->fleet, s->arena); /* bench has said it at the start */
	if (other)
		words_add(&notes, other);
	report->notes = notes.list;
	return judge_percent(&report->expected, o->min_percent, report, s->arena, err);
}

static void print_verdict(const struct report *report, size_t hosts, const char *verdict)
{
	say("%d ranks on %zu host%s%s%s: verdict \"%s\"\n", report->world, hosts,
	    hosts == 1 ? "" : "s", *report->launcher ? ", launcher " : "", report->launcher,
	    verdict);
}

/* Compares with the runs before this one, which then joins them. Of a run from a file nothing is kept. */
static void bench_remember(struct stages *s, const struct report *report, cJSON *document,
			   struct bench_past *past)
{
	struct error err = {0};

	*past = (struct bench_past){0};
	if (!s->cluster.path || report->row_count == 0)
		return;
	if (bench_history_keep(&s->cluster, report, s->arena, past, &err) < 0)
		log_warn("the history does not get this: %s", err.text);
	bench_history_add_to(past, document);
	if (past->slower)
		log_warn("slower than before: %s", bench_history_sentence(past, s->arena));
}

/* Judges, prints and keeps a report; `rc` and *err say how the run went, and win. */
static int conclude(struct stages *s, const struct options *o, const struct facts *facts,
		    size_t count, struct report *report, cJSON *document, int rc, struct error *err)
{
	struct error saving = {0}, judging = {0};
	struct bench_past past;

	if (!report->verdict)
		return rc;
	if (bench_judge(s, o, facts, count, report, &judging) < 0 && rc == 0) {
		*err = judging;
		rc = -1;
	}
	report_complete(report, document);
	stage_add_simulated(s, document);
	bench_remember(s, report, document, &past);
	if (s->ctx->json)
		json_print(stdout, document);
	else
		bench_print(report, s->arena);
	if (!s->ctx->json && past.runs && !past.slower)
		say("%s\n", bench_history_sentence(&past, s->arena));
	if (s->cluster.path &&
	    json_write(cluster_state_path(&s->cluster, "last-bench.json", s->arena), document, 0600,
		       &saving) < 0)
		log_warn("%s", saving.text);
	if (!s->ctx->json)
		print_verdict(report, s->fleet.count ? s->fleet.count : report_hosts(report),
			      rc == 0 ? report->verdict : err->text);
	return rc;
}

static int check_workers(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return member_check_worker(m, err);
}

/* The launcher's component must be in the image: what ringup.lock says was built. */
static int check_stack(struct stages *s, const struct launcher *launcher, struct error *err)
{
	const struct plan *plan;

	if (!*launcher->component)
		return 0;
	if (stage_built_plan(s, &plan, err) < 0)
		return -1;
	if (!plan || plan_choice(plan, launcher->component))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"the launcher '%s' needs %s in the image, and %s has none; add %s to 'stack' in %s and run 'ringup up'",
		launcher->name, launcher->component, stage_lock_path(s), launcher->component,
		s->cluster.path);
}

static void bench_fill_launchers(const char *name, struct str *out)
{
	const struct launcher *usual = NULL;
	struct error ignored = {0};

	if (strcmp(name, "schedulers") == 0) {
		run_on_fill(out);
		return;
	}
	launcher_find(NULL, &usual, &ignored);
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->words)
			str_addf(out, "%s%s%s", out->length ? ", " : "", (*l)->name,
				 *l == usual ? " (the default)" : "");
}

/* Warns when something else of this cluster is at work, on whatever hosts. The lock is held as long as *held is open. */
static void bench_look_for_others(struct stages *s, int *held)
{
	struct error busy = {0};
	const char *job;

	if (file_lock(cluster_state_path(&s->cluster, "bench.lock", s->arena), held, &busy) < 0)
		log_warn(
			"another bench of this cluster runs: where both have the same hosts, both measure too little");
	busy = (struct error){0};
	if (stage_running_job(s, s->arena, &job, &busy) == 0 && job)
		log_warn(
			"a job runs on this cluster ('ringup ps'): on its hosts this measures too little");
}

static int bench(struct stages *s, const struct options *o, const char *const *arguments,
		 struct error *err)
{
	struct bench_options bench = {.timeout_s = o->limit};
	struct bench_backend backend;
	_cleanup_(json_free) cJSON *document = NULL;
	struct report report;
	struct facts *facts;
	size_t count;
	_cleanup_(fd_close) int held = -1;
	const char *other;
	int rc;

	fleet_check(&s->fleet);
	fleet_check_owner(&s->fleet);
	fleet_each(&s->fleet, check_workers, NULL);
	if (fleet_result(&s->fleet, err) < 0)
		return error_advise(err, "nothing was measured");
	if (o->health) {
		bench_look_for_others(s, &held);
		return bench_health(s, o->limit, err);
	}
	if (launcher_find(o->launcher, &bench.launcher, err) < 0 ||
	    check_stack(s, bench.launcher, err) < 0 ||
	    bench_backend_choose(s, arguments, &backend, err) < 0)
		return -1;
	bench.arguments = backend.arguments;
	other = bench_other_image(&s->fleet, s->arena);
	if (other)
		log_warn("%s", other);
	bench_look_for_others(s, &held);
	rc = fleet_bench(&s->fleet, &bench, s->arena, &report, &document, err);
	if (rc == 0)
		rc = bench_backend_judge(&backend, &report, err);
	facts = all_facts(s, &count);
	return conclude(s, o, facts, count, &report, document, rc, err);
}

/* A report and facts from files: no cluster file is needed, and nothing is run or kept. */
static int bench_from(struct stages *s, const struct options *o, struct error *err)
{
	_cleanup_(json_free) cJSON *document = NULL;
	struct report report;
	struct facts *facts;
	size_t count;

	if (json_read_input(o->from, &document, err) < 0)
		return -1;
	if (report_from_json(document, s->arena, &report, err) < 0) {
		error_of_input(err);
		return error_wrap(err, "%s", o->from);
	}
	if (o->facts && stage_facts(s, o->facts, err) < 0)
		return -1;
	facts = all_facts(s, &count);
	return conclude(s, o, facts, count, &report, document, bench_verdict(&report, err), err);
}

/* The worker as a job of a scheduler, judged by what it reports. */
static int bench_on_scheduler(struct stages *s, const struct options *o,
			      const char *const *arguments, struct error *err)
{
	_cleanup_(json_free) cJSON *document = NULL;
	struct bench_backend backend;
	struct report report;
	struct facts *facts;
	size_t count;
	struct run_on on = {.stages = s,
			    .engine = o->on,
			    .wish = {.origin = job_files_origin(s->ctx, WORDS("bench"), options, o,
								NULL, arguments),
				     .settings = words_list(&o->settings),
				     .nodes = o->nodes,
				     .kind = o->kind},
			    .is_quiet = true};
	int rc;

	if (o->launcher || o->hosts.count)
		return error_set(
			err, ERROR_USAGE,
			"--%s does not go with --on %s, which has the nodes and starts the ranks",
			o->launcher ? "launcher" : "hosts", o->on);
	on.wish.job = (struct job_options){.per_host = o->per_host, .timeout_s = o->limit};
	if (bench_backend_choose(s, arguments, &backend, err) < 0)
		return -1;
	rc = bench_on(&on, backend.arguments, &report, &document, err);
	if (rc == 0)
		rc = bench_backend_judge(&backend, &report, err);
	facts = bench_on_facts(&on, &report, &count);
	return conclude(s, o, facts, count, &report, document, rc, err);
}

static int bench_run_command(struct context *ctx, void *values, const char *const *arguments,
			     struct error *err)
{
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	const struct options *o = values;
	int rc;

	if (o->health && (o->from || o->on || o->launcher || o->min_percent || arguments[0]))
		return error_set(
			err, ERROR_USAGE,
			"--health goes with --hosts and --limit only: it starts no ranks and has no flags of the worker");
	if (o->from)
		return bench_from(&s, o, err);
	if (o->facts)
		return error_set(err, ERROR_USAGE,
				 "--facts goes with --from: a run asks the hosts");
	if (!o->on && (o->nodes || o->per_host || o->kind || o->settings.count))
		return error_set(err, ERROR_USAGE,
				 "--nodes, --ppn, --kind and --set go with --on ENGINE");
	if (o->on)
		return stage_cluster(&s, ctx, err) < 0 ? -1
						       : bench_on_scheduler(&s, o, arguments, err);
	if (stage_cluster(&s, ctx, err) < 0 || stage_choose(&s, &o->hosts, NULL, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0)
		rc = bench(&s, o, arguments, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_bench = {
	.name = "bench",
	.arguments = "[-- WORKER FLAGS]",
	.summary = "runs the all-reduce worker on every rank and judges it",
	.help = "Every sum is verified. WORKER FLAGS are nccl-tests' (-b first size, -e last size, -f\n"
		"factor, -n iterations, -d type, -o op) and the worker's own (--min-busbw, --fault-inject):\n"
		"  ringup bench -- -b 1K -e 64M -f 4\n"
		"Where the stack is for CUDA the GPUs are measured, by the NCCL that jobs load; --backend cpu asks\n"
		"for the CPUs.\n"
		"The bus bandwidth is compared with what the hosts' NVLink, PCIe or network should give, as far as\n"
		"that is known. With --on ENGINE a scheduler runs it (docs/slurm.md, docs/engines.md).\n"
		"--health measures each GPU of each host instead (memory, the way to the host, calculating, copies to\n"
		"the other GPUs of its host) and reads its clocks, errors and links. A card that is ill, gone, or\n"
		"slower than the others of its model or than in earlier runs (.ringup/history/health) is named with\n"
		"its slot and serial number. A job that runs there meanwhile is in its way.\n"
		"Exit status 5 when the verdict is not \"pass\". The report is kept in .ringup/last-bench.json, whole\n"
		"as the worker wrote it. Each run that passed is compared with the last ones of its kind and with\n"
		"that of a week ago, which .ringup/history/bench keeps.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.fill = bench_fill_launchers,
	.run = bench_run_command,
};
