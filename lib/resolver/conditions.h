/* SPDX-License-Identifier: MIT */
/*
 * conditions.h - the column `when` of conflicts.csv: "horovod<=0.28.1 & torch>=2.1".
 *
 * Conditions are separated by '&', and all of them must hold. Each is a name, which versions may
 * follow, written as a requirement cell (plan/version.h). The name is a component's, or "sm" for the
 * compute capability of the hosts' GPUs ("sm==12.0"), or a word for something outside the stack: "infiniband" and "nvidia-container-toolkit" of a host, "image" for
 * the tag that `image.base` names. docs/catalog.md lists the words.
 *
 * Every reader of the column uses this one. What is read lives in the arena.
 */
#ifndef RESOLVER_CONDITIONS_H
#define RESOLVER_CONDITIONS_H

#include "core/arena.h"
#include "plan/component.h"
#include "plan/version.h"

struct condition {
	const char *text;	  /* the whole condition, without spaces around it */
	const char *name;	  /* "" when the text begins with no name */
	const char *versions;	  /* what follows the name; "" for any version */
	enum component component; /* COMPONENT_NONE: the name is not a component's */
	bool is_absent; /* "!torch": no request names the component; there are no versions then */
	bool is_capability; /* "sm": the component is the GPU, the versions its capability's */
	const struct needs *needs; /* the versions as a cell; NULL for any version */
	/* why the versions are not a cell (`needs` is NULL then); else NULL */
	const char *mistake;
};

struct conditions {
	size_t count;
	struct condition *list;
};

/* Whether the condition holds for this version; `sm` is of a GPU, and NULL of all else. */
static inline bool condition_holds(const struct condition *condition, const char *version,
				   const char *sm)
{
	return !condition->needs ||
	       needs_admit(condition->needs, condition->is_capability ? sm : version);
}

/* Never fails: a condition that cannot be read has its `mistake`. Empty text has no conditions. */
void conditions_read(const char *when, struct arena *arena, struct conditions *out);

#endif
