/* SPDX-License-Identifier: MIT */
/* operate.h - what is done with a running cluster: take it down, read its logs, run words in it. */
#ifndef DEPLOYER_BRINGUP_OPERATE_H
#define DEPLOYER_BRINGUP_OPERATE_H

#include "deployer/bringup/bringup.h"

/* Stops and removes the containers; `purge` also removes the image and all files on the hosts. */
void fleet_down(struct fleet *fleet, bool purge);

/*
 * Reads the last `tail` lines of one member's container log, without those of its sshd about logins that went well unless `all`
 * (remote/logs.sh). The caller releases *result.
 */
int member_logs(struct member *member, int tail, bool all, struct proc_result *result,
		struct error *err);

/*
 * The words with the environment of container.env around them, on a host without containers; a container has it from its start, and
 * there they stay as they are. All functions below do that but member_exec_local.
 */
const char *const *member_bare_words(struct member *member, const char *const *words);

/* For launchers: the words that run `words` in the member's container, in the member's arena. */
const char *const *member_exec_words(struct member *member, const char *const *words);

/* The same for a program that is talked with over its stdin. */
const char *const *member_talk_words(struct member *member, const char *const *words);

/*
 * The same, guarded: the words, and all that they start, end when their stdin does. So nothing of them
 * goes on after Ctrl-C, a deadline or the end of ringup. The caller holds the input (struct
 * ssh_command). An image on `scratch` has no ringup-job: there they are not guarded.
 */
const char *const *member_guarded_words(struct member *member, const char *const *words);

/*
 * Runs words inside of the member's container (on the host when the engine has none). The caller
 * releases *result.
 */
int member_exec(struct member *member, const char *const *words, int timeout_s,
		struct proc_result *result, struct error *err);

/* The same on the host itself, whoever's container is there; what the words start ends with the connection, too. */
int member_exec_local(struct member *member, const char *const *words, int timeout_s,
		      struct proc_result *result, struct error *err);

/*
 * member_exec, or with `is_local` member_exec_local, with standard output to `output_fd` in place of result->out: the end of a
 * pipe that only this process has. -1: as those two do. ERROR_FAILED with the seconds when the command took longer than
 * timeout_s.
 */
int member_exec_to(struct member *member, bool is_local, const char *const *words, int timeout_s,
		   int output_fd, struct proc_result *result, struct error *err);

#endif
