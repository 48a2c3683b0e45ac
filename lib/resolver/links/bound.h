/* SPDX-License-Identifier: MIT */
/*
 * bound.h - how fast one host's links are: the parts of resolver/links/expectation.h's rule.
 */
#ifndef RESOLVER_LINKS_BOUND_H
#define RESOLVER_LINKS_BOUND_H

#include "resolver/catalog.h"
#include "plan/links.h"

/* A link's speed in one direction, or why it is not known. */
struct bound {
	double gbytes;	     /* GB/s of payload; 0: unknown */
	const char *because; /* "NVLink of H100 SXM5, 18 links"; why not, when unknown */
	const char *source;  /* ids of sources.csv */
};

/* The links by which a host's GPUs exchange data, when `slots` of them take part. */
struct bound bound_gpus(const struct catalog *catalog, const struct facts *facts, int slots,
			struct arena *arena);

/*
 * The links by which data leaves and enters the host, for the worker's backend. `ib_hca` is the value of $NCCL_IB_HCA for
 * the run, "" for none. NCCL's InfiniBand and RoCE ports are those that are active, allowed by it, have an address (RoCE,
 * where the fact roce_gids is known), and are as fast as the fastest of these. So a storage port that is as fast as the
 * others counts, unless `ib_hca` leaves it out: nothing in sysfs says what a port is for.
 */
struct bound bound_network(const struct catalog *catalog, const struct facts *facts,
			   const char *backend, const char *ib_hca, struct arena *arena);

/*
 * The row of gpu_link.csv for a product, as nvidia-smi names it. All words of the row's `match` are
 * in the name, and no row with more words matches. -1: none.
 */
int gpu_link_row(const struct catalog *catalog, const char *product);

/* Whether NVLink joins these GPUs across the hosts of a rack (GB200 and similar). */
bool bound_is_rack(const struct catalog *catalog, const struct facts *facts);

#endif
