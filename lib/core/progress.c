/* SPDX-License-Identifier: MIT */
#include "core/progress.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/progress_event.h"
#include "core/str.h"
#include "core/term.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LIVE_LINES_MAX 12
#define REDRAW_USEC 100000
#define TOTAL_EVENT_USEC 1000000

struct progress_step {
	struct progress_step *next, *previous;
	char name[80], state[160];
	char digest[160]; /* of a blob, whose bytes count in the total; else "" */
	uint64_t done, total, started_usec;
	uint64_t counted; /* of a blob: its bytes in PROGRESS_DONE, or that were there before */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct progress_step *first, *last;
static int drawn;
static uint64_t drawn_usec, told_usec;

static bool is_live(void)
{
	return term_is_tty(stderr) && log_level() == LOG_NORMAL && !progress_events_on();
}

static void progress_wipe(void)
{
	for (; drawn > 0; drawn--)
		fputs("\033[1A\033[2K", stderr);
}

static void draw_step(const struct progress_step *step)
{
	char done[32], total[32];
	double seconds = (double)(clock_usec() - step->started_usec) / 1e6;
	int width = term_width(stderr) - 1;
	_cleanup_(str_release) struct str line = STR_INIT;

	str_addf(&line, "  %-20s %s", step->name, step->state);
	if (step->total)
		str_addf(&line, "  %s of %s", format_bytes(done, step->done),
			 format_bytes(total, step->total));
	str_addf(&line, "  %.0f s", seconds);
	if (line.length > (size_t)width)
		line.text[width] = '\0';
	fprintf(stderr, "%s\n", foreign_clean_line(line.text));
}

static bool draw_total(void)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct progress_total total;

	if (!progress_total_now(&total) || !total.counts[PROGRESS_TODO])
		return false;
	str_addf(&line, "  %-20s ", "total");
	progress_total_text(&total, false, &line);
	fprintf(stderr, "%.*s\n", term_width(stderr) - 1, line.text);
	return true;
}

static void draw(void)
{
	int lines = 0;

	progress_wipe();
	if (!is_live())
		return;
	for (struct progress_step *s = first; s && lines < LIVE_LINES_MAX; s = s->next, lines++)
		draw_step(s);
	if (lines && draw_total())
		lines++;
	drawn = lines;
	drawn_usec = clock_usec();
	fflush(stderr);
}

void progress_pause(void)
{
	pthread_mutex_lock(&lock);
	progress_wipe();
}

void progress_resume(void)
{
	draw();
	pthread_mutex_unlock(&lock);
}

/*
 * Prints a new state where nothing is redrawn. `ended` is NULL, or says whether the step succeeded.
 */
static void print_plain(const struct progress_step *step, const char *mark, const bool *ended)
{
	const struct event_step event = {
		.name = step->name,
		.digest = *step->digest ? step->digest : NULL,
		.state = step->state,
		.done_bytes = step->counted,
		.total_bytes = step->total,
		.seconds = clock_seconds_since(step->started_usec),
	};

	_cleanup_(str_release) struct str line = STR_INIT;

	if (log_level() < LOG_NORMAL)
		return;
	if (progress_events_on()) {
		event_step(&line, &event, ended);
		fputs(line.text, stderr);
	} else {
		str_addf(&line, "%-20s %s", step->name, step->state);
		fprintf(stderr, "%s%s\n", mark, foreign_clean_line(line.text));
	}
}

static struct progress_step *new_step(const char *state)
{
	struct progress_step *step = xmalloc(sizeof(*step));

	*step = (struct progress_step){.started_usec = clock_usec()};
	snprintf(step->state, sizeof(step->state), "%s", state);
	return step;
}

static struct progress_step *progress_show(struct progress_step *step)
{
	pthread_mutex_lock(&lock);
	step->previous = last;
	if (last)
		last->next = step;
	else
		first = step;
	last = step;
	if (is_live())
		draw();
	else if (*step->state)
		print_plain(step, "  ", NULL);
	pthread_mutex_unlock(&lock);
	return step;
}

struct progress_step *progress_begin(const char *name, const char *state)
{
	struct progress_step *step = new_step(state);

	snprintf(step->name, sizeof(step->name), "%s", name);
	return progress_show(step);
}

struct progress_step *progress_blob(const char *digest, uint64_t size, uint64_t there,
				    const char *state)
{
	struct progress_step *step = new_step(state);

	snprintf(step->name, sizeof(step->name), "blob %.19s", digest);
	snprintf(step->digest, sizeof(step->digest), "%s", digest);
	step->total = size;
	step->done = step->counted = there;
	return progress_show(step);
}

void progress_retry(const char *what, int try, int tries_max, double pause_s, const char *why)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	progress_add(PROGRESS_RETRIES, 1);
	if (log_level() < LOG_NORMAL || !progress_events_on())
		return;
	event_retry(&line, what, try, tries_max, pause_s, why);
	progress_pause();
	fputs(line.text, stderr);
	progress_resume();
}

void progress_state(struct progress_step *step, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, format);
	vsnprintf(step->state, sizeof(step->state), format, args);
	va_end(args);
	if (!*step->digest)
		step->total = 0;
	if (is_live())
		draw();
	else
		print_plain(step, "  ", NULL);
	pthread_mutex_unlock(&lock);
}

void progress_note(struct progress_step *step, const char *text)
{
	pthread_mutex_lock(&lock);
	snprintf(step->state, sizeof(step->state), "%s", text);
	step->total = 0;
	if (is_live() && clock_usec() - drawn_usec > REDRAW_USEC)
		draw();
	pthread_mutex_unlock(&lock);
}

/* Prints the total as an event once a second. The caller holds the lock. */
static void tell_total(void)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct progress_total total;
	uint64_t now = clock_usec();

	if (!progress_events_on() || log_level() < LOG_NORMAL || now - told_usec < TOTAL_EVENT_USEC)
		return;
	told_usec = now;
	if (!progress_total_now(&total))
		return;
	event_total(&line, &total, false);
	fputs(line.text, stderr);
}

void progress_bytes(struct progress_step *step, uint64_t done, uint64_t total)
{
	pthread_mutex_lock(&lock);
	step->done = done;
	step->total = total;
	if (*step->digest && done != step->counted) {
		progress_add(PROGRESS_DONE, (int64_t)done - (int64_t)step->counted);
		step->counted = done;
	}
	if (is_live() && clock_usec() - drawn_usec > REDRAW_USEC)
		draw();
	tell_total();
	pthread_mutex_unlock(&lock);
}

void progress_end(struct progress_step *step, bool ok, const char *format, ...)
{
	const char *mark = ok ? "  " : "! ";
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, format);
	vsnprintf(step->state, sizeof(step->state), format, args);
	va_end(args);
	progress_wipe();
	if (log_color())
		mark = ok ? "\033[32m*\033[0m " : "\033[31m!\033[0m ";
	print_plain(step, mark, &ok);
	if (step->previous)
		step->previous->next = step->next;
	else
		first = step->next;
	if (step->next)
		step->next->previous = step->previous;
	else
		last = step->previous;
	draw();
	pthread_mutex_unlock(&lock);
	free(step);
}

static bool has_something(const struct progress_total *total)
{
	for (size_t i = 0; i < PROGRESS_COUNTS; i++)
		if (total->counts[i])
			return true;
	return false;
}

void progress_total_end(struct progress_total *total)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	bool is_shown;

	progress_pause(); /* the live line goes with the rest */
	is_shown = progress_total_stop(total) && log_level() >= LOG_NORMAL;
	if (is_shown && progress_events_on()) {
		event_total(&line, total, true);
	} else if (is_shown && has_something(total)) {
		str_addf(&line, "  %-20s ", "total");
		progress_total_text(total, true, &line);
		str_add(&line, "\n");
	}
	fputs(line.length ? line.text : "", stderr);
	progress_resume();
}
