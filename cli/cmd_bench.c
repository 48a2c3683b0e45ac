/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "core/log.h"
#include "core/term.h"
#include "deployer/bench.h"
#include "deployer/probe.h"

#include <string.h>

struct options {
	const char *launcher;
	int limit;
};

static const struct opt options[] = {
	{0, "launcher", "NAME", "ssh (default) or mpirun", OPT_TEXT,
	 offsetof(struct options, launcher)},
	{0, "limit", "S", "seconds that the whole run may take (300)", OPT_INT,
	 offsetof(struct options, limit)},
	OPT_END,
};

/* The row of the same size in the other placement, or NULL. */
static const struct report_row *partner(const struct report *report, size_t index)
{
	for (size_t i = 0; i < report->row_count; i++)
		if (report->rows[i].inplace && report->rows[i].bytes == report->rows[index].bytes)
			return &report->rows[i];
	return NULL;
}

/* nccl-tests' columns: each size once, out of place and in place beside each other. */
static void print_report(const struct stages *s, const struct report *report)
{
	struct arena *a = s->arena;
	struct term_table table;

	if (!report->row_count)
		return;
	term_table_init(&table, a,
			WORDS(">SIZE (B)", "TYPE", "OP", ">OUT: TIME (us)", ">ALGBW",
			      ">BUSBW (GB/s)", ">WRONG", ">IN: TIME (us)", ">ALGBW",
			      ">BUSBW (GB/s)", ">WRONG"));
	for (size_t i = 0; i < report->row_count; i++) {
		const struct report_row *out = &report->rows[i], *in = partner(report, i);

		if (out->inplace || !in)
			continue;
		term_table_row(&table, WORDS(arena_printf(a, "%.0f", out->bytes), out->type,
					     out->op, arena_printf(a, "%.1f", out->usec),
					     arena_printf(a, "%.3f", out->algbw),
					     arena_printf(a, "%.3f", out->busbw),
					     arena_printf(a, "%.0f", out->wrong),
					     arena_printf(a, "%.1f", in->usec),
					     arena_printf(a, "%.3f", in->algbw),
					     arena_printf(a, "%.3f", in->busbw),
					     arena_printf(a, "%.0f", in->wrong)));
	}
	term_table_print(&table, stdout);
}

static int save_report(struct stages *s, const struct report *report, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	if (!report->verdict)
		return 0;
	json = report_to_json(report);
	if (s->ctx->json)
		json_print(stdout, json);
	return json_write(cluster_state_path(&s->cluster, "last-bench.json", s->arena), json, 0600,
			  err);
}

static int check_workers(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	if (m->engine->has_containers ? m->state.running : *m->state.mesh)
		return 0;
	return error_set(err, ERROR_FAILED, "%s: no worker is up there; run 'ringup up' first",
			 m->host->name);
}

static int bench(struct stages *s, const struct options *o, const char *const *arguments,
		 struct error *err)
{
	struct bench_options bench = {.launcher = o->launcher ? o->launcher : "ssh",
				      .arguments = arguments,
				      .timeout_s = o->limit};
	struct error saving = {0};
	struct report report;
	int rc;

	fleet_each(&s->fleet, check_workers, NULL);
	if (fleet_result(&s->fleet, err) < 0)
		return -1;
	rc = fleet_bench(&s->fleet, &bench, s->arena, &report, err);
	if (!s->ctx->json)
		print_report(s, &report);
	if (save_report(s, &report, &saving) < 0)
		log_warn("%s", saving.text);
	if (report.verdict && !s->ctx->json)
		printf("%d ranks on %zu hosts, launcher %s: verdict \"%s\"\n", report.world,
		       s->fleet.count, bench.launcher, rc == 0 ? report.verdict : err->text);
	return rc;
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0)
		rc = bench(&s, values, arguments, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_bench = {
	.name = "bench",
	.arguments = "[-- WORKER FLAGS]",
	.summary = "runs the all-reduce worker on every rank and judges it",
	.help = "Every sum is verified. WORKER FLAGS are nccl-tests' (-b first size, -e last size, "
		"-f\n"
		"factor, -n iterations, -d type, -o op) and the worker's own (--min-busbw, "
		"--fault-inject):\n"
		"  ringup bench -- -b 1K -e 64M -f 4\n"
		"Exit status 5 when the verdict is not \"pass\". The report is kept in "
		".ringup/last-bench.json.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = run,
};
