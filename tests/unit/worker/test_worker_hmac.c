/* SPDX-License-Identifier: MIT */
/* The worker's SHA-256 and HMAC-SHA-256, by the vectors of FIPS 180-4 (NIST's examples) and RFC 4231. */
#include "tests/unit/support.h"

#include "images/worker/net/hmac.c"

static void assert_hex(const uint8_t *bytes, const char *hex)
{
	char text[2 * MAC_BYTES + 1] = "";

	for (size_t i = 0; i < strlen(hex) / 2; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	assert_string_equal(text, hex);
}

static void test_sha256(void **state)
{
	static const struct {
		const char *text;
		size_t times;
		const char *digest;
	} rows[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	uint8_t digest[MAC_BYTES];
	struct sha256 hash;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sha256_init(&hash);
		for (size_t k = 0; k < rows[i].times; k++)
			sha256_add(&hash, rows[i].text, strlen(rows[i].text));
		sha256_finish(&hash, digest);
		assert_hex(digest, rows[i].digest);
	}
}

/* Bytes as RFC 4231 writes them: `times` times the text. */
struct words {
	const char *text;
	size_t times;
};

static void add(uint8_t *bytes, size_t *length, const struct words *words)
{
	for (size_t i = 0; i < words->times; i++) {
		memcpy(bytes + *length, words->text, strlen(words->text));
		*length += strlen(words->text);
	}
}

static void test_rfc4231(void **state)
{
	static const struct {
		struct words key, data;
		const char *mac;
	} rows[] = {
		{{"\x0b", 20},
		 {"Hi There", 1},
		 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{{"Jefe", 1},
		 {"what do ya want for nothing?", 1},
		 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{{"\xaa", 20},
		 {"\xdd", 50},
		 "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
		{{"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"
		  "\x15\x16\x17\x18\x19",
		  1},
		 {"\xcd", 50},
		 "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
		{{"\x0c", 20}, {"Test With Truncation", 1}, "a3b6167473100ee06e0c796c2955552b"},
		{{"\xaa", 131},
		 {"Test Using Larger Than Block-Size Key - Hash Key First", 1},
		 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
		{{"\xaa", 131},
		 {"This is a test using a larger than block-size key and a larger than block-size "
		  "data. The key needs to be hashed before being used by the HMAC algorithm.",
		  1},
		 "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
	};
	uint8_t key[256], data[256], mac[MAC_BYTES];
	struct hmac hmac;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t key_bytes = 0, data_bytes = 0;

		add(key, &key_bytes, &rows[i].key);
		add(data, &data_bytes, &rows[i].data);
		for (size_t cut = 0; cut <= data_bytes; cut += 7) {
			hmac_init(&hmac, key, key_bytes);
			hmac_add(&hmac, data, cut);
			hmac_add(&hmac, data + cut, data_bytes - cut);
			hmac_finish(&hmac, mac);
			assert_hex(mac, rows[i].mac);
		}
	}
}

/* HMAC of nothing with an empty key, as other libraries have it. */
static void test_empty_key(void **state)
{
	uint8_t mac[MAC_BYTES];
	struct hmac hmac;

	(void)state;
	hmac_init(&hmac, NULL, 0);
	hmac_finish(&hmac, mac);
	assert_hex(mac, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void test_equal_and_wipe(void **state)
{
	uint8_t one[MAC_BYTES] = {0}, other[MAC_BYTES] = {0};

	(void)state;
	assert_true(hmac_equal(one, other, sizeof(one)));
	for (size_t i = 0; i < sizeof(one); i++) {
		other[i] = 0x80;
		assert_false(hmac_equal(one, other, sizeof(one)));
		hmac_wipe(other, sizeof(other));
		assert_true(hmac_equal(one, other, sizeof(one)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_rfc4231),
		cmocka_unit_test(test_empty_key),
		cmocka_unit_test(test_equal_and_wipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
