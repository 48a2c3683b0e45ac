/* SPDX-License-Identifier: MIT */
#include "bench/schedule.h"

#include <stdlib.h>
#include <string.h>

int schedule_rounds(const struct schedule *s)
{
	return s->rounds;
}

/* The @index-th pair of a round: the last place stays, the others go round it. With an odd world
 * the last place is empty. */
static void pair_of(const struct schedule *s, int round, int index, int *a, int *b)
{
	int chairs = s->world + s->world % 2, circle = chairs - 1;

	*a = index == 0 ? chairs - 1 : (round + index) % circle;
	*b = (round - index + circle) % circle;
}

/* Whether both may run beside what runs already; if so they do. */
static bool schedule_start(struct schedule *s, int a, int b, int running)
{
	int *busy_a = &s->busy[s->machine[a]], *busy_b = &s->busy[s->machine[b]];

	++*busy_a;
	++*busy_b;
	if (running == 0 ||
	    (*busy_a <= s->slots[s->machine[a]] && *busy_b <= s->slots[s->machine[b]]))
		return true;
	--*busy_a;
	--*busy_b;
	return false;
}

int schedule_round(struct schedule *s, int round, struct turn *turn)
{
	int pairs = (s->world + 1) / 2, batches = 0, running = 0;

	*turn = (struct turn){.peer = -1, .batch = -1};
	for (int index = 0; index < pairs; index++) {
		int a, b;

		pair_of(s, round, index, &a, &b);
		if (a >= s->world || b >= s->world)
			continue;
		if (batches == 0 || !schedule_start(s, a, b, running)) {
			memset(s->busy, 0, (size_t)s->world * sizeof(int));
			batches++;
			schedule_start(s, a, b, running = 0);
		}
		running++;
		if (a != s->rank && b != s->rank)
			continue;
		turn->peer = a == s->rank ? b : a;
		turn->batch = batches - 1;
		turn->seat = s->busy[s->machine[s->rank]] - 1;
		if (a == s->rank && s->machine[a] == s->machine[b])
			turn->seat--;
	}
	return batches;
}

static void choose_rounds(struct schedule *s)
{
	int rounds = s->world - 1 + s->world % 2, most = SCHEDULE_ROUNDS_MAX, batches;
	struct turn turn;

	batches = schedule_round(s, 0, &turn);
	if (batches > SCHEDULE_BATCHES_MAX / SCHEDULE_ROUNDS_MAX)
		most = SCHEDULE_BATCHES_MAX / batches;
	if (most < SCHEDULE_ROUNDS_LEAST)
		most = SCHEDULE_ROUNDS_LEAST;
	s->rounds = rounds < most ? rounds : most;
}

void schedule_init(struct schedule *s, const struct group *group, const int *cores)
{
	size_t world = (size_t)group->world;

	s->world = group->world;
	s->rank = group->rank;
	s->machine = calloc(world, sizeof(int));
	s->slots = calloc(world, sizeof(int));
	s->busy = calloc(world, sizeof(int));
	if (!s->machine || !s->slots || !s->busy)
		abort();
	for (int rank = 0; rank < group->world; rank++) {
		int first = 0, *slots;

		while (strcmp(group->members[first].kernel, group->members[rank].kernel) != 0)
			first++;
		s->machine[rank] = first;
		slots = &s->slots[first];
		if (cores[rank] <= 1)
			(*slots)++;
		else if (*slots < cores[rank])
			*slots = cores[rank];
	}
	choose_rounds(s);
}

size_t schedule_bytes(int world, const float *all, int exchanges, size_t least, size_t most)
{
	double slowest = 0;

	for (int rank = 0; rank < world; rank++) {
		double sum = 0;

		for (int other = 0; other < world; other++)
			sum += (double)all[(size_t)rank * (size_t)world + (size_t)other];
		slowest = sum > slowest ? sum : slowest;
	}
	while (most > least && slowest * exchanges * (double)(most / least) > SCHEDULE_SWEEP_USEC)
		most /= 2;
	return most;
}

void schedule_release(struct schedule *s)
{
	free(s->machine);
	free(s->slots);
	free(s->busy);
	memset(s, 0, sizeof(*s));
}
