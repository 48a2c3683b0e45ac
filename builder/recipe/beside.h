/* SPDX-License-Identifier: MIT */
/*
 * beside.h - the packages that are made for torch and stand beside it: torchvision, DeepSpeed,
 * flash-attn and so on, which recipes/beside-torch installs by one rule for all of them.
 */
#ifndef BUILDER_RECIPE_BESIDE_H
#define BUILDER_RECIPE_BESIDE_H

#include "builder/recipe/parts.h"
#include "resolver/resolve.h"

/*
 * From the rows of the plan's packages (columns pip, sdist, sha256, torch_index, module and jit) sets
 *
 *   beside.wheels    what pip installs as a wheel: words quoted for a shell, each with a blank
 *                    before it
 *   beside.indexed   those of them that PyTorch's index has for each CUDA of torch
 *   beside.sdists    what is built from an archive: lines NAME==VERSION --hash=..., as pip reads them
 *   beside.built     the same as words to read
 *   beside.checked   every package as NAME==VERSION, with a blank before each
 *   beside.modules   ", MODULE" of those that can be imported without a GPU
 *   beside.nvcc      the packages that compile with nvcc at run time, as words to read
 *   beside.with      what companion.csv has for pip beside them, quoted, with a blank before each:
 *                    " 'numpy<2'"
 *   beside.replaced  " | grep -vE '^(numpy)=='" of the packages that these words name: they do not stay as they are
 *
 * "" where there are none. Called when the rows' columns and NAME.with are among the values.
 */
void beside_values(const struct plan *plan, struct arena *arena, struct values *values);

#endif
