/* SPDX-License-Identifier: MIT */
#include "plan/credentials.h"

#include "core/file.h"
#include "core/json.h"
#include "core/secret.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define AUTH_LENGTH_MAX 4096
#define DOCKER_HUB_KEY "https://index.docker.io/v1/" /* as Docker looks it up */

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

/* Whether a key names the registry. "https://HOST/v1/" means HOST; Docker Hub has several names. */
static bool is_registry(const char *key, const char *registry)
{
	const char *host = strstr(key, "://");
	size_t length;

	host = host ? host + 3 : key;
	length = strcspn(host, "/");
	if (strncmp(host, registry, length) == 0 && !registry[length])
		return true;
	return strcmp(registry, "docker.io") == 0 &&
	       (strncmp(host, "index.docker.io", length) == 0 ||
		strncmp(host, "registry-1.docker.io", length) == 0) &&
	       length > 9;
}

static const cJSON *credentials_find_entry(const cJSON *object, const char *registry)
{
	const cJSON *exact = json_member(object, registry), *item;

	if (exact)
		return exact;
	cJSON_ArrayForEach (item, object) {
		if (is_registry(item->string, registry))
			return item;
	}
	return NULL;
}

static const char *text_or_null(const cJSON *item, struct arena *arena)
{
	return cJSON_IsString(item) && *item->valuestring ? arena_strdup(arena, item->valuestring)
							  : NULL;
}

static int credentials_read_one(const char *path, const char *registry, struct arena *arena,
				struct credentials *credentials, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *entry;
	const char *auth;

	if (!file_exists(path))
		return 0;
	if (json_read(path, &json, err) < 0)
		return -1;
	entry = credentials_find_entry(json_member(json, "auths"), registry);
	auth = json_text(entry, "auth", arena);
	credentials->identity.hidden = text_or_null(json_member(entry, "identitytoken"), arena);
	credentials->helper = text_or_null(
		credentials_find_entry(json_member(json, "credHelpers"), registry), arena);
	if (!credentials->helper && !auth && !credentials->identity.hidden)
		credentials->helper = text_or_null(json_member(json, "credsStore"), arena);
	if (credentials->helper || credentials->identity.hidden)
		credentials->path = path;
	if (credentials->helper || !auth || (!*auth && credentials->identity.hidden))
		return 0;
	if (!decode(auth, arena, credentials))
		return error_set(
			err, ERROR_USAGE,
			"%s: the entry for %s is not base64 of user:password; log in again: ringup login %s",
			path, registry, registry);
	credentials->path = path;
	return 0;
}

/* The file below the folder that the variable names, or NULL. */
static const char *below(struct arena *arena, const char *variable, const char *file)
{
	const char *folder = getenv(variable);

	return folder && *folder ? arena_printf(arena, "%s/%s", folder, file) : NULL;
}

int credentials_find(const struct cluster *cluster, const char *registry, struct arena *arena,
		     struct credentials *credentials, struct error *err)
{
	const char *places[] = {
		auth_path(cluster, arena),
		getenv("REGISTRY_AUTH_FILE"),
		below(arena, "DOCKER_CONFIG", "config.json"),
		path_expand(arena, NULL, "~/.docker/config.json"),
		below(arena, "XDG_RUNTIME_DIR", "containers/auth.json"),
		path_expand(arena, NULL, "~/.config/containers/auth.json"),
	};

	*credentials = (struct credentials){0};
	for (size_t i = 0; i < ARRAY_LEN(places) && !credentials->path; i++)
		if (places[i] &&
		    credentials_read_one(places[i], registry, arena, credentials, err) < 0)
			return -1;
	return 0;
}

/* base64 of "user:password"; the caller wipes it */
static char *encode(const struct credentials *credentials, struct arena *arena)
{
	char *plain = arena_printf(arena, "%s:%s", credentials->user,
				   secret_reveal(credentials->password));
	size_t length = strlen(plain);
	char *auth = arena_alloc(arena, length * 2 + 8);

	EVP_EncodeBlock((unsigned char *)auth, (const unsigned char *)plain, (int)length);
	secret_wipe_bytes(plain, length);
	return auth;
}

/* cJSON keeps copies of its own. */
static void credentials_wipe_json(cJSON *entry)
{
	cJSON *item;

	cJSON_ArrayForEach (item, entry) {
		if (cJSON_IsString(item))
			secret_wipe_bytes(item->valuestring, strlen(item->valuestring));
	}
}

bool credentials_are_there(const struct credentials *credentials)
{
	return credentials->user || credentials->identity.hidden;
}

struct secret credentials_text(const struct credentials *credentials, const char *registry,
			       struct arena *arena)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	const char *identity =
		credentials->identity.hidden ? secret_reveal(credentials->identity) : NULL;
	char *auth = NULL, *text;
	size_t room;
	cJSON *entry;

	if (!credentials_are_there(credentials))
		return (struct secret){""};
	if (strcmp(registry, "docker.io") == 0)
		registry = DOCKER_HUB_KEY;
	entry = cJSON_AddObjectToObject(cJSON_AddObjectToObject(json, "auths"), registry);
	if (credentials->user)
		auth = encode(credentials, arena);
	if (auth)
		cJSON_AddStringToObject(entry, "auth", auth);
	if (identity)
		cJSON_AddStringToObject(entry, "identitytoken", identity);
	/* in one buffer: one that grows would leave copies behind; a character takes up to six */
	room = 128 + 6 * (strlen(registry) + (auth ? strlen(auth) : 0) +
			  (identity ? strlen(identity) : 0));
	text = arena_alloc(arena, room);
	if (!cJSON_PrintPreallocated(json, text, (int)room, false))
		oom();
	credentials_wipe_json(entry);
	secret_wipe_bytes(auth, auth ? strlen(auth) : 0);
	return (struct secret){text};
}

int credentials_store(const struct cluster *cluster, const char *registry,
		      const struct credentials *credentials, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const char *path = auth_path(cluster, &arena);
	cJSON *auths, *entry;

	if (strchr(credentials->user, ':')) /* RFC 7617, section 2 */
		return error_set(err, ERROR_USAGE, "a user name cannot hold ':'");
	if (strlen(credentials->user) + strlen(secret_reveal(credentials->password)) >=
	    AUTH_LENGTH_MAX / 2)
		return error_set(err, ERROR_USAGE, "the user name and password are too long");
	if (file_exists(path) && json_read(path, &json, err) < 0)
		return -1;
	if (!json)
		json = cJSON_CreateObject();
	auths = cJSON_GetObjectItemCaseSensitive(json, "auths");
	if (!auths)
		auths = cJSON_AddObjectToObject(json, "auths");
	cJSON_DeleteItemFromObjectCaseSensitive(auths, registry);
	entry = cJSON_AddObjectToObject(auths, registry);
	cJSON_AddStringToObject(entry, "auth", encode(credentials, &arena));
	if (folder_private(path_folder(&arena, path), err) < 0)
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
