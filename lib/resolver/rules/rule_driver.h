/* SPDX-License-Identifier: MIT */
/* rule_driver.h - which driver runs which CUDA. */
#ifndef RESOLVER_RULES_RULE_DRIVER_H
#define RESOLVER_RULES_RULE_DRIVER_H

#include "resolver/request.h"

/* Whether a driver (a version, or a branch as its newest) is at least the minimum. */
bool driver_reaches(const char *driver, const char *minimum);

/* How the driver runs this CUDA; rules 1 to 3 of docs/catalog.md. Forward compatibility counts only
 * when `compat`. */
enum admission driver_runs(const struct model *model, const char *driver, const struct value *cuda,
			   bool compat);

#endif
