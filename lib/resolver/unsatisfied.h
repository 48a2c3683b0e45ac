/* SPDX-License-Identifier: MIT */
/* unsatisfied.h - a refusal as JSON, and as the sentence of an error. */
#ifndef RESOLVER_UNSATISFIED_H
#define RESOLVER_UNSATISFIED_H

#include "resolver/resolve.h"

/* {"schema", "ok": false, "arch", "conflict": [...], "suggestions": [...]}; `arch` is absent when it is x86_64. */
cJSON *unsatisfied_to_json(const struct unsatisfied *why);

/* Sets ERROR_UNSATISFIED with each conflict and what would work, and gives unsatisfied_advise's advice. Returns -1. */
int unsatisfied_say(const struct unsatisfied *why, struct arena *arena, struct error *err);

/* How the rules that refuse are overruled: "--allow gpu-driver overrules it". Returns -1. */
int unsatisfied_advise(const struct unsatisfied *why, struct arena *arena, struct error *err);

#endif
