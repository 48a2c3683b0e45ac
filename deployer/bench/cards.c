/* SPDX-License-Identifier: MIT */
#include "deployer/bench/cards.h"

#include "core/str.h"
#include "deployer/bench/card_pairs.h"
#include "deployer/bench/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *what;
	int percent;
} card_measures[CARD_MEASURES] = {
	[CARD_COPY] = {"copy_gbps", "GB/s copying in its memory", CARDS_BANDWIDTH_PERCENT},
	[CARD_FILL] = {"fill_gbps", "GB/s filling its memory", CARDS_BANDWIDTH_PERCENT},
	[CARD_H2D] = {"h2d_gbps", "GB/s from the host", CARDS_BANDWIDTH_PERCENT},
	[CARD_D2H] = {"d2h_gbps", "GB/s to the host", CARDS_BANDWIDTH_PERCENT},
	[CARD_TFLOPS] = {"tflops", "TFLOP/s of f32", CARDS_CALCULATION_PERCENT},
	[CARD_BF16_TFLOPS] = {"bf16_tflops", "TFLOP/s of bf16", CARDS_CALCULATION_PERCENT},
};

/* What NVML says makes a card slower than it could be: nvmlClocksEventReasons of nvml.h, those that are no choice. */
static const struct {
	unsigned bit;
	const char *why;
} card_throttles[] = {
	{0x4, "the power limit holds it back"},
	{0x8, "the hardware slows it down (heat or power supply)"},
	{0x20, "it is too hot (the driver slows it down)"},
	{0x40, "it is too hot (the hardware slows it down)"},
	{0x80, "the power supply brakes it"},
};

const char *card_measure_name(enum card_measure measure)
{
	return card_measures[measure].name;
}

static void cards_read_readings(const cJSON *readings, struct health_card *card)
{
	const struct {
		const char *name;
		double *to;
	} rows[] = {
		{"ecc_volatile", &card->ecc_uncorrected}, {"pages_pending", &card->pages_pending},
		{"remap_pending", &card->remap_pending},  {"remap_failed", &card->remap_failed},
		{"pcie_width", &card->pcie_width},	  {"pcie_width_max", &card->pcie_width_max},
	};

	for (size_t i = 0; cJSON_IsObject(readings) && i < ARRAY_LEN(rows); i++)
		*rows[i].to = json_measure(readings, rows[i].name);
}

static void cards_read_xids(const cJSON *xids, struct health_card *card)
{
	const cJSON *xid;

	cJSON_ArrayForEach (xid, xids) {
		if (card->xid_count == CARDS_XIDS_MAX)
			return;
		if (cJSON_IsNumber(xid) && xid->valuedouble >= 0 && xid->valuedouble <= 0xffff)
			card->xids[card->xid_count++] = (int)xid->valuedouble;
	}
}

static void cards_read_card(const cJSON *line, struct arena *arena, struct health_card *card)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {{"model", &card->model},
		     {"serial", &card->serial},
		     {"uuid", &card->uuid},
		     {"bus", &card->bus},
		     {"slot", &card->slot},
		     {"error", &card->error},
		     {"not_measured", &card->not_measured}};
	const struct {
		const char *name;
		double *to;
	} numbers[] = {{"wrong", &card->wrong},	  {"throttle", &card->throttle},
		       {"power_w", &card->watt},  {"celsius", &card->celsius},
		       {"sm_mhz", &card->sm_mhz}, {"hung", &card->hung_s}};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (json_member(line, texts[i].name))
			*texts[i].to = json_line(line, texts[i].name, CARDS_TEXT_BYTES, arena);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (json_member(line, numbers[i].name))
			*numbers[i].to = json_measure(line, numbers[i].name);
	for (int i = 0; i < CARD_MEASURES; i++)
		if (json_member(line, card_measures[i].name))
			card->measures[i] = json_measure(line, card_measures[i].name);
	if (json_member(line, "readings"))
		cards_read_readings(json_member(line, "readings"), card);
	cards_read_xids(json_member(line, "xids"), card);
	card->lost |= json_bool(line, "lost", false);
	if (json_member(line, "killed"))
		card->error = "its process was killed";
	if (json_member(line, "error") || json_member(line, "hung") || json_member(line, "killed"))
		card->phase = json_line(line, "phase", CARDS_TEXT_BYTES, arena);
}

static void cards_read_line(const cJSON *line, struct arena *arena, struct health_host *out)
{
	int number = json_int(line, "card", -1), cards = json_int(line, "cards", -1);

	if (json_member(line, "peer")) {
		card_pairs_read(line, arena, out);
		return;
	}
	if (number >= 0 && (size_t)number < out->count) {
		cards_read_card(line, arena, &out->cards[number]);
		return;
	}
	if (!json_member(line, "host"))
		return;
	if (json_member(line, "error"))
		out->error = json_line(line, "error", CARDS_TEXT_BYTES, arena);
	number = json_int(line, "pairs_left_out", 0);
	out->pairs_left_out = number > 0 && number <= CARDS_PAIRS_MAX ? number : 0;
	out->simulated |= json_bool(line, "simulated", false);
	if (out->count == 0 && cards > 0)
		out->count = cards < CARDS_OF_HOST_MAX ? (size_t)cards : CARDS_OF_HOST_MAX;
}

void cards_read(const char *text, size_t length, const char *host, struct arena *arena,
		struct health_host *out)
{
	size_t lines = 0;

	*out = (struct health_host){.host = host, .error = "", .findings = WORDS_INIT(arena)};
	out->cards = ARENA_ARRAY(arena, CARDS_OF_HOST_MAX, struct health_card);
	for (int i = 0; i < CARDS_OF_HOST_MAX; i++)
		out->cards[i] = (struct health_card){.host = host,
						     .number = i,
						     .model = "",
						     .serial = "",
						     .uuid = "",
						     .bus = "",
						     .slot = "",
						     .error = "",
						     .not_measured = "",
						     .phase = "",
						     .findings = WORDS_INIT(arena)};
	for (const char *at = text, *end = text + length; at < end && lines < CARDS_LINES_MAX;
	     lines++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t bytes = (size_t)((stop ? stop : end) - at);
		_cleanup_(json_free) cJSON *line = NULL;
		struct error ignored = {0};

		if (bytes > 0 && bytes <= CARDS_LINE_BYTES && *at == '{' &&
		    json_parse(at, bytes, "a line of the worker", &line, &ignored) == 0)
			cards_read_line(line, arena, out);
		at += bytes + 1;
	}
	if (out->count == 0 && !*out->error)
		out->error = "the worker told of no GPU";
}

/* What is wrong with it by itself, each with what to do. NVIDIA's advice: docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt
 * and docs.nvidia.com/deploy/xid-errors. */
static void cards_judge_state(struct health_card *card)
{
	struct words *out = &card->findings;

	if (card->lost)
		words_add(
			out,
			"it fell off the bus: reseat it or its power cables, reboot the host, and replace it when it happens again");
	else if (card->hung_s > 0)
		words_addf(
			out,
			"it hung in the phase %s for %.0f s: see dmesg, reboot the host, and leave the card out when it happens again",
			card->phase, card->hung_s);
	else if (*card->error)
		words_addf(out, "it could not be measured (%s): %s", card->phase, card->error);
	if (card->wrong > 0)
		words_addf(out, "it calculated %.0f results wrongly: replace it", card->wrong);
	if (card->remap_failed > 0)
		words_add(
			out,
			"broken rows of its memory could not be replaced: have NVIDIA replace it");
	if (card->remap_pending > 0 || card->pages_pending > 0)
		words_add(
			out,
			"broken memory waits for a reset to be replaced: end the jobs on it, then nvidia-smi -r or reboot");
	if (card->ecc_uncorrected > 0)
		words_addf(
			out,
			"%.0f uncorrected ECC errors since the driver was loaded: reset it, and replace it when they come again",
			card->ecc_uncorrected);
	for (size_t i = 0; i < card->xid_count; i++)
		words_addf(
			out,
			"Xid %d while it was measured: see docs.nvidia.com/deploy/xid-errors and dmesg",
			card->xids[i]);
}

static void cards_add_throttles(const struct health_card *card, struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(card_throttles); i++)
		if ((uint64_t)fmin(card->throttle, 65535) & card_throttles[i].bit)
			str_addf(out, "; %s", card_throttles[i].why);
	if (card->pcie_width > 0 && card->pcie_width < card->pcie_width_max)
		str_addf(out, "; %.0f of %.0f PCIe lanes", card->pcie_width, card->pcie_width_max);
}

void card_compare(struct health_card *card, enum card_measure measure, double median,
		  const char *whose)
{
	_cleanup_(str_release) struct str why = STR_INIT;
	double own = card->measures[measure];

	if (median <= 0 || own <= 0 || 100 * own >= card_measures[measure].percent * median)
		return;
	cards_add_throttles(card, &why);
	words_addf(&card->findings, "slow: %.4g %s, %.0f %% of the %.4g of %s%s", own,
		   card_measures[measure].what, 100 * own / median, median, whose,
		   why.length ? why.text : "");
}

/* A card, and the number of its host. Those of a model stand side by side, and among them those of a host. */
struct card_place {
	struct health_card *card;
	size_t host;
};

/* What cards do in one measure, ascending. */
struct card_numbers {
	double *list;
	size_t count;
};

static int cards_by_model(const void *a, const void *b)
{
	const struct card_place *x = a, *y = b;
	int order = strcmp(x->card->model, y->card->model);

	if (order == 0)
		order = (x->host > y->host) - (x->host < y->host);
	return order ? order
		     : (x->card->number > y->card->number) - (x->card->number < y->card->number);
}

/* Fills numbers->list, which has room for them, and returns the median; 0 where there are too few. */
static double cards_numbers(const struct card_place *places, size_t count,
			    enum card_measure measure, struct card_numbers *numbers)
{
	double median;

	numbers->count = 0;
	for (size_t i = 0; i < count; i++)
		if (places[i].card->measures[measure] > 0)
			numbers->list[numbers->count++] = places[i].card->measures[measure];
	median = kept_median(numbers->list, numbers->count);
	return numbers->count >= CARDS_LEAST ? median : 0;
}

/* How many of the ascending numbers are less than @number. */
static size_t cards_rank(const struct card_numbers *numbers, double number)
{
	size_t low = 0, high = numbers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (numbers->list[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number at @place of all numbers but those of @own, which are among them. */
static double cards_at(const struct card_numbers *all, const struct card_numbers *own, size_t place)
{
	size_t equal = 0;

	for (size_t i = 0; i < own->count; i++) {
		equal = i > 0 && own->list[i] <= own->list[i - 1] ? equal + 1 : 0;
		place += cards_rank(all, own->list[i]) + equal <= place;
	}
	return all->list[place];
}

/* The median of all numbers but those of @own; 0 where there are too few. */
static double cards_median_without(const struct card_numbers *all, const struct card_numbers *own)
{
	size_t count = all->count - own->count;

	if (count < CARDS_LEAST)
		return 0;
	return (cards_at(all, own, (count - 1) / 2) + cards_at(all, own, count / 2)) / 2;
}

/* Whether even the fastest card of a host is slow beside those of the others; then that is said of the host. @own: its
 * cards of the model, whose median is @median. */
static bool cards_judge_host(struct health_host *host, const char *model, enum card_measure measure,
			     const struct card_numbers *all, const struct card_numbers *own,
			     double median)
{
	const int percent = card_measures[measure].percent;
	double best, others;

	if (own->count < CARDS_HOST_LEAST)
		return false;
	best = own->list[own->count - 1];
	others = cards_median_without(all, own);
	if (100 * best >= percent * others)
		return false;
	median = median > 0 ? median : best;
	words_addf(
		&host->findings,
		"each of its %zu %s is slow: %.4g %s, %.0f %% of the %.4g of the other hosts: look at what they share "
		"(power limit, cooling, BIOS, driver, other jobs)",
		own->count, model, median, card_measures[measure].what, 100 * median / others,
		others);
	return true;
}

/* All cards of one model. */
static void cards_judge_model(struct health_host *hosts, const struct card_place *places,
			      size_t count, enum card_measure measure, double *room,
			      struct arena *arena)
{
	struct card_numbers all = {.list = room}, own = {.list = room + count};
	double fleet = cards_numbers(places, count, measure, &all);
	const char *model = places[0].card->model;

	for (size_t at = 0, next; at < count; at = next) {
		double median;
		const char *others;
		bool slow;

		for (next = at + 1; next < count && places[next].host == places[at].host;)
			next++;
		median = cards_numbers(places + at, next - at, measure, &own);
		slow = cards_judge_host(&hosts[places[at].host], model, measure, &all, &own,
					median);
		others = arena_printf(arena, "the other %s%s", model, slow ? " of its host" : "");
		for (size_t i = at; i < next; i++) {
			places[i].card->host_is_slow |= slow;
			card_compare(places[i].card, measure, slow ? median : fleet, others);
		}
	}
}

const char *card_name(const struct health_card *card, struct arena *arena)
{
	return arena_printf(arena, "%s GPU %d (%s%s%s%s%s%s%s%s%s)", card->host, card->number,
			    *card->model ? card->model : "unknown", *card->bus ? ", " : "",
			    card->bus, *card->slot ? ", slot " : "", card->slot,
			    *card->serial ? ", serial " : "", card->serial, *card->uuid ? ", " : "",
			    card->uuid);
}

void cards_judge(struct health_host *hosts, size_t count, struct arena *arena)
{
	struct card_place *places;
	size_t all = 0;
	double *room;

	for (size_t h = 0; h < count; h++)
		all += hosts[h].count;
	places = xmalloc((all + 1) * sizeof(*places));
	room = xmalloc((2 * all + 1) * sizeof(*room));
	all = 0;
	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].count; i++) {
			cards_judge_state(&hosts[h].cards[i]);
			places[all++] = (struct card_place){&hosts[h].cards[i], h};
		}
	qsort(places, all, sizeof(*places), cards_by_model);
	for (size_t at = 0, next; at < all; at = next) {
		for (next = at + 1;
		     next < all && strcmp(places[next].card->model, places[at].card->model) == 0;)
			next++;
		for (int measure = 0; measure < CARD_MEASURES; measure++)
			cards_judge_model(hosts, places + at, next - at, (enum card_measure)measure,
					  room, arena);
	}
	free(places);
	free(room);
	card_pairs_judge(hosts, count, arena);
}

void cards_list_findings(const struct health_host *hosts, size_t count, struct arena *arena,
			 struct words *findings)
{
	for (size_t h = 0; h < count; h++) {
		if (hosts[h].count == 0)
			words_addf(findings, "%s: %s", hosts[h].host, hosts[h].error);
		for (size_t f = 0; f < hosts[h].findings.count; f++)
			words_addf(findings, "%s: %s", hosts[h].host, hosts[h].findings.list[f]);
		for (size_t i = 0; i < hosts[h].count; i++)
			for (size_t f = 0; f < hosts[h].cards[i].findings.count; f++)
				words_addf(findings, "%s: %s", card_name(&hosts[h].cards[i], arena),
					   hosts[h].cards[i].findings.list[f]);
	}
}

void cards_list_not_measured(const struct health_host *hosts, size_t count, struct arena *arena,
			     struct words *sentences)
{
	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].count; i++)
			if (*hosts[h].cards[i].not_measured)
				words_addf(sentences, "%s: not measured: %s",
					   card_name(&hosts[h].cards[i], arena),
					   hosts[h].cards[i].not_measured);
}

static void cards_add_json(const struct health_card *card, cJSON *list)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddItemToArray(list, json);
	cJSON_AddStringToObject(json, "host", card->host);
	cJSON_AddNumberToObject(json, "card", card->number);
	json_add_text(json, "model", card->model);
	json_add_text(json, "serial", card->serial);
	json_add_text(json, "uuid", card->uuid);
	json_add_text(json, "bus", card->bus);
	json_add_text(json, "slot", card->slot);
	json_add_text(json, "not_measured", card->not_measured);
	for (int i = 0; i < CARD_MEASURES; i++)
		if (card->measures[i] > 0)
			cJSON_AddNumberToObject(json, card_measures[i].name, card->measures[i]);
	if (card->host_is_slow)
		cJSON_AddTrueToObject(json, "host_is_slow");
	if (card->usual_percent > 0)
		cJSON_AddNumberToObject(json, "usual_percent", card->usual_percent);
	cJSON_AddItemToObject(
		json, "findings",
		cJSON_CreateStringArray(words_list(&card->findings), (int)card->findings.count));
}

void cards_to_json(const struct health_host *hosts, size_t count, cJSON *document)
{
	cJSON *list = cJSON_AddArrayToObject(document, "cards");

	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].count; i++)
			cards_add_json(&hosts[h].cards[i], list);
}
