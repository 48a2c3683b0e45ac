/* SPDX-License-Identifier: MIT */
/*
 * replace.h - starts a host's container, in place of the old one if there is one.
 *
 * One script on the host does it all (remote/replace.sh), so that it also ends well when ringup or the
 * connection breaks meanwhile. The old container is kept, stopped and under another name, until the new
 * one runs and its sshd lets it in. If the new one fails, the old one is put back and the error says so.
 */
#ifndef DEPLOYER_CONTAINER_REPLACE_H
#define DEPLOYER_CONTAINER_REPLACE_H

#include "deployer/bringup/visit.h"

/* Sets v->m->state to the new container. The caller has compared the host and pulled the image. */
int visit_replace(struct visit *visit, struct error *err);

/*
 * Starts the container that is there again, and waits until its sshd lets it in. member->state names it
 * (member_ask_owner).
 */
int member_restart(struct member *member, struct error *err);

/* The name of a container that is set aside. No cluster can have it. */
const char *replace_aside_name(struct member *member);

/* What a script would do, as commands: each is handed to `add`. */
void replace_each_command(struct visit *visit, void (*add)(void *arg, const char *const *words),
			  void *arg);

#endif
