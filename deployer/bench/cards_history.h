/* SPDX-License-Identifier: MIT */
/*
 * cards_history.h - .ringup/history/health/N.json: what earlier runs of `ringup bench --health` measured, and what has
 * become of the cards since. A card is known by its UUID.
 *
 * All runs are kept, but only what a card did when nothing was wrong with it counts as usual: a card that has become slow
 * is compared with its good days as long as these are kept.
 */
#ifndef DEPLOYER_BENCH_CARDS_HISTORY_H
#define DEPLOYER_BENCH_CARDS_HISTORY_H

#include "deployer/bench/cards.h"
#include "plan/cluster.h"

#define CARDS_HISTORY_MAX 20 /* runs that are kept ... */
#define CARDS_HISTORY_DAYS \
	30 /* ... and before them one of each day, for a card that gets slower little by little */
#define CARDS_HISTORY_LAST 10 /* a card that is in one of them must still be there */
#define CARDS_HISTORY_LEAST 3 /* good runs of a card; fewer are no reason to call it slow */

struct cards_past {
	size_t runs;	   /* that are kept; 0: there is nothing to compare with */
	const char *since; /* the oldest of them, "2026-11-18T09:00:00Z" */
	struct words
		gone; /* a sentence for each card that is no longer where it was, with nothing in its place */
	struct words
		fresh; /* a sentence for each card that is new on a host that was there before */
};

/*
 * Compares judged cards with @documents, the oldest first. A card that could not say who it is gets the names that the
 * card of its number had in the last run. Adds to the cards' findings and fills their usual_percent. Documents that are
 * none are passed over. Hosts that told of no card lack none: that they did not answer is said already.
 */
void cards_history_compare(const cJSON *documents, struct health_host *hosts, size_t count,
			   struct arena *arena, struct cards_past *past);

/* Compares with what is kept, and then keeps this run too. */
int cards_history_keep(const struct cluster *cluster, struct health_host *hosts, size_t count,
		       struct arena *arena, struct cards_past *past, struct error *err);

/* In the document of the run: `history`. */
void cards_history_add_to(const struct cards_past *past, cJSON *document);

#endif
