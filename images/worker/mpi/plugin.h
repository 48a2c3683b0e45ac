/* SPDX-License-Identifier: MIT */
/*
 * The seam between the worker, which knows no MPI, and allreduce-mpi.so, which is compiled by the
 * image's own mpicc. The worker opens the shared object with dlopen() and looks up `mpi_plugin`, a
 * struct mpi_plugin.
 *
 * Types are handed over by nccl-tests' short names of dtype.h, operations by those of its ops (avg:
 * as sum). Functions return 0, or -1 with a sentence in @why.
 */
#ifndef WORKER_MPI_PLUGIN_H
#define WORKER_MPI_PLUGIN_H

#include <stddef.h>

#define MPI_PLUGIN_ABI 2
#define MPI_PLUGIN_SYMBOL "mpi_plugin"
#define MPI_PLUGIN_FILE "allreduce-mpi.so"

struct mpi_plugin {
	int abi; /* MPI_PLUGIN_ABI */

	/* The MPI library's own name and version, one line; callable before open(). */
	const char *(*version)(void);

	/* Starts MPI and makes a communicator in which this process is @rank of @world. */
	int (*open)(int rank, int world, char *why, size_t why_bytes);

	/* Memory MPI likes to send from; NULL if there is none. */
	void *(*alloc)(size_t bytes);

	/* MPI_Allreduce; @src == @dst means in place. f16 and bf16 are combined by @reduce (see
	 * dtype.h). */
	int (*allreduce)(const void *src, void *dst, size_t count, const char *type, const char *op,
			 void (*reduce)(void *dst, const void *a, const void *b, size_t count),
			 char *why, size_t why_bytes);

	/* MPI_Sendrecv of @bytes with rank @peer. */
	int (*exchange)(const void *src, void *dst, size_t bytes, int peer, char *why,
			size_t why_bytes);

	/* Frees what alloc() gave, and ends MPI if @orderly; else leaves it as it is. */
	void (*close)(void *first, void *second, int orderly);
};

#endif
