/* SPDX-License-Identifier: MIT */
/*
 * pins.h - all packages that come with a framework's wheel, each of one version with the checksums
 * of its files: recipes/pins/, which .ci/pins.py makes.
 *
 * A file is for one requirement and one Python: "tensorflow[and-cuda]==2.15.1" with Python 3.10 is
 * tensorflow-and-cuda-2.15.1-py3.10.txt. Its lines are pip's requirements; the comment
 * "# glibc>=2.17" says what its wheels need. COMPONENT-needs-py3.10.txt is what a component asks
 * for that is built from an archive.
 */
#ifndef BUILDER_RECIPE_PINS_H
#define BUILDER_RECIPE_PINS_H

#include "builder/recipe/parts.h"
#include "resolver/resolve.h"

/*
 * Sets COMPONENT.needs.pins, and FRAMEWORK.pins, as quoted words one a line, where there is a file
 * for the plan's framework and Python and its wheels run on the plan's glibc. Not for several
 * frameworks at once, whose sets would undo each other.
 */
int pins_values(const struct plan *plan, struct arena *arena, struct values *values,
		struct error *err);

#endif
