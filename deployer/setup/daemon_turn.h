/* SPDX-License-Identifier: MIT */
/*
 * daemon_turn.h - whether what setup changes needs Docker Engine to read its settings again, or to start anew.
 *
 * dockerd takes over some keys of daemon.json at SIGHUP (docs.docker.com, "dockerd", Configuration reload behavior).
 * The rest counts from its next start on, and so does what it looks for at its start, as NVIDIA's hook (moby,
 * daemon/nvidia_linux.go). A restart stops the containers, unless live-restore is on: ringup stops nobody's.
 */
#ifndef DEPLOYER_SETUP_DAEMON_TURN_H
#define DEPLOYER_SETUP_DAEMON_TURN_H

#include "core/words.h"

enum daemon_after { DAEMON_STAYS, DAEMON_RELOADS, DAEMON_RESTARTS, DAEMON_WAITS };
extern const char *const daemon_after_names[];

struct daemon_turn {
	enum daemon_after after;
	struct words reloads;  /* keys of daemon.json that count after a reload */
	struct words restarts; /* keys, and what steps do, that count after a restart */
	const char *command;   /* for a person to read: what it runs or waits for; "" none */
	const char *script;    /* for a shell of the host, as root; "" none */
	const char *why;       /* why it may restart, or why it waits; "" */
};

/*
 * `look` is what remote/setup_look.sh printed; `added` are the new keys of daemon.json; `steps` is what steps do
 * that counts after a restart. `is_fresh`: these steps install the engine, which runs then and has no container.
 */
void daemon_turn_plan(const char *look, const struct words *added, const struct words *steps,
		      bool is_fresh, struct arena *arena, struct daemon_turn *turn);

#endif
