/* SPDX-License-Identifier: MIT */
/* ssh_ask.h - what ssh itself makes of ~/.ssh/config, where the reader cannot say it (ssh_config.h, is_unsure). */
#ifndef DEPLOYER_SSH_SSH_ASK_H
#define DEPLOYER_SSH_SSH_ASK_H

#include "deployer/ssh/ssh_config.h"

/*
 * Runs `ssh -G`, and with it the commands of Match exec, as every ssh does. `files` are what ssh would read, NULL at the end.
 * Replaces user, port, address, host key alias, files of host keys and proxy; what cluster.yaml gave (`given_user` "",
 * `given_port` 0 when it gave none) wins. `usual_user` counts where nothing says another one ("": ssh's own). ERROR_USAGE with ssh's words when
 * it refuses the files.
 */
int ssh_config_ask(struct ssh_config *config, const char *const *files, const char *host,
		   const char *given_user, int given_port, const char *usual_user,
		   struct error *err);

#endif
