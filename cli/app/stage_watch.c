/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_watch.h"

#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "core/proc.h"

#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WATCH_EVERY_S 15
#define WATCH_REPAIRS 5
#define WATCH_PAUSE_FIRST_S 4 /* after the first repair in a row, then twice as long each time */
#define WATCH_PAUSE_MOST_S 300
#define WATCH_FINE_S 600 /* a host that was fine for so long begins anew */
#define WATCH_TEXT_BYTES 400

struct watch_host {
	const char *name;
	char state[WATCH_TEXT_BYTES]; /* the last line about it */
	int repairs;		      /* in a row */
	bool is_given_up;
	uint64_t next_usec, fine_usec; /* when the next repair may be; since when it is fine */
};

struct watching {
	struct stages *stages;
	const struct watch *watch;
	struct watch_host *hosts;
	size_t count;
	const char *program;
};

static int watch_limit(const struct watching *w)
{
	return w->watch->repairs ? w->watch->repairs : WATCH_REPAIRS;
}

/* One line with the time, which also a log file can take. */
static void watch_say(const struct watch_host *host, const char *text)
{
	char now[24];

	clock_iso8601(now);
	say("%s %s: %s\n", now, host->name, text);
	fflush(stdout);
}

/* Says a host's state when it is another one. */
static void watch_note(struct watch_host *host, const char *state)
{
	char text[WATCH_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s", state);
	foreign_clean_line(text);
	if (strcmp(text, host->state) == 0)
		return;
	memcpy(host->state, text, sizeof(text));
	watch_say(host, text);
}

/* --- other ringups ---------------------------------------------------------------------------- */

/* Runs `ringup --json COMMAND...` on this cluster; NULL when it printed no document, with the reason in `err`. */
static cJSON *watch_run(struct watching *w, struct arena *arena, const char *const *command,
			struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(arena);
	struct proc proc = {.dies_with_us = true};
	cJSON *json;

	words_add_all(&words, WORDS(w->program, "-f", w->stages->cluster.path, "--json", "-q"));
	if (w->stages->ctx->timeout_s)
		words_addf(&words, "--timeout=%d", w->stages->ctx->timeout_s);
	words_add_all(&words, command);
	proc.words = words.list;
	if (proc_run(&proc, &result, err) < 0)
		return NULL;
	json = result.out.length ? cJSON_Parse(result.out.text) : NULL;
	if (!json)
		proc_failed(&proc, &result, err);
	return json;
}

static const char *watch_text(const cJSON *item, const char *name, struct arena *arena)
{
	const char *text = json_text(item, name, arena);

	return text ? text : "";
}

static const cJSON *watch_find(const cJSON *json, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, json_member(json, "hosts")) {
		const cJSON *host = cJSON_GetObjectItem(item, "host");

		if (cJSON_IsString(host) && strcmp(host->valuestring, name) == 0)
			return item;
	}
	return NULL;
}

/* --- repairs ---------------------------------------------------------------------------------- */

/* What would help: "up", "restart", or NULL where only a person or time can. */
static const char *watch_remedy(const cJSON *item, struct arena *arena)
{
	static const char *const states[] = {"stopped", "absent", "running", "ready"};
	const char *state = watch_text(item, "state", arena);
	const char *differs = watch_text(item, "differs", arena);

	/* a GPU that was lost comes back by no repair of a container */
	if (strcmp(watch_text(item, "container_gpus", arena), "lost") == 0)
		return NULL;

	if (strcmp(state, "running") == 0 && !*differs &&
	    strcmp(watch_text(item, "sshd", arena), "silent") == 0)
		return "restart";
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (strcmp(state, states[i]) == 0)
			return "up";
	return NULL;
}

static void watch_pause_host(struct watch_host *host, uint64_t now)
{
	uint64_t seconds = WATCH_PAUSE_FIRST_S;

	for (int i = 1; i < host->repairs && seconds < WATCH_PAUSE_MOST_S; i++)
		seconds *= 2;
	if (seconds > WATCH_PAUSE_MOST_S)
		seconds = WATCH_PAUSE_MOST_S;
	host->next_usec = now + seconds * 1000000;
}

/* `json`: what the repair printed, or NULL with `why`. */
static void watch_judge_repair(struct watching *w, struct watch_host *host, const cJSON *json,
			       const struct error *why, const char *remedy, double seconds,
			       struct arena *arena)
{
	const cJSON *item = watch_find(json, host->name);
	const char *error = item ? watch_text(item, "error", arena) : why->text;
	int left = watch_limit(w) - host->repairs;
	double pause = (double)(host->next_usec - clock_usec()) / 1e6;

	if (!*error) {
		watch_note(host,
			   arena_printf(arena, "repaired by '%s' in %.1f s", remedy, seconds));
		return;
	}
	host->is_given_up = left <= 0;
	if (host->is_given_up)
		watch_note(
			host,
			arena_printf(
				arena,
				"is left alone after %d repairs in a row: %s; mend it, and run 'ringup up' again",
				host->repairs, error));
	else
		watch_note(host, arena_printf(arena, "'%s' failed, tries again in %.0f s: %s",
					      remedy, pause > 0 ? pause : 0, error));
}

static int watch_repair(struct watching *w, struct watch_host *host, const char *remedy,
			struct arena *arena)
{
	_cleanup_(json_free) cJSON *json = NULL;
	uint64_t begin = clock_usec();
	struct error why = {0};

	host->repairs++;
	watch_note(host, arena_printf(arena, "repair %d of %d: ringup %s %s", host->repairs,
				      watch_limit(w), remedy, host->name));
	/* --force: a job that ran on this container has ended with it */
	json = watch_run(w, arena, WORDS(remedy, "--force", host->name), &why);
	if (why.kind == ERROR_INTERRUPTED)
		return -1;
	watch_pause_host(host, clock_usec());
	watch_judge_repair(w, host, json, &why, remedy, clock_seconds_since(begin), arena);
	return 0;
}

/* --- looks ------------------------------------------------------------------------------------ */

static void watch_see_fine(struct watch_host *host, const char *state, uint64_t now)
{
	host->fine_usec = host->fine_usec ? host->fine_usec : now;
	if (now - host->fine_usec > (uint64_t)WATCH_FINE_S * 1000000)
		host->repairs = 0;
	host->is_given_up = false; /* somebody mended it */
	watch_note(host, state);
}

/*
 * A job that runs in a container which still runs, or on a host without containers, does not need what is broken, or it would have
 * ended: the repair waits for it. A container that is gone has taken its job along.
 */
static bool watch_waits_for_job(struct watching *w, struct watch_host *host, const cJSON *item,
				struct arena *arena)
{
	const char *state = watch_text(item, "state", arena), *job = NULL;
	struct error why = {0};

	if (strcmp(state, "running") != 0 && strcmp(state, "ready") != 0)
		return false;
	if (stage_job_on(w->stages, host->name, arena, &job, &why) < 0) {
		watch_note(host, why.text);
		return true;
	}
	if (job)
		watch_note(
			host,
			arena_printf(
				arena,
				"%s: %s; the repair waits until the job '%s' there has ended ('ringup stop %s' ends it)",
				state, watch_text(item, "error", arena), job, job));
	return job != NULL;
}

static int watch_see(struct watching *w, struct watch_host *host, const cJSON *item,
		     struct arena *arena)
{
	uint64_t now = clock_usec();
	const char *state = watch_text(item, "state", arena);
	const char *remedy = watch_remedy(item, arena);

	if (cJSON_IsTrue(cJSON_GetObjectItem(item, "ok"))) {
		watch_see_fine(host, state, now);
		return 0;
	}
	host->fine_usec = 0;
	if (host->is_given_up || now < host->next_usec)
		return 0;
	if (remedy && watch_waits_for_job(w, host, item, arena))
		return 0;
	/* a repair in a row that did not last counts, too */
	if (remedy && host->repairs >= watch_limit(w)) {
		host->is_given_up = true;
		watch_note(
			host,
			arena_printf(
				arena,
				"is left alone after %d repairs: %s; mend it, and run 'ringup up' again",
				host->repairs, watch_text(item, "error", arena)));
		return 0;
	}
	watch_note(host, arena_printf(arena, "%s: %s", state, watch_text(item, "error", arena)));
	return remedy ? watch_repair(w, host, remedy, arena) : 0;
}

static int watch_look(struct watching *w, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct words command = WORDS_INIT(&arena);
	struct error why = {0};

	words_add(&command, "status");
	for (size_t i = 0; i < w->count; i++)
		words_add(&command, w->hosts[i].name);
	json = watch_run(w, &arena, command.list, &why);
	if (interrupt_check(err) < 0)
		return -1;
	if (!json)
		log_warn("'ringup status' failed: %s", why.text);
	for (size_t i = 0; json && i < w->count; i++) {
		const cJSON *item = watch_find(json, w->hosts[i].name);

		if (item && watch_see(w, &w->hosts[i], item, &arena) < 0)
			return interrupt_check(err);
	}
	return 0;
}

static int watch_sleep(int seconds, struct error *err)
{
	const struct timespec step = {.tv_nsec = 100000000};

	for (int left = 10 * seconds; left > 0; left--) {
		if (interrupt_check(err) < 0)
			return -1;
		nanosleep(&step, NULL);
	}
	return 0;
}

/* The hosts that the command is about. */
static void watch_hosts(struct watching *w)
{
	const struct stages *s = w->stages;

	w->hosts = ARENA_ARRAY(s->arena, s->cluster.host_count, struct watch_host);
	for (size_t i = 0; i < s->cluster.host_count; i++) {
		bool is_chosen = !s->only.count;

		for (size_t k = 0; k < s->only.count; k++)
			is_chosen |= strcmp(s->only.list[k], s->cluster.hosts[i].name) == 0;
		if (is_chosen)
			w->hosts[w->count++].name = s->cluster.hosts[i].name;
	}
}

int stage_watch(struct stages *s, const struct watch *watch, struct error *err)
{
	struct watching w = {.stages = s, .watch = watch};
	int every_s = watch->every_s ? watch->every_s : WATCH_EVERY_S;
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		return error_errno(err, "cannot find ringup's own program");
	program[length] = '\0';
	w.program = program;
	watch_hosts(&w);
	log_info("  %-20s every %d s; Ctrl-C ends it", "watch", every_s);
	do {
		if (watch_look(&w, err) < 0)
			return -1;
	} while (watch_sleep(every_s, err) == 0);
	return -1;
}
