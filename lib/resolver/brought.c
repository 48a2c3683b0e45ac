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
	const struct value *first = NULL, *range = NULL;

	if (needs_system(s, component))
		return NULL;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *brings = wheel ? wheel->brings[component] : NULL;

		if (wheel && !brings && wheel->needs[component])
			return NULL;
		if (brings && (wheel->brings_range & COMPONENT_BIT(component)))
			range = range ? range : wheel;
		else if (brings && !first)
			first = wheel;
	}
	first = first ? first : range;
	if (first)
		*version = first->brings[component];
	return first;
}

/* Whether pip replaces what `first` brings when it installs `last`. A range keeps what it admits. */
static bool replaces(const struct value *last, const struct value *first, enum component component)
{
	const struct needs *needs = last->needs[component];

	return last->brings[component] &&
	       (!(last->brings_range & COMPONENT_BIT(component)) ||
		(needs && !needs_admit(needs, first->brings[component])));
}

bool wheels_clash(const struct value *last, const struct value *first)
{
	const struct needs *needs = first->needs[COMPONENT_CUDNN];

	if (last->component != COMPONENT_TENSORFLOW || first->component != COMPONENT_TORCH ||
	    !last->brings[COMPONENT_NCCL] || !first->brings[COMPONENT_NCCL])
		return false;
	return (replaces(last, first, COMPONENT_NCCL) &&
		version_compare(last->brings[COMPONENT_NCCL], first->brings[COMPONENT_NCCL]) < 0) ||
	       (needs && replaces(last, first, COMPONENT_CUDNN) &&
		!needs_admit(needs, last->brings[COMPONENT_CUDNN]));
}
