/* SPDX-License-Identifier: MIT */
#include "cli/exec_output.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define KEPT_BYTES MIB /* of a host whose turn has not come; a longer line is printed as several */
#define PIECE_BYTES (64 * KIB)
#define LOOK_MSEC 50 /* how often a host that prints nothing looks whether its turn has come */

struct exec_host {
	struct exec_output *all;
	const char *name;
	int ends[2]; /* of the pipe; -1 */
	pthread_t reader;
	struct str text; /* what is not printed yet */
	bool ended;
};

struct exec_output {
	struct exec_host *hosts;
	size_t count, turn; /* the first host that has not ended */
	bool is_ordered;
	pthread_mutex_t lock;
	pthread_cond_t turned;
};

/* Prints the whole lines, at the end also what is left, and drops them. */
static void exec_print_lines(struct exec_host *host, bool at_end)
{
	struct str *text = &host->text;
	size_t at = 0;

	while (at < text->length) {
		char *line = text->text + at;
		char *end = memchr(line, '\n', text->length - at);

		if (!end && !at_end && text->length - at < KEPT_BYTES)
			break;
		if (!end)
			end = text->text + text->length;
		nuls_replace(line, (size_t)(end - line), '?');
		say_to(stdout, "%s: %.*s\n", host->name, (int)(end - line), line);
		at = (size_t)(end - text->text) + 1;
	}
	str_drop(text, at < text->length ? at : text->length);
	if (fflush(stdout) != 0 && errno == EPIPE) { /* as with head(1): the commands end, too */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
}

static bool exec_has_turn(const struct exec_host *host)
{
	return !host->all->is_ordered || host == &host->all->hosts[host->all->turn];
}

/* Takes a piece, prints what may be printed, and waits while too much is kept. */
static void exec_take(struct exec_host *host, const char *piece, size_t length)
{
	struct exec_output *all = host->all;

	pthread_mutex_lock(&all->lock);
	str_add_bytes(&host->text, piece, length);
	while (!exec_has_turn(host) && host->text.length >= KEPT_BYTES)
		pthread_cond_wait(&all->turned, &all->lock);
	if (exec_has_turn(host))
		exec_print_lines(host, false);
	pthread_mutex_unlock(&all->lock);
}

static void *exec_read(void *arg)
{
	struct exec_host *host = arg;
	struct pollfd ready = {.fd = host->ends[0], .events = POLLIN};
	char piece[PIECE_BYTES];
	ssize_t got = 1;

	while (got) {
		got = -1;
		errno = EINTR;
		if (poll(&ready, 1, LOOK_MSEC) > 0)
			got = read(host->ends[0], piece, sizeof(piece));
		if (got < 0 && errno != EINTR)
			break;
		exec_take(host, piece, got > 0 ? (size_t)got : 0);
	}
	return NULL;
}

struct exec_output *exec_output_new(const char *const *names, size_t count, bool is_ordered,
				    struct arena *arena)
{
	struct exec_output *output = ARENA_NEW(arena, struct exec_output);

	*output = (struct exec_output){.hosts = ARENA_ARRAY(arena, count + 1, struct exec_host),
				       .count = count,
				       .is_ordered = is_ordered,
				       .lock = PTHREAD_MUTEX_INITIALIZER,
				       .turned = PTHREAD_COND_INITIALIZER};
	for (size_t i = 0; i < count; i++)
		output->hosts[i] = (struct exec_host){
			.all = output, .name = names[i], .ends = {-1, -1}, .text = STR_INIT};
	return output;
}

int exec_output_open(struct exec_output *output, size_t index, int *fd, struct error *err)
{
	struct exec_host *host = &output->hosts[index];

	if (pipe2(host->ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	if (pthread_create(&host->reader, NULL, exec_read, host) != 0)
		oom();
	*fd = host->ends[1];
	return 0;
}

void exec_output_end(struct exec_output *output, size_t index)
{
	struct exec_host *host = &output->hosts[index];

	if (host->ends[0] >= 0) {
		fd_close(&host->ends[1]);
		pthread_join(host->reader, NULL);
		fd_close(&host->ends[0]);
	}
	pthread_mutex_lock(&output->lock);
	host->ended = true;
	if (!output->is_ordered)
		exec_print_lines(host, true);
	while (output->is_ordered && output->turn < output->count &&
	       output->hosts[output->turn].ended)
		exec_print_lines(&output->hosts[output->turn++], true);
	pthread_cond_broadcast(&output->turned);
	pthread_mutex_unlock(&output->lock);
}

void exec_output_close(struct exec_output *output)
{
	for (size_t i = 0; i < output->count; i++) {
		exec_print_lines(&output->hosts[i], true);
		str_release(&output->hosts[i].text);
	}
}
