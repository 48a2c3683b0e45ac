/* SPDX-License-Identifier: MIT */
#include "deployer/bench/card_pairs.h"

#include "deployer/bench/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All pairs that are alike. */
struct pair_kind {
	const char *name;
	double *gbps; /* both ways of each; sorted once there is a median */
	size_t count, capacity;
	double median; /* 0: too few */
};

struct pair_kinds {
	struct pair_kind *list;
	size_t count;
};

void card_pairs_read(const cJSON *line, struct arena *arena, struct health_host *host)
{
	int a = json_int(line, "card", -1), b = json_int(line, "peer", -1);
	size_t most = host->count * (host->count - (host->count > 0)) / 2;

	if (a < 0 || b <= a || (size_t)b >= host->count || host->pair_count == most)
		return;
	if (!host->pairs)
		host->pairs = ARENA_ARRAY(arena, most, struct card_pair);
	host->pairs[host->pair_count++] = (struct card_pair){
		.a = a,
		.b = b,
		.link = json_line(line, "link", CARDS_TEXT_BYTES, arena),
		.error = json_member(line, "killed")
				 ? "its process was killed"
				 : json_line(line, "error", CARDS_TEXT_BYTES, arena),
		.to = json_measure(line, "to_gbps"),
		.from = json_measure(line, "from_gbps"),
		.direct = json_bool(line, "direct", false),
		.hung_s = json_measure(line, "hung"),
	};
}

static const char *card_pairs_kind_name(const struct health_host *host,
					const struct card_pair *pair, struct arena *arena)
{
	const char *a = host->cards[pair->a].model, *b = host->cards[pair->b].model;
	const char *link = *pair->link ? pair->link : "unknown link";

	if (strcmp(a, b) == 0)
		return arena_printf(arena, "%s, %s", link, a);
	return arena_printf(arena, "%s, %s and %s", link, a, b);
}

/* The kind of that name, made if there is none. */
static struct pair_kind *card_pairs_kind(struct pair_kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (strcmp(kinds->list[i].name, name) == 0)
			return &kinds->list[i];
	kinds->list = xrealloc(kinds->list, (kinds->count + 1) * sizeof(*kinds->list));
	kinds->list[kinds->count] = (struct pair_kind){.name = name};
	return &kinds->list[kinds->count++];
}

static void card_pairs_add(struct pair_kind *kind, double gbps)
{
	if (gbps <= 0)
		return;
	if (kind->count == kind->capacity) {
		kind->capacity = kind->capacity ? 2 * kind->capacity : 64;
		kind->gbps = xrealloc(kind->gbps, kind->capacity * sizeof(*kind->gbps));
	}
	kind->gbps[kind->count++] = gbps;
}

static struct pair_kinds card_pairs_kinds(const struct health_host *hosts, size_t count,
					  struct arena *arena)
{
	struct pair_kinds kinds = {0};

	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].pair_count; i++) {
			const struct card_pair *pair = &hosts[h].pairs[i];
			struct pair_kind *kind = card_pairs_kind(
				&kinds, card_pairs_kind_name(&hosts[h], pair, arena));

			card_pairs_add(kind, pair->to);
			card_pairs_add(kind, pair->from);
		}
	for (size_t i = 0; i < kinds.count; i++)
		if (kinds.list[i].count >= CARDS_LEAST)
			kinds.list[i].median = kept_median(kinds.list[i].gbps, kinds.list[i].count);
	return kinds;
}

static void card_pairs_release(struct pair_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		free(kinds->list[i].gbps);
	free(kinds->list);
}

static void card_pairs_say(struct health_host *host, const struct card_pair *pair,
			   struct arena *arena)
{
	double worst = fmin(pair->to, pair->from);

	words_addf(
		&host->findings,
		"GPU %d and GPU %d (%s): slow: %.4g GB/s from %d to %d, %.0f %% of the %.4g of such pairs%s",
		pair->a, pair->b, card_pairs_kind_name(host, pair, arena), worst,
		pair->to <= pair->from ? pair->a : pair->b,
		pair->to <= pair->from ? pair->b : pair->a, 100 * worst / pair->usual, pair->usual,
		pair->direct ? "" : "; not direct, but over the host's memory");
}

/* Of the measured pairs of a card (-1: of the host) how many there are, and how many of them are slow. */
static size_t card_pairs_count(const struct health_host *host, int card, size_t *slow)
{
	size_t all = 0;

	*slow = 0;
	for (size_t i = 0; i < host->pair_count; i++) {
		const struct card_pair *pair = &host->pairs[i];

		if (pair->usual <= 0 || (card >= 0 && pair->a != card && pair->b != card))
			continue;
		all++;
		*slow += pair->slow;
	}
	return all;
}

static void card_pairs_judge_host(struct health_host *host, struct arena *arena)
{
	bool named[CARDS_OF_HOST_MAX] = {false};
	size_t slow, all = card_pairs_count(host, -1, &slow);

	if (all > 1 && slow == all) {
		words_addf(
			&host->findings,
			"copies between all of its GPUs are slow, %zu pairs: look at nvidia-smi topo -m and nvidia-smi nvlink -s",
			all);
		return;
	}
	for (int i = 0; i < (int)host->count; i++) {
		all = card_pairs_count(host, i, &slow);
		named[i] = all > 1 && slow == all;
		if (named[i])
			words_addf(
				&host->findings,
				"GPU %d: slow: its copies to or from each of %zu other GPUs: look at nvidia-smi nvlink -s -i %d",
				i, all, i);
	}
	for (size_t i = 0; i < host->pair_count; i++)
		if (host->pairs[i].slow && !named[host->pairs[i].a] && !named[host->pairs[i].b])
			card_pairs_say(host, &host->pairs[i], arena);
}

void card_pairs_judge(struct health_host *hosts, size_t count, struct arena *arena)
{
	struct pair_kinds kinds = card_pairs_kinds(hosts, count, arena);

	for (size_t h = 0; h < count; h++) {
		for (size_t i = 0; i < hosts[h].pair_count; i++) {
			struct card_pair *pair = &hosts[h].pairs[i];
			const char *name = card_pairs_kind_name(&hosts[h], pair, arena);

			if (pair->hung_s > 0)
				words_addf(&hosts[h].findings,
					   "GPU %d and GPU %d: a copy between them hung: see dmesg",
					   pair->a, pair->b);
			else if (*pair->error)
				words_addf(&hosts[h].findings,
					   "GPU %d and GPU %d: copies could not be measured: %s",
					   pair->a, pair->b, pair->error);
			if (pair->to <= 0 || pair->from <= 0)
				continue;
			pair->usual = card_pairs_kind(&kinds, name)->median;
			pair->slow =
				100 * fmin(pair->to, pair->from) < CARD_PAIRS_PERCENT * pair->usual;
		}
		card_pairs_judge_host(&hosts[h], arena);
	}
	card_pairs_release(&kinds);
}

void card_pairs_describe(const struct health_host *hosts, size_t count, struct words *out)
{
	struct pair_kinds kinds = card_pairs_kinds(hosts, count, out->arena);

	for (size_t i = 0; i < kinds.count; i++) {
		const struct pair_kind *kind = &kinds.list[i];

		if (kind->median > 0)
			words_addf(
				out,
				"copies between GPUs (%s): %.4g to %.4g GB/s, the median of %zu is %.4g",
				kind->name, kind->gbps[0], kind->gbps[kind->count - 1], kind->count,
				kind->median);
	}
	for (size_t h = 0; h < count; h++)
		if (hosts[h].pairs_left_out > 0)
			words_addf(
				out,
				"%s: the time was up before %d pairs of GPUs were measured: give more with --limit",
				hosts[h].host, hosts[h].pairs_left_out);
	card_pairs_release(&kinds);
}

void card_pairs_to_json(const struct health_host *hosts, size_t count, cJSON *document)
{
	cJSON *list = cJSON_AddArrayToObject(document, "pairs");
	double left_out = 0;

	for (size_t h = 0; h < count; h++) {
		left_out += hosts[h].pairs_left_out;
		for (size_t i = 0; i < hosts[h].pair_count; i++) {
			const struct card_pair *pair = &hosts[h].pairs[i];
			cJSON *json = cJSON_CreateObject();

			cJSON_AddItemToArray(list, json);
			cJSON_AddStringToObject(json, "host", hosts[h].host);
			cJSON_AddNumberToObject(json, "card", pair->a);
			cJSON_AddNumberToObject(json, "peer", pair->b);
			json_add_text(json, "uuid", hosts[h].cards[pair->a].uuid);
			json_add_text(json, "peer_uuid", hosts[h].cards[pair->b].uuid);
			json_add_text(json, "link", pair->link);
			json_add_text(json, "error", pair->error);
			cJSON_AddNumberToObject(json, "to_gbps", pair->to);
			cJSON_AddNumberToObject(json, "from_gbps", pair->from);
			cJSON_AddBoolToObject(json, "direct", pair->direct);
			cJSON_AddBoolToObject(json, "slow", pair->slow);
		}
	}
	cJSON_AddNumberToObject(document, "pairs_left_out", left_out);
}
