/* SPDX-License-Identifier: MIT */
/* The GPUs of a fleet: what is read of their lines, and which are called slow or ill. */
#include "tests/unit/support.h"

#include "deployer/bench/cards.h"

#include <stdio.h>

#define HEAD "{\"host\": \"a\", \"simulated\": true, \"cards\": 4}\n"

/* Four cards of one model, all alike, and then @more. */
static struct health_host read_host(struct scratch *s, const char *more)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct health_host host;

	str_add(&text, HEAD);
	for (int i = 0; i < 4; i++)
		str_addf(
			&text,
			"{\"card\": %d, \"phase\": \"identity\", \"model\": \"H100\", \"serial\": \"s%d\"}\n"
			"{\"card\": %d, \"phase\": \"memory\", \"copy_gbps\": 2000}\n"
			"{\"card\": %d, \"phase\": \"burn\", \"tflops\": 50}\n",
			i, i, i, i);
	str_add(&text, more);
	cards_read(text.text, text.length, "node01", &s->arena, &host);
	return host;
}

/* The one finding, or "" where there is none. */
static const char *judged(struct scratch *s, const char *more)
{
	struct health_host host = read_host(s, more);
	struct words findings = WORDS_INIT(&s->arena);

	cards_judge(&host, 1, &s->arena);
	cards_list_findings(&host, 1, &s->arena, &findings);
	assert_true(findings.count <= 1);
	return findings.count ? findings.list[0] : "";
}

static void test_findings(void **state)
{
	static const struct {
		const char *more, *says;
	} rows[] = {
		{"", ""},
		{"{\"card\": 1, \"tflops\": 46}", ""},
		{"{\"card\": 1, \"copy_gbps\": 1901}", ""},
		{"{\"card\": 1, \"copy_gbps\": 1800}",
		 "node01 GPU 1 (H100, serial s1): slow: 1800 GB/s copying in its memory, 90 %"},
		{"{\"card\": 2, \"tflops\": 40, \"throttle\": 4}",
		 "slow: 40 TFLOP/s of f32, 80 % of the 50 of the other H100; the power limit"},
		{"{\"card\": 3, \"readings\": {\"remap_pending\": 1}}", "waits for a reset"},
		{"{\"card\": 3, \"readings\": {\"remap_failed\": 1}}", "have NVIDIA replace it"},
		{"{\"card\": 3, \"readings\": {\"ecc_volatile\": 7}}", "7 uncorrected ECC errors"},
		{"{\"card\": 3, \"readings\": {\"ecc_volatile\": \"not supported\"}}", ""},
		{"{\"card\": 3, \"xids\": [79]}", "Xid 79"},
		{"{\"card\": 3, \"wrong\": 3}", "3 results wrongly"},
		{"{\"card\": 3, \"phase\": \"burn\", \"lost\": true, \"error\": \"x\"}",
		 "off the bus"},
		{"{\"card\": 3, \"phase\": \"burn\", \"hung\": 50.0}",
		 "hung in the phase burn for 50 s"},
		{"{\"card\": 3, \"phase\": \"context\", \"error\": \"MIG\"}",
		 "measured (context): MIG"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *finding = judged(s, rows[i].more);

		if (*rows[i].says ? !strstr(finding, rows[i].says) : *finding)
			fail_msg("%s: '%s'", rows[i].more, finding);
	}
}

/* A host whose cards are all slow is one finding; a card that is slow beside them as well is another one. */
static void test_slow_host(void **state)
{
	struct scratch *s = *state;
	struct words findings = WORDS_INIT(&s->arena);
	struct health_host hosts[] = {
		read_host(s, ""),
		read_host(s, "{\"card\": 0, \"tflops\": 44}\n{\"card\": 1, \"tflops\": 43}\n"
			     "{\"card\": 2, \"tflops\": 44}\n{\"card\": 3, \"tflops\": 30}\n"),
	};

	cards_judge(hosts, 2, &s->arena);
	cards_list_findings(hosts, 2, &s->arena, &findings);
	assert_int_equal(findings.count, 2);
	assert_non_null(
		strstr(findings.list[0],
		       "node01: each of its 4 H100 is slow: 43.5 TFLOP/s of f32, 87 % of the 50 "
		       "of the other hosts"));
	assert_non_null(strstr(findings.list[1],
			       "GPU 3 (H100, serial s3): slow: 30 TFLOP/s of f32, 69 % of the 43.5 "
			       "of the other H100 of its host"));
	assert_true(hosts[1].cards[0].host_is_slow && hosts[1].cards[0].findings.count == 0);
	assert_false(hosts[0].cards[0].host_is_slow);
}

#define PAIR(a, b, link, gbps)                                   \
	"{\"card\": " #a ", \"peer\": " #b ", \"link\": \"" link \
	"\", \"to_gbps\": 400, \"from_gbps\": " #gbps "}\n"

/* Pairs are compared with pairs of their kind; a card whose pairs are all slow is named once. */
static void test_pairs(void **state)
{
	static const struct {
		const char *more, *says;
	} rows[] = {
		{PAIR(0, 1, "NV2", 400) PAIR(0, 2, "NV2", 361) PAIR(0, 3, "SYS", 20), ""},
		{PAIR(0, 1, "NV2", 400) PAIR(0, 2, "NV2", 400) PAIR(1, 2, "NV2", 200),
		 "node01: GPU 1 and GPU 2 (NV2, H100): slow: 200 GB/s from 2 to 1, 50 % of the 400 of such pairs"},
		{PAIR(0, 1, "NV2", 400) PAIR(0, 2, "NV2", 400) PAIR(0, 3, "NV2", 200)
			 PAIR(1, 2, "NV2", 400) PAIR(1, 3, "NV2", 200) PAIR(2, 3, "NV2", 200),
		 "node01: GPU 3: slow: its copies to or from each of 3 other GPUs"},
		{"{\"card\": 0, \"peer\": 1, \"phase\": \"peer\", \"hung\": 50.0}",
		 "GPU 0 and GPU 1: a copy between them hung"},
		{"{\"card\": 0, \"peer\": 1, \"phase\": \"peer\", \"error\": \"x\"}",
		 "could not be measured: x"},
		{"{\"card\": 1, \"peer\": 0, \"hung\": 1}\n{\"card\": 0, \"peer\": 4, \"hung\": 1}\n{\"card\": -1, \"peer\": 1, \"hung\": 1}",
		 ""},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *finding = judged(s, rows[i].more);

		if (*rows[i].says ? !strstr(finding, rows[i].says) : *finding)
			fail_msg("%s: '%s'", rows[i].more, finding);
	}
}

/* A card that cannot be measured is no finding, and its reason is told. */
static void test_not_measured(void **state)
{
	struct scratch *s = *state;
	struct words sentences = WORDS_INIT(&s->arena);
	struct health_host host = read_host(
		s, "{\"card\": 2, \"phase\": \"context\", \"not_measured\": \"MIG mode is on\"}");

	cards_judge(&host, 1, &s->arena);
	cards_list_findings(&host, 1, &s->arena, &sentences);
	assert_int_equal(sentences.count, 0);
	cards_list_not_measured(&host, 1, &s->arena, &sentences);
	assert_int_equal(sentences.count, 1);
	assert_non_null(
		strstr(sentences.list[0], "GPU 2 (H100, serial s2): not measured: MIG mode"));
}

#define HOSTS 1000
#define CARDS 8

/* A thousand hosts, each of which differs a little from the others; with @models of the cards. */
static void make_fleet(struct scratch *s, struct health_host *hosts, size_t models)
{
	unsigned random = 1;

	for (size_t h = 0; h < HOSTS; h++) {
		hosts[h] = (struct health_host){
			.host = "node", .count = CARDS, .findings = WORDS_INIT(&s->arena)};
		hosts[h].cards = ARENA_ARRAY(&s->arena, CARDS, struct health_card);
		for (int i = 0; i < CARDS; i++) {
			struct health_card *card = &hosts[h].cards[i];
			size_t model = (h * CARDS + (size_t)i) % models;

			*card = (struct health_card){
				.host = "node",
				.number = i,
				.model = arena_printf(&s->arena, "model%zu", model),
				.serial = "",
				.uuid = "",
				.bus = "",
				.slot = "",
				.error = "",
				.not_measured = "",
				.phase = "",
				.findings = WORDS_INIT(&s->arena)};
			for (int m = 0; m < CARD_MEASURES; m++) {
				random = random * 1103515245u + 12345u;
				card->measures[m] =
					1000 + (double)(random >> 16 & 15) + (double)(h % 7);
			}
		}
	}
}

static void judge_fleet(struct scratch *s, size_t models, const char *says)
{
	struct health_host *hosts = ARENA_ARRAY(&s->arena, HOSTS, struct health_host);
	struct words findings = WORDS_INIT(&s->arena);

	make_fleet(s, hosts, models);
	for (int i = 0; i < CARDS; i++)
		hosts[500].cards[i].measures[CARD_TFLOPS] = 800;
	hosts[500].cards[3].measures[CARD_TFLOPS] = 600;
	hosts[700].cards[6].measures[CARD_COPY] = 900;
	cards_judge(hosts, HOSTS, &s->arena);
	cards_list_findings(hosts, HOSTS, &s->arena, &findings);
	if (!strstr(words_join(&findings, "\n"), says) || findings.count != (*says ? 3 : 0))
		fail_msg("%zu models: %zu findings: %s", models, findings.count,
			 findings.count ? findings.list[0] : "");
}

/* As many cards as a large fleet has, and names of models as only a hostile one has: what grows with the square of their
 * number is felt here. */
static void test_large_fleet(void **state)
{
	judge_fleet(*state, 1,
		    "node: each of its 8 model0 is slow: 800 TFLOP/s of f32, 79 % of the 101");
	judge_fleet(*state, HOSTS * CARDS, "");
}

/* A host may print anything. */
static void test_hostile(void **state)
{
	struct scratch *s = *state;
	struct words findings = WORDS_INIT(&s->arena);
	struct health_host host = read_host(
		s,
		"{\"card\": 64, \"tflops\": 1}\n{\"card\": -1}\n{\"cards\": 9, \"host\": 1}\n[\n"
		"{\"card\": 0, \"tflops\": -5, \"copy_gbps\": 1e999, \"xids\": [-1, 1e9, \"x\"]}\n"
		"{\"card\": 0, \"serial\": \"\\u001b[2J\\n\"}\n\n\n{");

	assert_int_equal(host.count, 4);
	assert_string_equal(host.cards[0].serial, "?[2J?");
	assert_true(host.cards[0].measures[CARD_TFLOPS] == 0);
	assert_true(host.cards[0].measures[CARD_COPY] == 0);
	assert_int_equal(host.cards[0].xid_count, 0);
	cards_read("", 0, "node02", &s->arena, &host);
	cards_judge(&host, 1, &s->arena);
	cards_list_findings(&host, 1, &s->arena, &findings);
	assert_string_equal(findings.list[0], "node02: the worker told of no GPU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_findings),	SCRATCH_TEST(test_slow_host),
		SCRATCH_TEST(test_pairs),	SCRATCH_TEST(test_not_measured),
		SCRATCH_TEST(test_large_fleet), SCRATCH_TEST(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
