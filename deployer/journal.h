/* SPDX-License-Identifier: MIT */
/*
 * journal.h - .ringup/journal.jsonl: what was done on which host, one JSON object a line.
 */
#ifndef DEPLOYER_JOURNAL_H
#define DEPLOYER_JOURNAL_H

#include "deployer/fleet.h"

/* Adds a line with time, host, action and detail. Never fails loudly: the journal is a help, not a
 * need. */
void journal_add(const struct member *member, const char *action, const char *detail);

#endif
