/* SPDX-License-Identifier: MIT */
/* Image references: what is one, and its parts. */
#include "tests/unit/support.h"

#include "plan/reference.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *text, *registry, *repository, *tag, *digest, *written;
} valid[] = {
	{"10.0.0.254:5000/team/train", "10.0.0.254:5000", "team/train", NULL, NULL,
	 "10.0.0.254:5000/team/train:latest"},
	{"10.0.0.254:5000/team/train:v1", "10.0.0.254:5000", "team/train", "v1", NULL,
	 "10.0.0.254:5000/team/train:v1"},
	{"r.example/a@sha256:" HEX, "r.example", "a", NULL, "sha256:" HEX,
	 "r.example/a@sha256:" HEX},
	{"r.example/a:t@sha256:" HEX, "r.example", "a", "t", "sha256:" HEX,
	 "r.example/a@sha256:" HEX},
	{"localhost/a", "localhost", "a", NULL, NULL, "localhost/a:latest"},
	{"localhost:5000/a", "localhost:5000", "a", NULL, NULL, "localhost:5000/a:latest"},
	{"registry:5000/a", "registry:5000", "a", NULL, NULL, "registry:5000/a:latest"},
	{"[::1]:5000/a:b", "[::1]:5000", "a", "b", NULL, "[::1]:5000/a:b"},
	{"R.Example/a/b/c/d", "R.Example", "a/b/c/d", NULL, NULL, "R.Example/a/b/c/d:latest"},
	{"r.io/a.b_c__d-e--f---g:X_y.Z-1", "r.io", "a.b_c__d-e--f---g", "X_y.Z-1", NULL,
	 "r.io/a.b_c__d-e--f---g:X_y.Z-1"},
	{"docker.io/alpine:3", "docker.io", "library/alpine", "3", NULL,
	 "docker.io/library/alpine:3"},
	{"docker.io/nvidia/cuda", "docker.io", "nvidia/cuda", NULL, NULL,
	 "docker.io/nvidia/cuda:latest"},
	{"index.docker.io/alpine@sha256:" HEX, "docker.io", "library/alpine", NULL, "sha256:" HEX,
	 "docker.io/library/alpine@sha256:" HEX},
	{"r.io/0:_", "r.io", "0", "_", NULL, "r.io/0:_"},
	{"r.io/a:" HUNDRED TEN TEN "12345678", "r.io", "a", HUNDRED TEN TEN "12345678", NULL,
	 "r.io/a:" HUNDRED TEN TEN "12345678"},
};

static void assert_same(const char *got, const char *wanted)
{
	if (!wanted)
		assert_null(got);
	else
		assert_string_equal(got, wanted);
}

static void test_valid(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(valid); i++) {
		struct reference ref;
		struct error err = {0};

		assert_fine(reference_parse(valid[i].text, &s->arena, &ref, &err));
		assert_string_equal(ref.registry, valid[i].registry);
		assert_string_equal(ref.repository, valid[i].repository);
		assert_same(ref.tag, valid[i].tag);
		assert_same(ref.digest, valid[i].digest);
		assert_string_equal(reference_text(&ref, &s->arena), valid[i].written);
	}
}

static const char *const invalid[] = {
	"",
	"/",
	"train",
	"team/train",
	"train:5000",
	"r.io/",
	"r.io//a",
	"r.io/a/",
	"r.io/a//b",
	"r.io/A",
	"r.io/a/B",
	"r.io/.a",
	"r.io/a.",
	"r.io/-a",
	"r.io/a-",
	"r.io/_a",
	"r.io/a_",
	"r.io/a..b",
	"r.io/a_-b",
	"r.io/a___b",
	"r.io/a.-b",
	"r.io/a b",
	"r.io/a\n",
	"r.io/\xc3\xbc",
	"r.io/../a",
	"r.io/a:",
	"r.io/a:.b",
	"r.io/a:-b",
	"r.io/a:b c",
	"r.io/a:b/c",
	"r.io/a:b:c",
	"r.io/a:" HUNDRED TEN TEN "123456789",
	"r.io/a@",
	"r.io/a@sha256:",
	"r.io/a@sha256:" HEX "0",
	"r.io/a@sha512:" HEX,
	"r.io/a@latest",
	"r.io/a@sha256:" HEX "@sha256:" HEX,
	"https://r.io/a",
	"r io/a",
	"r.io:/a",
	"r.io:port/a",
	"r.io:1:2/a",
	":5000/a",
	"./a",
	"../a",
	"-r.io/a",
	"u:p@r.io/a",
	"r.io?x/a",
	"[::1/a",
	"r.io/" HUNDRED "/" HUNDRED "/" HUNDRED,
};

static void test_invalid(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(invalid); i++) {
		struct reference ref;
		struct error err = {0};

		if (reference_parse(invalid[i], &s->arena, &ref, &err) == 0)
			fail_msg("accepted: '%s'", invalid[i]);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_has(err.text, "is not an image reference");
	}
}

static void test_target(void **state)
{
	struct reference ref = {.registry = "r.io", .repository = "a"};

	(void)state;
	assert_string_equal(reference_target(&ref), "latest");
	ref.tag = "t";
	assert_string_equal(reference_target(&ref), "t");
	ref.digest = "sha256:" HEX;
	assert_string_equal(reference_target(&ref), "sha256:" HEX);
}

/* Whoever counts as loopback may answer without TLS. */
static void test_loopback(void **state)
{
	static const char *const yes[] = {"127.0.0.1", "127.0.0.1:5000", "127.255.1.2:80",
					  "localhost", "localhost:5000", "[::1]:5000",
					  "[::1]"};
	static const char *const no[] = {"10.0.0.1:5000",
					 "r.io",
					 "128.0.0.1",
					 "127.evil.example:5000",
					 "127.0.0.1.example:80",
					 "localhost.example",
					 "localhostx:5000",
					 "[::1].example",
					 "[::2]:5000",
					 "x127.0.0.1",
					 "127.0.0.1x",
					 "[fe80::1]:5000"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!reference_is_loopback(yes[i]))
			fail_msg("%s is loopback", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (reference_is_loopback(no[i]))
			fail_msg("%s is not loopback", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_valid),
		SCRATCH_TEST(test_invalid),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
