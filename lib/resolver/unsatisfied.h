/* SPDX-License-Identifier: MIT */
/* unsatisfied.h - a refusal as JSON. */
#ifndef RESOLVER_UNSATISFIED_H
#define RESOLVER_UNSATISFIED_H

#include "resolver/resolve.h"

/* {"schema", "ok": false, "conflict": [...], "suggestions": [...]} */
cJSON *unsatisfied_to_json(const struct unsatisfied *why);

#endif
