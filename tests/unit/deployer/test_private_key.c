/* SPDX-License-Identifier: MIT */
/* Private key files as ssh-keygen and openssl write them: what is seen of them without their secret. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "deployer/ssh/keys/private_key.h"

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
		SCRATCH_TEST(test_made),
		SCRATCH_TEST(test_none),
		cmocka_unit_test(test_libssh2),
	};

	return cmocka_run_group_tests_name("private_key", tests, NULL, NULL);
}
