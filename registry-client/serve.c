/* SPDX-License-Identifier: MIT */
#include "registry-client/serve.h"

#include "core/clock.h"
#include "core/credential_files.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/json.h"
#include "core/proc.h"
#include "registry-client/limits.h"
#include "registry-client/serve_process.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char *in(const char *folder, const char *name, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

/* The host of HOST:PORT or [HOST]:PORT; NULL: it is not one. */
static const char *host_of(const char *address, struct arena *arena)
{
	const char *colon = strrchr(address, ':');
	size_t length;

	if (!colon || colon == address || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] ||
	    strlen(colon + 1) > 5 ||
	    address[strspn(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-:[]")])
		return NULL;
	length = (size_t)(colon - address);
	if (address[0] == '[' && address[length - 1] == ']')
		return arena_strndup(arena, address + 1, length - 2);
	return arena_strndup(arena, address, length);
}

/* JSON is YAML too, and its quoting is certain. */
static int write_config(const struct serve *serve, struct arena *arena, struct error *err)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	cJSON *log, *storage, *http, *tls, *auth, *item;
	const char *folder = serve->folder;

	cJSON_AddStringToObject(json, "version", "0.1");
	log = cJSON_AddObjectToObject(json, "log");
	cJSON_AddStringToObject(log, "level", "warn");
	cJSON_AddBoolToObject(cJSON_AddObjectToObject(log, "accesslog"), "disabled", true);
	storage = cJSON_AddObjectToObject(json, "storage");
	item = cJSON_AddObjectToObject(storage, "filesystem");
	cJSON_AddStringToObject(item, "rootdirectory", in(folder, "data", arena));
	cJSON_AddBoolToObject(cJSON_AddObjectToObject(storage, "delete"), "enabled", true);
	item = cJSON_AddObjectToObject(cJSON_AddObjectToObject(storage, "maintenance"),
				       "uploadpurging");
	cJSON_AddBoolToObject(item, "enabled", true);
	cJSON_AddStringToObject(item, "age", "24h");
	cJSON_AddStringToObject(item, "interval", "24h");
	cJSON_AddBoolToObject(item, "dryrun", false);
	http = cJSON_AddObjectToObject(json, "http");
	cJSON_AddStringToObject(http, "addr", serve->address);
	tls = cJSON_AddObjectToObject(http, "tls");
	cJSON_AddStringToObject(tls, "certificate", in(folder, "server.pem", arena));
	cJSON_AddStringToObject(tls, "key", in(folder, "server.key", arena));
	auth = cJSON_AddObjectToObject(cJSON_AddObjectToObject(json, "auth"), "htpasswd");
	cJSON_AddStringToObject(auth, "realm", "ringup");
	cJSON_AddStringToObject(auth, "path", in(folder, "htpasswd", arena));
	if (serve->mirror)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(json, "proxy"), "remoteurl",
					serve->mirror);
	return json_write(in(folder, "config.yml", arena), json, 0600, err);
}

static int read_expiry(const char *path, int64_t *expires, struct error *err)
{
	_cleanup_(file_close) FILE *file = fopen(path, "re");
	X509 *certificate = file ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
	struct tm when = {0};
	bool ok = certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &when) == 1;

	X509_free(certificate);
	if (!ok)
		return error_set(err, ERROR_FAILED,
				 "%s is no certificate; remove it, and it is made anew", path);
	*expires = timegm(&when);
	return 0;
}

int serve_read(const char *folder, struct arena *arena, struct serve *serve, struct served *served,
	       struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct statvfs space;

	*serve = (struct serve){.folder = folder};
	*served = (struct served){.ca_path = in(folder, "ca.pem", arena),
				  .password_path = in(folder, "password", arena),
				  .data_path = in(folder, "data", arena)};
	if (!file_exists(in(folder, "config.yml", arena)))
		return error_set(err, ERROR_USAGE,
				 "there is no registry in %s; set one up with 'ringup registry "
				 "serve --folder %s'",
				 folder, folder);
	if (json_read(in(folder, "config.yml", arena), &json, err) < 0 ||
	    read_expiry(in(folder, "server.pem", arena), &served->expires, err) < 0)
		return -1;
	serve->address = json_text(json_member(json, "http"), "addr", arena);
	serve->mirror = json_text(json_member(json, "proxy"), "remoteurl", arena);
	if (!serve->address)
		return error_set(err, ERROR_USAGE, "%s/config.yml names no address", folder);
	if (statvfs(served->data_path, &space) < 0)
		return error_errno(err, "cannot look at %s", served->data_path);
	served->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
	served->total_bytes = (uint64_t)space.f_blocks * space.f_frsize;
	served->was_running = serve_process_runs(folder);
	return 0;
}

/* A folder keeps its address: the certificate is for it. */
static int check_address(const struct serve *serve, struct arena *arena, struct error *err)
{
	struct served served;
	struct serve old;

	if (!file_exists(in(serve->folder, "config.yml", arena)))
		return 0;
	if (serve_read(serve->folder, arena, &old, &served, err) < 0)
		return -1;
	if (strcmp(old.address, serve->address) == 0)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "%s holds the registry of %s; name that address, or another --folder",
			 serve->folder, old.address);
}

static int set_up(const struct serve *serve, const char *host, struct arena *arena,
		  struct error *err)
{
	if (folder_make(in(serve->folder, "data", arena), 0700, err) < 0 ||
	    check_address(serve, arena, err) < 0 ||
	    certificate_files_make(serve->folder, "ringup registry", host, err) < 0 ||
	    password_files_make(serve->folder, serve->user, err) < 0)
		return -1;
	return write_config(serve, arena, err);
}

int serve_start(const struct serve *serve, struct arena *arena, struct served *served,
		struct error *err)
{
	const char *host = host_of(serve->address, arena);
	_cleanup_(fd_close) int lock = -1;
	struct serve same;

	if (!host)
		return error_set(err, ERROR_USAGE, "'%s' is not HOST:PORT", serve->address);
	if (!proc_exists("docker-registry"))
		return error_set(err, ERROR_FAILED,
				 "the program docker-registry is missing; install the package "
				 "docker-registry");
	if (folder_make(serve->folder, 0700, err) < 0 ||
	    file_lock(in(serve->folder, "lock", arena), &lock, err) < 0 ||
	    set_up(serve, host, arena, err) < 0 ||
	    serve_read(serve->folder, arena, &same, served, err) < 0)
		return -1;
	return served->was_running ? 0
				   : serve_process_start(serve->folder, serve->address, arena, err);
}

int serve_stop(const char *folder, bool *was_running, struct error *err)
{
	return serve_process_stop(folder, was_running, err);
}

int serve_collect(const char *folder, struct arena *arena, struct error *err)
{
	struct served served;
	struct serve serve;
	bool was_running;
	int rc;

	if (serve_read(folder, arena, &serve, &served, err) < 0 ||
	    serve_process_stop(folder, &was_running, err) < 0)
		return -1;
	rc = proc_check(WORDS("docker-registry", "garbage-collect", "--delete-untagged",
			      in(folder, "config.yml", arena)),
			err);
	if (was_running && serve_process_start(folder, serve.address, arena, err) < 0)
		return -1;
	return rc;
}
