/* SPDX-License-Identifier: MIT */
#include "registry-client/login/helper.h"

#include "core/json.h"
#include "core/proc.h"
#include "registry-client/limits.h"

#include <string.h>
#include <strings.h>

#define TOKEN_USER "<token>"

/* The name under which a helper keeps a registry: Docker Hub has its old address there. */
static const char *helper_key_of(const char *registry)
{
	return strcmp(registry, "docker.io") == 0 ? "https://index.docker.io/v1/" : registry;
}

static int helper_take(const struct proc_result *result, const char *program, struct arena *arena,
		       struct credentials *credentials, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *user, *secret;

	if (json_parse(result->out.text, result->out.length, program, &json, err) < 0)
		return -1;
	user = json_text(json, "Username", arena);
	secret = json_text(json, "Secret", arena);
	if (!user || !secret)
		return error_set(err, ERROR_FAILED, "%s answered without Username and Secret",
				 program);
	if (strcmp(user, TOKEN_USER) == 0) {
		credentials->identity.hidden = secret;
	} else {
		credentials->user = user;
		credentials->password.hidden = secret;
	}
	return 0;
}

static int helper_ask(const char *registry, struct arena *arena, struct credentials *credentials,
		      struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *program = arena_printf(arena, "docker-credential-%s", credentials->helper);
	const char *key = helper_key_of(registry);
	struct proc proc = {.words = WORDS(program, "get"),
			    .input = key,
			    .input_bytes = strlen(key),
			    .timeout_s = HELPER_SECONDS};
	int rc;

	if (strchr(credentials->helper, '/') || !proc_exists(program))
		return error_set(
			err, ERROR_FAILED,
			"%s says that %s keeps the login of %s, and there is no such program; install it, or run 'ringup login %s'",
			credentials->path, program, registry, registry);
	if (proc_run(&proc, &result, err) < 0)
		return -1;
	if (result.status == 0)
		rc = helper_take(&result, program, arena, credentials, err);
	else if (strcasestr(result.out.text, "not found") ||
		 strcasestr(result.err.text, "not found"))
		rc = 0;
	else
		rc = proc_failed(&proc, &result, err);
	explicit_bzero(result.out.text, result.out.length);
	return rc;
}

int registry_credentials(const struct cluster *cluster, const char *registry, struct arena *arena,
			 struct credentials *credentials, struct error *err)
{
	if (credentials_find(cluster, registry, arena, credentials, err) < 0)
		return -1;
	return credentials->helper ? helper_ask(registry, arena, credentials, err) : 0;
}
