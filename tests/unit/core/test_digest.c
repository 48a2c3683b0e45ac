/* SPDX-License-Identifier: MIT */
/* SHA-256 and SHA-512 against published vectors, and the text form. */
#include "tests/unit/support.h"

#include "core/digest.h"

/* Sources: FIPS 180-2 appendix B, and NIST's "million a". */
static const struct {
	const char *text, *digest;
} vectors[] = {
	{"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	 "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
#define MILLION_A "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static void test_vectors(void **state)
{
	char text[DIGEST_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		digest_of(vectors[i].text, strlen(vectors[i].text), text);
		assert_string_equal(text, vectors[i].digest);
	}
}

/* Source: FIPS 180-2 appendix C. */
#define SHA512_ABC                                                                \
	"sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" \
	"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"

static void test_sha512(void **state)
{
	struct scratch *s = *state;
	char text[DIGEST_TEXT_BYTES];
	struct error err = {0};

	digest_of_as("abc", 3, SHA512_ABC, text);
	assert_string_equal(text, SHA512_ABC);
	digest_of_as("abc", 3, vectors[0].digest, text);
	assert_string_equal(text, vectors[1].digest);
	assert_fine(digest_of_file_as(put(s, "abc", "abc"), SHA512_ABC, text, &err));
	assert_string_equal(text, SHA512_ABC);
	assert_true(digest_is_valid(SHA512_ABC));
	assert_false(digest_is_valid(arena_printf(&s->arena, "%.134s", SHA512_ABC)));
	assert_false(digest_is_valid(arena_printf(&s->arena, "%s0", SHA512_ABC)));
	assert_false(digest_is_valid(arena_printf(&s->arena, "sha256%s", SHA512_ABC + 6)));
	assert_true(digest_is_like(SHA512_ABC, text));
	assert_false(digest_is_like(SHA512_ABC, vectors[0].digest));
}

static void test_in_pieces(void **state)
{
	struct digest digest;
	char text[DIGEST_TEXT_BYTES], piece[1000];

	(void)state;
	memset(piece, 'a', sizeof(piece));
	digest_init(&digest);
	for (int i = 0; i < 1000; i++)
		digest_add(&digest, piece, sizeof(piece));
	digest_finish(&digest, text);
	assert_string_equal(text, MILLION_A);
	assert_null(digest.context);
	digest_release(&digest);
}

static void test_of_file(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	char text[DIGEST_TEXT_BYTES], *million = arena_alloc(&s->arena, 1000001);

	memset(million, 'a', 1000000);
	assert_fine(digest_of_file(put(s, "f", million), text, &err));
	assert_string_equal(text, MILLION_A);
	assert_fine(digest_of_file(put(s, "empty", ""), text, &err));
	assert_string_equal(text, vectors[0].digest);
	assert_fails(digest_of_file(in(s, "none"), text, &err), ERROR_FAILED, in(s, "none"));
	assert_fails(digest_of_file(s->folder, text, &err), ERROR_FAILED, s->folder);
}

static void test_is_valid(void **state)
{
	char text[DIGEST_TEXT_BYTES + 8];

	(void)state;
	assert_true(digest_is_valid(vectors[0].digest));
	assert_false(digest_is_valid(""));
	assert_false(digest_is_valid("sha256:"));
	assert_false(digest_is_valid(vectors[0].digest + 1));
	assert_false(digest_is_valid(
		"sha512:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
	snprintf(text, sizeof(text), "%s0", vectors[0].digest);
	assert_false(digest_is_valid(text));
	snprintf(text, sizeof(text), "%s", vectors[0].digest);
	text[70] = '\0';
	assert_false(digest_is_valid(text));
	text[70] = 'E';
	assert_false(digest_is_valid(text));
	text[70] = 'g';
	assert_false(digest_is_valid(text));
	text[70] = ' ';
	assert_false(digest_is_valid(text));
}

static void test_random_hex(void **state)
{
	struct error err = {0};
	char a[65], b[65];

	(void)state;
	assert_fine(random_hex(a, 32, &err));
	assert_fine(random_hex(b, 32, &err));
	assert_int_equal(strlen(a), 64);
	assert_int_equal(strspn(a, "0123456789abcdef"), 64);
	assert_string_not_equal(a, b);
	assert_int_equal(random_hex(a, 65, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	 cmocka_unit_test(test_in_pieces),
		SCRATCH_TEST(test_sha512),	 SCRATCH_TEST(test_of_file),
		cmocka_unit_test(test_is_valid), cmocka_unit_test(test_random_hex),
	};

	return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
