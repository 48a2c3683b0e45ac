/* SPDX-License-Identifier: MIT */
/*
 * remote.h - a registry named on the command line: what the cluster file, the machine's certificate
 * folders and the credentials on file say about it, and the options that say it here.
 */
#ifndef CLI_APP_REMOTE_H
#define CLI_APP_REMOTE_H

#include "cli/app/command.h"
#include "plan/cluster.h"
#include "registry-client/registry.h"

struct remote_options {
	const char *ca;
	bool plain_http;
	struct registry *beside; /* registry.h; or NULL */
};

/* Rows for a command's table; `member` is a struct remote_options of its options. */
#define REMOTE_OPTIONS(type, member)                                            \
	{0,	   "ca",                                                        \
	 "FILE",   "PEM file of the CA that signed the registry's certificate", \
	 OPT_TEXT, offsetof(type, member.ca)},                                  \
	{                                                                       \
		0, "plain-http", NULL, "the registry has no TLS", OPT_FLAG,     \
			offsetof(type, member.plain_http)                       \
	}

/*
 * The cluster file's, or where there is none (and none was named with -f) a cluster of defaults, so
 * that registry commands work anywhere.
 */
int remote_cluster(struct context *ctx, struct cluster *cluster, struct error *err);

/*
 * Opens the registry at `address`. CA and `insecure` come from the options, else from the cluster
 * file when it names this registry, else from the certs.d folders of Docker and Podman and from
 * registries.conf.
 */
int remote_open(struct context *ctx, const struct remote_options *options, const char *address,
		struct registry **registry, struct error *err);

/* The same with these credentials instead of those on file. */
struct credentials;
int remote_open_as(struct context *ctx, const struct cluster *cluster,
		   const struct remote_options *options, const char *address,
		   const struct credentials *credentials, struct registry **registry,
		   struct error *err);

/* Whether to ask the next of the mirrors; warns of why this one did not do. */
struct mirrors;
bool remote_asks_next(const struct mirrors *mirrors, size_t index, struct error *err);

#endif
