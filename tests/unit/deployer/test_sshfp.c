/* SPDX-License-Identifier: MIT */
/*
 * SSHFP records in DNS answers. The answers are the seeds of the fuzz target: what ssh-keygen -r printed for the keys
 * below, put into messages by dnspython.
 */
#include "tests/unit/support.h"

#include "deployer/access/sshfp.h"

#include <string.h>

#define NAME "node01.cluster.example"
#define ED25519 "AAAAC3NzaC1lZDI1NTE5AAAAIALpNzEmlLioRTxiKOj35H7IeBBtYVmGIsqPFN8WwtiN"
#define OTHER "AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define ECDSA                                                                              \
	"AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGWAcZ7BtZDrAHIx3Do60dOgJ5gr" \
	"396fveAcCsgnamKSGVDyhlmYgG/BWgchMjEf8JlLFhqarcD40SZ9BJeu9f4="
#define RSA                                                                                \
	"AAAAB3NzaC1yc2EAAAADAQABAAABgQC1DhIhvNqUCO5+9WJ59cgEdk0ATBzuTJbVYEqcWaAFVrWnQKYw" \
	"O1Xj4S8YirdudBlQ6AoMONtvCp6xhMB8ylrAcfM7W0pjBaKsO0ePYdOEcAUYmT2EY3n5m0htOZ+mfZA7" \
	"pmN5qsdcFNqpx8JIAzgb3e/kjJGvhOw06YX80/oYrrxeP7dy6ZElBQbmXi3TDpE513bzeqU9boTht9A7" \
	"LtdzI1Ha2kdsGYQOSBQJcvvxc3RovWq0R1EMsv2Khh2Hg3K+/k7T8zzoZvznTxkBMKVvIIck246193te" \
	"VJk6frwEMzzjM8WdNDQgOWzpTI1tfTU8AIamZiGrBdJ0teYDBOGNkj41I7nDfoCXMcRre+jUIYcqvtaR" \
	"9zlq+zezBk8UBA3fQ9gZM+CcjsqzNpWVRheD+rFTtFodaeWycYAk4kesR5U2707xskoPg6KgHoqVNojJ" \
	"c/5Le1lvtVO8lz1fXkxN2sxC7WKc5JW1X1RcY/7UalErNXbF2S+3j414JEwSCZs="

/* Where things stand in the messages: a header, the question, then each record with its owner as a pointer. */
#define FLAGS_AT 2
#define COUNT_AT 6
#define RECORD_AT 40
#define LENGTH_AT (RECORD_AT + 10)
#define DATA_AT (RECORD_AT + 12)

struct message {
	unsigned char *bytes;
	size_t length;
};

/* A block of exactly the message's size, so that a read past its end is seen. */
static struct message seed(struct scratch *s, const char *name)
{
	const char *path =
		arena_printf(&s->arena, "%s/tests/fuzz/seeds/sshfp/%s", source_root(s), name);
	struct message m;
	struct error err = {0};
	char *text;

	assert_fine(file_read(path, 64 * KIB, &s->arena, &text, &m.length, &err));
	m.bytes = xmalloc(m.length);
	memcpy(m.bytes, text, m.length);
	return m;
}

static void test_records(void **state)
{
	struct message m = seed(*state, "all");
	struct error err = {0};
	struct sshfp found;

	assert_fine(sshfp_parse(m.bytes, m.length, NAME, &found, &err));
	assert_int_equal(found.count, 6);
	assert_true(found.authenticated);
	assert_int_equal(sshfp_compare(&found, "ssh-ed25519", ED25519), SSHFP_SAME);
	assert_int_equal(sshfp_compare(&found, "ecdsa-sha2-nistp256", ECDSA), SSHFP_SAME);
	assert_int_equal(sshfp_compare(&found, "ssh-rsa", RSA), SSHFP_SAME);
	assert_int_equal(sshfp_compare(&found, "ssh-ed25519", OTHER), SSHFP_OTHER);
	assert_int_equal(sshfp_compare(&found, "ssh-rsa", ED25519), SSHFP_OTHER);
	assert_int_equal(sshfp_compare(&found, "ssh-dss", RSA), SSHFP_NONE);
	assert_int_equal(sshfp_compare(&found, "ssh-unknown", RSA), SSHFP_NONE);
	assert_int_equal(sshfp_compare(&found, "ssh-ed25519", "no base64!"), SSHFP_NONE);
	/* the AD bit, and names in another case and with a dot at the end */
	m.bytes[FLAGS_AT + 1] &= (unsigned char)~0x20;
	assert_fine(sshfp_parse(m.bytes, m.length, "NODE01.Cluster.example.", &found, &err));
	assert_int_equal(found.count, 6);
	assert_false(found.authenticated);
	assert_fine(sshfp_parse(m.bytes, m.length, "node02.cluster.example", &found, &err));
	assert_int_equal(found.count, 0);
	free(m.bytes);
}

static void test_other_answers(void **state)
{
	static const struct {
		const char *name;
		size_t count;
		bool authenticated;
	} cases[] = {
		{"cname", 2, true}, {"plain", 2, false}, {"none", 0, true}, {"signed", 2, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct message m = seed(*state, cases[i].name);
		struct error err = {0};
		struct sshfp found;

		assert_fine(sshfp_parse(m.bytes, m.length, NAME, &found, &err));
		assert_int_equal(found.count, cases[i].count);
		assert_int_equal(found.authenticated, cases[i].authenticated);
		assert_int_equal(sshfp_compare(&found, "ssh-ed25519", ED25519),
				 cases[i].count ? SSHFP_SAME : SSHFP_NONE);
		free(m.bytes);
	}
}

/* One record that is another's is enough, as for ssh(1), whatever the others say. */
static void test_one_contradicts(void **state)
{
	static const size_t places[] = {DATA_AT + 2, DATA_AT + 21, DATA_AT + 22 + 12 + 2,
					DATA_AT + 22 + 12 + 33};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct message m = seed(*state, "plain");
		struct error err = {0};
		struct sshfp found;

		m.bytes[places[i]] ^= 1;
		assert_fine(sshfp_parse(m.bytes, m.length, NAME, &found, &err));
		assert_int_equal(sshfp_compare(&found, "ssh-ed25519", ED25519), SSHFP_OTHER);
		free(m.bytes);
	}
}

/* Byte `at` of the answer "plain" is `value`; what the reader says. */
static const struct {
	size_t at;
	unsigned char value;
	const char *error; /* NULL: it is read, with `count` records */
	size_t count;
} changes[] = {
	{DATA_AT, 6, NULL, 1},				      /* Ed448, which no ssh has */
	{DATA_AT, 0, NULL, 1},				      /* reserved */
	{DATA_AT + 1, 3, NULL, 1},			      /* a digest that nobody knows */
	{DATA_AT + 1, 2, "has a fingerprint of 20 bytes", 0}, /* SHA-256 of SHA-1's length */
	{LENGTH_AT + 1, 0x15, "damaged", 0},
	{LENGTH_AT, 0xff, "damaged", 0},
	{RECORD_AT + 1, RECORD_AT, "damaged", 0}, /* an owner that points to itself */
	{RECORD_AT, 0xff, "damaged", 0},	  /* and one that points behind the end */
	{COUNT_AT, 0xff, "damaged", 0},
	{FLAGS_AT, 0x83, "do not fit into one datagram", 0},
	{FLAGS_AT + 1, 0x82, "error 2", 0},
	{FLAGS_AT + 1, 0x83, NULL, 2},
	{RECORD_AT + 5, 3, NULL, 1},  /* another class than IN */
	{RECORD_AT + 3, 45, NULL, 1}, /* another type */
};

static void test_damaged(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct message m = seed(*state, "plain");
		struct error err = {0};
		struct sshfp found;

		m.bytes[changes[i].at] = changes[i].value;
		if (changes[i].error) {
			assert_fails(sshfp_parse(m.bytes, m.length, NAME, &found, &err),
				     ERROR_FAILED, changes[i].error);
			assert_has(err.text, NAME);
		} else {
			assert_fine(sshfp_parse(m.bytes, m.length, NAME, &found, &err));
			assert_int_equal(found.count, changes[i].count);
		}
		free(m.bytes);
	}
}

static void test_cut(void **state)
{
	struct message m = seed(*state, "all");

	for (size_t length = 0; length < m.length; length++) {
		unsigned char *part = xmalloc(length + !length);
		struct error err = {0};
		struct sshfp found;

		memcpy(part, m.bytes, length);
		assert_fails(sshfp_parse(part, length, NAME, &found, &err), ERROR_FAILED,
			     "damaged");
		free(part);
	}
	free(m.bytes);
}

/* The first record of "plain" again and again, without the rest. */
static void test_many(void **state)
{
	enum { RECORD_BYTES = 34, TOO_MANY = SSHFP_RECORDS_MAX + 1 };
	struct message m = seed(*state, "plain");
	unsigned char many[RECORD_AT + TOO_MANY * RECORD_BYTES];
	struct error err = {0};
	struct sshfp found;

	memcpy(many, m.bytes, RECORD_AT);
	many[11] = 0; /* no EDNS */
	for (size_t i = 0; i < TOO_MANY; i++)
		memcpy(many + RECORD_AT + i * RECORD_BYTES, m.bytes + RECORD_AT, RECORD_BYTES);
	many[COUNT_AT + 1] = SSHFP_RECORDS_MAX;
	assert_fine(sshfp_parse(many, sizeof(many) - RECORD_BYTES, NAME, &found, &err));
	assert_int_equal(found.count, SSHFP_RECORDS_MAX);
	many[COUNT_AT + 1] = TOO_MANY;
	assert_fails(sshfp_parse(many, sizeof(many), NAME, &found, &err), ERROR_FAILED,
		     "more than 32 SSHFP records");
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_records),
		SCRATCH_TEST(test_other_answers),
		SCRATCH_TEST(test_one_contradicts),
		SCRATCH_TEST(test_damaged),
		SCRATCH_TEST(test_cut),
		SCRATCH_TEST(test_many),
	};

	return cmocka_run_group_tests_name("sshfp", tests, NULL, NULL);
}
