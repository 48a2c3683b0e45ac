/* SPDX-License-Identifier: MIT */
#include "registry-client/serve.h"

#include "core/credential_files.h"
#include "core/file.h"
#include "core/json.h"
#include "core/words.h"
#include "registry-client/limits.h"
#include "registry-client/http/session.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

const char *const serve_files[] = {
	"config.yml", "server.pem", "server.key", "htpasswd", SERVE_MIRROR_CA, NULL,
};

static const char *serve_in(const char *folder, const char *name, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

const char *serve_host_of(const char *address, struct arena *arena, int *port)
{
	const char *colon = strrchr(address, ':');
	size_t length;

	if (!colon || colon == address || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] ||
	    strlen(colon + 1) > 5 ||
	    address[strspn(address,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]")])
		return NULL;
	*port = (int)strtol(colon + 1, NULL, 10);
	length = (size_t)(colon - address);
	if (*port < 1 || *port > 65535)
		return NULL;
	if (address[0] == '[' && address[length - 1] == ']')
		return arena_strndup(arena, address + 1, length - 2);
	return arena_strndup(arena, address, length);
}

/*
 * The server listens only on the address that clients use. A name may mean another address on the
 * server itself (Debian's /etc/hosts has 127.0.1.1), so with a name it listens on all.
 */
static const char *listen_address(const struct serve *serve, struct arena *arena)
{
	int port = 0;
	const char *host = serve_host_of(serve->address, arena, &port);

	if (!host[strspn(host, "0123456789.")] || strchr(host, ':') ||
	    strcmp(host, "localhost") == 0)
		return serve->address;
	return arena_printf(arena, ":%d", port);
}

static void add_storage(cJSON *json, const char *storage)
{
	cJSON *item, *purging;

	item = cJSON_AddObjectToObject(json, "storage");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(item, "filesystem"), "rootdirectory",
				storage);
	cJSON_AddBoolToObject(cJSON_AddObjectToObject(item, "delete"), "enabled", true);
	purging = cJSON_AddObjectToObject(cJSON_AddObjectToObject(item, "maintenance"),
					  "uploadpurging");
	cJSON_AddBoolToObject(purging, "enabled", true);
	cJSON_AddStringToObject(purging, "age", "24h");
	cJSON_AddStringToObject(purging, "interval", "24h");
	cJSON_AddBoolToObject(purging, "dryrun", false);
}

/* https://USER:PASSWORD@HOST. Distribution writes the URL into its log as information; the log's level is above that. */
static void serve_add_url_with_login(cJSON *proxy, const struct serve *serve)
{
	const struct credentials *login = &serve->mirror_login;
	size_t scheme = (size_t)(strstr(serve->mirror, "://") - serve->mirror) + strlen("://");
	const char *password = secret_reveal(login->password);
	char *parts[] = {curl_easy_escape(NULL, login->user, 0),
			 curl_easy_escape(NULL, password, 0)};
	_cleanup_(str_release) struct str url = STR_INIT;

	if (!parts[0] || !parts[1])
		oom();
	str_addf(&url, "%.*s%s:%s@%s", (int)scheme, serve->mirror, parts[0], parts[1],
		 serve->mirror + scheme);
	cJSON_AddStringToObject(proxy, "remoteurl", url.text);
	OPENSSL_cleanse(url.text, url.length);
	OPENSSL_cleanse(parts[1], strlen(parts[1]));
	curl_free(parts[0]);
	curl_free(parts[1]);
}

static void add_mirror(cJSON *json, const struct serve *serve)
{
	const struct credentials *login = &serve->mirror_login;
	cJSON *proxy = cJSON_AddObjectToObject(json, "proxy");

	if (serve->mirror_is_basic && login->user) {
		serve_add_url_with_login(proxy, serve);
		return;
	}
	cJSON_AddStringToObject(proxy, "remoteurl", serve->mirror);
	if (!login->user)
		return;
	cJSON_AddStringToObject(proxy, "username", login->user);
	cJSON_AddStringToObject(proxy, "password", secret_reveal(login->password));
}

/* JSON is YAML, too, and its quoting rules are simple. */
static int serve_write_config(const struct serve *serve, struct arena *arena, struct error *err)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	cJSON *log, *http, *tls, *auth;
	const char *home = serve->home;

	cJSON_AddStringToObject(json, "version", "0.1");
	log = cJSON_AddObjectToObject(json, "log");
	cJSON_AddStringToObject(log, "level", "warn");
	cJSON_AddBoolToObject(cJSON_AddObjectToObject(log, "accesslog"), "disabled", true);
	add_storage(json, serve->storage);
	http = cJSON_AddObjectToObject(json, "http");
	cJSON_AddStringToObject(http, "addr", listen_address(serve, arena));
	tls = cJSON_AddObjectToObject(http, "tls");
	cJSON_AddStringToObject(tls, "certificate", serve_in(home, "server.pem", arena));
	cJSON_AddStringToObject(tls, "key", serve_in(home, "server.key", arena));
	auth = cJSON_AddObjectToObject(cJSON_AddObjectToObject(json, "auth"), "htpasswd");
	cJSON_AddStringToObject(auth, "realm", "ringup");
	cJSON_AddStringToObject(auth, "path", serve_in(home, "htpasswd", arena));
	if (serve->mirror)
		add_mirror(json, serve);
	return json_write(serve_in(serve->folder, "config.yml", arena), json, 0600, err);
}

static int write_description(const struct serve *serve, struct arena *arena, struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();

	cJSON_AddStringToObject(json, "address", serve->address);
	cJSON_AddBoolToObject(json, "usual", serve->is_usual);
	json_add_text(json, "on", serve->on);
	json_add_text(json, "mirror", serve->mirror);
	cJSON_AddStringToObject(json, "home", serve->home);
	cJSON_AddStringToObject(json, "storage", serve->storage);
	return json_write(serve_in(serve->folder, "registry.json", arena), json, 0600, err);
}

bool serve_exists(const char *folder, struct arena *arena)
{
	return file_exists(serve_in(folder, "registry.json", arena));
}

/* The user whose password is on file: the first of htpasswd. */
static const char *read_user(const char *folder, struct arena *arena)
{
	struct error ignored;
	char *user;

	if (file_read(serve_in(folder, "htpasswd", arena), 64 * KIB, arena, &user, NULL, &ignored) <
	    0)
		return NULL;
	user[strcspn(user, ":\n")] = '\0';
	return user;
}

int serve_read(const char *folder, struct arena *arena, struct serve *serve, struct served *served,
	       struct error *err)
{
	const char *path = serve_in(folder, "registry.json", arena);
	const char *ca = serve_in(folder, SERVE_MIRROR_CA, arena);
	_cleanup_(json_free) cJSON *json = NULL;
	struct error damaged;

	*served = (struct served){.ca_path = serve_in(folder, "ca.pem", arena),
				  .password_path = serve_in(folder, "password", arena)};
	if (!file_exists(path))
		return error_set(
			err, ERROR_USAGE,
			"there is no registry in %s; set one up with 'ringup registry serve'",
			folder);
	if (json_read_input(path, &json, err) < 0)
		return -1;
	*serve = (struct serve){.folder = folder,
				.address = json_text(json, "address", arena),
				.is_usual = json_bool(json, "usual", false),
				.on = json_text(json, "on", arena),
				.mirror = json_text(json, "mirror", arena),
				.mirror_ca = file_exists(ca) ? ca : NULL,
				.home = json_text(json, "home", arena),
				.storage = json_text(json, "storage", arena),
				.user = read_user(folder, arena)};
	if (!serve->address || !serve->home || !serve->storage)
		return error_set(err, ERROR_USAGE, "%s is not what 'registry serve' wrote", path);
	/*
	 * A missing or damaged certificate counts as expired in 1970: serve_make makes a new one.
	 */
	if (certificate_expiry(serve_in(folder, "server.pem", arena), &served->expires, &damaged) <
	    0)
		served->expires = 0;
	return 0;
}

int serve_check(const struct serve *want, struct arena *arena, struct error *err)
{
	const char *user = read_user(want->folder, arena);
	struct served ignored;
	struct serve old;
	int port;

	if (!serve_host_of(want->address, arena, &port))
		return error_set(err, ERROR_USAGE, "'%s' is not HOST:PORT", want->address);
	if (want->mirror && !starts_with(want->mirror, "https://") &&
	    !starts_with(want->mirror, "http://"))
		return error_set(err, ERROR_USAGE,
				 "'%s' is no URL of a registry, as https://registry-1.docker.io is",
				 want->mirror);
	if (user && strcmp(user, want->user) != 0)
		return error_set(
			err, ERROR_USAGE,
			"the user of the registry in %s is '%s'; remove its htpasswd to make another, with a new password",
			want->folder, user);
	if (!serve_exists(want->folder, arena))
		return 0;
	if (serve_read(want->folder, arena, &old, &ignored, err) < 0)
		return -1;
	if (!old.mirror != !want->mirror)
		return error_set(
			err, ERROR_USAGE,
			"%s holds a registry that %s; give the other one a port of its own",
			want->folder, old.mirror ? "is a mirror" : "takes pushes");
	return 0;
}

static int keep_mirror_ca(const struct serve *serve, struct arena *arena, struct error *err)
{
	size_t length;
	char *pem;

	if (!serve->mirror_ca)
		return 0;
	if (file_read(serve->mirror_ca, CERTIFICATE_BYTES_MAX, arena, &pem, &length, err) < 0)
		return -1;
	return file_write(serve_in(serve->folder, SERVE_MIRROR_CA, arena), pem, length, 0600, err);
}

int serve_make(const struct serve *serve, struct arena *arena, struct served *served,
	       struct error *err)
{
	struct words hosts = WORDS_INIT(arena);
	struct serve made;
	const char *host;
	int port;

	if (serve_check(serve, arena, err) < 0)
		return -1;
	host = serve_host_of(serve->address, arena, &port);
	words_add(&hosts, host);
	for (const char *const *name = serve->names; name && *name; name++)
		if (strcmp(*name, host) != 0)
			words_add(&hosts, *name);
	if (folder_make(serve->folder, 0700, err) < 0 || keep_mirror_ca(serve, arena, err) < 0 ||
	    certificate_files_make(serve->folder, "ringup registry", hosts.list, err) < 0 ||
	    password_files_make(serve->folder, serve->user, err) < 0 ||
	    serve_write_config(serve, arena, err) < 0 || write_description(serve, arena, err) < 0)
		return -1;
	return serve_read(serve->folder, arena, &made, served, err);
}

bool serve_mirror_wants_basic(struct registry *upstream)
{
	struct error err = {0};
	bool refused = registry_contact(upstream, &err) < 0 && strstr(err.text, "(HTTP 401)");

	/* Without a user no scheme is chosen; a token service accepts requests without one. */
	return upstream->auth.scheme == AUTH_BASIC || (refused && !upstream->auth.user);
}
