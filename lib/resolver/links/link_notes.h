/* SPDX-License-Identifier: MIT */
/*
 * link_notes.h - findings about a host's links that run below their maximum.
 *
 *   a GPU's or NIC's PCIe link on fewer lanes than the card has
 *   a NIC or InfiniBand port that is slower than another of the same card
 *   a GPU that has fewer NVLinks at work than its kind is built with
 *
 * PCIe speeds (GT/s) are not judged: they fall while a card is idle.
 */
#ifndef RESOLVER_LINKS_LINK_NOTES_H
#define RESOLVER_LINKS_LINK_NOTES_H

#include "core/words.h"
#include "resolver/catalog.h"
#include "plan/facts.h"

/*
 * Adds one sentence per finding, with the host's name and what to do. Without a catalog (NULL)
 * NVLinks are not judged.
 */
void link_notes(const struct catalog *catalog, const struct facts *facts, struct words *notes);

#endif
