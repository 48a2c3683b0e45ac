/* SPDX-License-Identifier: MIT */
/* stage_plan.h - the stack of a command: from ringup.lock, or resolved. */
#ifndef CLI_APP_STAGE_PLAN_H
#define CLI_APP_STAGE_PLAN_H

#include "cli/app/stages.h"

/* A row for a command's table; `member` is a struct words, which becomes stages.allow. */
#define ALLOW_OPTION(type, member)                                                             \
	{                                                                                      \
		0, "allow", "ID", "break the rule that has this id, where nothing else works", \
			OPT_LIST, offsetof(type, member)                                       \
	}

/* The same for --arch; `member` is a text, which becomes stages.arch. */
#define ARCH_OPTION(type, member)                                                     \
	{                                                                             \
		0, "arch", "ARCH", "the hosts' processor: x86_64, aarch64", OPT_TEXT, \
			offsetof(type, member)                                        \
	}

/*
 * The folders that the catalog is read from, the one that is read last first: --catalog, RINGUP_CATALOG,
 * the user's own, the installed one. Not all of them need exist.
 */
int stage_catalog_folders(struct stages *stages, struct words *folders, struct error *err);

/*
 * Loads the catalog; a cluster file is not needed for it. Once in a command it warns when the
 * catalog is older than CATALOG_OLD_DAYS (catalog_age.h).
 */
int stage_catalog(struct stages *stages, struct error *err);

/*
 * Resolves the requests (NULL: the cluster file's own) with the facts of the fleet, or where it is not
 * probed with those of the last probe (stage_facts.h). Requests that name drivers or GPUs are about other
 * hosts, so those facts do not count for them.
 */
int stage_resolve(struct stages *stages, const char *const *requests, struct error *err);

/*
 * Says which of the ids of --allow overrule nothing in the stack. stage_plan does so too, and
 * a plan's notes have it.
 */
void stage_note_unused(const struct stages *stages);

/* Warns of each of the plan's notes: `resolve` does so, and all that resolves requests of its own. */
void stage_print_notes(const struct stages *stages);

/* As stage_resolve, for every stack that resolve_all gives. */
int stage_resolve_all(struct stages *stages, const char *const *requests, size_t limit,
		      bool (*each)(const struct plan *plan, void *arg), void *arg,
		      struct error *err);

/*
 * The plan of the cluster file's stack: that of ringup.lock, which nothing but `resolve` moves, or
 * where there is none a resolved one. A lock that was made for another stack is ERROR_USAGE, one
 * that does not fit the hosts ERROR_UNSATISFIED.
 */
int stage_plan(struct stages *stages, struct error *err);

/*
 * Why the stack of ringup.lock does not fit these hosts, as stage_plan says it, without the file's name (arena). ""
 * when it fits, and when there is no lock.
 */
const char *stage_misfit(struct stages *stages, const struct facts *facts, size_t count);

/* For containers without a stack, "cuda" or "cpu": they get GPUs when a host that was probed has a driver for them. */
const char *stage_plan_accelerator(const struct stages *stages);

/* ringup.lock beside the cluster file, or where it would be. */
const char *stage_lock_path(struct stages *stages);

/* Writes ringup.lock beside the cluster file, if it differs. */
int stage_lock(struct stages *stages, struct error *err);

#endif
