/* SPDX-License-Identifier: MIT */
#include "cli/app/registry_site.h"

#include "cli/app/registry_access.h"
#include "registry-client/login/helper.h"
#include "core/file.h"
#include "core/private.h"
#include "core/str.h"
#include "deployer/ssh/reach.h"

#include <string.h>
#include <unistd.h>

#define PORT_DEFAULT 5000

static const char *here(struct arena *arena, const char *path)
{
	char folder[4096];

	if (starts_with(path, "./"))
		path += 2;
	return path_expand(arena, getcwd(folder, sizeof(folder)), path);
}

/* "" for the usual port. */
static const char *suffix(int port, struct arena *arena)
{
	return port == PORT_DEFAULT ? "" : arena_printf(arena, "-%d", port);
}

/* What stands before the port of our default address. */
static const char *usual_host(const struct registry_site *site)
{
	const char *address;

	if (!site->host.member)
		return "127.0.0.1";
	address = site->host.member->host->address;
	return strchr(address, ':') ? arena_printf(site->ctx->arena, "[%s]", address) : address;
}

/* --address may be just ":PORT". */
static int asked_address(const struct registry_site *site, const struct registry_options *o,
			 const char **address, int *port, struct error *err)
{
	struct arena *arena = site->ctx->arena;
	const char *text = o->address ? o->address : arena_printf(arena, ":%d", PORT_DEFAULT);

	*address = *text == ':' ? arena_printf(arena, "%s%s", usual_host(site), text) : text;
	if (!serve_host_of(*address, arena, port))
		return error_set(err, ERROR_USAGE, "'%s' is not HOST:PORT", o->address);
	return 0;
}

static const char *folder_of(const struct registry_site *site, const struct registry_options *o,
			     int port)
{
	struct arena *arena = site->ctx->arena;
	const char *end = suffix(port, arena);

	if (o->folder)
		return here(arena, o->folder);
	if (site->host.member)
		return here(arena,
			    cluster_state_path(&site->cluster,
					       arena_printf(arena, "registry/%s%s",
							    site->host.member->host->name, end),
					       arena));
	if (geteuid() == 0)
		return arena_printf(arena, "/var/lib/ringup/registry%s", end);
	return path_expand(arena, NULL,
			   arena_printf(arena, "~/.local/share/ringup/registry%s", end));
}

static int find_host(struct registry_site *site, const char *on, struct error *err)
{
	struct context *ctx = site->ctx;
	struct host *host = ARENA_NEW(ctx->arena, struct host);
	struct fleet_options options = {.timeout_s = ctx->timeout_s, .jobs = 1};

	site->is_known = cluster_host(&site->cluster, on);
	if (cluster_host_named(&site->cluster, on, ctx->arena, host, err) < 0)
		return -1;
	site->cluster.hosts = host;
	site->cluster.host_count = 1;
	if (fleet_init(&site->cluster, &options, ctx->arena, &site->fleet, err) < 0)
		return -1;
	site->host.member = site->fleet.members;
	site->is_plain = !site->is_known && strcmp(host->address, on) == 0;
	return 0;
}

/*
 * A bare address of a host that is not in the cluster file: user and port are those with which the
 * registry was set up.
 */
static int registry_site_recall(struct registry_site *site, struct error *err)
{
	struct host *host = site->cluster.hosts;
	struct context *ctx = site->ctx;

	if (!site->host.member || !site->is_plain || !site->own.on)
		return 0;
	if (cluster_host_named(&site->cluster, site->own.on, ctx->arena, host, err) < 0)
		return error_wrap(err, "%s/registry.json", site->own.folder);
	return reach_host(&site->cluster, host, ctx->timeout_s, ctx->arena,
			  &site->fleet.members->target, err);
}

/* How ssh reaches the host; NULL for one of the cluster file, which says it anew each time. */
static const char *registry_site_on(const struct registry_site *site)
{
	const struct host *host = site->cluster.hosts;

	if (!site->host.member || site->is_known)
		return NULL;
	return arena_printf(site->ctx->arena,
			    strchr(host->address, ':') ? "%s@[%s]:%d" : "%s@%s:%d", host->user,
			    host->address, host->port);
}

/* What the registry's address and folder say about its place. */
static void registry_site_place(struct registry_site *site)
{
	struct registry_host *host = &site->host;
	struct arena *arena = site->ctx->arena;
	const struct serve *own = &site->own;

	serve_host_of(own->address, arena, &host->port);
	host->name = arena_printf(arena, "ringup-registry%s", suffix(host->port, arena));
	host->home = own->home	    ? own->home
		     : host->member ? ""
				    : arena_printf(arena, "%s/server", own->folder);
	host->storage = own->storage   ? own->storage
			: host->member ? ""
				       : arena_printf(arena, "%s/data", own->folder);
	host->has_mirror_ca = own->mirror_ca != NULL;
}

static int registry_site_find(struct context *ctx, const struct registry_options *o,
			      struct registry_site *site, const char **address, struct error *err)
{
	const struct cluster *cluster;
	const struct engine *engine;
	int port;

	*site = (struct registry_site){.ctx = ctx, .lock = -1};
	if (context_cluster_or_defaults(ctx, &cluster, err) < 0)
		return -1;
	site->cluster = *cluster;
	if ((o->on && find_host(site, o->on, err) < 0) ||
	    asked_address(site, o, address, &port, err) < 0)
		return -1;
	engine = engine_find(site->cluster.container.engine);
	site->host.engine = engine ? engine : engine_find("auto");
	site->host.image = o->image ? o->image : REGISTRY_IMAGE;
	site->own.folder = folder_of(site, o, port);
	site->is_in_state = site->host.member && !o->folder;
	site->takes_over = o->take_over;
	site->is_there = serve_exists(site->own.folder, ctx->arena);
	return 0;
}

int site_open(struct context *ctx, const struct registry_options *o, struct registry_site *site,
	      struct error *err)
{
	const char *address;

	if (registry_site_find(ctx, o, site, &address, err) < 0 ||
	    serve_read(site->own.folder, ctx->arena, &site->own, &site->served, err) < 0 ||
	    registry_site_recall(site, err) < 0)
		return -1;
	registry_site_place(site);
	return 0;
}

/*
 * What it is called from now on: as asked, as it was, or the host's own address, which may change.
 */
static void choose_address(struct registry_site *site, const struct registry_options *o,
			   const char *asked)
{
	struct serve *own = &site->own;
	int port = 0;

	if (!o->address && own->address && !own->is_usual)
		return;
	if (!o->address && own->address) {
		serve_host_of(own->address, site->ctx->arena, &port);
		asked = arena_printf(site->ctx->arena, "%s:%d", usual_host(site), port);
	}
	own->address = asked;
	own->is_usual = !o->address || *o->address == ':';
}

/* HOST[:PORT] of the registry that is pulled through; NULL: it is no mirror. */
static const char *upstream(const struct registry_site *site)
{
	const char *host = site->own.mirror ? strstr(site->own.mirror, "://") : NULL;

	if (!host)
		return NULL;
	host += strlen("://");
	return arena_strndup(site->ctx->arena, host, strcspn(host, "/"));
}

/* What is on file of the registry behind a mirror: its login, and its CA if it is the cluster's. */
static int know_upstream(struct registry_site *site, struct error *err)
{
	const struct cluster_registry *known = &site->cluster.registry;
	const char *address = upstream(site);
	struct serve *own = &site->own;

	if (!address)
		return own->mirror_ca ? error_set(err, ERROR_USAGE, "--mirror-ca is for --mirror")
				      : 0;
	if (!own->mirror_ca && known->address && strcmp(known->address, address) == 0 && *known->ca)
		own->mirror_ca = cluster_path(&site->cluster, known->ca, site->ctx->arena);
	return registry_credentials(&site->cluster, address, site->ctx->arena, &own->mirror_login,
				    err);
}

/* Finds out how a server of this kind logs in to `own.mirror`; an error where its login is missing or refused there. */
static int registry_site_check_mirror(struct registry_site *site,
				      const struct registry_found *found, const char *way,
				      struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct serve *own = &site->own;
	const struct access_options options = {.ca = own->mirror_ca,
					       .plain_http = own->mirror &&
							     starts_with(own->mirror, "http:"),
					       .credentials = &own->mirror_login};
	const struct mirror upstream_place = {.ref = {.registry = upstream(site)},
					      .plain_http = options.plain_http,
					      .has_scheme = true};
	bool is_old = strcmp(way, "container") == 0 ? strcmp(site->host.image, REGISTRY_IMAGE) == 0
						    : !strstr(found->version, "/v3");

	if (!upstream_place.ref.registry || !is_old)
		return 0;
	if (access_open_place(site->ctx, &options, &upstream_place, &registry, err) < 0)
		return -1;
	if (!serve_mirror_wants_basic(registry))
		return 0;
	if (!own->mirror_login.user)
		return error_set(err, ERROR_FAILED,
				 "%s asks for a password; log in there first: ringup login %s",
				 own->mirror, upstream(site));
	own->mirror_is_basic = true;
	return registry_contact(registry, err);
}

int site_plan(struct context *ctx, const struct registry_options *o, struct registry_site *site,
	      struct error *err)
{
	struct serve *own = &site->own;
	const char *address;

	if (registry_site_find(ctx, o, site, &address, err) < 0 ||
	    (site->is_there && (serve_read(own->folder, ctx->arena, own, &site->served, err) < 0 ||
				registry_site_recall(site, err) < 0)))
		return -1;
	own->on = registry_site_on(site);
	if (site->is_there) {
		registry_site_place(site);
		site->before = site->host;
	}
	choose_address(site, o, address);
	if (o->user || !own->user)
		own->user = o->user ? o->user : SERVE_USER_DEFAULT;
	if (o->mirror)
		own->mirror = o->mirror;
	if (o->mirror_ca)
		own->mirror_ca = here(ctx->arena, o->mirror_ca);
	if (o->storage)
		own->storage = site->host.member ? o->storage : here(ctx->arena, o->storage);
	if (own->storage && *own->storage != '/')
		return error_set(err, ERROR_USAGE, "--storage %s: name the whole path there",
				 own->storage);
	if (know_upstream(site, err) < 0)
		return -1;
	registry_site_place(site);
	return serve_check(own, ctx->arena, err);
}

/* In .ringup, nobody else may come near the CA's key; another folder is as its owner wants it. */
static int registry_site_own(struct registry_site *site, struct error *err)
{
	struct arena *arena = site->ctx->arena;
	struct owner person;

	if (private_folder(cluster_state_path(&site->cluster, "", arena), err) < 0 ||
	    (site->is_in_state && private_folder(site->own.folder, err) < 0) ||
	    owner_load(&site->cluster, true, arena, &person, err) < 0)
		return -1;
	site->owner = owner_of_registries(&person, arena);
	site->host.owner = site->before.owner = &site->owner;
	site->host.takes_over = site->before.takes_over = site->takes_over;
	return 0;
}

int site_hold(struct registry_site *site, struct error *err)
{
	const char *folder = site->own.folder;

	if (site->host.member && registry_site_own(site, err) < 0)
		return -1;
	if (folder_make(folder, 0700, err) < 0)
		return -1;
	return file_lock(arena_printf(site->ctx->arena, "%s/lock", folder), &site->lock, err);
}

void site_close(struct registry_site *site)
{
	if (site->fleet.members)
		fleet_close(&site->fleet);
	if (site->ctx)
		fd_close(&site->lock);
}

int site_contact(struct registry_site *site, struct registry **registry, struct error *err)
{
	struct credentials credentials = {.user = site->own.user};
	const struct access_options options = {.ca = site->served.ca_path,
					       .credentials = &credentials};
	const struct reference ref = {.registry = site->own.address};
	struct context *ctx = site->ctx;
	char *password;

	if (file_read(site->served.password_path, KIB, ctx->arena, &password, NULL, err) < 0)
		return -1;
	credentials.password.hidden = password;
	return access_open(ctx, &options, &ref, registry, err);
}

static int registry_site_look(struct registry_site *site, const struct registry_options *o,
			      struct registry_found *found, struct error *err)
{
	struct arena *arena = site->ctx->arena;

	if (registry_host_look(&site->host, false, arena, found, err) < 0)
		return -1;
	if (!o->install || *found->program)
		return 0;
	if (registry_host_install(&site->host, err) < 0)
		return -1;
	return registry_host_look(&site->host, false, arena, found, err);
}

/* Another port means another name: the unit or container of the old name must not stay. */
static int registry_site_leave_port(struct registry_site *site, struct error *err)
{
	bool ignored;

	if (!site->before.name || site->before.port == site->host.port)
		return 0;
	return registry_host_stop(&site->before, &ignored, err);
}

/* What an earlier run was told stays; the machine's own answers fill in the rest. */
static int registry_site_start(struct registry_site *site, const struct registry_options *o,
			       const char **way, bool *was_running, struct error *err)
{
	const struct host *host = site->host.member ? site->host.member->host : NULL;
	struct context *ctx = site->ctx;
	struct registry_found found;

	if (site_hold(site, err) < 0 || registry_site_look(site, o, &found, err) < 0 ||
	    registry_host_way(&site->host, &found, o->as, way, err) < 0 ||
	    registry_site_check_mirror(site, &found, *way, err) < 0 ||
	    registry_site_leave_port(site, err) < 0)
		return -1;
	site->own.home = found.home;
	site->own.storage = found.storage;
	site->own.names = host ? WORDS(host->name, host->address) : NULL;
	if (serve_make(&site->own, ctx->arena, &site->served, err) < 0)
		return -1;
	if (registry_host_start(&site->host, &found, *way, site->own.folder, serve_files,
				ctx->arena, was_running, err) == 0)
		return 0;
	return site->own.mirror ? error_advise(err, "a mirror starts only while %s answers it",
					       site->own.mirror)
				: -1;
}

/* Uses it from here as a client does: the certificate and the password must fit. */
static int registry_site_check(struct registry_site *site, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;

	if (site_contact(site, &registry, err) == 0 && registry_contact(registry, err) == 0)
		return 0;
	return error_wrap(err, "the registry runs%s%s, but cannot be used from here",
			  site->host.member ? " on " : "",
			  site->host.member ? site->host.member->host->name : "");
}

int site_start(struct registry_site *site, const struct registry_options *o, const char **way,
	       bool *was_running, struct error *err)
{
	return registry_site_start(site, o, way, was_running, err) < 0
		       ? -1
		       : registry_site_check(site, err);
}

int site_remove(struct registry_site *site, struct error *err)
{
	if (site_hold(site, err) < 0 || registry_host_remove(&site->host, err) < 0)
		return -1;
	return folder_remove(site->own.folder, err);
}
