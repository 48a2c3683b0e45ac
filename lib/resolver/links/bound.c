/* SPDX-License-Identifier: MIT */
#include "resolver/links/bound.h"

#include "core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- the catalog --------------------------------------------------------------------------- */

/* Whether `word` is one of the words of `text`; words are letters and digits. */
static bool bound_has_word(const char *text, const char *word, size_t length)
{
	while (*text) {
		size_t here = 0;

		while (isalnum((unsigned char)text[here]))
			here++;
		if (here == length && strncasecmp(text, word, length) == 0)
			return true;
		text += here + (text[here] != '\0');
	}
	return false;
}

/* The number of words in `match` when the product has them all, else 0. */
static int words_matched(const char *match, const char *product)
{
	int count = 0;

	while (*match) {
		size_t length = strcspn(match, " ");

		if (!bound_has_word(product, match, length))
			return 0;
		count++;
		match += length + (match[length] != '\0');
	}
	return count;
}

int gpu_link_row(const struct catalog *catalog, const char *product)
{
	const struct table *table = catalog_table(catalog, "gpu_link");
	int best = -1, most = 0;

	for (size_t row = 0; table && row < table->row_count; row++) {
		int count = words_matched(table_cell(table, row, "match"), product);

		if (count > most) {
			most = count;
			best = (int)row;
		}
	}
	return best;
}

static const char *gpu_cell(const struct catalog *catalog, int row, const char *column)
{
	return row < 0 ? "" : table_cell(catalog_table(catalog, "gpu_link"), (size_t)row, column);
}

static double number(const char *text)
{
	return strtod(text, NULL);
}

/*
 * GB/s of a link (per lane, if it has lanes) and its source; 0: not in the catalog. Names that are
 * numbers are compared as numbers, because sysfs has "8 GT/s" and "8.0 GT/s".
 */
static double rate_of(const struct catalog *catalog, const char *kind, const char *name,
		      const char **source)
{
	const struct table *table = catalog_table(catalog, "link");

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (strcmp(table_cell(table, row, "kind"), kind) != 0 ||
		    (isdigit((unsigned char)*name) ? number(version) != number(name)
						   : strcasecmp(version, name) != 0))
			continue;
		*source = table_cell(table, row, "source");
		return number(table_cell(table, row, "gbytes"));
	}
	*source = "";
	return 0;
}

static const char *bound_join(const char *a, const char *b, struct arena *arena)
{
	return *a && *b ? arena_printf(arena, "%s;%s", a, b) : *a ? a : b;
}

static struct bound unknown(const char *because)
{
	return (struct bound){.because = because, .source = ""};
}

/* --- GPUs ---------------------------------------------------------------------------------- */

static struct bound pcie_bound(const struct catalog *catalog, const char *title,
			       struct pci_rate rate, const char *source, struct arena *arena)
{
	struct bound bound = {0};
	const char *from;

	bound.gbytes =
		rate.lanes * rate_of(catalog, "pcie", arena_printf(arena, "%.1f", rate.gts), &from);
	if (!(bound.gbytes > 0))
		return unknown(arena_printf(arena, "the catalog has no PCIe of %g GT/s", rate.gts));
	bound.because =
		arena_printf(arena, "PCIe of %s, %g GT/s on %d lanes", title, rate.gts, rate.lanes);
	bound.source = bound_join(from, source, arena);
	return bound;
}

/* The slowest of the GPUs' PCIe links, from the host's facts or else from the catalog. */
static struct bound gpus_pcie(const struct catalog *catalog, const struct links *links, int row,
			      const char *title, struct arena *arena)
{
	struct bound slowest = {0};
	struct pci_rate rate;

	for (size_t i = 0; i < links->pci_count; i++) {
		struct bound now;

		if (!links->pci[i].is_gpu)
			continue;
		now = pcie_bound(catalog, title, pci_link_rate(&links->pci[i]), "", arena);
		if (!(now.gbytes > 0))
			return now;
		if (!slowest.because || now.gbytes < slowest.gbytes)
			slowest = now;
	}
	if (slowest.because)
		return slowest;
	if (pci_rate_parse(gpu_cell(catalog, row, "pcie"), &rate))
		return pcie_bound(catalog, title, rate, gpu_cell(catalog, row, "source"), arena);
	return unknown(arena_printf(arena, "the catalog does not know the links of %s", title));
}

/*
 * How many NVLinks of a GPU are active. Bridges are sold separately, so they count only when the
 * host reports them.
 */
static int active_nvlinks(const struct catalog *catalog, const struct links *links, int row)
{
	if (links->nvlinks >= 0)
		return links->nvlinks;
	if (strcmp(gpu_cell(catalog, row, "nvlink_kind"), "bridge") == 0)
		return 0;
	return (int)number(gpu_cell(catalog, row, "nvlinks"));
}

static struct bound nvlink_bound(const struct catalog *catalog, const struct links *links, int row,
				 int active, int slots, struct arena *arena)
{
	int links_of_it = (int)number(gpu_cell(catalog, row, "nvlinks"));
	const char *title = gpu_cell(catalog, row, "version");
	struct bound bound = {.source = gpu_cell(catalog, row, "source")};

	if ((size_t)slots < links->gpu_count)
		return unknown(arena_printf(
			arena, "%d of %zu GPUs take part, and which NVLinks join them is not known",
			slots, links->gpu_count));
	bound.gbytes = number(gpu_cell(catalog, row, "nvlink_gbytes"));
	if (links_of_it)
		bound.gbytes *= (double)active / links_of_it;
	bound.because = arena_printf(arena, "NVLink of %s, %d links", title, active);
	return bound;
}

static bool are_alike(const struct links *links)
{
	for (size_t i = 1; i < links->gpu_count; i++)
		if (strcmp(links->gpus[i], links->gpus[0]) != 0)
			return false;
	return true;
}

struct bound bound_gpus(const struct catalog *catalog, const struct facts *facts, int slots,
			struct arena *arena)
{
	const char *title;
	struct links links;
	int row, active;

	links_parse(facts, arena, &links);
	if (!links.gpu_count)
		return unknown(arena_printf(arena, "no GPU of %s is known", facts->host));
	if (!are_alike(&links))
		return unknown(arena_printf(arena, "the GPUs of %s differ", facts->host));
	row = gpu_link_row(catalog, links.gpus[0]);
	title = row < 0 ? links.gpus[0] : gpu_cell(catalog, row, "version");
	if (row < 0 && links.nvlinks != 0)
		return unknown(
			arena_printf(arena, "the catalog does not know the links of %s", title));
	active = active_nvlinks(catalog, &links, row);
	if (!active || slots == 1 || !*gpu_cell(catalog, row, "nvlink_gbytes"))
		return gpus_pcie(catalog, &links, row, title, arena);
	if (slots > 2 && strcmp(gpu_cell(catalog, row, "nvlink_kind"), "bridge") == 0)
		return gpus_pcie(catalog, &links, row, title, arena);
	return nvlink_bound(catalog, &links, row, active, slots, arena);
}

bool bound_is_rack(const struct catalog *catalog, const struct facts *facts)
{
	size_t length = strcspn(facts->gpus, ";");
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	int row = gpu_link_row(catalog, arena_strndup(&arena, facts->gpus, length));

	return strcmp(gpu_cell(catalog, row, "nvlink_kind"), "rack") == 0;
}

/* --- NICs ---------------------------------------------------------------------------------- */

/*
 * The rate of a port. For RoCE, sysfs has Ethernet's own rate and the nearest InfiniBand name after
 * it.
 */
static double port_rate(const struct catalog *catalog, const struct ib_port *port,
			const char **source)
{
	*source = "linux-sysfs-net";
	if (port->is_ethernet)
		return port->gbits / 8;
	return port->lanes * rate_of(catalog, "infiniband", port->speed, source);
}

static const char *port_title(const struct ib_port *port, struct arena *arena)
{
	if (port->is_ethernet)
		return arena_printf(arena, "%g Gbit/s Ethernet", port->gbits);
	return arena_printf(arena, "%g Gbit/s InfiniBand (%dX %s)", port->gbits, port->lanes,
			    port->speed);
}

/* Whether an entry of $NCCL_IB_HCA, "mlx5_0" or "mlx5_0:1", means the port; a prefix does unless @exact. */
static bool hca_matches(const struct ib_port *port, const char *entry, size_t length, bool exact)
{
	const char *colon = memchr(entry, ':', length);
	size_t name = colon ? (size_t)(colon - entry) : length;

	if (exact && strlen(port->device) != name)
		return false;
	return strncmp(port->device, entry, name) == 0 &&
	       (!colon || strtol(colon + 1, NULL, 10) == port->port);
}

/* Whether $NCCL_IB_HCA lets NCCL take the port: NCCL's user guide, "Environment Variables". */
static bool hca_allows(const char *list, const struct ib_port *port)
{
	bool none_of = *list == '^', exact, listed = false;

	list += none_of;
	exact = *list == '=';
	list += exact;
	if (!*list)
		return true;
	for (size_t length; *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, ",");
		listed = listed || (length && hca_matches(port, list, length, exact));
	}
	return listed != none_of;
}

#define GIDS_MOST \
	64 /* of the probe (details/55-rdma.sh): a longer list is cut, and then says nothing of a port */

static bool gids_are_known(const char *list)
{
	size_t count = 1;

	for (const char *at = list; (at = strchr(at, ';')); at++)
		count++;
	return *list && count < GIDS_MOST;
}

/* Whether the RoCE port has an address by which another host reaches it; true where that is not known. */
static bool port_has_gid(const struct ib_port *port, const char *list)
{
	if (!port->is_ethernet || !gids_are_known(list))
		return true;
	for (size_t length; *list; list += length + (list[length] != '\0')) {
		size_t name = strlen(port->device);

		length = strcspn(list, ";");
		if (length > name && strncmp(list, port->device, name) == 0 && list[name] == ' ' &&
		    strtol(list + name, NULL, 10) == port->port)
			return true;
	}
	return false;
}

/* Leaves of @links' ports those that NCCL can take: active (ncclIbInit() in src/transport/net_ib.cc), allowed, with an
 * address. Returns how many. */
static size_t keep_usable(struct links *links, const char *gids, const char *ib_hca)
{
	size_t kept = 0;

	for (size_t i = 0; i < links->port_count; i++) {
		const struct ib_port *port = &links->ports[i];

		if (port->active && hca_allows(ib_hca, port) && port_has_gid(port, gids))
			links->ports[kept++] = *port;
	}
	links->port_count = kept;
	return kept;
}

/*
 * The fastest usable ports together: NCCL uses every InfiniBand and RoCE port before any socket, and gives each GPU those
 * with the most bandwidth (ncclTopoGetLocal() in src/graph/topo.cc). Slower ones are the storage's or the management's.
 */
static struct bound ports_bound(const struct catalog *catalog, const struct links *links,
				struct arena *arena)
{
	struct bound sum = {.source = ""};
	const char *title = NULL;
	double fastest = 0;
	size_t count = 0;
	bool alike = true;

	for (size_t i = 0; i < links->port_count; i++) {
		const struct ib_port *port = &links->ports[i];
		const char *source, *here;
		double rate = port_rate(catalog, port, &source);

		if (!(rate > 0))
			return unknown(arena_printf(arena, "the rate of %s port %d is not known",
						    port->device, port->port));
		if (rate < fastest)
			continue;
		here = port_title(port, arena);
		count = rate > fastest ? 1 : count + 1;
		alike = rate > fastest || (alike && strcmp(title, here) == 0);
		title = here;
		fastest = rate;
		sum.source = source;
	}
	sum.gbytes = (double)count * fastest;
	sum.because = alike ? arena_printf(arena, "%zu x %s", count, title)
			    : arena_printf(arena, "%zu InfiniBand and RoCE ports", count);
	if (count < links->port_count)
		sum.because = arena_printf(arena, "%s, without %zu slower", sum.because,
					   links->port_count - count);
	return sum;
}

static bool has_nic(const struct links *links, const char *name)
{
	for (size_t i = 0; i < links->nic_count; i++)
		if (strcmp(links->nics[i].name, name) == 0)
			return true;
	return false;
}

/* The interface of the cluster's address, which sockets use. */
static struct bound interface_bound(const struct catalog *catalog, const struct facts *facts,
				    const struct links *links, struct arena *arena)
{
	struct bound bound = {0};

	if (!*facts->interface)
		return unknown(
			arena_printf(arena, "the interface of %s is not known", facts->host));
	if (facts->interface_mbit <= 0 && has_nic(links, facts->interface))
		return unknown(arena_printf(arena, "%s of %s does not say how fast it is",
					    facts->interface, facts->host));
	if (facts->interface_mbit <= 0)
		return unknown(arena_printf(
			arena, "%s of %s is virtual, with no hardware of known speed beneath it",
			facts->interface, facts->host));
	bound.gbytes = rate_of(catalog, "ethernet",
			       arena_printf(arena, "%d", facts->interface_mbit), &bound.source);
	if (!(bound.gbytes > 0)) { /* a bond's sum, say; Ethernet's speed is payload each way */
		bound.gbytes = facts->interface_mbit / 8000.0;
		bound.source = "linux-sysfs-net";
	}
	bound.because = arena_printf(arena, "%g Gbit/s %s (%s)", facts->interface_mbit / 1000.0,
				     starts_with(facts->interface, "ib") ? "IP over InfiniBand"
									 : "Ethernet",
				     facts->interface);
	return bound;
}

struct bound bound_network(const struct catalog *catalog, const struct facts *facts,
			   const char *backend, const char *ib_hca, struct arena *arena)
{
	struct links links;
	size_t usable;

	links_parse(facts, arena, &links);
	usable = keep_usable(&links, facts_text(facts, fact_row("roce_gids"), arena), ib_hca);
	if (usable && strcmp(backend, "nccl") == 0)
		return ports_bound(catalog, &links, arena);
	if (usable && strcmp(backend, "mpi") == 0)
		return unknown(arena_printf(
			arena,
			"by which of its InfiniBand, RoCE and Ethernet ports MPI goes on %s is not known",
			facts->host));
	return interface_bound(catalog, facts, &links, arena);
}
