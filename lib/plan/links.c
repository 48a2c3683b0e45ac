/* SPDX-License-Identifier: MIT */
#include "plan/links.h"

#include "core/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 12

/* The ';'-separated entries of a fact. */
static struct words entries(const char *text, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);
	char *copy = arena_strdup(arena, text ? text : ""), *entry;

	while ((entry = strsep(&copy, ";")))
		if (*entry)
			words_add(&words, entry);
	return words;
}

/* Splits at blanks and leaves out fields past FIELDS_MAX. */
static size_t fields(const char *entry, struct arena *arena, const char *list[static FIELDS_MAX])
{
	char *copy = arena_strdup(arena, entry), *field;
	size_t count = 0;

	while (count < FIELDS_MAX && (field = strsep(&copy, " ")))
		if (*field)
			list[count++] = field;
	return count;
}

static int whole(const char *text)
{
	long number = strtol(text, NULL, 10);

	return number < 0 ? 0 : number > INT32_MAX ? INT32_MAX : (int)number;
}

bool pci_rate_parse(const char *text, struct pci_rate *rate)
{
	char *end;

	rate->gts = strtod(text, &end);
	if (end == text || *end != 'x' || !(rate->gts > 0))
		return false;
	rate->lanes = whole(end + 1);
	return rate->lanes > 0;
}

struct pci_rate pci_link_rate(const struct pci_link *link)
{
	return (struct pci_rate){
		.gts = link->own.gts < link->slot.gts ? link->own.gts : link->slot.gts,
		.lanes = link->now.lanes,
	};
}

bool same_card(const char *a, const char *b)
{
	const char *dot = strrchr(a, '.');

	return dot && strncmp(a, b, (size_t)(dot - a) + 1) == 0;
}

static void parse_nics(const char *text, struct arena *arena, struct links *links)
{
	struct words list = entries(text, arena);
	const char *field[FIELDS_MAX];

	links->nics = ARENA_ARRAY(arena, list.count + 1, struct nic);
	for (size_t i = 0; i < list.count; i++)
		if (fields(list.list[i], arena, field) == 3)
			links->nics[links->nic_count++] =
				(struct nic){field[0], whole(field[1]), field[2]};
}

/* Parses "(4X EDR)" in the fields after the number into 4 and "EDR". */
static void parse_width(const char *width, const char *speed, struct arena *arena,
			struct ib_port *port)
{
	char *end;
	long lanes = *width == '(' ? strtol(width + 1, &end, 10) : 0;

	if (lanes < 1 || lanes > 64 || toupper((unsigned char)*end) != 'X')
		return;
	port->lanes = (int)lanes;
	port->speed = arena_strndup(arena, speed, strcspn(speed, ")"));
}

/* "mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X EDR)" */
static void parse_ports(const char *text, struct arena *arena, struct links *links)
{
	struct words list = entries(text, arena);
	const char *field[FIELDS_MAX];

	links->ports = ARENA_ARRAY(arena, list.count + 1, struct ib_port);
	for (size_t i = 0; i < list.count; i++) {
		size_t count = fields(list.list[i], arena, field);
		struct ib_port *port = &links->ports[links->port_count];

		if (count < 6)
			continue;
		*port = (struct ib_port){
			.device = field[0],
			.port = whole(field[1]),
			.active = strcmp(field[2], "ACTIVE") == 0,
			.is_ethernet = strcmp(field[3], "Ethernet") == 0,
			.address = field[4],
			.gbits = strtod(field[5], NULL),
			.speed = "",
		};
		if (count >= 9)
			parse_width(field[7], field[8], arena, port);
		links->port_count++;
	}
}

static void parse_pci(const char *text, struct arena *arena, struct links *links)
{
	struct words list = entries(text, arena);
	const char *field[FIELDS_MAX];

	links->pci = ARENA_ARRAY(arena, list.count + 1, struct pci_link);
	for (size_t i = 0; i < list.count; i++) {
		struct pci_link *link = &links->pci[links->pci_count];

		if (fields(list.list[i], arena, field) != 5 ||
		    !pci_rate_parse(field[2], &link->now) ||
		    !pci_rate_parse(field[3], &link->own) || !pci_rate_parse(field[4], &link->slot))
			continue;
		link->address = field[0];
		link->is_gpu = strcmp(field[1], "gpu") == 0;
		links->pci_count++;
	}
}

static void parse_nvlinks(const char *text, struct arena *arena, struct links *links)
{
	struct words list = entries(text, arena);

	if (list.count != links->gpu_count)
		return;
	for (size_t i = 0; i < list.count; i++)
		if (links->nvlinks < 0 || whole(list.list[i]) < links->nvlinks)
			links->nvlinks = whole(list.list[i]);
}

void links_parse(const struct facts *facts, struct arena *arena, struct links *links)
{
	struct words gpus = entries(facts->gpus, arena);

	*links = (struct links){.gpus = gpus.list, .gpu_count = gpus.count, .nvlinks = -1};
	parse_nics(facts->nics, arena, links);
	parse_ports(facts->infiniband_ports, arena, links);
	parse_pci(facts->pci_links, arena, links);
	parse_nvlinks(facts->nvlinks, arena, links);
}
