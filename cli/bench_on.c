/* SPDX-License-Identifier: MIT */
#include "cli/bench_on.h"

#include "core/file.h"
#include "core/foreign.h"
#include "deployer/bench/bench.h"
#include "deployer/launcher/launcher.h"
#include "deployer/remote.h"
#include "deployer/scheduler/scheduler.h"
#include "deployer/scheduler/stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_BYTES_MAX (64 * MIB)
#define WORKER_BYTES_MAX (64 * MIB)
#define FACTS_BYTES_MAX MIB
#define FETCH_SECONDS 120

/*
 * Ranks are named for their node as the scheduler calls it. The first one of each node writes the node's facts into the
 * job's folder, and rank 0 its report: of what goes through srun the last may be lost when a rank dies.
 */
static const char bench_on_script[] =
	"folder=${RINGUP_SECRET_FILE%/*}; "
	"[ \"$SLURM_LOCALID\" != 0 ] || sh \"$folder/probe.sh\" >\"$folder/facts.$SLURMD_NODENAME\" 2>/dev/null || :; "
	"[ \"$SLURM_PROCID\" != 0 ] || exec >\"$folder/report.json\"; "
	"exec \"$0\" --json --host \"$SLURMD_NODENAME\" \"$@\"";

#define FACT_MARK "ringup-fact " /* before each line of a node's facts in a rank's output */

/*
 * Where nodes and ringup share no folder, a pod's first rank prints the facts before it becomes the worker. $1 is the probe. Its
 * lines are no part of the report, whose first one begins with a brace and the others with a space.
 */
static const char bench_on_pod_script[] =
	"[ \"${LOCAL_RANK:-${OMPI_COMM_WORLD_LOCAL_RANK:-0}}\" != 0 ] || "
	"sh -c \"$1\" 2>/dev/null | sed 's/^/" FACT_MARK "/'; "
	"shift; exec \"$0\" --json \"$@\"";

/* The probe of a node, without what it asks of an engine and its container. */
static int bench_on_probe(struct arena *arena, const char **text, struct error *err)
{
	struct words words = WORDS_INIT(arena);
	const char *script;

	if (remote_sections("probe", false, WORDS(NULL), &words, &script, err) < 0)
		return -1;
	/* the node's address is the one from which it reaches the first node */
	*text = arena_printf(
		arena,
		"first=$(getent ahosts \"$MASTER_ADDR\" | awk 'NR == 1 { print $1 }')\n"
		"own=$(ip -o route get \"$first\" | sed -n 's/.* src \\([^ ]*\\).*/\\1/p')\n"
		"set -- ringup \"$own\" none : : : ''\n%s",
		script);
	return 0;
}

static int bench_on_write_probe(const char *folder, struct arena *arena, struct error *err)
{
	const char *text;

	if (bench_on_probe(arena, &text, err) < 0)
		return -1;
	return file_write(arena_printf(arena, "%s/probe.sh", folder), text, strlen(text), 0600,
			  err);
}

/* Without an image the nodes have no worker: it goes into the job's folder, which they share. */
static int bench_on_prepare(struct run_on *on, const char *folder, struct error *err)
{
	struct arena *arena = on->stages->arena;
	const char *program = arena_printf(arena, "%s/allreduce", path_program_folder(arena));
	struct words words = WORDS_INIT(arena);
	const struct exporter *exporter;
	char whole[PATH_MAX], *bytes;
	size_t length;

	if (run_on_find(on->engine, &exporter, err) < 0 ||
	    (!exporter->scheduler->first && bench_on_write_probe(folder, arena, err) < 0))
		return -1;
	if (*on->wish.image)
		return 0;
	if (!realpath(folder, whole))
		return error_errno(err, "cannot find %s", folder);
	if (file_read(program, WORKER_BYTES_MAX, arena, &bytes, &length, err) < 0 ||
	    file_write(arena_printf(arena, "%s/allreduce", whole), bytes, length, 0700, err) < 0)
		return error_wrap(err, "the worker");
	for (const char *const *word = on->wish.job.command; *word; word++)
		if (strcmp(*word, "allreduce") == 0)
			words_addf(&words, "%s/allreduce", whole);
		else
			words_add(&words, *word);
	on->wish.job.command = words.list;
	return 0;
}

/*
 * The worker's document in the file, "" if it is not there: its first line, and those with a space before them. Lines of
 * others stand between these where both go to one log.
 */
static const char *bench_on_document(const char *path, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	bool inside = false;
	char *text;
	size_t length;

	if (file_read(path, REPORT_BYTES_MAX, arena, &text, &length, err) < 0)
		return "";
	for (const char *line = text, *next; *line; line = next) {
		bool begins = starts_with(line, "{\"schema\": ");

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (begins)
			str_clear(&out);
		inside |= begins;
		if (begins || (inside && *line == ' '))
			str_add_bytes(&out, line, (size_t)(next - line));
	}
	return out.length ? arena_strdup(arena, out.text) : "";
}

/* Has the first task's output fetched where the scheduler has it, and not the job's folder. */
static int bench_on_fetch(const struct run_on *on, const struct scheduler *scheduler,
			  const char *path, struct error *err)
{
	struct arena *arena = on->stages->arena;
	const char *const *words, *said;

	if (!scheduler->first)
		return 0;
	words = scheduler->first(&on->record, arena, err);
	if (!words || stream_once(words, path, FETCH_SECONDS, arena, &said, err) < 0)
		return -1;
	if (!*said)
		return 0;
	return error_set(err, ERROR_FAILED, "%s",
			 foreign_clean_line(arena_strndup(arena, said, strcspn(said, "\n"))));
}

static int bench_on_read(const struct run_on *on, const struct scheduler *scheduler,
			 struct report *report, cJSON **document, struct error *err)
{
	struct arena *arena = on->stages->arena;
	const char *path = arena_printf(arena, "%s/report.json", on->record.folder), *text;

	bench_on_fetch(on, scheduler, path, err);
	text = bench_on_document(path, arena, err);
	/* a task that is gone has left what was read while it ran */
	if (!*text && scheduler->first)
		text = bench_on_document(arena_printf(arena, "%s/rank-0.log", on->record.folder),
					 arena, err);
	if (!*text && !err->kind)
		error_set(err, ERROR_FAILED, "see %s", on->record.folder);
	if (!*text)
		return error_wrap(err, "the worker gave no report");
	*err = (struct error){0};
	if (json_parse(text, strlen(text), "the worker's report", document, err) < 0 ||
	    report_from_json(*document, arena, report, err) < 0)
		return -1;
	report->launcher = on->record.scheduler;
	if (bench_verdict(report, err) < 0)
		return -1;
	if (report_hosts(report) == (size_t)on->wish.nodes)
		return 0;
	return error_set(err, ERROR_VERDICT, "the ranks ran on %zu nodes, planned were %d: see %s",
			 report_hosts(report), on->wish.nodes, on->record.folder);
}

/* Whether a rank before this one is on the same node. */
static bool bench_on_is_again(const struct report *report, int rank)
{
	for (int i = 0; i < rank; i++)
		if (strcmp(report->ranks[i].host, report->ranks[rank].host) == 0)
			return true;
	return false;
}

/* What the rank's node says of itself: in the job's folder, or among the rank's output. "" for nothing. */
static const char *bench_on_said(const struct run_on *on, const char *host, int rank)
{
	struct arena *arena = on->stages->arena;
	_cleanup_(str_release) struct str out = STR_INIT;
	/* there is no expectation then, and the reason says so */
	struct error ignored = {0};
	char *text;

	if (!strchr(host, '/') &&
	    file_read(arena_printf(arena, "%s/facts.%s", on->record.folder, host), FACTS_BYTES_MAX,
		      arena, &text, NULL, &ignored) == 0)
		return text;
	if (file_read(arena_printf(arena, "%s/rank-%d.log", on->record.folder, rank),
		      REPORT_BYTES_MAX, arena, &text, NULL, &ignored) < 0)
		return "";
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (starts_with(line, FACT_MARK) && out.length < FACTS_BYTES_MAX)
			str_addf(&out, "%.*s\n", (int)strcspn(line, "\n") - (int)strlen(FACT_MARK),
				 line + strlen(FACT_MARK));
	}
	return out.length ? arena_strdup(arena, out.text) : "";
}

struct facts *bench_on_facts(const struct run_on *on, const struct report *report, size_t *count)
{
	struct arena *arena = on->stages->arena;
	struct facts *facts = ARENA_ARRAY(arena, (size_t)report->world + 1, struct facts);

	*count = 0;
	for (int i = 0; i < report->world; i++) {
		const char *host = report->ranks[i].host;
		struct error ignored = {0};
		const char *said = bench_on_is_again(report, i) ? "" : bench_on_said(on, host, i);

		if (*said && facts_parse(host, said, NULL, arena, &facts[*count], &ignored) == 0)
			(*count)++;
	}
	return facts;
}

int bench_on(struct run_on *on, const char *const *arguments, struct report *report,
	     cJSON **document, struct error *err)
{
	struct words words = WORDS_INIT(on->stages->arena);
	struct error reading = {0};
	const struct launcher_wish wish = {0};
	const struct exporter *exporter;
	const char *probe;
	int rc;

	*report = (struct report){0};
	*document = NULL;
	if (run_on_find(on->engine, &exporter, err) < 0)
		return -1;
	if (exporter->scheduler->first && bench_on_probe(on->stages->arena, &probe, err) < 0)
		return -1;
	if (exporter->scheduler->first)
		words_add_all(&words, WORDS("sh", "-c", bench_on_pod_script, "allreduce", probe));
	else
		words_add_all(&words, WORDS("sh", "-c", bench_on_script, "allreduce"));
	words_add_all(&words, arguments);
	on->wish.is_worker = true;
	on->wish.job.name = "bench";
	on->wish.job.command = words.list;
	on->wish.job.env = WORDS(NULL);
	on->wish.job.workdir = "";
	on->prepare = bench_on_prepare;
	if (launcher_find_for_job("auto", &wish, &on->wish.job.launcher, err) < 0)
		return -1;
	rc = run_on(on, err);
	if (!on->record.name || err->kind == ERROR_INTERRUPTED)
		return rc;
	/* a bad verdict is also a bad status of the job; the report says more */
	if (bench_on_read(on, exporter->scheduler, report, document, &reading) == 0)
		return rc;
	if (rc == 0 || report->verdict)
		*err = reading;
	return -1;
}
