/* SPDX-License-Identifier: MIT */
/* stage_pin.h - plan -> plan with the versions and digests that archives and registries have today. */
#ifndef CLI_APP_STAGE_PIN_H
#define CLI_APP_STAGE_PIN_H

#include "cli/app/stages.h"

/*
 * Asks the archives and the registries, and sets the plan's `pinned`: builds a little image on the
 * OS's own one, in which its package manager answers. Shows progress. Nothing is pinned after an
 * error: an archive or registry that does not answer, a cluster without a stack (ERROR_USAGE).
 * Of a stack for two processors it pins the plan of this machine's, and keeps what the other one has.
 */
int stage_pin(struct stages *stages, struct error *err);

#endif
