/* SPDX-License-Identifier: MIT */
#include "deployer/bench/cards_history.h"

#include "core/clock.h"
#include "deployer/bench/card_pairs.h"
#include "deployer/bench/kept.h"
#include "deployer/bench/pairs_history.h"

#include <stdlib.h>
#include <string.h>

#define CARDS_HISTORY_KEPT (CARDS_HISTORY_MAX + CARDS_HISTORY_DAYS)

/* One card of one kept run. */
struct cards_entry {
	struct health_card card; /* without measures where something was wrong */
	const char *when;
	size_t run; /* 0: the oldest */
};

struct cards_history {
	struct cards_entry
		*entries; /* by UUID; those of a card from the oldest run to the newest */
	size_t count, runs;
	struct health_card **now; /* the cards of this run that have a UUID, by it */
	size_t now_count;
	const char **known; /* the host of each entry, sorted */
	struct health_host *hosts;
	size_t host_count;
	struct arena *arena;
};

static int cards_history_by_uuid(const void *a, const void *b)
{
	const struct cards_entry *x = a, *y = b;
	int order = strcmp(x->card.uuid, y->card.uuid);

	return order ? order : (x->run > y->run) - (x->run < y->run);
}

static int cards_history_now_by_uuid(const void *a, const void *b)
{
	const struct health_card *const *x = a, *const *y = b;

	return strcmp((*x)->uuid, (*y)->uuid);
}

static int cards_history_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void cards_history_read_entry(const cJSON *json, struct arena *arena,
				     struct cards_entry *entry)
{
	struct health_card *card = &entry->card;

	*card = (struct health_card){.host = json_line(json, "host", CARDS_TEXT_BYTES, arena),
				     .number = json_int(json, "card", -1),
				     .model = json_line(json, "model", CARDS_TEXT_BYTES, arena),
				     .serial = json_line(json, "serial", CARDS_TEXT_BYTES, arena),
				     .uuid = json_line(json, "uuid", CARDS_TEXT_BYTES, arena),
				     .bus = json_line(json, "bus", CARDS_TEXT_BYTES, arena),
				     .slot = json_line(json, "slot", CARDS_TEXT_BYTES, arena),
				     .not_measured = ""};
	if (cJSON_GetArraySize(json_member(json, "findings")) > 0 ||
	    json_bool(json, "host_is_slow", false))
		return;
	for (int m = 0; m < CARD_MEASURES; m++)
		card->measures[m] = json_measure(json, card_measure_name((enum card_measure)m));
}

static void cards_history_read(const cJSON *documents, struct cards_history *history,
			       struct cards_past *past)
{
	const cJSON *document, *card;
	size_t most = 0;

	cJSON_ArrayForEach (document, documents)
		most += (size_t)cJSON_GetArraySize(json_member(document, "cards"));
	history->entries = ARENA_ARRAY(history->arena, most + 1, struct cards_entry);
	cJSON_ArrayForEach (document, documents) {
		const char *when = json_line(document, "time", CARDS_TEXT_BYTES, history->arena);

		if (!*when || !cJSON_IsArray(json_member(document, "cards")))
			continue;
		if (history->runs == 0)
			past->since = when;
		cJSON_ArrayForEach (card, json_member(document, "cards")) {
			struct cards_entry *entry = &history->entries[history->count];

			cards_history_read_entry(card, history->arena, entry);
			entry->when = when;
			entry->run = history->runs;
			history->count += *entry->card.uuid && *entry->card.host;
		}
		history->runs++;
	}
	qsort(history->entries, history->count, sizeof(*history->entries), cards_history_by_uuid);
	history->known = ARENA_ARRAY(history->arena, history->count + 1, const char *);
	for (size_t i = 0; i < history->count; i++)
		history->known[i] = history->entries[i].card.host;
	qsort(history->known, history->count, sizeof(*history->known), cards_history_by_name);
	past->runs = history->runs;
}

/* All entries of a card; NULL where there are none. */
static const struct cards_entry *cards_history_of(const struct cards_history *history,
						  const char *uuid, size_t *count)
{
	size_t low = 0, high = history->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(history->entries[middle].card.uuid, uuid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low;
	     high < history->count && strcmp(history->entries[high].card.uuid, uuid) == 0;)
		high++;
	*count = high - low;
	return *count ? &history->entries[low] : NULL;
}

static struct health_host *cards_history_host(const struct cards_history *history, const char *name)
{
	for (size_t h = 0; h < history->host_count; h++)
		if (strcmp(history->hosts[h].host, name) == 0)
			return &history->hosts[h];
	return NULL;
}

static void cards_history_index(struct cards_history *history)
{
	history->now = ARENA_ARRAY(history->arena, history->host_count * CARDS_OF_HOST_MAX + 1,
				   struct health_card *);
	history->now_count = 0;
	for (size_t h = 0; h < history->host_count; h++)
		for (size_t i = 0; i < history->hosts[h].count; i++)
			if (*history->hosts[h].cards[i].uuid)
				history->now[history->now_count++] = &history->hosts[h].cards[i];
	qsort(history->now, history->now_count, sizeof(*history->now), cards_history_now_by_uuid);
}

static bool cards_history_is_here(const struct cards_history *history, const char *uuid)
{
	const struct health_card wanted = {.uuid = uuid}, *key = &wanted;

	return bsearch(&key, history->now, history->now_count, sizeof(*history->now),
		       cards_history_now_by_uuid) != NULL;
}

/* A card that could not say who it is was the one of that number in the last run. */
static void cards_history_recall(struct cards_history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct health_card *old = &history->entries[i].card;
		struct health_host *host;
		struct health_card *card;

		if (history->entries[i].run + 1 != history->runs ||
		    cards_history_is_here(history, old->uuid))
			continue;
		host = cards_history_host(history, old->host);
		if (!host || old->number < 0 || (size_t)old->number >= host->count)
			continue;
		card = &host->cards[old->number];
		if (*card->uuid || *card->bus || !(*card->error || card->lost || card->hung_s > 0))
			continue;
		card->model = old->model;
		card->serial = old->serial;
		card->uuid = old->uuid;
		card->bus = old->bus;
		card->slot = old->slot;
	}
	cards_history_index(history);
}

static void cards_history_slow(const struct cards_history *history, struct health_card *card)
{
	size_t count;
	const struct cards_entry *entries = cards_history_of(history, card->uuid, &count);

	for (int m = 0; m < CARD_MEASURES; m++) {
		double good[CARDS_HISTORY_KEPT], median;
		const char *since = "";
		size_t found = 0;

		for (size_t i = 0; i < count && found < CARDS_HISTORY_KEPT; i++) {
			if (entries[i].card.measures[m] <= 0)
				continue;
			since = found ? since : entries[i].when;
			good[found++] = entries[i].card.measures[m];
		}
		median = kept_median(good, found);
		if (found < CARDS_HISTORY_LEAST || card->measures[m] <= 0)
			continue;
		if (card->usual_percent <= 0 ||
		    100 * card->measures[m] / median < card->usual_percent)
			card->usual_percent = 100 * card->measures[m] / median;
		card_compare(card, (enum card_measure)m, median,
			     arena_printf(history->arena,
					  "its own last %zu good runs (since %.10s)", found,
					  since));
	}
}

/* Whether another card is now where @old was. */
static bool cards_history_is_replaced(const struct health_host *host, const struct health_card *old)
{
	for (size_t i = 0; i < host->count; i++) {
		const struct health_card *card = &host->cards[i];

		if (*old->bus && *card->bus ? strcmp(card->bus, old->bus) == 0
					    : card->number == old->number)
			return true;
	}
	return false;
}

static void cards_history_gone(const struct cards_history *history, struct cards_past *past)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct cards_entry *entry = &history->entries[i];
		const struct health_host *host;

		/* the last entry of a card tells where it was */
		if (i + 1 < history->count && strcmp(entry[1].card.uuid, entry->card.uuid) == 0)
			continue;
		if (entry->run + CARDS_HISTORY_LAST < history->runs ||
		    cards_history_is_here(history, entry->card.uuid))
			continue;
		host = cards_history_host(history, entry->card.host);
		if (host && host->count > 0 && !cards_history_is_replaced(host, &entry->card))
			words_addf(
				&past->gone,
				"%s: it is gone, and was there on %.10s: see dmesg and lspci on the host; "
				"when it was taken out on purpose, remove .ringup/history/health",
				card_name(&entry->card, history->arena), entry->when);
	}
}

static bool cards_history_knows(const struct cards_history *history, const char *host)
{
	return bsearch(&host, history->known, history->count, sizeof(*history->known),
		       cards_history_by_name) != NULL;
}

static void cards_history_fresh(const struct cards_history *history, const struct health_card *card,
				struct cards_past *past)
{
	size_t count;
	const struct cards_entry *entries = cards_history_of(history, card->uuid, &count);
	const struct health_card *last = count ? &entries[count - 1].card : NULL;
	const char *name = card_name(card, history->arena);

	if (last && strcmp(last->host, card->host) != 0)
		words_addf(&past->fresh, "%s: it was %s GPU %d before", name, last->host,
			   last->number);
	else if (!last && cards_history_knows(history, card->host))
		words_addf(&past->fresh, "%s: it is new", name);
}

void cards_history_compare(const cJSON *documents, struct health_host *hosts, size_t count,
			   struct arena *arena, struct cards_past *past)
{
	struct cards_history history = {.hosts = hosts, .host_count = count, .arena = arena};

	*past = (struct cards_past){.gone = WORDS_INIT(arena), .fresh = WORDS_INIT(arena)};
	cards_history_read(documents, &history, past);
	cards_history_index(&history);
	cards_history_recall(&history);
	if (history.count == 0)
		return;
	for (size_t i = 0; i < history.now_count; i++) {
		cards_history_slow(&history, history.now[i]);
		cards_history_fresh(&history, history.now[i], past);
	}
	cards_history_gone(&history, past);
}

int cards_history_keep(const struct cluster *cluster, struct health_host *hosts, size_t count,
		       struct arena *arena, struct cards_past *past, struct error *err)
{
	_cleanup_(json_free) cJSON *documents = NULL, *record = json_document();
	struct kept kept;
	char now[24];

	*past = (struct cards_past){.gone = WORDS_INIT(arena), .fresh = WORDS_INIT(arena)};
	clock_iso8601(now);
	if (kept_read(cluster, "health", CARDS_HISTORY_KEPT, arena, &kept, &documents, err) < 0)
		return -1;
	cards_history_compare(documents, hosts, count, arena, past);
	pairs_history_compare(documents, hosts, count, arena);
	cJSON_AddStringToObject(record, "time", now);
	cards_to_json(hosts, count, record);
	card_pairs_to_json(hosts, count, record);
	return kept_add(&kept, record, CARDS_HISTORY_MAX, CARDS_HISTORY_DAYS, arena, err);
}

void cards_history_add_to(const struct cards_past *past, cJSON *document)
{
	cJSON *json = cJSON_AddObjectToObject(document, "history");

	cJSON_AddNumberToObject(json, "runs", (double)past->runs);
	if (past->runs)
		cJSON_AddStringToObject(json, "since", past->since);
	cJSON_AddItemToObject(
		json, "gone",
		cJSON_CreateStringArray(words_list(&past->gone), (int)past->gone.count));
	cJSON_AddItemToObject(
		json, "new",
		cJSON_CreateStringArray(words_list(&past->fresh), (int)past->fresh.count));
}
