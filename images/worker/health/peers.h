/* SPDX-License-Identifier: MIT */
/*
 * How fast two cards of a machine copy to each other, by cuMemcpyPeerAsync() and the cards' own time, both ways one after
 * the other. Pairs over NVLink are measured beside each other; others share PCIe switches and sockets and take turns.
 */
#ifndef WORKER_PEERS_H
#define WORKER_PEERS_H

#include "health/card.h"

/* What lies between card->number and card->peer, as nvidia-smi topo writes it: "NV18", "PIX", "PXB", "PHB", "NODE", "SYS".
 * "" where NVML does not say. NVn: so many links lead to the other, or to the switch that leads to it. */
void peers_link(const struct card *card, void *peer, char link[16]);

/* Writes the line of the pair. */
void peers_measure(struct card *card);

#endif
