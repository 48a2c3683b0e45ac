/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

#include "core/foreign.h"
#include "core/json.h"
#include "deployer/lab/lab.h"

#include <string.h>

#define HOSTS_DEFAULT 3

struct options {
	int hosts;
	bool loopback;
};

static const struct opt options[] = {
	{0, "hosts", "N", "number of hosts (3)", OPT_INT, offsetof(struct options, hosts)},
	{0, "loopback", NULL, "loopback hosts without an engine, as without root", OPT_FLAG,
	 offsetof(struct options, loopback)},
	OPT_END,
};

static void print_lab(const struct lab *lab, const struct context *ctx)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (int i = 0; i < lab->host_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", lab->hosts[i].name);
		cJSON_AddStringToObject(item, "address", lab->hosts[i].address);
		cJSON_AddItemToArray(hosts, item);
	}
	cJSON_AddStringToObject(json, "kind", lab->loopback ? "loopback" : "namespaces");
	cJSON_AddStringToObject(json, "cluster", ctx->cluster_path);
	if (ctx->json) {
		json_print(stdout, json);
		return;
	}
	say("lab of %d %s is up: %s to %s; cluster file: %s\n", lab->host_count,
	    lab->loopback ? "loopback hosts" : "hosts", lab->hosts[0].address,
	    lab->hosts[lab->host_count - 1].address, ctx->cluster_path);
}

static int up(struct context *ctx, const struct options *o, struct error *err)
{
	struct lab *lab = ARENA_NEW(ctx->arena, struct lab);

	if (lab_up(ctx->cluster_path, o->hosts ? o->hosts : HOSTS_DEFAULT, o->loopback, ctx->arena,
		   lab, err) < 0)
		return -1;
	print_lab(lab, ctx);
	return 0;
}

static int down(struct context *ctx, struct error *err)
{
	bool found;

	if (lab_down(ctx->cluster_path, ctx->arena, &found, err) < 0)
		return -1;
	if (!ctx->json)
		say("%s\n", found ? "lab is down; nothing of it is left" : "there is no lab here");
	else
		say("%s\n", found ? "{\"schema\": 1, \"removed\": true}"
				  : "{\"schema\": 1, \"removed\": false}");
	return 0;
}

static int lab_run(struct context *ctx, void *values, const char *const *arguments,
		   struct error *err)
{
	if (strcmp(arguments[0], "up") == 0)
		return up(ctx, values, err);
	if (strcmp(arguments[0], "down") == 0)
		return down(ctx, err);
	return error_set(err, ERROR_USAGE, "'lab %s': write 'lab up' or 'lab down'", arguments[0]);
}

const struct command command_lab = {
	.name = "lab",
	.arguments = "up|down",
	.summary = "a practice cluster on this one machine",
	.help = "'lab up' starts hosts in namespaces, each with its own address, sshd and Docker Engine, and a\n"
		"registry with TLS and a password; it writes cluster.yaml. Without root, namespaces or dockerd\n"
		"it says what is missing, and starts loopback hosts with engine: none. 'lab down' ends and\n"
		"removes all of it. Running either twice is harmless.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = lab_run,
};
