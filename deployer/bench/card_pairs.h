/* SPDX-License-Identifier: MIT */
/*
 * card_pairs.h - copies between two cards of a host (images/worker/health/peers.h), and which are slow.
 *
 * Pairs are alike when the same lies between them ("NV18", "PIX", "SYS", ...) and they are of the same models: only these
 * are compared, with the median of all of them in the fleet, both ways counted, where there are CARDS_LEAST of them.
 */
#ifndef DEPLOYER_BENCH_CARD_PAIRS_H
#define DEPLOYER_BENCH_CARD_PAIRS_H

#include "deployer/bench/cards.h"

/* Of the median. Chosen, not taken from a source, as CARDS_BANDWIDTH_PERCENT; there are more parts between two cards. */
#define CARD_PAIRS_PERCENT 90

/* One of the worker's lines, with "peer". One about cards that the host has not is passed over. */
void card_pairs_read(const cJSON *line, struct arena *arena, struct health_host *host);

/* Adds to the hosts' findings: a pair; a card where all of its pairs are slow; a host where all are. */
void card_pairs_judge(struct health_host *hosts, size_t count, struct arena *arena);

/* A sentence for each kind of pairs, and for each host where some were not measured. */
void card_pairs_describe(const struct health_host *hosts, size_t count, struct words *out);

/* `pairs` and `pairs_left_out` of a document. */
void card_pairs_to_json(const struct health_host *hosts, size_t count, cJSON *document);

#endif
