/* SPDX-License-Identifier: MIT */
/*
 * stage_facts.h - facts of hosts without a probe: of a file that is named, or of the last probe.
 *
 * Every command means the same stack: `up` and `probe` ask the hosts and keep what they say in
 * .ringup/facts.json; commands that do not ask the hosts use that file.
 */
#ifndef CLI_APP_STAGE_FACTS_H
#define CLI_APP_STAGE_FACTS_H

#include "cli/app/stages.h"

/* A row for a command's table; `member` is a bool, which becomes stages.no_facts. */
#define FACTS_OPTION(type, member)                                                        \
	{                                                                                 \
		0, "no-facts", NULL, "do not use what the last probe knows of the hosts", \
			OPT_FLAG, offsetof(type, member)                                  \
	}

/* Facts that `probe -o` wrote, as if the hosts had just answered. ERROR_USAGE names the file. */
int stage_facts(struct stages *stages, const char *path, struct error *err);

/*
 * The facts of the last probe, of the hosts that are in the cluster file, as if they had just answered; says
 * of how many hosts, and how old they are. Nothing happens when hosts were probed, when stage_facts was
 * called, with --no-facts, and where there is no such file. ERROR_FAILED for a file that cannot be read.
 */
int stage_facts_on_file(struct stages *stages, struct error *err);

/* The same in `fleet`, which may hold others than the stages' own. Says nothing; no file is no host. */
int stage_read_facts(const struct stages *stages, struct fleet *fleet, struct error *err);

/* Gives the members of the stages' fleet these facts; one that is not on file keeps what it has. */
int stage_lend_facts(struct stages *stages, struct error *err);

#endif
