/* SPDX-License-Identifier: MIT */
#include "cli/app/remote.h"

#include "core/file.h"
#include "core/log.h"
#include "registry-client/certs.h"
#include "registry-client/helper.h"
#include "registry-client/mirrors.h"

#include <string.h>

int remote_cluster(struct context *ctx, struct cluster *cluster, struct error *err)
{
	if (ctx->cluster_named || file_exists(ctx->cluster_path))
		return cluster_load(ctx->cluster_path, ctx->arena, cluster, err);
	cluster_init(ctx->cluster_path, ctx->arena, cluster);
	return 0;
}

int remote_open_as(struct context *ctx, const struct cluster *cluster,
		   const struct remote_options *options, const char *address,
		   const struct credentials *credentials, struct registry **registry,
		   struct error *err)
{
	const struct cluster_registry *own = &cluster->registry;
	bool is_own = own->address && strcmp(own->address, address) == 0, insecure;
	struct registry_config config = {
		.address = address,
		.ca_path = options->ca,
		.plain_http = options->plain_http || (is_own && own->insecure),
		.user = credentials->user,
		.password = credentials->password,
		.identity = credentials->identity,
		.timeout_s = ctx->timeout_s,
		.beside = options->beside,
	};

	if (!config.ca_path && is_own && *own->ca)
		config.ca_path = cluster_path(cluster, own->ca, ctx->arena);
	if (certs_find(address, ctx->arena, &config.certs, err) < 0 ||
	    mirrors_insecure(address, ctx->arena, &insecure, err) < 0 ||
	    mirrors_docker_insecure(address, ctx->arena, &config.may_be_plain, err) < 0)
		return -1;
	config.plain_http |= insecure;
	return registry_open(&config, registry, err);
}

int remote_open(struct context *ctx, const struct remote_options *options, const char *address,
		struct registry **registry, struct error *err)
{
	struct credentials credentials;
	struct cluster cluster;

	*registry = NULL;
	if (remote_cluster(ctx, &cluster, err) < 0 ||
	    registry_credentials(&cluster, address, ctx->arena, &credentials, err) < 0)
		return -1;
	return remote_open_as(ctx, &cluster, options, address, &credentials, registry, err);
}

bool remote_asks_next(const struct mirrors *mirrors, size_t index, struct error *err)
{
	if (err->kind == ERROR_INTERRUPTED || index + 1 >= mirrors->count)
		return false;
	log_warn("mirror %s: %s; trying %s", mirrors->list[index].ref.registry, err->text,
		 mirrors->list[index + 1].ref.registry);
	*err = (struct error){0};
	return true;
}
