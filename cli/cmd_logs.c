/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/bringup/claim.h"
#include "deployer/bringup/operate.h"
#include "deployer/scheduler/scheduled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL_DEFAULT 100

#define FOLLOW_USEC 100000

struct options {
	int tail;
	const char *rank;
	bool follow, all;
	struct words hosts;
};

static const struct opt options[] = {
	{'n', "tail", "N", "lines per host (100); of a job the last N lines (all)", OPT_INT,
	 offsetof(struct options, tail)},
	{'f', "follow", NULL, "of a job: goes on until it ends, with all its starts", OPT_FLAG,
	 offsetof(struct options, follow)},
	{0, "rank", "N", "of a job: only this rank's output", OPT_TEXT,
	 offsetof(struct options, rank)},
	{'a', "all", NULL, "of containers: also what their sshd says of logins that went well",
	 OPT_FLAG, offsetof(struct options, all)},
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

struct logs {
	int tail;
	bool all;
	struct proc_result *results; /* one per member */
};

static int logs_fetch(struct member *m, void *arg, struct error *err)
{
	struct logs *logs = arg;

	if (m->engine->has_containers && member_ask_owner(m, err) < 0)
		return -1;
	return member_logs(m, logs->tail, logs->all, &logs->results[m->index], err);
}

static void logs_print_all(const struct stages *s, const struct logs *logs)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		const struct proc_result *r = &logs->results[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(hosts, item);
		cJSON_AddStringToObject(item, "host", m->host->name);
		if (m->failed)
			continue;
		json_add_text(item, "stdout", r->out.text);
		json_add_text(item, "stderr", r->err.text);
		if (s->ctx->json)
			continue;
		stage_print_lines(stdout, m->host->name, r->out.text);
		stage_print_lines(stdout, m->host->name, r->err.text);
	}
	if (s->ctx->json)
		json_print(stdout, json);
}

/* Of a job: what is printed, and the text so far where --json prints it at the end. */
struct job_logs {
	const struct options *options;
	const char *file_name;
	bool is_json;
	struct str text;
};

/* Prints what is new in the file; a last line without an end waits for it unless `all`. */
static void print_new(struct job_logs *logs, FILE *file, bool all)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	char bytes[16384];
	size_t got, end;

	while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0)
		str_add_bytes(&text, bytes, got);
	clearerr(file);
	for (end = text.length; !all && end && text.text[end - 1] != '\n';)
		end--;
	if (end < text.length)
		fseeko(file, -(off_t)(text.length - end), SEEK_CUR);
	if (logs->is_json)
		str_add_bytes(&logs->text, text.text, end);
	else if (end)
		say_data(text.text, end);
	fflush(stdout);
}

/* Places the file before its last N lines. */
static void seek_tail(FILE *file, int lines)
{
	off_t at;
	int c;

	if (!lines || fseeko(file, 0, SEEK_END) < 0)
		return;
	for (at = ftello(file) - 1; at > 0; at--) {
		fseeko(file, at - 1, SEEK_SET);
		c = fgetc(file);
		if (c == '\n' && --lines == 0)
			return;
	}
	rewind(file);
}

/* Prints what is in the file, and with --follow what comes until that start of the job ends. */
static int logs_print_job(struct job_logs *logs, const struct job_record *record,
			  struct scheduled *scheduled, FILE *file, struct error *err)
{
	bool ended = false;

	while (logs->options->follow && (scheduled ? !ended : job_is_alive(record))) {
		if (scheduled && scheduled_step(scheduled, &ended, err) < 0)
			return -1;
		print_new(logs, file, false);
		if (ferror(stdout)) /* (main knows what a reader that went away means) */
			return errno == EPIPE ? 0
					      : error_errno(err, "cannot write to standard output");
		if (interrupt_check(err) < 0)
			return -1;
		usleep(FOLLOW_USEC);
	}
	print_new(logs, file, true);
	return 0;
}

/*
 * Opens a file of the job. There is none before it begins, as when it waits for GPUs, and none at all when it never does:
 * *file is NULL then, with errno.
 */
static int logs_open(const struct job_record *record, const char *path, bool waits, FILE **file,
		     struct error *err)
{
	while (!(*file = fopen(path, "re")) && waits && job_is_alive(record)) {
		if (interrupt_check(err) < 0)
			return -1;
		usleep(FOLLOW_USEC);
	}
	return 0;
}

/* Goes on with the later starts of the job (run --retries), from their begin. */
static int logs_follow_next(struct stages *s, struct job_logs *logs, struct job_record *record,
			    struct error *err)
{
	for (;;) {
		_cleanup_(file_close) FILE *file = NULL;
		const char *path;

		if (interrupt_check(err) < 0 ||
		    job_record_read(&s->cluster, record->name, s->arena, record, err) < 0)
			return -1;
		if (!*record->next)
			return 0;
		if (job_record_read(&s->cluster, record->next, s->arena, record, err) < 0)
			return -1;
		path = arena_printf(s->arena, "%s/%s", record->folder, logs->file_name);
		if (logs_open(record, path, true, &file, err) < 0)
			return -1;
		if (file && logs_print_job(logs, record, NULL, file, err) < 0)
			return -1;
	}
}

/* Prints the file, and with --follow what the job, and its later starts, add to it. */
static int logs_print_file(struct stages *s, struct job_logs *logs, struct job_record *record,
			   struct scheduled *scheduled, struct error *err)
{
	_cleanup_(file_close) FILE *file = NULL;
	const char *path = arena_printf(s->arena, "%s/%s", record->folder, logs->file_name);

	if (logs_open(record, path, logs->options->follow, &file, err) < 0)
		return -1;
	if (!file)
		return error_errno(err, "%s has printed nothing yet: cannot read %s", record->name,
				   path);
	seek_tail(file, logs->options->tail);
	if (logs_print_job(logs, record, scheduled, file, err) < 0)
		return -1;
	return logs->options->follow ? logs_follow_next(s, logs, record, err) : 0;
}

/* The one document of --json: with --follow that of all starts. */
static int logs_print_json(struct job_logs *logs, const struct job_record *record,
			   struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	if (logs->text.overflowed)
		return error_set(err, ERROR_FAILED,
				 "%s/%s is too large for one JSON document; --tail N takes less",
				 record->folder, logs->file_name);
	nuls_replace(logs->text.text, logs->text.length, '?');
	if (logs->text.length)
		foreign_make_utf8(logs->text.text);
	json = json_document();
	cJSON_AddStringToObject(json, "job", record->name);
	cJSON_AddStringToObject(json, "state", record->state);
	cJSON_AddStringToObject(json, "file", logs->file_name);
	cJSON_AddStringToObject(json, "text", logs->text.length ? logs->text.text : "");
	json_print(stdout, json);
	return 0;
}

static int logs_of_job(struct stages *s, const char *name, const struct options *o,
		       struct error *err)
{
	struct job_logs logs = {.options = o, .is_json = s->ctx->json};
	struct scheduled *scheduled = NULL;
	struct job_record record;
	bool ended;
	int rc;

	if (job_record_read(&s->cluster, name, s->arena, &record, err) < 0)
		return -1;
	if (o->rank && strspn(o->rank, "0123456789") != strlen(o->rank))
		return error_set(err, ERROR_USAGE, "--rank %s: a number is needed", o->rank);
	if (o->rank && record.ranks && strtol(o->rank, NULL, 10) >= record.ranks)
		return error_set(err, ERROR_USAGE, "%s has the ranks 0 to %d, and none is %s", name,
				 record.ranks - 1, o->rank);
	logs.file_name = o->rank ? arena_printf(s->arena, "rank-%s.log", o->rank) : "all.log";
	/* a job of a scheduler that nobody follows: what it has printed is taken first */
	if (scheduled_is_open(&record) &&
	    (scheduled_open(&record, -1, false, s->arena, &scheduled, err) < 0 ||
	     (scheduled && scheduled_step(scheduled, &ended, err) < 0))) {
		scheduled_close(scheduled);
		return -1;
	}
	str_init(&logs.text);
	rc = logs_print_file(s, &logs, &record, scheduled_is_open(&record) ? scheduled : NULL, err);
	scheduled_close(scheduled);
	if (rc == 0 && logs.is_json)
		rc = logs_print_json(&logs, &record, err);
	str_release(&logs.text);
	if (rc < 0 && err->kind == ERROR_INTERRUPTED && o->follow)
		*err->text = '\0'; /* Ctrl-C is how a person ends it, as with tail -f */
	return rc;
}

static int logs_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	const struct options *o = values;
	struct logs logs = {.tail = o->tail ? o->tail : TAIL_DEFAULT,
			    .all = o->all || log_level() == LOG_VERBOSE};
	struct stages s;

	if (stage_cluster_or_defaults(&s, ctx, err) < 0)
		return -1;
	if (*arguments && !arguments[1] && job_record_exists(&s.cluster, *arguments, s.arena))
		return logs_of_job(&s, *arguments, o, err);
	if (o->follow || o->rank)
		return error_set(err, ERROR_USAGE,
				 "%s goes with the name of a job; 'ringup ps' lists them",
				 o->follow ? "--follow" : "--rank");
	if (stage_cluster(&s, ctx, err) < 0)
		return -1;
	if (stage_select(&s, &o->hosts, arguments, err) < 0)
		return *arguments && !arguments[1]
			       ? error_wrap(err, "%s is no job ('ringup ps' lists them)",
					    *arguments)
			       : -1;
	logs.results = ARENA_ARRAY(s.arena, s.fleet.count, struct proc_result);
	fleet_each(&s.fleet, logs_fetch, &logs);
	logs_print_all(&s, &logs);
	for (size_t i = 0; i < s.fleet.count; i++)
		proc_result_release(&logs.results[i]);
	fleet_result(&s.fleet, err);
	fleet_close(&s.fleet);
	return err->kind ? -1 : 0;
}

const struct command command_logs = {
	.name = "logs",
	.arguments = "[JOB|HOST...]",
	.summary = "what a job printed, or the containers' logs",
	.help = "Of a job each line stands behind its rank and host. Without JOB and HOST the logs of all hosts'\n"
		"containers are printed, each line behind its host. What their sshd says of each login and its end\n"
		"is left out, and refused keys and other errors are not; --all (or -v) prints all of it.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = logs_run,
};
