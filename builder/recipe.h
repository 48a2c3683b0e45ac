/* SPDX-License-Identifier: MIT */
/*
 * recipe.h - recipes/FAMILY.recipe + a plan -> a Dockerfile and its context.
 *
 * A recipe is front matter ("key: value" lines), a line "---", and a Dockerfile with ${name} in it.
 * The names are made here from the plan and from the person's image settings; versions, packages
 * and reasons come from the catalog, so a new version changes no recipe.
 */
#ifndef BUILDER_RECIPE_H
#define BUILDER_RECIPE_H

#include "plan/catalog.h"
#include "plan/cluster.h"
#include "plan/resolve.h"
#include "plan/spec.h"

/*
 * Renders into *spec (strings live in the arena) and sets its hash. Reads the recipe, the worker's
 * sources and the entry scripts, nothing else. Errors name the recipe file and line.
 */
int recipe_render(const struct cluster *cluster, const struct plan *plan,
		  const struct catalog *catalog, struct arena *arena, struct spec *spec,
		  struct error *err);

#endif
