/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/registry_status.h"

#include "core/foreign.h"
#include "core/json.h"

#include <string.h>

#define AT(member) offsetof(struct registry_options, member)
static const struct opt options[] = {
	{0, "on", "HOST", "where it runs: a host of cluster.yaml, or [USER@]ADDRESS[:PORT]",
	 OPT_TEXT, AT(on)},
	{0, "address", "HOST:PORT", "address for clients (127.0.0.1:5000; with --on HOST:5000)",
	 OPT_TEXT, AT(address)},
	{0, "folder", "DIR", "folder of CA and password here (docs/registry.md has the default)",
	 OPT_TEXT, AT(folder)},
	{0, "storage", "DIR", "folder of the images, where it runs", OPT_TEXT, AT(storage)},
	{'u', "username", "NAME", "user who may log in (" SERVE_USER_DEFAULT ")", OPT_TEXT,
	 AT(user)},
	{0, "mirror", "URL", "be a mirror of this registry, which takes no pushes", OPT_TEXT,
	 AT(mirror)},
	{0, "mirror-ca", "FILE", "PEM file of the CA of the registry behind the mirror", OPT_TEXT,
	 AT(mirror_ca)},
	{0, "as", "WAY", "systemd, process or container (the first one that is possible)", OPT_TEXT,
	 AT(as)},
	{0, "image", "REF", "image for a container (" REGISTRY_IMAGE ")", OPT_TEXT, AT(image)},
	{0, "install", NULL, "install Debian's docker-registry where the program is missing",
	 OPT_FLAG, AT(install)},
	{0, "take-over", NULL, "replace a registry that somebody else started on the host",
	 OPT_FLAG, AT(take_over)},
	OPT_END,
};
#undef AT

static void print_served(const struct registry_site *site, const char *way, bool was_running)
{
	const struct serve *own = &site->own;
	const struct served *served = &site->served;

	say("registry https://%s %s %s %s", own->address, was_running ? "runs already" : "runs",
	    strcmp(way, "systemd") == 0 ? "under" : "as a", way);
	if (site->host.member)
		say(" on %s", site->host.member->host->name);
	say("\n\n");
	if (own->mirror)
		say("mirror of         %s; for images of Docker Hub, in cluster.yaml:\n"
		    "                  mirrors: {docker: \"https://%s\"}\n",
		    own->mirror, own->address);
	say("cluster.yaml      registry: {address: \"%s\", ca: %s}\n"
	    "log in            ringup login -u %s %s <%s\n"
	    "Docker, Podman    copy %s to /etc/docker/certs.d/%s/ca.crt\n",
	    own->address, served->ca_path, own->user, own->address, served->password_path,
	    served->ca_path, own->address);
	if (strcmp(way, "process") == 0)
		say("after a boot      the same command again: a process does not come back by itself\n");
}

static int registry_serve(struct registry_site *site, const struct registry_options *o,
			  struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	bool was_running = false;
	const char *way;

	if (site_start(site, o, &way, &was_running, err) < 0)
		return -1;
	if (!site->ctx->json) {
		print_served(site, way, was_running);
		return 0;
	}
	json = json_document();
	cJSON_AddStringToObject(json, "address", site->own.address);
	if (site->host.member)
		cJSON_AddStringToObject(json, "host", site->host.member->host->name);
	json_add_text(json, "mirror", site->own.mirror);
	cJSON_AddStringToObject(json, "as", way);
	cJSON_AddStringToObject(json, "ca", site->served.ca_path);
	cJSON_AddStringToObject(json, "username", site->own.user);
	cJSON_AddStringToObject(json, "password_file", site->served.password_path);
	cJSON_AddBoolToObject(json, "was_running", was_running);
	json_print(stdout, json);
	return 0;
}

static int registry_done(const struct registry_site *site, const char *text)
{
	say("%s\n", site->ctx->json ? "{\"schema\": 1, \"ok\": true}" : text);
	return 0;
}

static int stop(struct registry_site *site, const struct registry_options *o, struct error *err)
{
	bool was_running;

	(void)o;
	if (site_hold(site, err) < 0 || registry_host_stop(&site->host, &was_running, err) < 0)
		return -1;
	return registry_done(site, was_running ? "stopped" : "it did not run");
}

static int registry_collect(struct registry_site *site, const struct registry_options *o,
			    struct error *err)
{
	struct context *ctx = site->ctx;
	struct registry_found found;
	struct error later = {0};
	bool ignored;
	const char *way;
	int rc;

	if (site->own.mirror)
		return error_set(err, ERROR_USAGE,
				 "%s is a mirror: it drops by itself what is seven days old",
				 site->own.address);
	if (site_hold(site, err) < 0 ||
	    registry_host_look(&site->host, false, ctx->arena, &found, err) < 0 ||
	    registry_host_way(&site->host, &found,
			      o->as	  ? o->as
			      : *found.as ? found.as
					  : NULL,
			      &way, err) < 0 ||
	    registry_host_stop(&site->host, &ignored, err) < 0)
		return -1;
	rc = registry_host_collect(&site->host, &found, way, err);
	if (found.running && registry_host_start(&site->host, &found, way, site->own.folder,
						 serve_files, ctx->arena, &ignored, &later) < 0) {
		*err = later;
		return -1;
	}
	return rc < 0 ? -1 : registry_done(site, "space of removed images is free");
}

static int status(struct registry_site *site, const struct registry_options *o, struct error *err)
{
	(void)o;
	return registry_status(site, err);
}

static int registry_run(struct context *ctx, void *values, const char *const *arguments,
			struct error *err)
{
	static const struct {
		const char *name;
		bool makes;
		int (*run)(struct registry_site *site, const struct registry_options *o,
			   struct error *err);
	} verbs[] = {
		{"serve", true, registry_serve},
		{"status", false, status},
		{"stop", false, stop},
		{"gc", false, registry_collect},
	};
	_cleanup_(site_close) struct registry_site site = {0};
	const struct registry_options *o = values;

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(verbs[i].name, arguments[0]) != 0)
			continue;
		if ((verbs[i].makes ? site_plan : site_open)(ctx, o, &site, err) < 0)
			return -1;
		return verbs[i].run(&site, o, err);
	}
	return error_set(err, ERROR_USAGE, "'%s' is not serve, status, stop or gc", arguments[0]);
}

const struct command command_registry = {
	.name = "registry",
	.arguments = "serve|status|stop|gc",
	.summary = "runs a private registry here or on a host",
	.help = "serve   sets up the Distribution server with a CA, a certificate and a password of its own,\n"
		"        starts it, and prints what clients need; twice is harmless, and renews a\n"
		"        certificate that ends within 30 days\n"
		"status  prints repositories, tags, sizes, free space and the certificate's expiry\n"
		"stop    ends the server; its data stays\n"
		"gc      frees the space of images that were removed; the server stops meanwhile\n"
		"\n"
		"The server runs under systemd, as a process where there is no systemd, or as a container where\n"
		"neither docker-registry nor registry is installed. Only --install installs anything.\n"
		"The CA's key stays on this machine.\n"
		"Another port is another registry: name it with --address also for status, stop and gc.\n"
		"\n"
		"  ringup registry serve --on node01\n"
		"  ringup registry serve --on node01 --address :5001 --mirror https://registry-1.docker.io\n",
	.options = options,
	.options_bytes = sizeof(struct registry_options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = registry_run,
};
