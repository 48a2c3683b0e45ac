/* SPDX-License-Identifier: MIT */
/* auth.json and Docker's config.json: what is accepted has a shape that all readers can walk. */
#include "tests/fuzz/fuzz.h"

#include "plan/credentials.h"

#define REGISTRY "10.0.0.1:5000"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const struct cluster cluster = {.folder = "/nonexistent"};
	struct credentials credentials, same;
	struct error err = {0};
	struct secret text;
	int rc = credentials_parse("f", (const char *)data, size, &json, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		fuzz_check(err.kind == ERROR_USAGE && err.text[0] == 'f');
	else
		fuzz_check(cJSON_IsObject(json));
	setenv("HOME", "/nonexistent", 1);
	unsetenv("DOCKER_CONFIG");
	unsetenv("XDG_RUNTIME_DIR");
	setenv("REGISTRY_AUTH_FILE", fuzz_file(data, size), 1);
	err = (struct error){0};
	rc = credentials_find(&cluster, REGISTRY, &arena, &credentials, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0 || credentials.helper)
		return 0;
	text = credentials_text(&credentials, REGISTRY, &arena);
	if (!*text.hidden)
		return 0;
	/* what an engine elsewhere is given says the same */
	setenv("REGISTRY_AUTH_FILE", fuzz_file((const uint8_t *)text.hidden, strlen(text.hidden)),
	       1);
	fuzz_check(credentials_find(&cluster, REGISTRY, &arena, &same, &err) == 0);
	fuzz_check(!same.user == !credentials.user);
	if (same.user)
		fuzz_check(strcmp(same.user, credentials.user) == 0);
	if (same.password.hidden)
		fuzz_check(strcmp(same.password.hidden, credentials.password.hidden) == 0);
	return 0;
}
