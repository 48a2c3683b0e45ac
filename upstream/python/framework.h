/* SPDX-License-Identifier: MIT */
/* framework.h - what a framework's wheel says of CUDA and its libraries, and the row that it makes. */
#ifndef UPSTREAM_PYTHON_FRAMEWORK_H
#define UPSTREAM_PYTHON_FRAMEWORK_H

#include "upstream/refresh.h"

#define PYTORCH_INDEX \
	"https://download.pytorch.org/whl" /* has a folder for each build: URL/cu126 */

/* What a wheel's METADATA says of CUDA and its libraries; "" where it says nothing. */
struct framework_cuda {
	const char *series;	  /* "13.2" */
	const char *major, *next; /* "13", "14" */
	const char *cudnn, *nccl; /* fixed versions */
	const char *cudnn_least;  /* "9.26", the lower bound of a range or of the fixed version */
	const char *cudnn_next;	  /* "10" */
};

/* Wheels of one framework: how their rows are called, and what a new row copies. */
struct framework {
	const char *name;  /* of the package and of the table */
	const char *extra; /* of pip that brings CUDA, or "" */
	const char *build; /* "cu126" for that build of PyTorch's own index, "" for PyPI's */
	const char *const *copied;
	const char *note;
};

/* "13" of "13.2.2" */
const char *framework_major(const char *version, struct arena *arena);

/* "14" of "13" or of "13.2"; "" of "" */
const char *framework_next(const char *version, struct arena *arena);

/* The need of nvidia-NAME-cuMAJOR for a major of 11 and above, or of nvidia-NAME; or NULL. */
const struct metadata_need *framework_need(const struct metadata *metadata, const char *name,
					   const char *extra, struct arena *arena);

void framework_read_cuda(const struct metadata *metadata, const char *extra, struct arena *arena,
			 struct framework_cuda *cuda);

/* "manylinux_2_28" of "manylinux_2_28_x86_64.other_x86_64" */
const char *framework_platform(const char *platforms, struct arena *arena);

/*
 * Compares the wheel with the table's row of that number, or with -1 offers a new row. A new row without a CUDA is left
 * out, since it would fit everything.
 */
void framework_offer(struct refresh *refresh, const struct framework *f,
		     const struct pypi_page *page, const struct pypi_metadata *m, ssize_t row);

#endif
