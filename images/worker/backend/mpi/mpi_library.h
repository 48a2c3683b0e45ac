/* SPDX-License-Identifier: MIT */
#ifndef WORKER_MPI_LIBRARY_H
#define WORKER_MPI_LIBRARY_H

#include "backend/mpi/plugin.h"
#include "failure.h"

/* The MPI plug-in, opened once; a process has one MPI. It lies next to the program, or
 * $RINGUP_MPI_PLUGIN says where. NULL with *err set. */
const struct mpi_plugin *mpi_library(struct failure *err);

#endif
