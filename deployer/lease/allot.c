/* SPDX-License-Identifier: MIT */
#include "deployer/lease/allot.h"

/* The host that fits best of those without ranks; `count` when none has room. */
static size_t allot_best(const int *room, const int *ranks, size_t count, int wanted)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++) {
		bool fits = room[i] >= wanted;

		if (ranks[i] || room[i] <= 0)
			continue;
		if (best == count || (fits && (room[best] < wanted || room[i] < room[best])) ||
		    (!fits && room[best] < wanted && room[i] > room[best]))
			best = i;
	}
	return best;
}

static int allot_packed(const int *room, size_t count, int wanted, int *ranks)
{
	int placed = 0;

	while (placed < wanted) {
		size_t best = allot_best(room, ranks, count, wanted - placed);

		if (best == count)
			break;
		ranks[best] = room[best] < wanted - placed ? room[best] : wanted - placed;
		placed += ranks[best];
	}
	return placed;
}

static int allot_spread(const int *room, size_t count, int wanted, int *ranks)
{
	int placed = 0, before;

	do {
		before = placed;
		for (size_t i = 0; i < count && placed < wanted; i++) {
			if (ranks[i] >= room[i])
				continue;
			ranks[i]++;
			placed++;
		}
	} while (placed < wanted && placed > before);
	return placed;
}

int allot_ranks(const int *room, size_t count, int wanted, bool spread, int *ranks)
{
	for (size_t i = 0; i < count; i++)
		ranks[i] = 0;
	return spread ? allot_spread(room, count, wanted, ranks)
		      : allot_packed(room, count, wanted, ranks);
}
