/* SPDX-License-Identifier: MIT */
/*
 * conditions.h - the column `when` of conflicts.csv: "horovod<=0.28.1 & torch>=2.1".
 *
 * Conditions stand between '&', and all of them must hold. Each is a name, and perhaps the versions
 * that it speaks of, written as a requirement cell (plan/version.h). The name is a component's, or a
 * word for something that is in no stack: "infiniband" and "nvidia-container-toolkit" of a host,
 * "image" for the tag that `image.base` names. docs/catalog.md lists the words.
 *
 * Every reader of the column uses this one. What is read lives in the arena.
 */
#ifndef RESOLVER_CONDITIONS_H
#define RESOLVER_CONDITIONS_H

#include "core/arena.h"
#include "plan/component.h"
#include "plan/version.h"

struct condition {
	const char *text;	   /* the whole condition, without spaces around it */
	const char *name;	   /* "" when the text begins with no name */
	const char *versions;	   /* what follows the name; "" for any version */
	enum component component;  /* COMPONENT_NONE: the name is not a component's */
	const struct needs *needs; /* the versions as a cell; NULL for any version */
	const char *mistake; /* why the versions are no cell (`needs` is NULL then); else NULL */
};

struct conditions {
	size_t count;
	struct condition *list;
};

/* Never fails: a condition that cannot be read says so itself. Empty text has no conditions. */
void conditions_read(const char *when, struct arena *arena, struct conditions *out);

#endif
