/* SPDX-License-Identifier: MIT */
/*
 * pairs_history.h - copies between two cards, compared with what the same two did in the runs of
 * .ringup/history/health. A pair is known by both UUIDs.
 */
#ifndef DEPLOYER_BENCH_PAIRS_HISTORY_H
#define DEPLOYER_BENCH_PAIRS_HISTORY_H

#include "deployer/bench/cards.h"

/* Calls slow, with a finding of its host, each judged pair that does less than CARD_PAIRS_PERCENT of the median of its good runs in
 * @documents (those of cards_history.h, the oldest first), where there are CARDS_HISTORY_LEAST of them. A run in which the
 * pair was slow does not count, and of a pair that is slow beside its like that is said already. */
void pairs_history_compare(const cJSON *documents, struct health_host *hosts, size_t count,
			   struct arena *arena);

#endif
