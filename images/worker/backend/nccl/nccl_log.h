/* SPDX-License-Identifier: MIT */
/*
 * What NCCL writes to its log (NCCL_DEBUG=INFO, NCCL_DEBUG_FILE; NCCL User Guide, "Environment
 * Variables"), in a temporary file. If $NCCL_DEBUG is set already the log is the user's, and nothing
 * is read.
 */
#ifndef WORKER_NCCL_LOG_H
#define WORKER_NCCL_LOG_H

#include "group.h"
#include "host/warning.h"

/* Before NCCL's first call. */
void nccl_log_start(void);

/* After the first collective, since NCCL 2.22 and newer connects the ranks only then: sockets instead of
 * InfiniBand, host memory instead of peer to peer. Removes the file's name; the file stays open. */
void nccl_log_check(const struct group *group, struct warnings *warnings);

/* After a failure: the first of the log's warnings, as backend.h's words(). Removes the file's name. */
void nccl_log_words(char *text, size_t bytes);

/* Removes the file's name if it is still there. */
void nccl_log_stop(void);

#endif
