/* SPDX-License-Identifier: MIT */
/*
 * history.h - .ringup/history/N.json: who changed the cluster when, to what, and how it ended.
 *
 * One document for each command that changed a host or failed on one; HISTORY_MAX are kept. A document
 * has the whole ringup.lock of that moment, so that `ringup rollback` can bring it back:
 * {"schema", "number", "time", "command", "user", "machine", "image", "recipe", "accelerator", "stack",
 * "outcome": "done", "partial" or "failed", "hosts": [{"host", "outcome", "error"}], "lock": {...}}.
 */
#ifndef DEPLOYER_RECORDS_HISTORY_H
#define DEPLOYER_RECORDS_HISTORY_H

#include "deployer/fleet.h"
#include "plan/plan.h"

#define HISTORY_MAX 50

struct history_note {
	const char *command; /* "up" */
	/* What the cluster was to have; NULL for commands that do not set it. */
	const struct plan *plan;
	const char *recipe, *image; /* NULL or "" where there is none */
};

/*
 * Adds a document about what the fleet's members say of themselves, unless nothing was changed and
 * nothing failed. The first one of a plan is always added. The caller holds the cluster's lock. A
 * failure is only logged: no command needs it.
 */
void history_add(const struct fleet *fleet, const struct history_note *note);

/* An array of all documents, the oldest first; the caller frees it. */
int history_read(const struct cluster *cluster, cJSON **documents, struct error *err);

/*
 * The document to go back to: that of `number`, or for 0 the newest one that ended well and had another
 * image or stack than the last. ERROR_USAGE when there is none.
 */
int history_find(const cJSON *documents, int number, const cJSON **found, struct error *err);

#endif
