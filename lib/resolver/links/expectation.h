/* SPDX-License-Identifier: MIT */
/*
 * expectation.h - what bus bandwidth the hardware of the hosts should give.
 *
 * Source of the rule: NCCL Tests, doc/PERFORMANCE.md: the bus bandwidth of a collective "should
 * reflect the speed of the hardware bottleneck: NVLink, PCI, QPI, or network", for any number of
 * ranks that each have that bandwidth to the outside. In a ring each link carries the data once in
 * each direction, so the bound is:
 *
 *   one host with NVLink      the GPU's NVLinks, per direction
 *   one host without          the GPU's PCIe link
 *   several hosts             the NICs of the slowest host that carry the job's data, together
 *                             (bound_network()): each host's carry it in and out once
 *
 * Rates are payload after the line code (8b/10b, 64b/66b), as recipes/catalog/link.csv and
 * gpu_link.csv have them. The overhead of Ethernet frames and TCP is not subtracted. The bound is a
 * ceiling for ring algorithms: trees between two hosts and reductions inside the switch (NVLS,
 * SHARP) may pass it. If something is unknown there is no expectation, and the reason says what is
 * unknown. Nothing is guessed.
 *
 * Where several ranks share a host's NICs, the data that must leave (and enter) the host is not
 * always what busbw counts. With n ranks, k of them on the host, and S the size (algbw is S/t):
 *
 *                                busbw/algbw   leaves the host   so busbw is at most NICs times
 *   alltoall                     (n-1)/n       S k(n-k)/n        (n-1)/(k(n-k))
 *   sendrecv                     1             S c               1/c
 *   all_reduce, backend cpu      2(n-1)/n      S 2(h-1)/h        h(n-1)/((h-1)n)
 *   reduce_scatter, all_gather,
 *     backend cpu                (n-1)/n       S (n-k)/n         (n-1)/(n-k)
 *   others                       as PERFORMANCE.md: S times the same, 1
 *
 * c is the number of ranks on the host whose next rank is on another host. The backend cpu first
 * combines the ranks of a host, so its h hosts exchange what h ranks would.
 */
#ifndef RESOLVER_LINKS_EXPECTATION_H
#define RESOLVER_LINKS_EXPECTATION_H

#include "resolver/catalog.h"
#include "plan/facts.h"
#include "plan/report.h"

struct expectation_host {
	const struct facts *facts;
	int slots;	    /* ranks there */
	int leaving;	    /* those of them whose next rank is on another host */
	const char *ib_hca; /* $NCCL_IB_HCA of the run; NULL: none */
};

/*
 * `backend` and `collective` are the worker's own names ("cpu", "mpi", "nccl"; "all_reduce", ...).
 * Fills busbw (GB/s, 0: unknown), because (one sentence) and source (ids of sources.csv, ';'
 * between).
 */
void expectation_find(const struct catalog *catalog, const char *backend, const char *collective,
		      const struct expectation_host *hosts, size_t count, struct arena *arena,
		      struct report_expected *expected);

/*
 * Fills report->expected with what the hosts of its ranks should give, and how much of that the
 * fastest size reached. Does not change an expectation that the worker was given (--expect).
 * `ib_hca`: $NCCL_IB_HCA of the run, or NULL.
 */
void expectation_judge(const struct catalog *catalog, const struct facts *facts, size_t count,
		       const char *ib_hca, struct arena *arena, struct report *report);

#endif
