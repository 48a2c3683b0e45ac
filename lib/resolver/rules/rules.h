/* SPDX-License-Identifier: MIT */
/*
 * rules.h - whether two or more chosen values fit together, and the sentence that says why not.
 *
 * Most rules are requirement cells of the rows themselves. The others are: packages are for one
 * package manager; CUDA comes from NVIDIA's repository for the OS or as an image; a GPU that is
 * newer than the toolkit needs PTX in the wheel; and the rows of conflicts.csv.
 *
 * Each rule has an id, by which a person can overrule it (resolver/allow.h). An overruled rule is not
 * broken for any function of this file; model.strict has all rules.
 */
#ifndef RESOLVER_RULES_RULES_H
#define RESOLVER_RULES_RULES_H

#include "resolver/search/search.h"

/* To be called once per component, before rules_fit for its values. */
void rules_prepare(struct search *search, enum component component);

/*
 * Whether the value fits all chosen values. If not, *blame gets the components of the broken rule,
 * except the value's own.
 */
bool rules_fit(const struct search *search, const struct value *value, uint32_t *blame);

/* Whether two values fit together by all rules that concern only these two. */
bool rules_fit_pair(const struct model *model, const struct value *a, const struct value *b);

/* Whether two values of these components can break a rule that concerns only the two. conflicts.csv aside. */
bool rules_concern(const struct model *model, enum component a, enum component b);

/*
 * What the value's cells admit of another component, bit per value; NULL: all of it. The other one's cells, and
 * other rules, may refuse more.
 */
const uint64_t *rules_admitted(const struct model *model, const struct value *value,
			       enum component component);

/* rules_fit_pair for a pair that rules_admitted admits. */
bool rules_fit_admitted(const struct model *model, const struct value *a, const struct value *b);

/* Whether the pair is no CUDA of the system on an OS for which NVIDIA has nothing of it, or with a compiler that its nvcc refuses. */
bool rules_fit_system(const struct model *model, const struct value *a, const struct value *b);

/* Checks only the other rules, for a value whose pairs are known to fit. */
bool rules_fit_rest(const struct search *search, const struct value *value, uint32_t *blame);

/* The known conflict that concerns only drivers or GPUs and refuses those of the hosts, or NULL. */
const struct conflict_rule *rules_refuse_pins(const struct search *search);

/*
 * 0 is best: hints first, then what the chosen values were tested with. A value that breaks an
 * overruled rule comes after all that break none.
 */
int rules_rank(const struct search *search, const struct value *value);
#define RANK_MAX 64
#define RANK_OVERRULED 8
#define RANK_UNUSED_CUDA 4 /* more than two frameworks that were tested with another one */

#endif
