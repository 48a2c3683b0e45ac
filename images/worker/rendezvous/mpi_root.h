/* SPDX-License-Identifier: MIT */
#ifndef WORKER_MPI_ROOT_H
#define WORKER_MPI_ROOT_H

#include "options.h"

/* Where mpirun started ranks on several hosts, no variable names rank 0's, but MPI reaches it: rank
 * 0 listens on all addresses, and MPI_Bcast brings those and the port to the others; with them goes
 * a new secret, if there is none, as openly as all that MPI sends. MPI is ended again unless it is
 * the backend. Sets root and secret, and rank 0's root_listener; ends the process with
 * STATUS_TIMEOUT if MPI does not answer within the timeout. */
int mpi_root(struct options *options, struct failure *err);

#endif
