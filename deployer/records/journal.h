/* SPDX-License-Identifier: MIT */
/* journal.h - .ringup/journal.jsonl: what ringup did on which host, one JSON object per line. */
#ifndef DEPLOYER_RECORDS_JOURNAL_H
#define DEPLOYER_RECORDS_JOURNAL_H

#include "deployer/fleet.h"

/*
 * Adds a line with time, host, action and detail. A failure is silent: no command needs the
 * journal.
 */
void journal_add(const struct member *member, const char *action, const char *detail);

#endif
