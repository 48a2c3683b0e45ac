/* SPDX-License-Identifier: MIT */
/* lab_process.h - processes that the lab starts, known by id and start time. */
#ifndef DEPLOYER_LAB_LAB_PROCESS_H
#define DEPLOYER_LAB_LAB_PROCESS_H

#include "deployer/lab/lab.h"

/*
 * A lock that all labs of this machine share, for choosing addresses and taking them as one step.
 * Waits for it. Closing `*lock` releases it.
 */
int lab_lock_machine(int *lock, struct error *err);

/*
 * Notes when the process started. -1 when it has ended already; the error has the end of its log.
 */
int lab_process_note(pid_t pid, const char *log_path, struct lab_process *process,
		     struct error *err);

bool lab_process_alive(const struct lab_process *process);

/* Ends it (SIGKILL when `hard`), and waits until it is gone. */
void lab_process_end(const struct lab_process *process, bool hard);

/*
 * The value of sshd's SetEnv: these "NAME=VALUE", each in quotes, and a SHLVL of 2. With that bash does not read the
 * .bashrc of this machine's user, which is no part of a lab host (bash(1), INVOCATION: it reads it below 2).
 */
const char *lab_setenv(const struct words *pairs);

/* Waits up to `seconds` for TCP to answer there; false when the process died or time ran out. */
bool lab_wait_port(const char *address, int port, const struct lab_process *process, int seconds);

#endif
