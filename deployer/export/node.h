/* SPDX-License-Identifier: MIT */
/* node.h - what starts a job's ranks in the one container of a node, whichever engine started that. */
#ifndef DEPLOYER_EXPORT_NODE_H
#define DEPLOYER_EXPORT_NODE_H

#include "deployer/export/export.h"
#include "deployer/launcher/launcher.h"

#define NODE_GRACE_S 25	    /* from TERM to KILL where nobody says it: less than Kubernetes' 30 */
#define NODE_GRACE_MORE_S 5 /* the container has so much more than its ranks */

/*
 * Adds the container's command, and NAME=VALUE that it needs beside export_env. Text of `node` may be the engine's own
 * variable; node->rank of an engine that has none is a number. ERROR_USAGE when the launcher's ranks cannot be started
 * so, or when the nodes would have different numbers of ranks and the launcher cannot do that.
 */
int export_node(const struct export_wish *wish, const struct launcher_node *node,
		struct words *command, struct words *env, struct error *err);

#endif
