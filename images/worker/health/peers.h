/* SPDX-License-Identifier: MIT */
/*
 * How fast two cards of a machine copy to each other, by cuMemcpyPeerAsync() and the cards' own time, both ways one after
 * the other. Pairs over NVLink are measured beside each other; others share PCIe switches and sockets and take turns.
 */
#ifndef WORKER_PEERS_H
#define WORKER_PEERS_H

#include "health/card.h"

/* Writes the line of the pair. */
void peers_measure(struct card *card);

#endif
