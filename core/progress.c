/* SPDX-License-Identifier: MIT */
#include "core/progress.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/str.h"
#include "core/term.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LIVE_LINES_MAX 12
#define REDRAW_USEC 100000

struct progress_step {
	struct progress_step *next, *previous;
	char name[80], state[160];
	uint64_t done, total, started_usec;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct progress_step *first, *last;
static int drawn;
static uint64_t drawn_usec;

static bool is_live(void)
{
	return term_is_tty(stderr) && log_level() == LOG_NORMAL;
}

static void wipe(void)
{
	for (; drawn > 0; drawn--)
		fputs("\033[1A\033[2K", stderr);
}

static void draw_step(const struct progress_step *step)
{
	char done[32], total[32];
	double seconds = (double)(clock_usec() - step->started_usec) / 1e6;
	int width = term_width(stderr) - 1;
	_cleanup_(str_release) struct str line = {0};

	str_init(&line);
	str_addf(&line, "  %-20s %s", step->name, step->state);
	if (step->total)
		str_addf(&line, "  %s of %s", format_bytes(done, step->done),
			 format_bytes(total, step->total));
	str_addf(&line, "  %.0f s", seconds);
	fprintf(stderr, "%.*s\n", width, line.text);
}

static void draw(void)
{
	int lines = 0;

	wipe();
	if (!is_live())
		return;
	for (struct progress_step *s = first; s && lines < LIVE_LINES_MAX; s = s->next, lines++)
		draw_step(s);
	drawn = lines;
	drawn_usec = clock_usec();
	fflush(stderr);
}

void progress_pause(void)
{
	pthread_mutex_lock(&lock);
	wipe();
}

void progress_resume(void)
{
	draw();
	pthread_mutex_unlock(&lock);
}

static void print_plain(const struct progress_step *step, const char *mark)
{
	if (log_level() >= LOG_NORMAL)
		fprintf(stderr, "%s%-20s %s\n", mark, step->name, step->state);
}

struct progress_step *progress_begin(const char *name, const char *state)
{
	struct progress_step *step = xmalloc(sizeof(*step));

	*step = (struct progress_step){.started_usec = clock_usec()};
	snprintf(step->name, sizeof(step->name), "%s", name);
	snprintf(step->state, sizeof(step->state), "%s", state);
	pthread_mutex_lock(&lock);
	step->previous = last;
	if (last)
		last->next = step;
	else
		first = step;
	last = step;
	if (is_live())
		draw();
	else if (*state)
		print_plain(step, "  ");
	pthread_mutex_unlock(&lock);
	return step;
}

void progress_state(struct progress_step *step, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, format);
	vsnprintf(step->state, sizeof(step->state), format, args);
	va_end(args);
	step->total = 0;
	if (is_live())
		draw();
	else
		print_plain(step, "  ");
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

void progress_bytes(struct progress_step *step, uint64_t done, uint64_t total)
{
	pthread_mutex_lock(&lock);
	step->done = done;
	step->total = total;
	if (is_live() && clock_usec() - drawn_usec > REDRAW_USEC)
		draw();
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
	wipe();
	if (log_color())
		mark = ok ? "\033[32m*\033[0m " : "\033[31m!\033[0m ";
	print_plain(step, mark);
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
