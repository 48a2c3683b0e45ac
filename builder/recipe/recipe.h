/* SPDX-License-Identifier: MIT */
/*
 * recipe.h - the recipes + a plan -> a Dockerfile and its context, or a script.
 *
 * The parts that apply to the plan (parts.h) give their sections, and a layout puts them together.
 * Versions, packages and reasons come from the plan and the catalog (stack_values.h), so a new
 * version changes no recipe. What the plan has pinned gets its version or digest (pinning.h).
 */
#ifndef BUILDER_RECIPE_RECIPE_H
#define BUILDER_RECIPE_RECIPE_H

#include "resolver/catalog.h"
#include "plan/cluster.h"
#include "resolver/resolve.h"
#include "plan/spec.h"

/*
 * Renders into *spec (strings live in the arena) and sets its hash. Reads the recipe, the worker's
 * sources and the entry scripts, nothing else. Errors name the recipe file and line.
 */
int recipe_render(const struct cluster *cluster, const struct plan *plan,
		  const struct catalog *catalog, struct arena *arena, struct spec *spec,
		  struct error *err);

/*
 * Whether recipe_render has a recipe for the stack: its parts are chosen and filled in, and no file of the context is read.
 * The error says what is missing, and what to ask for instead. *base is the image that the deployed one starts from
 * (arena), which for NVIDIA's images is another flavour than plan->base.name.
 */
int recipe_check(const struct cluster *cluster, const struct plan *plan,
		 const struct catalog *catalog, struct arena *arena, const char **base,
		 struct error *err);

/*
 * A question to the package managers of the stack's OS: which version of each of the names they
 * would install now. Its image has PACKAGES_ANSWER, lines of a name and a version; names that the
 * archives do not have are left out. The plan's pinned.at, the time of the question, is part of it,
 * so that no cache answers. `names` is NULL-terminated; errors as of recipe_render.
 */
int recipe_render_question(const struct cluster *cluster, const struct plan *plan,
			   const struct catalog *catalog, const char *const *names,
			   struct arena *arena, struct spec *spec, struct error *err);

#define PACKAGES_ANSWER "packages"

/*
 * The same stack for a bare host: spec->dockerfile becomes a bash script that root runs there, and
 * the context what it wants beside it. What a recipe says in "host" sections stands in place of its
 * others (docs/recipes.md); NVIDIA's packages stand in place of its images.
 */
int recipe_render_script(const struct cluster *cluster, const struct plan *plan,
			 const struct catalog *catalog, struct arena *arena, struct spec *spec,
			 struct error *err);

#endif
