/* SPDX-License-Identifier: MIT */
/*
 * What NCCL writes to its log while communicators are made (NCCL_DEBUG=INFO, NCCL_DEBUG_FILE; NCCL
 * User Guide, "Environment Variables"), in a temporary file. If $NCCL_DEBUG is set already the log
 * is the user's, and nothing is read.
 */
#ifndef WORKER_NCCL_LOG_H
#define WORKER_NCCL_LOG_H

#include "group.h"
#include "host/warning.h"

/* Before NCCL's first call. */
void nccl_log_start(void);

/* After communicators have been made: sockets instead of InfiniBand, host memory instead of peer to
 * peer. Removes the file. */
void nccl_log_check(const struct group *group, struct warnings *warnings);

/* Removes the file if it is still there. */
void nccl_log_stop(void);

#endif
