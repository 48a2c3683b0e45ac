/* SPDX-License-Identifier: MIT */
/*
 * renderer.h - how a Dockerfile or a script is written: values, and the sections of the parts that
 * apply. recipe.c sets the values of a cluster and a plan, renderer.c puts the texts together. The
 * texts live in the arena. Each function that fails sets r->err, with the recipe's path and line.
 */
#ifndef BUILDER_RECIPE_RENDERER_H
#define BUILDER_RECIPE_RENDERER_H

#include "builder/recipe/parts.h"
#include "plan/cluster.h"
#include "resolver/resolve.h"
#include "plan/spec.h"

struct renderer {
	const struct cluster *cluster;
	const struct plan *plan;
	struct arena *arena;
	struct spec *spec;
	const char *layout;	      /* of recipes/: "image", "script", "question" */
	const struct table *managers; /* package_manager.csv, or NULL */
	struct values values;
	struct error *err;
};

bool renderer_is_script(const struct renderer *r);

/*
 * Reads the recipes, keeps those that apply, in their order, and sets the values that they define.
 */
int renderer_choose(struct renderer *r, struct parts *parts);

/* Sets the values of sections that lie one below the other: of an image's stages, or a script's
 * steps. */
int renderer_gather(struct renderer *r, const struct parts *parts);

/* The layout recipes/NAME.layout with all values. */
int renderer_lay_out(struct renderer *r, const char *name, const char **text);

#endif
