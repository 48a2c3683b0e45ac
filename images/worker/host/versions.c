/* SPDX-License-Identifier: MIT */
#include "host/versions.h"
#include "backend/nccl/cuda.h"
#include "backend/nccl/nccl.h"
#include "group.h"
#include "json.h"

#include <stdio.h>

struct versions {
	struct nccl nccl;
	struct cuda cuda;
	struct failure no_nccl, no_driver; /* status STATUS_PASS: usable */
	char nccl_text[16], cuda_text[16];
};

static void versions_print_text(const struct versions *v)
{
	const struct cuda *cuda = &v->cuda;

	printf("allreduce %s\n", ALLREDUCE_VERSION);
	if (v->no_nccl.status != STATUS_PASS)
		printf("nccl none: %s\n", v->no_nccl.reason);
	else
		printf("nccl %s (%s)\n", v->nccl_text, v->nccl.path);
	if (cuda->version == 0)
		printf("driver none: %s\n", v->no_driver.reason);
	else if (v->no_driver.status != STATUS_PASS)
		printf("driver %s, CUDA %s, unusable: %s\n",
		       cuda->driver[0] ? cuda->driver : "unknown", v->cuda_text,
		       v->no_driver.reason);
	else
		printf("driver %s, CUDA %s, %d %sGPUs (%s)\n",
		       cuda->driver[0] ? cuda->driver : "unknown", v->cuda_text, cuda->devices,
		       cuda->simulated ? "simulated " : "", cuda->path);
}

static void versions_print_json(const struct versions *v)
{
	printf("{\"schema\": 1, \"program\": \"allreduce\", \"version\": \"%s\",\n  \"nccl\": {",
	       ALLREDUCE_VERSION);
	json_pair("version", v->nccl_text);
	printf(", ");
	json_pair("file", v->nccl.path);
	printf(", ");
	json_pair("reason", v->no_nccl.reason);
	printf("},\n  \"driver\": {");
	json_pair("version", v->cuda.driver);
	printf(", ");
	json_pair("cuda", v->cuda_text);
	printf(", \"gpus\": %d, \"simulated\": %s, ", v->cuda.devices,
	       v->cuda.simulated ? "true" : "false");
	json_pair("file", v->cuda.path);
	printf(", ");
	json_pair("reason", v->no_driver.reason);
	printf("}}\n");
}

int versions_print(bool json)
{
	struct versions v = {.nccl_text = ""};

	if (nccl_open(&v.nccl, &v.no_nccl) == 0)
		nccl_version_text(v.nccl.version, v.nccl_text);
	if (cuda_open(&v.cuda, &v.no_driver) == 0)
		cuda_start(&v.cuda, &v.no_driver);
	if (v.cuda.version > 0)
		snprintf(v.cuda_text, sizeof(v.cuda_text), "%d.%d", v.cuda.version / 1000,
			 v.cuda.version % 1000 / 10);
	if (json)
		versions_print_json(&v);
	else
		versions_print_text(&v);
	return fflush(stdout) == 0 && !ferror(stdout) ? STATUS_PASS : STATUS_USAGE;
}
