/* SPDX-License-Identifier: MIT */
/*
 * own_words.h - commands that begin with the launcher's own words, as people know them from one machine:
 * `torchrun train.py`, `accelerate launch train.py`, `deepspeed train.py`.
 */
#ifndef DEPLOYER_LAUNCHER_OWN_WORDS_H
#define DEPLOYER_LAUNCHER_OWN_WORDS_H

#include "deployer/job/plan.h"

/* Whether the command begins with the words; its first word may have a path. */
bool own_words_begin(const char *const *command, const char *const *words);

/*
 * ERROR_USAGE when an option before the script says what ringup says, as "--nnodes" does. `options` are
 * what follows the launcher's own words, `taken` the names without dashes: "nnodes". An option may be
 * spelled with '-' instead of '_'.
 */
int own_words_check(const char *const *options, const char *const *taken, const char *launcher,
		    struct error *err);

/*
 * Adds what starts `words` on a host. They begin with a launcher that starts each rank by torch's
 * torch.distributed.run, which takes the Python from PYTHON_EXEC (torch 1.9 and newer): here a script of the
 * job that joins the supervisor, and then starts the launcher's own Python.
 */
void own_words_add(const struct job_plan *plan, const struct job_host *host,
		   const char *const *words, struct words *out);

#endif
