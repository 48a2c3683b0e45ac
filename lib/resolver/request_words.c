/* SPDX-License-Identifier: MIT */
#include "resolver/request_words.h"

#include "core/str.h"
#include "plan/component.h"
#include "resolver/os_find.h"

#include <string.h>

#define CPU_BUILD "+cpu"

bool requests_are_for_cpus(const char *const *requests)
{
	for (; *requests; requests++)
		if (starts_with(*requests, "torch==") && ends_with(*requests, CPU_BUILD))
			return true;
	return false;
}

/*
 * "torchvision==0.18.1+cu121", as PyTorch's index calls it: the build of what stands beside torch is the one of torch. And
 * "torch==2.6.0+cpu" is torch in a stack for CPUs.
 */
static bool request_build_is_torchs(const struct model *model, const char *text, size_t length,
				    const char *build)
{
	enum component component = component_by_name(arena_strndup(model->arena, text, length));

	if (component == COMPONENT_TORCH)
		return model->cpu && strcmp(build, CPU_BUILD) == 0;
	return component != COMPONENT_NONE &&
	       (COMPONENT_BIT(component) & COMPONENTS_BESIDE_TORCH) && !strchr(build, ',');
}

const char *request_tidy(const struct model *model, const char *text)
{
	char *copy = arena_strdup(model->arena, text), *at = strpbrk(copy, "=<>!~"), *build;

	if (at && starts_with(copy, "os") && strchr(" =<>!~", copy[2]))
		return arena_printf(model->arena, "%.*s%s", (int)(at - copy), copy,
				    os_tidy(model, at));
	build = at ? strchr(at, '+') : NULL;
	if (build && request_build_is_torchs(model, copy, (size_t)(at - copy), build))
		*build = '\0';
	/* product names have blanks and brackets: 'gpu==GTX Titan X (Maxwell)' */
	if (at && starts_with(copy, "gpu"))
		for (; *at; at++)
			if (strchr("()/", *at) || (*at == ' ' && at[1] && !strpbrk(at, "=<>")))
				*at = '_';
	return copy;
}
