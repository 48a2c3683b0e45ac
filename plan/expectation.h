/* SPDX-License-Identifier: MIT */
/*
 * expectation.h - what bus bandwidth the hardware of the hosts should give.
 *
 * Source of the rule: NCCL Tests, doc/PERFORMANCE.md: the bus bandwidth of a collective "should
 * reflect the speed of the hardware bottleneck: NVLink, PCI, QPI, or network", whatever the number
 * of ranks. In a ring each link carries the data once in each direction, so it is bound by:
 *
 *   one host with NVLink      the GPU's NVLinks, per direction
 *   one host without          the GPU's PCIe link
 *   several hosts             the NICs of the slowest host, together: each host's carry the data
 *                             in and out once
 *
 * Rates are payload after the line code (8b/10b, 64b/66b), as recipes/catalog/link.csv and
 * gpu_link.csv have them; what Ethernet frames and TCP take off is not. It is a ceiling of ring
 * algorithms: trees between two hosts and reductions inside the switch (NVLS, SHARP) may pass it.
 * What is not known gives no expectation, and the reason says what: nothing is guessed. Nor do
 * collectives that go round no ring (alltoall, sendrecv) have one.
 */
#ifndef PLAN_EXPECTATION_H
#define PLAN_EXPECTATION_H

#include "plan/catalog.h"
#include "plan/facts.h"
#include "plan/report.h"

struct expectation_host {
	const struct facts *facts;
	int slots; /* ranks there */
};

/*
 * `backend` is the worker's own name of it ("cpu", "mpi", "nccl"). Fills busbw (GB/s, 0: unknown),
 * because (one sentence) and source (ids of sources.csv, ';' between).
 */
void expectation_find(const struct catalog *catalog, const char *backend,
		      const struct expectation_host *hosts, size_t count, struct arena *arena,
		      struct report_expected *expected);

/*
 * Whether the rule holds for the worker's collective of that name on that backend: a ring's share
 * of each link is the same in all_reduce, reduce_scatter, all_gather and broadcast
 * (PERFORMANCE.md), but the backend cpu's factor is that of its all_reduce alone.
 */
bool expectation_holds(const char *collective, const char *backend);

/*
 * Fills report->expected with what the hosts of its ranks should give and how much of that the
 * fastest size reached; leaves alone what the worker was told itself (--expect).
 */
void expectation_judge(const struct catalog *catalog, const struct facts *facts, size_t count,
		       struct arena *arena, struct report *report);

#endif
