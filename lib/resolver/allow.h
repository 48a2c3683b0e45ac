/* SPDX-License-Identifier: MIT */
/*
 * allow.h - the ids of the rules that refuse stacks, and which of them a person has overruled.
 *
 * `--allow ID` and `allow` of cluster.yaml name rules that may be broken. It is a permission and not a
 * wish: a stack that keeps all rules is always taken first. There are three kinds of ids:
 *
 *   horovod-torch-2.1   a row of conflicts.csv, by its id
 *   torch-needs-cuda    the requirement cells of a table, NAME-needs-NAME: here the column `cuda`
 *                       of torch.csv
 *   driver-cuda         a rule in C; the list is ALLOW_RULES
 *
 * What requests say is no rule, and neither are versions that the catalog does not have.
 */
#ifndef RESOLVER_ALLOW_H
#define RESOLVER_ALLOW_H

#include "resolver/model.h"

/* X(name, id): the rules that are neither cells nor rows. docs/resolver.md says what they mean. */
#define ALLOW_RULES(X)                                                                            \
	X(ARCH, "arch")		    /* a processor that no recipe is for */                       \
	X(BASE_IMAGE, "base-image") /* a tag that cannot be pulled */                             \
	X(CUDA_OS, "cuda-os")	    /* NVIDIA has neither packages nor images of it for the OS */ \
	X(DRIVER_CUDA, "driver-cuda") /* the driver does not run this CUDA */                     \
	X(DRIVER_PTX, "driver-ptx")   /* the driver cannot compile the wheel's PTX */             \
	X(GPU_CUDA, "gpu-cuda")	      /* the toolkit makes no code for the GPU */                 \
	X(GPU_CUDNN, "gpu-cudnn")     /* the cuDNN has no code for the GPU */                     \
	X(GPU_DRIVER, "gpu-driver")   /* the driver does not drive the GPU */                     \
	X(GPU_PTX, "gpu-ptx")	  /* newer than the toolkit, and the wheel has no PTX for it */   \
	X(GPU_WHEEL, "gpu-wheel") /* the wheel has no code for the GPU */                         \
	X(PACKAGES_OS, "packages-os")	/* the packages are for another OS or package manager */  \
	X(WHEELS_CLASH, "wheels-clash") /* one wheel replaces what another one needs */

enum allow_rule {
#define X(name, id) RULE_##name,
	ALLOW_RULES(X)
#undef X
		RULE_COUNT
};

extern const char *const allow_rule_ids[RULE_COUNT + 1];

static inline bool allow_has(const struct model *model, enum allow_rule rule)
{
	return model->allow.rules >> rule & 1;
}

/* Whether the cells of `of` on the other component do not count. */
static inline bool allow_has_needs(const struct model *model, enum component of,
				   enum component other)
{
	return model->allow.needs[of] & COMPONENT_BIT(other);
}

/* "torch-needs-cuda". */
const char *allow_needs_id(enum component of, enum component other, struct arena *arena);

/* Whether the NULL-terminated list names it; a NULL list names nothing. */
bool allow_names(const char *const *ids, const char *id);

/* ERROR_USAGE for an id of no rule; it names the nearest ones. */
int allow_check(const struct model *model, const char *const *ids, struct error *err);

/*
 * Overrule nothing, everything, or one rule more. The first call keeps a copy of the model with all its
 * rules as `strict`. To be followed by units_apply and search_init, which depend on the rules.
 * allow_add returns false for an id that is overruled already or that no search asks for.
 */
void allow_nothing(struct model *model);
void allow_everything(struct model *model);
bool allow_add(struct model *model, const char *id);

#endif
