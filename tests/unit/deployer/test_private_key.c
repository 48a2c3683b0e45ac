/* SPDX-License-Identifier: MIT */
/* Private key files as ssh-keygen and openssl write them: what is seen of them without their secret. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "deployer/ssh/keys/key_signer.h"
#include "deployer/ssh/keys/private_key.h"

#include <openssl/evp.h>

static const struct {
	const char *type, *format, *passphrase;
	const char *seen; /* the type that is seen without a .pub */
} made[] = {
	{"ed25519", "RFC4716", "", "ssh-ed25519"},
	{"ed25519", "RFC4716", "secret", "ssh-ed25519"},
	{"ecdsa", "RFC4716", "", "ecdsa-sha2-nistp256"},
	{"rsa", "RFC4716", "", "ssh-rsa"},
	{"rsa", "PEM", "", "ssh-rsa"},
	{"rsa", "PEM", "secret", "ssh-rsa"},
	{"ecdsa", "PEM", "", "ecdsa-sha2-"},
	{"ecdsa", "PKCS8", "", ""},
	{"ecdsa", "PKCS8", "secret", ""},
};

static void test_made(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		const char *path = in(s, arena_printf(&s->arena, "key%zu", i));
		const char *public_path = arena_printf(&s->arena, "%s.pub", path);
		struct private_key key, alone;
		struct error err = {0};

		assert_fine(proc_check(WORDS("ssh-keygen", "-q", "-t", made[i].type, "-m",
					     made[i].format, "-N", made[i].passphrase, "-f", path),
				       &err));
		private_key_look(path, &s->arena, &key);
		assert_int_equal(key.state, PRIVATE_KEY_FOUND);
		assert_int_equal(key.encrypted, *made[i].passphrase != '\0');
		assert_has(slurp(s, public_path), key.public_base64);
		assert_true(starts_with(slurp(s, public_path), key.type));
		assert_int_equal(unlink(public_path), 0);
		assert_int_equal(chmod(path, 0640), 0);
		private_key_look(path, &s->arena, &alone);
		assert_int_equal(alone.state, PRIVATE_KEY_EXPOSED);
		assert_int_equal(chmod(path, 0600), 0);
		private_key_look(path, &s->arena, &alone);
		assert_int_equal(alone.state, PRIVATE_KEY_FOUND);
		assert_int_equal(alone.encrypted, key.encrypted);
		assert_string_equal(alone.type, made[i].seen);
		if (strcmp(made[i].format, "RFC4716") == 0)
			assert_string_equal(alone.public_base64, key.public_base64);
	}
}

static void test_none(void **state)
{
	struct scratch *s = *state;
	struct private_key key;

	private_key_look(in(s, "missing"), &s->arena, &key);
	assert_int_equal(key.state, PRIVATE_KEY_MISSING);
	private_key_look(s->folder, &s->arena, &key);
	assert_int_equal(key.state, PRIVATE_KEY_UNREADABLE);
	private_key_look(put(s, "pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me\n"), &s->arena, &key);
	assert_int_equal(key.state, PRIVATE_KEY_FOREIGN);
	private_key_look(put(s, "cut", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n"),
			 &s->arena, &key);
	assert_int_equal(key.state, PRIVATE_KEY_FOREIGN);
	private_key_look(put(s, "empty", ""), &s->arena, &key);
	assert_int_equal(key.state, PRIVATE_KEY_FOREIGN);
}

/* A new key of this type; its path. */
static const char *made_key(struct scratch *s, const char *name, const char *type,
			    const char *passphrase)
{
	const char *path = in(s, name);
	struct error err = {0};

	assert_fine(proc_check(WORDS("ssh-keygen", "-q", "-t", type, "-N", passphrase, "-f", path),
			       &err));
	return path;
}

/* OpenSSL checks, with the public key that ssh-keygen wrote. */
static void test_signer(void **state)
{
	struct scratch *s = *state;
	const char *path = made_key(s, "a", "ed25519", "");
	const struct key_signer *signer = key_signer_find(path);
	unsigned char signature[KEY_SIGNATURE_BYTES], blob[KEY_BLOB_BYTES + 3];
	const char *base64 = strchr(slurp(s, in(s, "a.pub")), ' ') + 1;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY *key;

	assert_non_null(signer);
	assert_ptr_equal(key_signer_find(path), signer);
	assert_int_equal(EVP_DecodeBlock(blob, (const unsigned char *)base64, 68), KEY_BLOB_BYTES);
	assert_memory_equal(key_signer_blob(signer), blob, KEY_BLOB_BYTES);
	assert_int_equal(key_signer_sign(signer, "some words", 10, signature), 0);
	key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, blob + KEY_BLOB_BYTES - 32, 32);
	assert_int_equal(EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key), 1);
	assert_int_equal(EVP_DigestVerify(ctx, signature, sizeof(signature),
					  (const unsigned char *)"some words", 10),
			 1);
	EVP_PKEY_free(key);
	EVP_MD_CTX_free(ctx);
}

/* Files that are no Ed25519 key without a passphrase, and one whose halves come from two keys. */
static void test_signer_refuses(void **state)
{
	struct scratch *s = *state;
	const char *one = slurp(s, made_key(s, "one", "ed25519", ""));
	const char *other = slurp(s, made_key(s, "other", "ed25519", ""));
	size_t length = strlen(one), at = 300;
	char *mixed = arena_strdup(&s->arena, one);

	assert_null(key_signer_find(made_key(s, "locked", "ed25519", "secret")));
	assert_null(key_signer_find(made_key(s, "ec", "ecdsa", "")));
	assert_null(key_signer_find(in(s, "missing")));
	assert_null(key_signer_find(put(s, "cut", arena_strndup(&s->arena, one, length / 2))));
	assert_true(length > at && strlen(other) == length);
	memcpy(mixed, other, at); /* the public key of one, the private part of the other */
	assert_null(key_signer_find(put(s, "mixed", mixed)));
}

static void test_libssh2(void **state)
{
	(void)state;
	assert_true(private_key_is_for_libssh2("ssh-ed25519"));
	assert_true(private_key_is_for_libssh2("ssh-ed25519 AAAA me@host"));
	assert_true(private_key_is_for_libssh2("ecdsa-sha2-nistp384"));
	assert_false(private_key_is_for_libssh2("ssh-rsa"));
	assert_false(private_key_is_for_libssh2("sk-ssh-ed25519@openssh.com"));
	assert_false(private_key_is_for_libssh2("ssh-ed25519-cert-v01@openssh.com AAAA"));
	assert_false(private_key_is_for_libssh2(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_made),	SCRATCH_TEST(test_none),
		SCRATCH_TEST(test_signer),	SCRATCH_TEST(test_signer_refuses),
		cmocka_unit_test(test_libssh2),
	};

	return cmocka_run_group_tests_name("private_key", tests, NULL, NULL);
}
