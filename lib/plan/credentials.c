/* SPDX-License-Identifier: MIT */
#include "plan/credentials.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/private.h"
#include "core/json.h"
#include "core/secret.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define AUTH_LENGTH_MAX (4 * CREDENTIAL_BYTES_MAX / 3 + 4) /* in base64 */
#define DOCKER_HUB_KEY "https://index.docker.io/v1/"	   /* as Docker looks it up */

static const char *auth_path(const struct cluster *cluster, struct arena *arena)
{
	return cluster_state_path(cluster, "auth.json", arena);
}

/*
 * Splits base64("user:password"). Docker drops NULs at the end, which old clients padded with
 * (cli/config/configfile, decodeAuth); a NUL elsewhere would cut the password.
 */
static bool decode(const char *auth, struct arena *arena, struct credentials *credentials)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(auth), padding = length - strspn(auth, digits);
	char *text, *colon;

	if (length > AUTH_LENGTH_MAX || length % 4 || padding > 2 ||
	    strspn(auth + length - padding, "=") != padding)
		return false;
	text = arena_alloc(arena, length + 1);
	if (EVP_DecodeBlock((unsigned char *)text, (const unsigned char *)auth, (int)length) < 0)
		return false;
	length = length / 4 * 3 - padding;
	while (length && !text[length - 1])
		length--;
	text[length] = '\0';
	colon = strchr(text, ':');
	if (!colon || strlen(text) != length)
		return false;
	*colon = '\0';
	credentials->user = text;
	credentials->password = (struct secret){colon + 1};
	return true;
}

/* --- the shape of a file -------------------------------------------------------------------- */

/* "PATH: 'auths' must be an object, not a list" */
static int credentials_misshapen(const char *path, const char *key, const char *wanted,
				 const cJSON *found, struct error *err)
{
	const char *what = cJSON_IsArray(found)	   ? "a list"
			   : cJSON_IsObject(found) ? "an object"
			   : cJSON_IsString(found) ? "a text"
			   : cJSON_IsNumber(found) ? "a number"
			   : cJSON_IsBool(found)   ? "true or false"
						   : "null";

	error_set(err, ERROR_USAGE, "%s: %.300s must be %s, not %s", path, key, wanted, what);
	return error_advise(err, "correct the file, or remove it and log in again");
}

/* Whether the object's members have different names: tools do not agree which of two counts. */
static int credentials_check_names(const char *path, const char *key, const cJSON *object,
				   struct arena *arena, struct error *err)
{
	const char *twice = json_twice(object, arena);

	return twice ? error_set(err, ERROR_USAGE, "%s: '%.300s' stands twice in %.300s", path,
				 twice, key)
		     : 0;
}

static int credentials_check_text(const char *path, const char *key, const cJSON *object,
				  const char *name, struct arena *arena, struct error *err)
{
	const cJSON *text = json_member(object, name);

	const char *place = *key ? arena_printf(arena, "%s.'%s'", key, name)
				 : arena_printf(arena, "'%s'", name);

	return !text || cJSON_IsString(text)
		       ? 0
		       : credentials_misshapen(path, place, "a text", text, err);
}

/* One registry's entry of 'auths'. */
static int credentials_check_entry(const char *path, const cJSON *entry, struct arena *arena,
				   struct error *err)
{
	const char *key = arena_printf(arena, "'auths'.'%s'", entry->string);

	if (!cJSON_IsObject(entry))
		return credentials_misshapen(path, key, "an object", entry, err);
	if (credentials_check_names(path, key, entry, arena, err) < 0 ||
	    credentials_check_text(path, key, entry, "auth", arena, err) < 0)
		return -1;
	return credentials_check_text(path, key, entry, "identitytoken", arena, err);
}

static int credentials_check_maps(const char *path, const cJSON *auths, const cJSON *helpers,
				  struct arena *arena, struct error *err)
{
	const cJSON *item;

	if (auths && !cJSON_IsObject(auths))
		return credentials_misshapen(path, "'auths'", "an object", auths, err);
	if (helpers && !cJSON_IsObject(helpers))
		return credentials_misshapen(path, "'credHelpers'", "an object", helpers, err);
	if (credentials_check_names(path, "'auths'", auths, arena, err) < 0 ||
	    credentials_check_names(path, "'credHelpers'", helpers, arena, err) < 0)
		return -1;
	cJSON_ArrayForEach (item, auths)
		if (credentials_check_entry(path, item, arena, err) < 0)
			return -1;
	cJSON_ArrayForEach (item, helpers)
		if (!cJSON_IsString(item))
			return credentials_misshapen(
				path, arena_printf(arena, "'credHelpers'.'%s'", item->string),
				"a text", item, err);
	return 0;
}

/* As Docker reads them: a member that is null is not there. */
static void credentials_drop_nulls(cJSON *object)
{
	cJSON *item = object ? object->child : NULL;

	while (item) {
		cJSON *next = item->next;

		if (cJSON_IsNull(item))
			cJSON_Delete(cJSON_DetachItemViaPointer(object, item));
		else if (cJSON_IsObject(item))
			credentials_drop_nulls(item);
		item = next;
	}
}

int credentials_parse(const char *path, const char *text, size_t length, cJSON **json,
		      struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	size_t blank = 0;

	while (blank < length && memchr(" \t\r\n", text[blank], 4))
		blank++;
	if (blank == length) { /* an empty file is one without logins */
		*json = cJSON_CreateObject();
		return 0;
	}
	if (json_parse(text, length, path, json, err) < 0)
		return error_of_input(err);
	if (cJSON_IsObject(*json))
		credentials_drop_nulls(*json);
	if ((!cJSON_IsObject(*json)
		     ? credentials_misshapen(path, "the file", "an object", *json, err)
		     : credentials_check_names(path, "the file", *json, &arena, err)) == 0 &&
	    credentials_check_text(path, "", *json, "credsStore", &arena, err) == 0 &&
	    credentials_check_maps(path, json_member(*json, "auths"),
				   json_member(*json, "credHelpers"), &arena, err) == 0)
		return 0;
	json_free(json);
	return -1;
}

static int credentials_load(const char *path, cJSON **json, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	size_t length;
	char *text;

	if (file_read(path, FILE_CEILING_BYTES, &arena, &text, &length, err) < 0)
		return error_of_input(err);
	return credentials_parse(path, text, length, json, err);
}

/* --- looking for a registry ----------------------------------------------------------------- */

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
	if (credentials_load(path, &json, err) < 0)
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

/* The file below the folder that the variable names, or NULL. Docker takes a relative one, too. */
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
		path_from_environment("XDG_RUNTIME_DIR")
			? below(arena, "XDG_RUNTIME_DIR", "containers/auth.json")
			: NULL,
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

/* The file to change, under a lock that keeps other logins out until it is written. */
struct credentials_file {
	struct arena arena;
	const char *path;
	cJSON *json; /* an empty object when there is no file */
	mode_t mode;
	int lock;
};

static void credentials_file_close(struct credentials_file *file)
{
	fd_close(&file->lock);
	json_free(&file->json);
	arena_release(&file->arena);
}

/* A link to the file stays a link: the file behind it is changed. */
static int credentials_file_open(const struct cluster *cluster, struct credentials_file *file,
				 struct error *err)
{
	_cleanup_(free_pointer) char *real = NULL;
	struct stat st;

	*file = (struct credentials_file){.arena = ARENA_INIT, .mode = 0600, .lock = -1};
	file->path = auth_path(cluster, &file->arena);
	file->lock = folder_lock(path_folder(&file->arena, file->path));
	if (interrupt_check(err) < 0)
		return -1;
	real = realpath(file->path, NULL);
	if (real)
		file->path = arena_strdup(&file->arena, real);
	if (stat(file->path, &st) < 0) {
		file->json = cJSON_CreateObject();
		return 0;
	}
	file->mode = st.st_mode & 0600;
	return credentials_load(file->path, &file->json, err);
}

int credentials_store(const struct cluster *cluster, const char *registry,
		      const struct credentials *credentials, struct error *err)
{
	_cleanup_(credentials_file_close) struct credentials_file file = {.lock = -1};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	cJSON *auths, *entry;

	if (strchr(credentials->user, ':')) /* RFC 7617, section 2 */
		return error_set(err, ERROR_USAGE, "a user name cannot hold ':'");
	if (strlen(credentials->user) + strlen(secret_reveal(credentials->password)) >=
	    LOGIN_BYTES_MAX)
		return error_set(err, ERROR_USAGE,
				 "the user name and password are too long: %llu bytes are the most",
				 LOGIN_BYTES_MAX);
	if (private_folder(path_folder(&arena, auth_path(cluster, &arena)), err) < 0 ||
	    credentials_file_open(cluster, &file, err) < 0)
		return -1;
	auths = cJSON_GetObjectItemCaseSensitive(file.json, "auths");
	if (!auths)
		auths = cJSON_AddObjectToObject(file.json, "auths");
	cJSON_DeleteItemFromObjectCaseSensitive(auths, registry);
	entry = cJSON_AddObjectToObject(auths, registry);
	cJSON_AddStringToObject(entry, "auth", encode(credentials, &arena));
	return json_write(file.path, file.json, file.mode, err);
}

int credentials_forget(const struct cluster *cluster, const char *registry, bool *was_there,
		       struct error *err)
{
	_cleanup_(credentials_file_close) struct credentials_file file = {.lock = -1};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	cJSON *auths;

	*was_there = false;
	if (!file_exists(auth_path(cluster, &arena)))
		return 0;
	if (private_folder(path_folder(&arena, auth_path(cluster, &arena)), err) < 0 ||
	    credentials_file_open(cluster, &file, err) < 0)
		return -1;
	auths = cJSON_GetObjectItemCaseSensitive(file.json, "auths");
	*was_there = cJSON_GetObjectItemCaseSensitive(auths, registry) != NULL;
	if (!*was_there)
		return 0;
	cJSON_DeleteItemFromObjectCaseSensitive(auths, registry);
	return json_write(file.path, file.json, file.mode, err);
}
