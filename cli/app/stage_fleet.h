/* SPDX-License-Identifier: MIT */
/* stage_fleet.h - cluster -> facts of its hosts, and all of the stages -> a fleet that runs. */
#ifndef CLI_APP_STAGE_FLEET_H
#define CLI_APP_STAGE_FLEET_H

#include "cli/app/stages.h"
#include "core/json.h"
#include "deployer/bringup/bringup.h"

#include <stdio.h>

/*
 * Two rows for a command's table: --hosts and --exclude. `member` is a struct words, for stage_choose. Each
 * set is one of plan/host_set.h.
 */
#define HOSTS_OPTION(type, member)                                                                 \
	{'H',	   "hosts",                                                                        \
	 "SET",	   "these hosts only: node[01-08], @GROUP or ^FILE; may be given again",           \
	 OPT_LIST, offsetof(type, member)},                                                        \
	{                                                                                          \
		'x', "exclude", "SET", "but not these hosts", OPT_LIST_BUT, offsetof(type, member) \
	}

/*
 * Leaves only the hosts of these sets (--hosts) and arguments in the cluster: the others are neither
 * asked nor counted. Without any, all stay; but never those of a set that begins with '!' (--exclude). Either may be NULL. A name that is not in the cluster is
 * ERROR_USAGE.
 */
int stage_choose(struct stages *stages, const struct words *sets, const char *const *arguments,
		 struct error *err);

/*
 * The same for commands that must know all hosts: they stay in the cluster, and stage_probe leaves
 * the others out of the fleet, with the facts of the last probe.
 */
int stage_ask_only(struct stages *stages, const struct words *sets, const char *const *arguments,
		   struct error *err);

/* Sets up and probes the fleet; every member that cannot run the cluster is failed. */
int stage_probe(struct stages *stages, struct error *err);

/* stage_choose, and sets up the fleet without a probe. */
int stage_select(struct stages *stages, const struct words *sets, const char *const *arguments,
		 struct error *err);

/* What fleet_bringup needs, from all of the stages. */
int stage_bringup(struct stages *stages, struct bringup *bringup, struct error *err);

/*
 * What the last `up` made, by ringup.lock and the keys here: *known is false where these are not
 * there. Makes nothing and asks nobody; there is no login in it. The caller wipes wanted->keys.
 */
int stage_wanted(struct stages *stages, struct bringup *wanted, bool *known, struct error *err);

/* Prints text with "HOST: " before each of its lines; NULL counts as empty. */
void stage_print_lines(FILE *out, const char *host, const char *text);

/* Adds "failed" to a command's document: host and error of each that failed. */
void stage_json_failed(const struct stages *stages, cJSON *document);

#endif
