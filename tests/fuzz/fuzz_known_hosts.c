/* SPDX-License-Identifier: MIT */
/* known_hosts files, whoever wrote them. */
#include "tests/fuzz/fuzz.h"

#include "deployer/ssh/keys/known_hosts.h"

#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIJrQ8kkOZxgbhRP0VzXGzhV3PHJ2nXgTEcDAfLbYbCsA"

static void ask(const char *path, const char *address, int port)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct known_hosts known;
	const struct known_host_key *where = NULL;
	struct error err = {0};

	fuzz_check(known_hosts_load(WORDS(path), known_hosts_name(address, port, &arena), &arena,
				    &known, &err) == 0);
	for (size_t i = 0; i < known.count; i++) {
		enum known_hosts_answer answer =
			known_hosts_check(&known, known.keys[i].type, known.keys[i].base64, &where);

		/* a key that is on file is never a stranger */
		if (known.keys[i].revoked)
			fuzz_check(answer == KNOWN_HOSTS_REVOKED);
		else
			fuzz_check(answer == KNOWN_HOSTS_MATCH || answer == KNOWN_HOSTS_REVOKED);
	}
	known_hosts_check(&known, "ssh-ed25519", KEY, &where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	ask(path, "node01", 22);
	ask(path, "10.0.0.1", 9435);
	return 0;
}
