/* SPDX-License-Identifier: MIT */
#include "resolver/brought.h"

/* Horovod is compiled against the system's NCCL. */
static bool needs_system(const struct search *s, enum component component)
{
	return s->model->cpu || (s->units->asked & COMPONENT_BIT(component)) ||
	       (component == COMPONENT_NCCL && s->now.chosen[COMPONENT_HOROVOD]);
}

const struct value *brought_by(const struct search *s, enum component component,
			       const char **version)
{
	const struct value *first = NULL;

	if (needs_system(s, component))
		return NULL;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *brings = wheel ? wheel->brings[component] : NULL;

		if (wheel && !brings && wheel->needs[component])
			return NULL;
		if (brings && !first) {
			first = wheel;
			*version = brings;
		}
	}
	return first;
}

/* Whether the wheel can use the library that the other wheel brings. */
static bool takes(const struct value *wheel, const struct value *other, enum component component)
{
	const char *brings = other->brings[component];

	return !brings || !wheel->needs[component] || needs_admit(wheel->needs[component], brings);
}

bool wheels_clash(const struct value *last, const struct value *first)
{
	uint32_t others = COMPONENT_BIT(COMPONENT_TENSORFLOW) | COMPONENT_BIT(COMPONENT_TORCH);
	const char *nccl = last->brings[COMPONENT_NCCL], *cudnn = last->brings[COMPONENT_CUDNN];
	const struct needs *needs = first->needs[COMPONENT_CUDNN];

	if (last->component == COMPONENT_JAX && (COMPONENT_BIT(first->component) & others))
		return !takes(last, first, COMPONENT_NCCL) || !takes(last, first, COMPONENT_CUDNN);
	if (last->component != COMPONENT_TENSORFLOW || first->component != COMPONENT_TORCH ||
	    !nccl || !first->brings[COMPONENT_NCCL])
		return false;
	return version_compare(nccl, first->brings[COMPONENT_NCCL]) < 0 ||
	       (cudnn && needs && !needs_admit(needs, cudnn));
}
