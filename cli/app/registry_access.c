/* SPDX-License-Identifier: MIT */
#include "cli/app/registry_access.h"

#include "core/log.h"
#include "registry-client/login/certs.h"
#include "registry-client/login/helper.h"

#include <string.h>

static const struct access_options no_options;

/* One registry, and how it is to be spoken to. */
struct access_way {
	struct registry_config config;
	const char *overruled; /* a file of this machine that calls it insecure, in vain; or NULL */
};

static int access_contradiction(const char *address, const char *tls, const char *plain,
				struct error *err)
{
	return error_set(
		err, ERROR_USAGE,
		"registry %s: %s asks for TLS and %s for plain HTTP; nothing was sent. Leave out one of the two",
		address, tls, plain);
}

/* What cluster.yaml says of its own registry. */
static int access_ask_cluster(struct context *ctx, const struct access_options *options,
			      struct registry_config *config, struct error *err)
{
	const struct cluster_registry *own;
	const struct cluster *cluster;

	if (context_cluster_or_defaults(ctx, &cluster, err) < 0)
		return -1;
	own = &cluster->registry;
	if (strcmp(own->address, config->address) != 0)
		return 0;
	if (*own->ca && (own->insecure || config->plain_http))
		return access_contradiction(config->address, "'registry: ca:' of cluster.yaml",
					    own->insecure	  ? "'insecure: true'"
					    : options->plain_http ? "--plain-http"
								  : "the URL of a mirror",
					    err);
	if (own->insecure && config->ca_path)
		return access_contradiction(config->address, "--ca",
					    "'insecure: true' of cluster.yaml", err);
	config->plain_http = config->plain_http || (own->insecure && !config->must_be_tls);
	if (*own->ca && !config->ca_path)
		config->ca_path = cluster_path(cluster, own->ca, ctx->arena);
	return 0;
}

/* What the command line, the URL of a mirror and cluster.yaml say of it. */
static int access_ask_person(struct context *ctx, const struct access_options *options,
			     const struct mirror *place, struct registry_config *config,
			     struct error *err)
{
	bool is_plain = place->has_scheme && place->plain_http;

	if (options->ca && options->plain_http)
		return access_contradiction(config->address, "--ca", "--plain-http", err);
	config->must_be_tls = place->has_scheme && !place->plain_http;
	config->ca_path = is_plain ? NULL : options->ca;
	config->plain_http = is_plain || (options->plain_http && !config->must_be_tls);
	return access_ask_cluster(ctx, options, config, err);
}

/* What registries.conf and daemon.json say, which counts where nobody asks for TLS. */
static int access_ask_machine(struct context *ctx, const struct mirror *place,
			      struct access_way *way, struct error *err)
{
	struct registry_config *config = &way->config;
	bool by_conf, by_docker;

	if (mirrors_admit(&place->ref, ctx->arena, &by_conf, err) < 0 ||
	    certs_find(config->address, ctx->arena, &config->certs, err) < 0)
		return -1;
	if (config->plain_http)
		return 0;
	by_conf = by_conf || place->plain_http;
	if (mirrors_docker_insecure(config->address, ctx->arena, &by_docker, err) < 0)
		return -1;
	if (config->ca_path || config->must_be_tls || config->certs.folder) {
		way->overruled = by_conf     ? "registries.conf calls it insecure"
				 : by_docker ? "daemon.json calls it insecure"
					     : NULL;
		return 0;
	}
	config->plain_http = by_conf;
	config->may_be_plain = by_docker;
	return 0;
}

/* Everything but what it takes to log in, which may start a program. */
static int access_settle(struct context *ctx, const struct access_options *options,
			 const struct mirror *place, struct access_way *way, struct error *err)
{
	*way = (struct access_way){
		.config = {.address = place->ref.registry, .timeout_s = ctx->timeout_s}};
	return access_ask_person(ctx, options, place, &way->config, err) < 0
		       ? -1
		       : access_ask_machine(ctx, place, way, err);
}

static int access_connect(struct context *ctx, const struct access_options *options,
			  struct access_way *way, struct registry **registry, struct error *err)
{
	struct registry_config *config = &way->config;
	const struct cluster *cluster;
	struct credentials on_file;
	const struct credentials *credentials = options->credentials;

	if (way->overruled)
		log_warn(
			"registry %s: %s, but %s asks for TLS, and nothing goes there without it; --plain-http would say otherwise",
			config->address, way->overruled,
			config->ca_path	      ? config->ca_path
			: config->must_be_tls ? "its URL"
					      : config->certs.folder);
	if (!credentials) {
		if (context_cluster_or_defaults(ctx, &cluster, err) < 0 ||
		    registry_credentials(cluster, config->address, ctx->arena, &on_file, err) < 0)
			return -1;
		credentials = &on_file;
	}
	config->user = credentials->user;
	config->password = credentials->password;
	config->identity = credentials->identity;
	return registry_open(config, registry, err);
}

int access_open_place(struct context *ctx, const struct access_options *options,
		      const struct mirror *place, struct registry **registry, struct error *err)
{
	struct access_way way;

	*registry = NULL;
	if (!options)
		options = &no_options;
	return access_settle(ctx, options, place, &way, err) < 0
		       ? -1
		       : access_connect(ctx, options, &way, registry, err);
}

int access_open(struct context *ctx, const struct access_options *options,
		const struct reference *ref, struct registry **registry, struct error *err)
{
	return access_open_place(ctx, options, &(struct mirror){.ref = *ref}, registry, err);
}

/* Whether to ask the next place; warns of why this one did not do. */
static bool access_asks_next(const struct mirrors *mirrors, size_t index, struct error *err)
{
	if (err->kind == ERROR_INTERRUPTED || index + 1 >= mirrors->count)
		return false;
	log_warn("mirror %s: %s; trying %s", mirrors->list[index].ref.registry, err->text,
		 mirrors->list[index + 1].ref.registry);
	*err = (struct error){0};
	return true;
}

int access_read(struct context *ctx, const struct reference *ref,
		int (*ask)(void *arg, const struct mirror *place, struct error *err), void *arg,
		struct error *err)
{
	const struct cluster *cluster;
	struct mirrors mirrors;

	if (context_cluster_or_defaults(ctx, &cluster, err) < 0 ||
	    mirrors_find(ref, cluster->mirrors.docker, ctx->arena, &mirrors, err) < 0)
		return -1;
	for (size_t i = 0; i < mirrors.count; i++) {
		if (ask(arg, &mirrors.list[i], err) == 0)
			return 0;
		if (!access_asks_next(&mirrors, i, err))
			break;
	}
	return -1;
}

/* --- several at once ------------------------------------------------------------------------- */

struct access_connection {
	struct access_connection *next; /* opened before it */
	const struct access_options *options;
	bool plain_http, must_be_tls;
	const char *address;
	struct registry *registry;
};

void access_pool_init(struct access_pool *pool, struct arena *arena)
{
	*pool = (struct access_pool){.arena = arena};
	pthread_mutex_init(&pool->lock, NULL);
}

void access_pool_release(struct access_pool *pool)
{
	for (; pool->newest; pool->newest = pool->newest->next)
		registry_close(pool->newest->registry);
	pthread_mutex_destroy(&pool->lock);
}

static int access_pool_open_locked(struct access_pool *pool, struct context *ctx,
				   const struct access_options *options, struct access_way *way,
				   struct registry **registry, struct error *err)
{
	struct registry_config *config = &way->config;
	struct access_connection *c;

	for (c = pool->newest; c; c = c->next) {
		config->beside = c->registry; /* in the end the oldest, which is closed last */
		if (c->options == options && c->plain_http == config->plain_http &&
		    c->must_be_tls == config->must_be_tls &&
		    strcmp(c->address, config->address) == 0) {
			*registry = c->registry;
			return 0;
		}
	}
	if (access_connect(ctx, options, way, registry, err) < 0)
		return -1;
	c = ARENA_NEW(pool->arena, struct access_connection);
	*c = (struct access_connection){.next = pool->newest,
					.options = options,
					.plain_http = config->plain_http,
					.must_be_tls = config->must_be_tls,
					.address = arena_strdup(pool->arena, config->address),
					.registry = *registry};
	pool->newest = c;
	return 0;
}

int access_pool_open(struct access_pool *pool, struct context *ctx,
		     const struct access_options *options, const struct mirror *place,
		     struct registry **registry, struct error *err)
{
	struct access_way way;
	int rc;

	if (access_settle(ctx, options, place, &way, err) < 0)
		return -1;
	pthread_mutex_lock(&pool->lock);
	rc = access_pool_open_locked(pool, ctx, options, &way, registry, err);
	pthread_mutex_unlock(&pool->lock);
	return rc;
}
