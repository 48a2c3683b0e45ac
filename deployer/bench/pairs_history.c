/* SPDX-License-Identifier: MIT */
#include "deployer/bench/pairs_history.h"

#include "deployer/bench/card_pairs.h"
#include "deployer/bench/cards_history.h"
#include "deployer/bench/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two cards in one kept run in which nothing was wrong with them. */
struct pairs_entry {
	const char *a, *b; /* their UUIDs, a before b */
	const char *when;
	double gbps; /* the slower way */
	size_t run;
};

static int pairs_history_order(const char *a, const char *b, const struct pairs_entry *entry)
{
	int order = strcmp(a, entry->a);

	return order ? order : strcmp(b, entry->b);
}

static int pairs_history_by_cards(const void *a, const void *b)
{
	const struct pairs_entry *x = a, *y = b;
	int order = pairs_history_order(x->a, x->b, y);

	return order ? order : (x->run > y->run) - (x->run < y->run);
}

/* Returns false for a pair that does not count. */
static bool pairs_history_read_pair(const cJSON *json, struct arena *arena,
				    struct pairs_entry *entry)
{
	const char *a = json_line(json, "uuid", CARDS_TEXT_BYTES, arena),
		   *b = json_line(json, "peer_uuid", CARDS_TEXT_BYTES, arena);
	bool swapped = strcmp(a, b) > 0;

	entry->a = swapped ? b : a;
	entry->b = swapped ? a : b;
	entry->gbps = fmin(json_measure(json, "to_gbps"), json_measure(json, "from_gbps"));
	return *a && *b && entry->gbps > 0 && !json_bool(json, "slow", true);
}

/* All of them in @documents, the same two side by side, from the oldest run to the newest. */
static size_t pairs_history_read(const cJSON *documents, struct arena *arena,
				 struct pairs_entry **entries)
{
	const cJSON *document, *pair;
	size_t most = 0, count = 0, run = 0;

	cJSON_ArrayForEach (document, documents)
		most += (size_t)cJSON_GetArraySize(json_member(document, "pairs"));
	*entries = ARENA_ARRAY(arena, most + 1, struct pairs_entry);
	cJSON_ArrayForEach (document, documents) {
		const char *when = json_line(document, "time", CARDS_TEXT_BYTES, arena);

		run++;
		if (!*when || !cJSON_IsArray(json_member(document, "pairs")))
			continue;
		cJSON_ArrayForEach (pair, json_member(document, "pairs")) {
			struct pairs_entry *entry = &(*entries)[count];

			entry->when = when;
			entry->run = run;
			count += pairs_history_read_pair(pair, arena, entry);
		}
	}
	qsort(*entries, count, sizeof(**entries), pairs_history_by_cards);
	return count;
}

/* The first entry of these two, or of those that come after them. */
static size_t pairs_history_find(const struct pairs_entry *entries, size_t count, const char *a,
				 const char *b)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs_history_order(a, b, &entries[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void pairs_history_judge(const struct pairs_entry *entries, size_t count,
				struct health_host *host, struct card_pair *pair)
{
	const char *a = host->cards[pair->a].uuid, *b = host->cards[pair->b].uuid, *since = "";
	const char *first = strcmp(a, b) > 0 ? b : a, *second = first == a ? b : a;
	double good[CARDS_HISTORY_MAX], now = fmin(pair->to, pair->from), median;
	size_t found = 0;

	if (!*a || !*b || now <= 0 || pair->slow)
		return;
	for (size_t i = pairs_history_find(entries, count, first, second);
	     i < count && found < CARDS_HISTORY_MAX &&
	     pairs_history_order(first, second, &entries[i]) == 0;
	     i++) {
		since = found ? since : entries[i].when;
		good[found++] = entries[i].gbps;
	}
	median = kept_median(good, found);
	if (found < CARDS_HISTORY_LEAST || 100 * now >= CARD_PAIRS_PERCENT * median)
		return;
	pair->slow = true;
	words_addf(
		&host->findings,
		"GPU %d and GPU %d (%s): slow: %.4g GB/s, %.0f %% of the %.4g of their own last %zu good runs (since %.10s)%s",
		pair->a, pair->b, *pair->link ? pair->link : "unknown link", now,
		100 * now / median, median, found, since,
		pair->direct ? "" : "; not direct, but over the host's memory");
}

void pairs_history_compare(const cJSON *documents, struct health_host *hosts, size_t count,
			   struct arena *arena)
{
	struct pairs_entry *entries;
	size_t entry_count = pairs_history_read(documents, arena, &entries);

	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].pair_count; i++)
			pairs_history_judge(entries, entry_count, &hosts[h], &hosts[h].pairs[i]);
}
