/* SPDX-License-Identifier: MIT */
#include "cli/run_again.h"

#include "cli/app/stage_lease.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/proc.h"

#include <poll.h>

#define AGAIN_HOSTS_S 600 /* a large server boots for minutes */
#define AGAIN_ASK_S 2
#define AGAIN_PAUSE_MAX_S 60

void run_keep_end(const struct job_record *record)
{
	struct error ignored = {0};

	if (job_record_write(record, &ignored) < 0)
		log_warn("the end of %s is not kept: %s", record->name, ignored.text);
}

void run_again_keep(struct run_again *again, struct job_record *record, const char *ended,
		    int *lock)
{
	record->state = "retrying";
	run_keep_end(record);
	again->before = *record;
	again->before.ended = ended;
	again->lock = *lock;
	*lock = -1;
}

void run_again_conclude(struct run_again *again, const char *next)
{
	if (!again->before.name)
		return;
	again->before.next = next;
	again->before.state = *next || !interrupted() ? "failed" : "stopped";
	run_keep_end(&again->before);
	again->before.name = NULL;
	fd_close(&again->lock);
}

static int again_sleep(int seconds, struct error *err)
{
	uint64_t end = clock_usec() + (uint64_t)seconds * 1000000;

	while (clock_usec() < end) {
		if (interrupt_check(err) < 0)
			return -1;
		poll(NULL, 0, INTERRUPT_POLL_MSEC);
	}
	return 0;
}

/* One look at the hosts that were lost. */
static int again_clear(const struct run_again *again, struct stages *s, struct error *err)
{
	int count, rc = stage_end_leftovers(s, &again->before, again->before.unswept, &count, err);

	for (size_t i = 0; rc == 0 && i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (m->engine->has_containers && !m->state.running)
			rc = error_set(err, ERROR_FAILED, "%s: its container does not run",
				       m->host->name);
	}
	fleet_close(&s->fleet);
	return rc;
}

static int again_wait_for_hosts(struct run_again *again, struct stages *s, struct error *err)
{
	uint64_t end = clock_usec() + AGAIN_HOSTS_S * UINT64_C(1000000);
	const char *name = again->before.name;
	bool is_said = false;

	while (again->before.unswept && *again->before.unswept) {
		struct error why = {0};

		if (again_clear(again, s, &why) == 0) {
			again->before.unswept = NULL;
			return 0;
		}
		if (interrupt_check(err) < 0)
			return -1;
		if (clock_usec() > end)
			return error_set(
				err, ERROR_FAILED,
				"%s is not started again: for %d s it could not be made sure that nothing of it is left: %s",
				name, AGAIN_HOSTS_S, why.text);
		if (!is_said)
			log_info("%s: before it is started again its hosts have %d s: %s", name,
				 AGAIN_HOSTS_S, why.text);
		is_said = true;
		if (again_sleep(AGAIN_ASK_S, err) < 0)
			return -1;
	}
	return 0;
}

int run_again_wait(struct run_again *again, struct stages *s, struct error *err)
{
	if (again_wait_for_hosts(again, s, err) < 0)
		return -1;
	again->pause_s = again->pause_s ? 2 * again->pause_s : 1;
	if (again->pause_s > AGAIN_PAUSE_MAX_S)
		again->pause_s = AGAIN_PAUSE_MAX_S;
	log_info("%s is started again in %d s, %d more time%s at most", again->before.name,
		 again->pause_s, again->left, again->left == 1 ? "" : "s");
	return again_sleep(again->pause_s, err);
}
