/* SPDX-License-Identifier: MIT */
#include "plan/rule_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long major_of(const char *version)
{
	return strtol(version, NULL, 10);
}

/* The highest and the lowest compute capability of a ">=5.0;<=9.0" cell. */
static const char *bound(const struct value *cuda, enum version_operator operator,
			 char text[static 32])
{
	const char *cell = value_cell(cuda, "sm");
	const char *sign = operator== VERSION_GE ? ">=" : "<=";
	const char *at = strstr(cell, sign);

	if (!at)
		return NULL;
	snprintf(text, 32, "%.*s", (int)strcspn(at + 2, ";"), at + 2);
	return text;
}

/* Whether the GPU's own first toolkit is of the same major: its libraries then bring PTX. */
static bool same_generation(const struct unit *gpu, const struct value *cuda)
{
	const struct needs *needs = gpu->gpu ? gpu->gpu->needs[COMPONENT_CUDA] : NULL;
	const char *first =
		needs && needs->count ? needs->alternatives[0].clauses[0].version : NULL;

	return first && major_of(cuda->version) >= major_of(first);
}

enum admission gpu_takes_cuda(const struct unit *gpu, const struct value *cuda)
{
	char low[32], high[32];
	const char *least = bound(cuda, VERSION_GE, low), *most = bound(cuda, VERSION_LE, high);

	if (least && version_compare(gpu->sm, least) < 0)
		return ADMIT_NO;
	if (!most || version_compare(gpu->sm, most) <= 0 || major_of(gpu->sm) == major_of(most))
		return ADMIT_YES;
	return same_generation(gpu, cuda) ? ADMIT_JIT : ADMIT_NO;
}

/* "3.5-9.0" or one capability: whether code for it runs on `sm`. */
static bool runs(const char *sm, const char *code, size_t length)
{
	char low[32], *high;

	snprintf(low, sizeof(low), "%.*s", (int)length, code);
	high = strchr(low, '-');
	if (high) {
		*high++ = '\0';
		return version_compare(sm, low) >= 0 &&
		       (version_compare(sm, high) <= 0 || major_of(sm) == major_of(high));
	}
	return major_of(sm) == major_of(low) && version_compare(sm, low) >= 0;
}

/* Whether the toolkit that the wheel was built with makes code that runs on the GPU. */
static enum admission by_toolkit(const struct model *model, const struct unit *gpu,
				 const struct value *wheel)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const struct needs *tested = wheel->prefers[COMPONENT_CUDA];

	for (size_t i = 0; tested && i < cuda->count; i++)
		if (needs_admit(tested, cuda->values[i].version))
			return gpu_takes_cuda(gpu, &cuda->values[i]) == ADMIT_YES ? ADMIT_YES
										  : ADMIT_NO;
	return ADMIT_YES; /* a toolkit older than the catalog: nothing is known */
}

enum admission gpu_takes_wheel(const struct model *model, const struct unit *gpu,
			       const struct value *wheel)
{
	const char *codes = value_cell(wheel, "sm"), *ptx = value_cell(wheel, "ptx");

	if (!*codes)
		return by_toolkit(model, gpu, wheel);
	while (*codes) {
		size_t length = strcspn(codes, ";");

		if (runs(gpu->sm, codes, length))
			return ADMIT_YES;
		codes += length + (codes[length] == ';');
	}
	return *ptx && version_compare(gpu->sm, ptx) >= 0 ? ADMIT_JIT : ADMIT_NO;
}
