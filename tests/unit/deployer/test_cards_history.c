/* SPDX-License-Identifier: MIT */
/* GPUs compared with what they did in earlier runs: slower, gone, new, moved and replaced ones. */
#include "tests/unit/support.h"

#include "deployer/bench/cards_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define KEPT(n, tflops)                                                                                        \
	"{\"time\": \"2026-11-1" #n "T09:00:00Z\", \"cards\": ["                                               \
	"{\"host\": \"a\", \"card\": 0, \"model\": \"H100\", \"uuid\": \"GPU-0\", \"bus\": \"0000:10:00.0\", " \
	"\"serial\": \"s0\", \"tflops\": 50, \"findings\": []},"                                               \
	"{\"host\": \"a\", \"card\": 1, \"model\": \"H100\", \"uuid\": \"GPU-1\", \"bus\": \"0000:11:00.0\", " \
	"\"serial\": \"s1\", \"tflops\": " #tflops "}]}"
#define FOUR \
	"[{}, 7, " KEPT(1, 50) ", {\"time\": 3}," KEPT(2, 51) "," KEPT(3, 49) "," KEPT(4, 50) "]"
#define FIRST \
	"{\"card\": 0, \"uuid\": \"GPU-0\", \"model\": \"H100\", \"bus\": \"0000:10:00.0\", \"tflops\": 50}\n"

/* A run of two cards, the first as ever; all that is said about it is added to *says. */
static void compared(struct scratch *s, const char *documents, const char *second,
		     struct words *says, struct health_host *host)
{
	_cleanup_(json_free) cJSON *array = cJSON_Parse(documents);
	const char *text =
		arena_printf(&s->arena, "{\"host\": \"a\", \"cards\": %d}\n" FIRST "%s\n",
			     *second ? 2 : 1, second);
	struct cards_past past;

	assert_non_null(array);
	*says = (struct words)WORDS_INIT(&s->arena);
	cards_read(text, strlen(text), "a", &s->arena, host);
	cards_judge(host, 1, &s->arena);
	cards_history_compare(array, host, 1, &s->arena, &past);
	cards_list_findings(host, 1, &s->arena, says);
	words_add_all(says, words_list(&past.gone));
	words_add_all(says, words_list(&past.fresh));
}

static void test_compared(void **state)
{
	static const char *const rows[][2] = {
		{"{\"card\": 1, \"uuid\": \"GPU-1\", \"bus\": \"0000:11:00.0\", \"tflops\": 46}",
		 ""},
		{"{\"card\": 1, \"uuid\": \"GPU-1\", \"bus\": \"0000:11:00.0\", \"tflops\": 40, \"throttle\": 4}",
		 "slow: 40 TFLOP/s of f32, 80 % of the 50 of its own last 4 good runs (since 2026-11-11); the power"},
		{"",
		 "a GPU 1 (H100, 0000:11:00.0, serial s1, GPU-1): it is gone, and was there on 2026-11-14"},
		/* another one in its place is a repair */
		{"{\"card\": 1, \"uuid\": \"GPU-2\", \"bus\": \"0000:11:00.0\", \"tflops\": 50}",
		 "GPU-2): it is new"},
		/* it cannot say any more who it is */
		{"{\"card\": 1, \"phase\": \"identity\", \"error\": \"NVML: GPU is lost\", \"lost\": true}",
		 "a GPU 1 (H100, 0000:11:00.0, serial s1, GPU-1): it fell off the bus"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct health_host host;
		struct words says;

		compared(s, FOUR, rows[i][0], &says, &host);
		if (says.count != (*rows[i][1] ? 1 : 0) ||
		    (says.count && !strstr(says.list[0], rows[i][1])))
			fail_msg("%s: %zu: %s", rows[i][0], says.count, words_join(&says, "; "));
	}
}

/* Two runs may differ by chance, and what a card did when it was ill is not usual. */
static void test_few(void **state)
{
	static const char slow[] = "{\"card\": 1, \"uuid\": \"GPU-1\", \"tflops\": 25}";
	struct scratch *s = *state;
	struct health_host host;
	struct words says;

	compared(s, "[" KEPT(1, 50) "," KEPT(2, 50) "]", slow, &says, &host);
	assert_int_equal(says.count, 0);
	assert_true(host.cards[1].usual_percent == 0);
	compared(s, "[" KEPT(1, 50) "," KEPT(2, 50) "," KEPT(3, -1) "," KEPT(4, 50) "]", slow,
		 &says, &host);
	assert_int_equal(says.count, 1);
	assert_true(host.cards[1].usual_percent == 50);
	compared(s, "[]", slow, &says, &host);
	assert_int_equal(says.count, 0);
}

/* On another host it has moved; nobody's card is gone of a host that did not answer. */
static void test_hosts(void **state)
{
	static const char text[] =
		"{\"host\": \"b\", \"cards\": 1}\n{\"card\": 0, \"uuid\": \"GPU-1\"}\n";
	_cleanup_(json_free) cJSON *documents = cJSON_Parse(FOUR);
	struct scratch *s = *state;
	struct health_host hosts[2];
	struct cards_past past;

	cards_read("", 0, "a", &s->arena, &hosts[0]);
	cards_read(text, sizeof(text) - 1, "b", &s->arena, &hosts[1]);
	cards_history_compare(documents, hosts, 2, &s->arena, &past);
	assert_int_equal(past.runs, 4);
	assert_int_equal(past.gone.count, 0);
	assert_int_equal(past.fresh.count, 1);
	assert_non_null(strstr(past.fresh.list[0], "it was a GPU 1 before"));
}

static void test_kept(void **state)
{
	static const char text[] =
		"{\"host\": \"b\", \"cards\": 1}\n{\"card\": 0, \"uuid\": \"GPU-1\", \"tflops\": 50}\n";
	struct scratch *s = *state;
	const struct cluster cluster = {.folder = s->folder};
	struct error err = {0};
	struct health_host host;
	struct cards_past past;
	const char **names;
	size_t count = 0;

	for (size_t run = 0; run < CARDS_HISTORY_MAX + 3; run++) {
		cards_read(text, sizeof(text) - 1, "b", &s->arena, &host);
		assert_int_equal(cards_history_keep(&cluster, &host, 1, &s->arena, &past, &err), 0);
		/* of today's older ones the newest */
		assert_int_equal(past.runs, run <= CARDS_HISTORY_MAX ? run : CARDS_HISTORY_MAX + 1);
	}
	assert_true(host.cards[0].usual_percent == 100);
	assert_int_equal(folder_list(cluster_state_path(&cluster, "history/health", &s->arena),
				     ".json", &s->arena, &names, &err),
			 0);
	while (names[count])
		count++;
	assert_int_equal(count, CARDS_HISTORY_MAX + 1);
	/* they become those of every second day, and 30 days stay of them */
	for (size_t i = 0; i < count; i++) {
		struct timespec times[2] = {{.tv_sec = time(NULL) - 86400 * 2 * (long)(count - i)}};

		times[1] = times[0];
		assert_int_equal(
			utimensat(AT_FDCWD,
				  cluster_state_path(
					  &cluster,
					  arena_printf(&s->arena, "history/health/%s", names[i]),
					  &s->arena),
				  times, 0),
			0);
	}
	for (size_t run = 0; run < CARDS_HISTORY_MAX; run++)
		assert_int_equal(cards_history_keep(&cluster, &host, 1, &s->arena, &past, &err), 0);
	assert_int_equal(folder_list(cluster_state_path(&cluster, "history/health", &s->arena),
				     ".json", &s->arena, &names, &err),
			 0);
	for (count = 0; names[count];)
		count++;
	assert_int_equal(count, CARDS_HISTORY_MAX + CARDS_HISTORY_DAYS / 2 - 1);
}

/* What a run of two cards says of the pair, whose copies have @gbps; it is kept. */
static const char *pair_says(struct scratch *s, const char *second, int gbps)
{
	const struct cluster cluster = {.folder = s->folder};
	const char *text = arena_printf(
		&s->arena,
		"{\"host\": \"a\", \"cards\": 2}\n{\"card\": 0, \"uuid\": \"GPU-7\"}\n{\"card\": 1, \"uuid\": \"%s\"}\n"
		"{\"card\": 0, \"peer\": 1, \"link\": \"NV4\", \"to_gbps\": %d, \"from_gbps\": 400, \"direct\": true}\n",
		second, gbps);
	struct error err = {0};
	struct health_host host;
	struct cards_past past;

	cards_read(text, strlen(text), "a", &s->arena, &host);
	cards_judge(&host, 1, &s->arena);
	assert_int_equal(cards_history_keep(&cluster, &host, 1, &s->arena, &past, &err), 0);
	assert_true(host.findings.count <= 1);
	return host.findings.count ? host.findings.list[0] : "";
}

/* A pair is compared with its own days, of which those that were slow do not count, and no other pair's. */
static void test_pairs(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(pair_says(s, "GPU-3", 400), "");
	assert_string_equal(pair_says(s, "GPU-3", 390), "");
	assert_string_equal(pair_says(s, "GPU-3", 300), "");
	assert_string_equal(pair_says(s, "GPU-3", 395), "");
	for (int i = 0; i < 6; i++)
		assert_non_null(strstr(
			pair_says(s, "GPU-3", 250),
			"GPU 0 and GPU 1 (NV4): slow: 250 GB/s, 64 % of the 392.5 of their own last 4 good runs"));
	assert_string_equal(pair_says(s, "GPU-3", 360), "");
	assert_string_equal(pair_says(s, "GPU-9", 250), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_compared), SCRATCH_TEST(test_few),   SCRATCH_TEST(test_hosts),
		SCRATCH_TEST(test_kept),     SCRATCH_TEST(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
