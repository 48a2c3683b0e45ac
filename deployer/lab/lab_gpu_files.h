/* SPDX-License-Identifier: MIT */
/* lab_gpu_files.h - one simulated GPU after the other, for what is written about them. */
#ifndef DEPLOYER_LAB_LAB_GPU_FILES_H
#define DEPLOYER_LAB_LAB_GPU_FILES_H

#include "deployer/lab/lab_gpus.h"

struct table;

struct lab_gpu {
	int index; /* on its host */
	const struct table *models;
	size_t row;
	bool mig; /* it is divided into MIG devices */
};

/*
 * Calls `each` for every GPU of "8xH100+2xT4". ERROR_USAGE says what is wrong with the text; -1 of
 * `each` ends it.
 */
int lab_gpus_each(const char *spec, struct arena *arena,
		  int (*each)(const struct lab_gpu *gpu, void *arg, struct error *err), void *arg,
		  struct error *err);

/* A cell of its model in images/simulated/gpus.csv. */
const char *lab_gpu_cell(const struct lab_gpu *gpu, const char *column);

#endif
