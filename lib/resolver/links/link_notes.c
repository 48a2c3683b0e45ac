/* SPDX-License-Identifier: MIT */
#include "resolver/links/link_notes.h"

#include "resolver/links/bound.h"

#include <stdlib.h>
#include <string.h>

static void note_lanes(const struct facts *facts, const struct pci_link *link, struct words *notes)
{
	const char *kind = link->is_gpu ? "GPU" : "NIC";

	if (link->now.lanes >= link->own.lanes)
		return;
	if (link->slot.lanes <= link->now.lanes)
		words_addf(
			notes,
			"%s: %s %s runs on %d of its %d PCIe lanes: its slot has no more; put it into a wider one",
			facts->host, kind, link->address, link->now.lanes, link->own.lanes);
	else
		words_addf(
			notes,
			"%s: %s %s runs on %d of %d PCIe lanes, though its slot has %d: reseat the card, and look at its riser and at the BIOS's bifurcation",
			facts->host, kind, link->address, link->now.lanes, link->own.lanes,
			link->slot.lanes);
}

/* The fastest other NIC of the same card. */
static const struct nic *fastest_sibling(const struct links *links, const struct nic *nic)
{
	const struct nic *best = NULL;

	for (size_t i = 0; i < links->nic_count; i++) {
		const struct nic *other = &links->nics[i];

		if (other != nic && same_card(nic->address, other->address) &&
		    (!best || other->mbit > best->mbit))
			best = other;
	}
	return best;
}

static void note_nics(const struct facts *facts, const struct links *links, struct words *notes)
{
	for (size_t i = 0; i < links->nic_count; i++) {
		const struct nic *nic = &links->nics[i], *other = fastest_sibling(links, nic);

		if (nic->mbit && other && other->mbit > nic->mbit)
			words_addf(
				notes,
				"%s: %s runs at %d Mbit/s, %s of the same card at %d: look at its cable and at the switch's port",
				facts->host, nic->name, nic->mbit, other->name, other->mbit);
	}
}

static const struct ib_port *fastest_port(const struct links *links, const struct ib_port *port)
{
	const struct ib_port *best = NULL;

	for (size_t i = 0; i < links->port_count; i++) {
		const struct ib_port *other = &links->ports[i];

		if (other != port && other->active && same_card(port->address, other->address) &&
		    (!best || other->gbits > best->gbits))
			best = other;
	}
	return best;
}

static void note_ports(const struct facts *facts, const struct links *links, struct words *notes)
{
	for (size_t i = 0; i < links->port_count; i++) {
		const struct ib_port *port = &links->ports[i], *other = fastest_port(links, port);

		if (port->active && other && other->gbits > port->gbits)
			words_addf(
				notes,
				"%s: %s port %d runs at %g Gbit/s, %s port %d of the same card at %g: look at its cable and at the switch's port",
				facts->host, port->device, port->port, port->gbits, other->device,
				other->port, other->gbits);
	}
}

/* Judges only GPUs with built-in NVLinks, because bridges may be missing on purpose. */
static void note_nvlinks(const struct catalog *catalog, const struct facts *facts,
			 const struct links *links, struct words *notes)
{
	int row = links->nvlinks >= 0 ? gpu_link_row(catalog, links->gpus[0]) : -1, all;
	const struct table *table = catalog_table(catalog, "gpu_link");

	if (row < 0 || strcmp(table_cell(table, (size_t)row, "nvlink_kind"), "baseboard") != 0)
		return;
	all = (int)strtol(table_cell(table, (size_t)row, "nvlinks"), NULL, 10);
	if (links->nvlinks < all)
		words_addf(
			notes,
			"%s: a GPU has %d of the %d NVLinks of %s at work: see 'nvidia-smi nvlink --status', and 'systemctl status nvidia-fabricmanager'",
			facts->host, links->nvlinks, all,
			table_cell(table, (size_t)row, "version"));
}

void link_notes(const struct catalog *catalog, const struct facts *facts, struct words *notes)
{
	struct links links;

	links_parse(facts, notes->arena, &links);
	for (size_t i = 0; i < links.pci_count; i++)
		note_lanes(facts, &links.pci[i], notes);
	note_nics(facts, &links, notes);
	note_ports(facts, &links, notes);
	if (catalog)
		note_nvlinks(catalog, facts, &links, notes);
}
