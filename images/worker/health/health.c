/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* pipe2 */
#include "health/health.h"
#include "clock.h"
#include "health/card.h"
#include "health/peers.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CENSUS_PART 3 /* of the time, for counting the cards */

static const char *const health_phases[HEALTH_PHASE_COUNT] = {
	[HEALTH_IDENTITY] = "identity", [HEALTH_READINGS] = "readings",
	[HEALTH_CONTEXT] = "context",	[HEALTH_MEMORY] = "memory",
	[HEALTH_TURN] = "turn",		[HEALTH_HOST] = "host",
	[HEALTH_BURN] = "burn",		[HEALTH_AFTER] = "after",
	[HEALTH_PEER] = "peer",		[HEALTH_DONE] = "done",
};

/* The parent's side. */
struct health {
	const struct options *options;
	struct health_shared *shared;
	pid_t children[HEALTH_CARDS_MAX]; /* 0: it has ended */
	int peers[HEALTH_CARDS_MAX];	  /* of the pair that its process measures; -1: none */
	int lines[2], turn[2];
	int64_t start_usec, deadline_usec;
};

const char *health_phase_name(int phase)
{
	return phase >= 0 && phase < HEALTH_PHASE_COUNT ? health_phases[phase] : "unknown";
}

/* A process for @work of a card. */
static int health_start(struct health *h, int number, void (*work)(struct card *card),
			struct failure *err)
{
	pid_t child = fork();
	struct card *card;

	if (child < 0)
		return failure_set(err, STATUS_USAGE, -1, "", "cannot start a process: %s",
				   strerror(errno));
	if (child > 0) {
		h->children[number] = child;
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	card = calloc(1, sizeof(*card));
	if (!card)
		abort();
	card->number = number;
	card->peer = h->peers[number];
	card->shared = h->shared;
	card->out = h->lines[1];
	memcpy(card->turn, h->turn, sizeof(card->turn));
	card->deadline_usec = h->deadline_usec;
	card->burn_sec = h->options->burn_sec;
	work(card);
	_exit(0); /* what the libraries would do at exit may hang */
}

/* What the cards have said so far goes to standard output. */
static void health_forward(const struct health *h)
{
	char text[65536];
	ssize_t got;

	while ((got = read(h->lines[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	fflush(stdout);
}

static void health_say_end(const struct health *h, int number, const char *what, double value)
{
	printf("{\"card\": %d, \"phase\": \"%s\", ", number,
	       health_phase_name(h->shared->places[number].phase));
	if (h->peers[number] >= 0)
		printf("\"peer\": %d, ", h->peers[number]);
	printf("\"%s\": %.1f}\n", what, value);
}

/* Looks who has ended, and how. Returns how many have not. */
static int health_reap(struct health *h, bool counting)
{
	int left = 0, status;

	for (int i = 0; i < HEALTH_CARDS_MAX; i++) {
		if (h->children[i] == 0)
			continue;
		if (waitpid(h->children[i], &status, WNOHANG) == 0) {
			left++;
			continue;
		}
		h->children[i] = 0;
		health_forward(h);
		if (!counting && WIFSIGNALED(status))
			health_say_end(h, i, "killed", WTERMSIG(status));
	}
	return left;
}

/* Until all have ended, or else to @deadline: then those that have not are named and killed. A process that waits inside
 * of the kernel for a card outlives that, so nobody waits for it. */
static void health_wait(struct health *h, int64_t deadline_usec, bool counting)
{
	struct pollfd lines = {.fd = h->lines[0], .events = POLLIN};

	while (health_reap(h, counting) > 0 && clock_usec() < deadline_usec) {
		poll(&lines, 1, clock_left_msec(deadline_usec, 20));
		health_forward(h);
	}
	for (int i = 0; i < HEALTH_CARDS_MAX; i++) {
		if (h->children[i] == 0)
			continue;
		kill(h->children[i], SIGKILL);
		h->children[i] = 0;
		if (!counting)
			health_say_end(h, i, "hung", (double)(clock_usec() - h->start_usec) / 1e6);
	}
}

static const char *health_host; /* for the process that counts */

static void health_census(struct card *card)
{
	card_census(card, health_host);
}

static int health_pipes(struct health *h, struct failure *err)
{
	h->shared = mmap(NULL, sizeof(*h->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (h->shared == MAP_FAILED || pipe2(h->lines, O_CLOEXEC) < 0 ||
	    pipe2(h->turn, O_CLOEXEC | O_NONBLOCK) < 0 || write(h->turn[1], "t", 1) != 1 ||
	    fcntl(h->lines[0], F_SETFL, O_NONBLOCK) < 0)
		return failure_set(err, STATUS_USAGE, -1, "", "cannot make a pipe: %s",
				   strerror(errno));
	h->shared->cards = -1;
	return 0;
}

/* The pairs of one round, by the circle method: card `even - 1` stays, the others go round it. Returns how many were left
 * out because the time was up, -1 on error. */
static int health_round(struct health *h, int round, struct failure *err)
{
	int even = h->shared->cards + h->shared->cards % 2, left_out = 0;

	for (int pair = 0; pair < even / 2; pair++) {
		int a = pair ? (round + pair) % (even - 1) : even - 1;
		int b = (round + even - 1 - pair) % (even - 1);
		int first = a < b ? a : b, second = a < b ? b : a;

		if (second >= h->shared->cards || h->shared->places[first].phase != HEALTH_DONE ||
		    h->shared->places[second].phase != HEALTH_DONE)
			continue;
		if (clock_usec() >= h->deadline_usec) {
			left_out++;
			continue;
		}
		h->peers[first] = second;
		if (health_start(h, first, peers_measure, err) < 0)
			return -1;
	}
	return left_out;
}

static int health_peers(struct health *h, struct failure *err)
{
	int even = h->shared->cards + h->shared->cards % 2, left_out = 0;

	for (int round = 0; round < even - 1; round++) {
		int left = health_round(h, round, err);

		if (left < 0)
			return -1;
		left_out += left;
		health_wait(h, h->deadline_usec, false);
		for (int i = 0; i < HEALTH_CARDS_MAX; i++)
			h->peers[i] = -1;
	}
	if (left_out == 0)
		return 0;
	fputs("{\"host\": ", stdout);
	json_write(stdout, h->options->host);
	printf(", \"pairs_left_out\": %d}\n", left_out);
	return 0;
}

static int health_measure(struct health *h, struct failure *err)
{
	int64_t all_usec = h->options->timeout_sec * INT64_C(1000000);

	for (int i = 0; i < HEALTH_CARDS_MAX; i++)
		h->peers[i] = -1;
	h->start_usec = clock_usec();
	h->deadline_usec = h->start_usec + all_usec;
	if (health_pipes(h, err) < 0 || health_start(h, 0, health_census, err) < 0)
		return -1;
	health_wait(h, h->start_usec + all_usec / CENSUS_PART, true);
	if (h->shared->cards < 0)
		return failure_set(
			err, STATUS_GPU, -1, "",
			"the driver did not say within %.0f s which GPUs there are: see dmesg, and whether nvidia-smi answers",
			(double)all_usec / 1e6 / CENSUS_PART);
	if (h->shared->cards == 0)
		return failure_set(err, STATUS_GPU, -1, "", "there is no GPU to look at");
	for (int i = 0; i < h->shared->cards; i++)
		if (health_start(h, i, card_measure, err) < 0)
			return -1;
	health_wait(h, h->deadline_usec, false);
	return health_peers(h, err);
}

int health_run(const struct options *options)
{
	struct health h = {.options = options};
	struct failure err = {.status = STATUS_PASS};

	health_host = options->host;
	if (health_measure(&h, &err) < 0)
		fprintf(stderr, "allreduce: %s: %s\n", verdict_name(err.status), err.reason);
	printf("{\"end\": true}\n");
	if (fflush(stdout) != 0 || ferror(stdout))
		return STATUS_USAGE;
	return err.status;
}
