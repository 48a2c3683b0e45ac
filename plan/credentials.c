/* SPDX-License-Identifier: MIT */
#include "plan/credentials.h"

#include "core/file.h"
#include "core/json.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define AUTH_LENGTH_MAX 4096

static const char *auth_path(const struct cluster *cluster, struct arena *arena)
{
	return cluster_state_path(cluster, "auth.json", arena);
}

/* Splits base64("user:password"). */
static bool decode(const char *auth, struct arena *arena, struct credentials *credentials)
{
	size_t length = strlen(auth);
	char *text, *colon;

	if (length > AUTH_LENGTH_MAX || length % 4)
		return false;
	text = arena_alloc(arena, length + 1);
	if (EVP_DecodeBlock((unsigned char *)text, (const unsigned char *)auth, (int)length) < 0)
		return false;
	colon = strchr(text, ':');
	if (!colon)
		return false;
	*colon = '\0';
	credentials->user = text;
	credentials->password = (struct secret){colon + 1};
	return true;
}

static int read_one(const char *path, const char *registry, struct arena *arena,
		    struct credentials *credentials, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *auth;

	if (!file_exists(path))
		return 0;
	if (json_read(path, &json, err) < 0)
		return -1;
	auth = json_text(json_member(json_member(json, "auths"), registry), "auth", arena);
	if (!auth)
		return 0;
	if (!decode(auth, arena, credentials))
		return error_set(
			err, ERROR_USAGE,
			"%s: the entry for %s is not base64 of user:password; log in again: "
			"ringup login %s",
			path, registry, registry);
	credentials->path = path;
	return 0;
}

int credentials_find(const struct cluster *cluster, const char *registry, struct arena *arena,
		     struct credentials *credentials, struct error *err)
{
	const char *file = getenv("REGISTRY_AUTH_FILE"), *docker = getenv("DOCKER_CONFIG");
	const char *places[4] = {auth_path(cluster, arena), file};

	*credentials = (struct credentials){0};
	if (docker)
		places[2] = arena_printf(arena, "%s/config.json", docker);
	places[3] = path_expand(arena, NULL, "~/.docker/config.json");
	for (size_t i = 0; i < ARRAY_LEN(places) && !credentials->user; i++)
		if (places[i] && read_one(places[i], registry, arena, credentials, err) < 0)
			return -1;
	return 0;
}

int credentials_store(const struct cluster *cluster, const char *registry,
		      const struct credentials *credentials, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const char *path = auth_path(cluster, &arena);
	const char *plain = arena_printf(&arena, "%s:%s", credentials->user,
					 secret_reveal(credentials->password));
	char *auth = arena_alloc(&arena, strlen(plain) * 2 + 8);
	cJSON *auths, *entry;

	if (strchr(credentials->user, ':')) /* RFC 7617, section 2 */
		return error_set(err, ERROR_USAGE, "a user name cannot hold ':'");
	if (strlen(plain) > AUTH_LENGTH_MAX / 2)
		return error_set(err, ERROR_USAGE, "the user name and password are too long");
	if (file_exists(path) && json_read(path, &json, err) < 0)
		return -1;
	if (!json)
		json = cJSON_CreateObject();
	auths = cJSON_GetObjectItemCaseSensitive(json, "auths");
	if (!auths)
		auths = cJSON_AddObjectToObject(json, "auths");
	EVP_EncodeBlock((unsigned char *)auth, (const unsigned char *)plain, (int)strlen(plain));
	cJSON_DeleteItemFromObjectCaseSensitive(auths, registry);
	entry = cJSON_AddObjectToObject(auths, registry);
	cJSON_AddStringToObject(entry, "auth", auth);
	if (folder_make(path_folder(&arena, path), 0700, err) < 0)
		return -1;
	return json_write(path, json, 0600, err);
}

int credentials_forget(const struct cluster *cluster, const char *registry, bool *was_there,
		       struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const char *path = auth_path(cluster, &arena);
	cJSON *auths;

	*was_there = false;
	if (!file_exists(path))
		return 0;
	if (json_read(path, &json, err) < 0)
		return -1;
	auths = cJSON_GetObjectItemCaseSensitive(json, "auths");
	*was_there = cJSON_GetObjectItemCaseSensitive(auths, registry) != NULL;
	if (!*was_there)
		return 0;
	cJSON_DeleteItemFromObjectCaseSensitive(auths, registry);
	return json_write(path, json, 0600, err);
}
