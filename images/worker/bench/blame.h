/* SPDX-License-Identifier: MIT */
/*
 * Who is slow, from the times that pairs of ranks take to exchange data. Pure arithmetic.
 *
 * Pairs are judged apart by what lies between the two, each against its like: the network, or within a host what the
 * backend knows (struct pairs).
 *  - a rank's time is the median over its partners; it is slow if that is BLAME_RATIO times the
 *    median of all ranks' times and stands out of their spread (BLAME_SPREADS median absolute
 *    deviations). One slow rank does not make its partners slow: it is one of their many;
 *  - a host is slow if all its ranks (two or more) are slow across hosts;
 *  - a link is slow if a pair takes BLAME_RATIO times what both its ends take with their other
 *    partners, and neither end is slow itself. Links between the same two hosts count as one.
 * Of an even number of values a rank's time is the lower median, so that three ranks are enough.
 * With two ranks there is nothing to compare with, and nobody is blamed.
 */
#ifndef WORKER_BLAME_H
#define WORKER_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLAME_RATIO 1.5
#define BLAME_SPREADS 8
#define FINDINGS_MAX 16

enum finding_kind { FINDING_RANK, FINDING_HOST, FINDING_LINK };

struct finding {
	enum finding_kind kind;
	int rank, other;     /* a rank of the slow host; the link's other end, else -1 */
	bool across;	     /* seen in exchanges across hosts, not within one */
	uint8_t link;	     /* of the pairs in which it was seen: pairs_link() */
	double usec, normal; /* what it takes; what its like take */
};

/* Times of pairs, both halves of the matrix alike. */
struct pairs {
	int world;
	const int *host;   /* [world] number of each rank's host, 0 to world - 1 */
	const float *usec; /* [world * world], 0: not measured */
	/* [world * world], both halves alike: a number for what lies between two ranks of a host, the
	 * same number for the same; PAIRS_UNKNOWN where it may be anything; less than PAIRS_ACROSS. NULL: all are alike. */
	const uint8_t *link;
};

#define PAIRS_ACROSS 255
#define PAIRS_UNKNOWN \
	254 /* these are compared with none: one may be NVLink and the next one go by way of both sockets */

/* What lies between @a and @b: a number of `link`, or PAIRS_ACROSS. */
static inline uint8_t pairs_link(const struct pairs *pairs, int a, int b)
{
	if (pairs->host[a] != pairs->host[b])
		return PAIRS_ACROSS;
	return pairs->link ? pairs->link[(size_t)a * (size_t)pairs->world + (size_t)b] : 0;
}

/* Finds which numbers there are but PAIRS_UNKNOWN, in ascending order; returns how many. */
int pairs_links(const struct pairs *pairs, uint8_t links[PAIRS_ACROSS + 1]);

/* What --find-slow measured, on rank 0; all zero: nothing. */
struct heat {
	int world;
	size_t bytes;  /* exchanged each way */
	int *host;     /* see struct pairs; owned */
	uint8_t *link; /* the same */
	float *usec;
	struct finding findings[FINDINGS_MAX];
	int finding_count, sweeps;
	int unsure;    /* suspicions that were dropped: the machine is too busy to tell */
	float *kept;   /* [keep][world * world] the last sweeps, for judge.c; owned */
	bool unjudged; /* time was up before there were sweeps enough to believe that somebody is slow, or that nobody is */
	bool doubtful; /* something looks slow, but only in times of the pairs that do not count */
	int keep, place; /* how many; which of a pair's times counts, of 100: 0 is the fastest */
	double seconds,
		warm_up_seconds; /* of the sweeps, and of the one before that does not count */
	int left_out;		 /* leave-one-out: the slowest rank, -1: not tried */
	double all_usec, without_usec; /* a round of neighbours with it and without it */
};

/*
 * Finds what is slow, the slowest first; returns how many of @findings (of FINDINGS_MAX) it filled.
 */
int blame_pairs(const struct pairs *pairs, struct finding *findings);

#endif
