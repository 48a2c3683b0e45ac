/* SPDX-License-Identifier: MIT */
#include "builder/recipe/toolkit_values.h"

#include "core/str.h"
#include "plan/component.h"
#include "plan/version.h"

#include <stdio.h>
#include <string.h>

static bool is_wheel(const struct plan *plan, const char *name)
{
	const struct choice *choice = plan_choice(plan, name);

	return choice && *choice->wheel;
}

/* Whether every framework of the plan brings its CUDA: its row says so. */
static bool frameworks_bring(const struct plan *plan, const struct values *values)
{
	char column[64];

	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		if (!plan_choice(plan, component_names[c]))
			continue;
		snprintf(column, sizeof(column), "%s.brings", component_names[c]);
		if (!strstr(values_get(values, column), "cuda"))
			return false;
	}
	return true;
}

static bool is_requested(const struct plan *plan, const char *name, struct arena *arena)
{
	struct error ignored = {0};
	struct requirement req;

	for (size_t i = 0; i < plan->request_count; i++)
		if (requirement_parse(plan->requests[i], arena, &req, &ignored) == 0 &&
		    strcmp(req.name, name) == 0)
			return true;
	return false;
}

/* Whether all drivers of the hosts, "535.54.03, 550.54.15", run this CUDA by themselves. */
static bool drivers_run(const struct plan *plan, const struct values *values)
{
	const struct choice *driver = plan_choice(plan, "driver");
	const char *minor = values_get(values, "cuda.driver_minor");
	const char *least = *minor ? minor : values_get(values, "cuda.driver");
	const char *rest = driver ? driver->version : "";
	char version[32];

	for (; *rest; rest += strspn(rest, ", ")) {
		size_t length = strcspn(rest, ", ");

		snprintf(version, sizeof(version), "%.*s", (int)length, rest);
		if (version_compare(version, least + strspn(least, ">=")) < 0)
			return false;
		rest += length;
	}
	return true;
}

/* A bare host keeps what it compiles with, a base of one's own has it, and what is built beside torch is linked to it. */
static bool has_no_other_use(const struct values *values)
{
	static const char *const uses[] = {"script", "base.named", "beside.sdists", "beside.nvcc"};

	for (size_t i = 0; i < ARRAY_LEN(uses); i++)
		if (*values_get(values, uses[i]))
			return false;
	return true;
}

void toolkit_values(const struct plan *plan, struct arena *arena, struct values *values)
{
	const struct choice *horovod = plan_choice(plan, "horovod");
	bool builds_only =
		horovod && version_compare(horovod->version, "0.20") >= 0 &&
		plan_choice(plan, "cuda") && !is_wheel(plan, "cuda") && is_wheel(plan, "cudnn") &&
		is_wheel(plan, "nccl") && !is_requested(plan, "cuda", arena) &&
		frameworks_bring(plan, values) && drivers_run(plan, values) &&
		has_no_other_use(values) &&
		(*values_get(values, "base.libraries") || *values_get(values, "base.runtime"));

	values_set(values, "cuda.build_only", builds_only ? "yes" : "");
}
