/* SPDX-License-Identifier: MIT */
/*
 * The seam between the worker, which knows no MPI, and allreduce-mpi.so, which is compiled by the
 * image's own mpicc. The worker opens the shared object with dlopen() and looks up `mpi_plugin`, a
 * struct mpi_plugin.
 *
 * Collectives, types and operations are handed over by name (avg: as sum). Functions return 0, or
 * -1 with a sentence in @why.
 */
#ifndef WORKER_MPI_PLUGIN_H
#define WORKER_MPI_PLUGIN_H

#include <stddef.h>

#define MPI_PLUGIN_ABI 6
#define MPI_PLUGIN_SYMBOL "mpi_plugin"
#define MPI_PLUGIN_FILE "allreduce-mpi.so"

/* Names are those of collective.h and dtype.h; @src and @dst are where NCCL wants them: in place
 * one is a block of the other, or both are the same. @count is that of struct collective. What MPI
 * does not know (f16, bf16, fp8) is combined by @reduce (see dtype.h). */
struct mpi_call {
	const char *name, *type, *op;
	const void *src;
	void *dst;
	size_t count, element_bytes;
	int root;
	size_t (*part)(size_t count, int a, int b, int world); /* alltoallv_count() */
	void (*reduce)(void *dst, const void *a, const void *b, size_t count);
};

struct mpi_plugin {
	int abi; /* MPI_PLUGIN_ABI */

	/* The MPI library's own name and version, one line; callable before open(). */
	const char *(*version)(void);

	/* Starts MPI, and brings @bytes from the rank that is 0 to MPI to all of @processes, or, if @color is not
	 * -1, from the first one of each color to all of that color. */
	int (*meet)(void *data, size_t bytes, int processes, int color, char *why,
		    size_t why_bytes);

	/* Starts MPI, if that has not been done, and makes a communicator in which this process is
	 * @rank of @world. */
	int (*open)(int rank, int world, char *why, size_t why_bytes);

	/* Memory MPI likes to send from; NULL if there is none. */
	void *(*alloc)(size_t bytes);

	/* One collective, or "barrier". Broadcast's root copies @src to @dst too. */
	int (*collective)(const struct mpi_call *call, char *why, size_t why_bytes);

	/* MPI_Sendrecv of @bytes with rank @peer. */
	int (*exchange)(const void *src, void *dst, size_t bytes, int peer, char *why,
			size_t why_bytes);

	/* Frees what alloc() gave, and ends MPI if @orderly; else leaves it as it is. */
	void (*close)(void *first, void *second, int orderly);
};

#endif
