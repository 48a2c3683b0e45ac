/* SPDX-License-Identifier: MIT */
#include "cli/run_on.h"
#include "cli/job_files.h"
#include "cli/app/stage_plan.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/quote.h"
#include "core/term.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/scheduled.h"
#include "plan/lock.h"

#include <string.h>
#include <unistd.h>

void run_on_fill(struct str *out)
{
	size_t before = out->length;

	for (const struct exporter *const *e = exporters; *e; e++)
		if ((*e)->submit)
			str_addf(out, "%s%s", out->length > before ? ", " : "", (*e)->name);
}

int run_on_find(const char *name, const struct exporter **exporter, struct error *err)
{
	_cleanup_(str_release) struct str names = STR_INIT;
	struct error ignored = {0};

	if (exporter_find(name, exporter, &ignored) == 0 && (*exporter)->submit)
		return 0;
	run_on_fill(&names);
	return error_set(err, ERROR_USAGE, "--on %s: ringup runs jobs on: %s", name, names.text);
}

/* The lock says the stack and the image. */
static int run_on_image(struct run_on *on, struct error *err)
{
	struct stages *s = on->stages;
	struct export_wish *wish = &on->wish;
	struct lock *lock = ARENA_NEW(s->arena, struct lock);
	bool found;

	wish->image = "";
	if (lock_read(stage_lock_path(s), s->arena, lock, &found, err) < 0)
		return -1;
	if (!found)
		return 0;
	wish->plan = cluster_has_no_stack(&s->cluster) ? NULL : &lock->plan;
	wish->image = strcmp(s->cluster.container.engine, "none") == 0 ? "" : lock->image;
	return 0;
}

static int run_on_wish(struct run_on *on, const struct exporter *exporter, struct error *err)
{
	struct export_wish *wish = &on->wish;

	wish->arena = on->stages->arena;
	wish->cluster = &on->stages->cluster;
	wish->is_followed = true;
	if (run_on_image(on, err) < 0)
		return -1;
	wish->job.lock = wish->plan;
	if (export_check(exporter, wish, err) < 0 || export_place(wish, err) < 0)
		return -1;
	export_warn_of_secrets(exporter, wish);
	return 0;
}

/* The files as they would be, so that what cannot be is said before there is a record of it. */
static int run_on_files(const struct run_on *on, const struct exporter *exporter,
			struct export_wish *wish, struct export_files *files, struct error *err)
{
	*wish = on->wish;
	if (!wish->job.name || !*wish->job.name)
		wish->job.name = "job";
	if (job_name_check(wish->job.name, err) < 0)
		return -1;
	return exporter->check_run(wish, err) < 0 ? -1 : exporter->write(wish, files, err);
}

static int run_on_submit(struct run_on *on, const struct exporter *exporter, int *lock,
			 struct error *err)
{
	struct stages *s = on->stages;
	struct job_record *record = &on->record;
	_cleanup_(str_release) struct str line = STR_INIT;
	struct error ignored = {0};
	char now[24];

	clock_iso8601(now);
	quote_words(&line, on->wish.job.command);
	*record = (struct job_record){.state = "starting",
				      .command = arena_strdup(s->arena, line.text),
				      .launcher = on->wish.job.launcher->name,
				      .started = arena_strdup(s->arena, now),
				      .scheduler = exporter->name,
				      .ended = "",
				      .reason = "",
				      .next = "",
				      .id = "",
				      .ranks = on->wish.world,
				      .hosts = on->wish.nodes,
				      .pid = getpid()};
	if (job_record_create(&s->cluster, on->wish.job.name, s->arena, record, lock, err) < 0)
		return -1;
	on->wish.job.name = record->name;
	if ((!on->prepare || on->prepare(on, record->folder, err) == 0) &&
	    exporter->submit(&on->wish, record->folder, &record->id, err) == 0) {
		record->state = "waiting";
		return job_record_write(record, err);
	}
	record->state = "failed";
	record->status = (int)err->kind;
	record->ended = record->started;
	record->reason = arena_strdup(s->arena, err->text);
	job_record_write(record, &ignored);
	return -1;
}

/* What becomes of the job after Ctrl-C: 'l' leave it, 'c' cancel it, 'f' go on following. */
static char run_on_ask(const struct job_record *record)
{
	char answer[16] = "";

	if (!term_is_tty(stdin))
		return 'c';
	for (int tries = 0; tries < 3; tries++) {
		say_to(stderr,
		       "\n%s goes on as job %s of %s: leave it there, cancel it, or follow it? [l/c/f] ",
		       record->name, record->id, record->scheduler);
		fflush(stderr);
		if (!fgets(answer, sizeof(answer), stdin))
			return 'l';
		if (strchr("lcf", *answer))
			return *answer;
	}
	return 'l';
}

static int run_on_follow(struct run_on *on, int lock, struct error *err)
{
	struct job_record *record = &on->record;
	struct scheduled *scheduled = NULL;
	int rc = scheduled_open(record, lock, !on->is_quiet && !on->stages->ctx->json,
				on->stages->arena, &scheduled, err);

	while (rc == 0 && (rc = scheduled_wait(scheduled, err)) < 0 &&
	       err->kind == ERROR_INTERRUPTED) {
		char answer = run_on_ask(record);

		if (answer == 'l') {
			error_set(
				err, ERROR_INTERRUPTED,
				"%s goes on as job %s of %s; 'ringup logs -f %s' follows it, and 'ringup stop %s' ends it",
				record->name, record->id, record->scheduler, record->name,
				record->name);
			break;
		}
		interrupt_forget();
		*err = (struct error){0};
		rc = answer == 'c' ? scheduled_cancel(record, err) : 0;
	}
	scheduled_close(scheduled);
	return rc;
}

int run_on(struct run_on *on, struct error *err)
{
	const struct exporter *exporter;
	struct export_files files = {0};
	struct export_wish wish;
	int lock = -1;

	if (run_on_find(on->engine, &exporter, err) < 0 || run_on_wish(on, exporter, err) < 0 ||
	    run_on_files(on, exporter, &wish, &files, err) < 0)
		return -1;
	if (on->dry_run) {
		job_files_show(on->stages->ctx, NULL, exporter, &wish, &files);
		return 0;
	}
	interrupt_keep(NULL);
	if (run_on_submit(on, exporter, &lock, err) < 0) {
		fd_close(&lock);
		return -1;
	}
	if (on->detach) {
		fd_close(&lock);
		return 0;
	}
	if (run_on_follow(on, lock, err) < 0)
		return -1;
	if (!on->record.status)
		return 0;
	error_set(err, ERROR_FAILED, "%s: %s", on->record.name, on->record.reason);
	err->kind = (enum error_kind)on->record.status;
	return -1;
}
