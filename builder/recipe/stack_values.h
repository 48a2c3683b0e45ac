/* SPDX-License-Identifier: MIT */
/*
 * stack_values.h - what recipes can say about a stack: a name for each fact of the plan.
 *
 * NAME is a component that the stack has:
 *   NAME.version
 *   NAME.major .series          the first number of the version; the first two
 *   NAME.pip .index .download .sha256
 *   NAME.wheel                  the framework whose wheel brings it: cudnn.wheel is "torch"
 *   NAME.path                   the download without "https://": its place in a mirror of downloads
 *   NAME.archive                the download's file name
 *   NAME.index_option           how pip is told of the index: --extra-index-url, --find-links
 *   NAME.run_packages .build_packages           ';' between
 *   NAME.build_packages.first .last             one word of them, without its version
 *   NAME.COLUMN                 any other column of its row, "os.codename"
 *   NAME.packaged.run_packages .build_packages  the OS's own package of exactly this version
 *   NAME.wheels                 its wheels of wheel.csv with their checksums, quoted, one a line
 *   NAME.with .needs            the packages of companion.csv (companions.h)
 *   NAME.pins NAME.needs.pins   the packages of recipes/wheels (pins.h)
 *
 * Of the whole:
 *   os.release                  "22.04" of "ubuntu22.04"
 *   os.COLUMN.OTHER             the column OTHER of the row that the cell os.COLUMN names:
 *                               os.key.fingerprint, os.package_manager.install
 *   cuda.dashed                 "12-2", as in names of packages
 *   cuda.in_repository          "yes" where NVIDIA's repository for the OS has this CUDA
 *   cuda.build_only             "yes" where the image is without the stack's CUDA (toolkit_values.h)
 *   distribution.* nvidia.*     run_packages and build_packages by whose they are
 *   accelerator base.name base.status base.packages
 *   base.runtime base.toolkit   NVIDIA's images beside base.name: without the toolkit; only with it
 *   base.libraries              the package of CUDA's libraries, beside base.packages with the
 *                               toolkit
 *   choices                     comment lines with the reasons
 *   labels                      the instruction LABEL
 *
 * A name that ends in "packages" has .lines too: one package per line of a RUN.
 */
#ifndef BUILDER_RECIPE_STACK_VALUES_H
#define BUILDER_RECIPE_STACK_VALUES_H

#include "builder/recipe/parts.h"
#include "resolver/catalog.h"
#include "resolver/resolve.h"

/* ERROR_FAILED when the catalog has no row for the plan's OS. Texts live in the arena. */
int stack_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
		 struct values *values, struct error *err);

/* "a;b" as lines of a RUN of at most 138 columns, with continuations between. */
const char *package_lines(const char *packages, struct arena *arena);

/* The same of lines that recipes have put together: each package once, and as few lines as may be. */
const char *package_lines_flow(const char *lines, struct arena *arena);

#endif
