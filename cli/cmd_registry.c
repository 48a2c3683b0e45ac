/* SPDX-License-Identifier: MIT */
#include "cli/remote.h"

#include "core/file.h"
#include "core/json.h"
#include "core/str.h"
#include "plan/credentials.h"
#include "registry-client/list.h"
#include "registry-client/manifest.h"
#include "registry-client/serve.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS_DEFAULT "127.0.0.1:5000"
#define USER_DEFAULT "ringup"

struct options {
	const char *folder, *address, *user, *mirror;
};

#define AT(member) offsetof(struct options, member)
static const struct opt options[] = {
	{0, "folder", "DIR", "of the registry (/var/lib/ringup/registry, or in your home)",
	 OPT_TEXT, AT(folder)},
	{0, "address", "HOST:PORT", "that clients will use (" ADDRESS_DEFAULT ")", OPT_TEXT,
	 AT(address)},
	{'u', "username", "NAME", "that may log in (" USER_DEFAULT ")", OPT_TEXT, AT(user)},
	{0, "mirror", "URL", "pull what is missing through from this registry", OPT_TEXT,
	 AT(mirror)},
	OPT_END,
};
#undef AT

static const char *folder_of(struct context *ctx, const struct options *o)
{
	char here[4096];

	if (o->folder && getcwd(here, sizeof(here)))
		return path_expand(ctx->arena, here, o->folder);
	if (geteuid() == 0)
		return "/var/lib/ringup/registry";
	return path_expand(ctx->arena, NULL, "~/.local/share/ringup/registry");
}

static const char *day_of(int64_t seconds, struct arena *arena)
{
	time_t when = (time_t)seconds;
	struct tm tm;
	char text[32] = "";

	if (gmtime_r(&when, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d", &tm);
	return arena_strdup(arena, text);
}

static int serve(struct context *ctx, const struct options *o, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct serve want = {.folder = folder_of(ctx, o),
			     .address = o->address ? o->address : ADDRESS_DEFAULT,
			     .user = o->user ? o->user : USER_DEFAULT,
			     .mirror = o->mirror};
	struct served served;

	if (serve_start(&want, ctx->arena, &served, err) < 0)
		return -1;
	if (!ctx->json) {
		printf("registry https://%s %s\n\n"
		       "cluster.yaml      registry: {address: \"%s\", ca: %s}\n"
		       "log in            ringup login -u %s %s <%s\n"
		       "Docker, Podman    copy %s to /etc/docker/certs.d/%s/ca.crt\n",
		       want.address, served.was_running ? "runs already" : "runs", want.address,
		       served.ca_path, want.user, want.address, served.password_path,
		       served.ca_path, want.address);
		return 0;
	}
	json = json_document();
	cJSON_AddStringToObject(json, "address", want.address);
	cJSON_AddStringToObject(json, "ca", served.ca_path);
	cJSON_AddStringToObject(json, "username", want.user);
	cJSON_AddStringToObject(json, "password_file", served.password_path);
	cJSON_AddBoolToObject(json, "was_running", served.was_running);
	json_print(stdout, json);
	return 0;
}

/* The user whose password is on file: the first of htpasswd. */
static int open_own(struct context *ctx, const struct serve *own, const struct served *served,
		    struct registry **registry, struct error *err)
{
	const char *htpasswd = arena_printf(ctx->arena, "%s/htpasswd", own->folder);
	const struct remote_options remote = {.ca = served->ca_path};
	struct credentials credentials = {0};
	struct cluster none;
	char *user, *password;

	if (file_read(htpasswd, 64 * KIB, ctx->arena, &user, NULL, err) < 0 ||
	    file_read(served->password_path, KIB, ctx->arena, &password, NULL, err) < 0)
		return -1;
	user[strcspn(user, ":\n")] = '\0';
	credentials.user = user;
	credentials.password.hidden = password;
	cluster_init(ctx->cluster_path, ctx->arena, &none);
	return remote_open_as(ctx, &none, &remote, own->address, &credentials, registry, err);
}

static int add_repository(struct context *ctx, struct registry *registry, const char *address,
			  const char *name, cJSON *list, struct error *err)
{
	struct reference ref = {.registry = address, .repository = name};
	struct words tags = WORDS_INIT(ctx->arena);
	cJSON *item = cJSON_CreateObject(), *names;

	cJSON_AddItemToArray(list, item);
	cJSON_AddStringToObject(item, "name", name);
	names = cJSON_AddArrayToObject(item, "tags");
	if (registry_list_tags(registry, &ref, &tags, err) < 0)
		return -1;
	for (size_t i = 0; i < tags.count; i++) {
		struct manifest manifest;
		struct descriptor descriptor;
		uint64_t bytes = 0;
		const char *text;
		cJSON *tag = cJSON_CreateObject();

		cJSON_AddItemToArray(names, tag);
		ref.tag = tags.list[i];
		cJSON_AddStringToObject(tag, "tag", ref.tag);
		if (registry_get_manifest(registry, &ref, ctx->arena, &descriptor, &text, err) < 0)
			return -1;
		cJSON_AddStringToObject(tag, "digest", descriptor.digest);
		if (media_is_manifest(descriptor.media_type) &&
		    manifest_parse(text, descriptor.size_bytes, ref.tag, ctx->arena, &manifest,
				   err) < 0)
			return -1;
		for (size_t k = 0;
		     media_is_manifest(descriptor.media_type) && k < manifest.layer_count; k++)
			bytes += manifest.layers[k].size_bytes;
		cJSON_AddNumberToObject(tag, "bytes", (double)bytes);
	}
	return 0;
}

static void print_status(const cJSON *json)
{
	const cJSON *repository, *tag;
	char size[32], total[32];

	printf("registry     https://%s %s\n", json_member(json, "address")->valuestring,
	       json_bool(json, "running", false) ? "runs" : "does not run");
	printf("disk         %s free of %s\n",
	       format_bytes(size, (uint64_t)json_number(json, "free_bytes", 0)),
	       format_bytes(total, (uint64_t)json_number(json, "total_bytes", 0)));
	printf("certificate  until %s\n", json_member(json, "certificate_until")->valuestring);
	cJSON_ArrayForEach (repository, json_member(json, "repositories")) {
		cJSON_ArrayForEach (tag, json_member(repository, "tags"))
			printf("%s:%s  %s\n", json_member(repository, "name")->valuestring,
			       json_member(tag, "tag")->valuestring,
			       format_bytes(size, (uint64_t)json_number(tag, "bytes", 0)));
	}
}

static int status(struct context *ctx, const struct options *o, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	_cleanup_(json_free) cJSON *json = json_document();
	struct words names = WORDS_INIT(ctx->arena);
	struct served served;
	struct serve own;
	cJSON *list;

	if (serve_read(folder_of(ctx, o), ctx->arena, &own, &served, err) < 0)
		return -1;
	cJSON_AddStringToObject(json, "address", own.address);
	cJSON_AddBoolToObject(json, "running", served.was_running);
	cJSON_AddNumberToObject(json, "free_bytes", (double)served.free_bytes);
	cJSON_AddNumberToObject(json, "total_bytes", (double)served.total_bytes);
	cJSON_AddStringToObject(json, "certificate_until", day_of(served.expires, ctx->arena));
	list = cJSON_AddArrayToObject(json, "repositories");
	if (served.was_running) {
		if (open_own(ctx, &own, &served, &registry, err) < 0 ||
		    registry_list_repositories(registry, &names, err) < 0)
			return -1;
		for (size_t i = 0; i < names.count; i++)
			if (add_repository(ctx, registry, own.address, names.list[i], list, err) <
			    0)
				return -1;
	}
	if (ctx->json)
		json_print(stdout, json);
	else
		print_status(json);
	return 0;
}

static int say(struct context *ctx, const char *text)
{
	puts(ctx->json ? "{\"schema\": 1, \"ok\": true}" : text);
	return 0;
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	const char *what = arguments[0];
	bool was_running;

	if (strcmp(what, "serve") == 0)
		return serve(ctx, o, err);
	if (strcmp(what, "status") == 0)
		return status(ctx, o, err);
	if (strcmp(what, "stop") == 0) {
		if (serve_stop(folder_of(ctx, o), &was_running, err) < 0)
			return -1;
		return say(ctx, was_running ? "stopped" : "it did not run");
	}
	if (strcmp(what, "gc") == 0) {
		if (serve_collect(folder_of(ctx, o), ctx->arena, err) < 0)
			return -1;
		return say(ctx, "space of removed images is free");
	}
	return error_set(err, ERROR_USAGE, "'%s' is not serve, status, stop or gc", what);
}

const struct command command_registry = {
	.name = "registry",
	.arguments = "serve|status|stop|gc",
	.summary = "runs a private registry on this machine",
	.help = "serve   sets up the Distribution server (package docker-registry) with a CA, a "
		"certificate and a\n"
		"        password of its own, starts it, and prints what clients need; twice is "
		"harmless\n"
		"status  repositories, tags, sizes, free space, expiry of the certificate\n"
		"stop    ends it; its data stays\n"
		"gc      frees the space of images that were removed\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};
