/* SPDX-License-Identifier: MIT */
/* agent.h - what a launcher takes for ssh: it starts a program on another host of the job (protocol.h). */
#ifndef JOB_AGENT_H
#define JOB_AGENT_H

#define AGENT_NAME "ssh"      /* of the program, in the supervisor's folder */
#define AGENT_EXIT_FAILED 255 /* as ssh(1) says that it failed itself */

/*
 * Takes ssh(1)'s words behind the program's name: options, which it leaves out, the host and the
 * command. Returns the command's exit status, or AGENT_EXIT_FAILED.
 */
int agent_run(char *const *words);

#endif
