/* SPDX-License-Identifier: MIT */
/* explain.h - broken rules in words. */
#ifndef RESOLVER_EXPLAIN_EXPLAIN_H
#define RESOLVER_EXPLAIN_EXPLAIN_H

#include "resolver/rules/breach.h"
#include "resolver/rules/rules.h"

/* "TensorFlow 1.12.0 needs CUDA ==9.0.*": the value must have such a cell. */
const char *needs_sentence(const struct value *value, const struct value *other,
			   struct arena *arena);

/* In the model's arena. */
void breach_explain(const struct search *search, const struct value *value,
		    const struct breach *breach, const char **text, const char **source);

/* Why it does not fit, for people, with the sources; false when it fits. */
bool rules_explain(struct search *search, const struct value *value, const char **text,
		   const char **source);

/* Why the unit does not admit the value: "driver 390.48 runs CUDA <= 9.1.85; ...". */
void unit_explain(const struct model *model, const struct unit *unit, const struct value *value,
		  const char **text, const char **source);

/*
 * The same of all units that refuse the value, each with the hosts that it is about, and the source of the last one. *text
 * stays where none refuses it.
 */
void units_explain(const struct model *model, const struct units *units, const struct value *value,
		   const char **text, const char **source);

#endif
