/* SPDX-License-Identifier: MIT */
/*
 * key_agent.h - keys that an ssh-agent holds, and an agent of ringup's own for keys with a passphrase.
 *
 * ssh-add asks for a passphrase on the terminal, once for a command however many hosts it is for. So no
 * passphrase comes into this process, on a command line or into a file. ringup's own agent ends with it, also
 * when it is killed.
 */
#ifndef DEPLOYER_SSH_KEYS_KEY_AGENT_H
#define DEPLOYER_SSH_KEYS_KEY_AGENT_H

#include "core/error.h"
#include "core/words.h"

/*
 * Adds the public keys that the agent at this socket holds, "TYPE BASE64" each; nothing for "" and where nobody
 * answers. An agent is asked once, except ringup's own. Any thread may call it.
 */
void key_agent_list(const char *socket, struct words *keys);

/*
 * Has ssh-add put the key into ringup's own agent; *socket is where that listens. Each key is asked for once:
 * what came of it counts for later calls. -1 when there is no terminal (nor $SSH_ASKPASS) to ask at, or no right
 * passphrase came.
 */
int key_agent_unlock(const char *key, const char **socket, struct error *err);

#endif
