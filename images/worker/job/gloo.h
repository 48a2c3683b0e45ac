/* SPDX-License-Identifier: MIT */
/* gloo.h - whether Horovod's Gloo can be reached from the other hosts of a job. */
#ifndef WORKER_JOB_GLOO_H
#define WORKER_JOB_GLOO_H

#include <stdbool.h>

#define GLOO_REASON_BYTES 512

/*
 * For a rank that `horovodrun --gloo` started: Horovod 0.22 and newer listen on the interface that HOROVOD_GLOO_IFACE
 * names, and for the set of all ranks on the address of the host's own name (horovod v0.28.1,
 * common/gloo/gloo_context.cc: InitializeForProcessSet has an empty interface). Without such an address Gloo crashes
 * (gloo/transport/tcp/device.cc: lookupAddrForHostname), and with 127.0.1.1, Debian's own, the other hosts connect to
 * themselves. Returns false with the reason, and what to do. True for other ranks, and where the ranks are on one host.
 */
bool gloo_is_reached(char reason[static GLOO_REASON_BYTES]);

#endif
