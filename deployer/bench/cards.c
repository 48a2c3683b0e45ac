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
	} texts[] = {{"model", &card->model}, {"serial", &card->serial}, {"uuid", &card->uuid},
		     {"bus", &card->bus},     {"slot", &card->slot},	 {"error", &card->error}};
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

/* The median of a model's cards, without those of one host (@count: of all); 0 where there are too few. */
static double cards_median(const struct health_host *hosts, size_t count, const char *model,
			   enum card_measure measure, size_t without)
{
	size_t found = 0;
	double *all = xmalloc((count * CARDS_OF_HOST_MAX + 1) * sizeof(*all)), median = 0;

	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; h != without && i < hosts[h].count; i++) {
			const struct health_card *card = &hosts[h].cards[i];

			if (card->measures[measure] > 0 && strcmp(card->model, model) == 0)
				all[found++] = card->measures[measure];
		}
	if (found >= CARDS_LEAST)
		median = kept_median(all, found);
	free(all);
	return median;
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

/* The cards of a host that are of a model and have been measured; the fastest of them. */
static size_t cards_of_model(const struct health_host *host, const char *model,
			     enum card_measure measure, double *best)
{
	size_t found = 0;

	*best = 0;
	for (size_t i = 0; i < host->count; i++)
		if (strcmp(host->cards[i].model, model) == 0 &&
		    host->cards[i].measures[measure] > 0) {
			*best = fmax(*best, host->cards[i].measures[measure]);
			found++;
		}
	return found;
}

/* Whether even the fastest card of a host is slow beside those of the others; then that is said of the host. */
static bool cards_judge_host(struct health_host *hosts, size_t count, size_t at, const char *model,
			     enum card_measure measure, double median)
{
	const int percent = card_measures[measure].percent;
	struct health_host *host = &hosts[at];
	double best, own, others;
	size_t found = cards_of_model(host, model, measure, &best);

	/* the median of the others is looked at where that of all leaves it possible */
	if (found < CARDS_HOST_LEAST || best >= median)
		return false;
	others = cards_median(hosts, count, model, measure, at);
	if (100 * best >= percent * others)
		return false;
	own = found >= CARDS_LEAST ? cards_median(host, 1, model, measure, count) : best;
	words_addf(
		&host->findings,
		"each of its %zu %s is slow: %.4g %s, %.0f %% of the %.4g of the other hosts: look at what they share "
		"(power limit, cooling, BIOS, driver, other jobs)",
		found, model, own, card_measures[measure].what, 100 * own / others, others);
	return true;
}

static void cards_judge_model(struct health_host *hosts, size_t count, const char *model,
			      enum card_measure measure, struct arena *arena)
{
	double all = cards_median(hosts, count, model, measure, count);

	for (size_t h = 0; h < count; h++) {
		bool slow = cards_judge_host(hosts, count, h, model, measure, all);
		double median = slow ? cards_median(&hosts[h], 1, model, measure, 1) : all;
		const char *others =
			arena_printf(arena, "the other %s%s", model, slow ? " of its host" : "");

		for (size_t i = 0; i < hosts[h].count; i++) {
			struct health_card *card = &hosts[h].cards[i];

			if (strcmp(card->model, model) != 0)
				continue;
			card->host_is_slow |= slow;
			card_compare(card, measure, median, others);
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
	struct words models = WORDS_INIT(arena);

	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < hosts[h].count; i++) {
			const char *model = hosts[h].cards[i].model;
			size_t at = 0;

			while (at < models.count && strcmp(models.list[at], model) != 0)
				at++;
			if (at == models.count)
				words_add(&models, model);
			cards_judge_state(&hosts[h].cards[i]);
		}
	for (size_t i = 0; i < models.count; i++)
		for (int measure = 0; measure < CARD_MEASURES; measure++)
			cards_judge_model(hosts, count, models.list[i], (enum card_measure)measure,
					  arena);
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
