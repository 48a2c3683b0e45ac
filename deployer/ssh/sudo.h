/* SPDX-License-Identifier: MIT */
/*
 * sudo.h - commands as root on hosts where the user is not root.
 *
 * `sudo -n` is enough where the user needs no password. Elsewhere ringup asks once for all hosts, and gives the
 * password to `sudo -S` as the first line of its input, never on a command line. `sudo -k` makes sure that sudo
 * reads that line, so that the command never does; and it always runs sh, so that the same rule of sudoers counts
 * for each command.
 */
#ifndef DEPLOYER_SSH_SUDO_H
#define DEPLOYER_SSH_SUDO_H

#include "core/proc.h"
#include "core/secret.h"

/* The line for the host's shell: by `sudo -n`, or by the password. */
void sudo_add_line(bool by_password, const char *const *words, struct str *line);

/* Whether a command of `sudo -n` was not run, because sudo wants a password. */
bool sudo_wants_password(const struct proc_result *result);

/*
 * The password, asked for at the first call. `place` is where it is wanted. The secret stays as long as the
 * process: the caller does not wipe it.
 */
int sudo_password(const char *place, struct secret *password, struct error *err);

/* The password as the first line, and then the input; the caller wipes and frees. */
char *sudo_input(struct secret password, const void *input, size_t input_bytes, size_t *bytes);

#endif
