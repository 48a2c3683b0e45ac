/* SPDX-License-Identifier: MIT */
/* What a host says of its GPUs, judged and shown: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "deployer/bench/card_pairs.h"
#include "deployer/bench/cards_history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *document = json_document();
	struct words findings = WORDS_INIT(&arena);
	_cleanup_(json_free) cJSON *documents = cJSON_CreateArray();
	struct health_host host;
	struct cards_past past;

	cards_read((const char *)data, size, "node01", &arena, &host);
	fuzz_check(host.count <= CARDS_OF_HOST_MAX);
	for (size_t i = 0; i < host.count; i++) {
		fuzz_check(host.cards[i].xid_count <= CARDS_XIDS_MAX);
		fuzz_check(strlen(host.cards[i].model) <= CARDS_TEXT_BYTES);
		fuzz_check(!strpbrk(host.cards[i].serial, "\033\n\r"));
		for (int m = 0; m < CARD_MEASURES; m++)
			fuzz_check(host.cards[i].measures[m] >= 0);
	}
	cards_judge(&host, 1, &arena);
	cards_list_findings(&host, 1, &arena, &findings);
	fuzz_check(host.count > 0 || findings.count == 1);
	for (size_t i = 0; i < findings.count; i++)
		fuzz_check(!strpbrk(findings.list[i], "\033\n\r"));
	for (size_t i = 0; i < host.pair_count; i++)
		fuzz_check(host.pairs[i].a < host.pairs[i].b &&
			   (size_t)host.pairs[i].b < host.count);
	card_pairs_describe(&host, 1, &findings);
	card_pairs_to_json(&host, 1, document);
	cards_to_json(&host, 1, document);
	/* what it said is what the next run is compared with */
	cJSON_AddStringToObject(document, "time", "2026-11-25T09:00:00Z");
	cJSON_AddItemReferenceToArray(documents, document);
	cards_history_compare(documents, &host, 1, &arena, &past);
	fuzz_check(past.runs == 1 && past.gone.count == 0);
	return 0;
}
