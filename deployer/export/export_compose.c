/* SPDX-License-Identifier: MIT */
#include "deployer/export/export.h"
#include "deployer/export/node.h"
#include "deployer/export/yaml_out.h"

#include "plan/gpu_wish.h"

#include <stdlib.h>
#include <string.h>

/*
 * One service with all ranks, which meet on the container's own loopback: nothing listens for others. Source of the
 * keys: the Compose specification (github.com/compose-spec/compose-spec, 05-services.md and deploy.md).
 */

#define COMPOSE_PORT "29500"

/* Compose replaces "$NAME" in the file; "$$" is a dollar sign. */
static const char *compose_escape(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (; *text; text++)
		str_addf(&out, *text == '$' ? "$%c" : "%c", *text);
	return arena_strdup(arena, out.text);
}

/* The GPUs of this machine that the cluster file names; kind GPU_ALL where it names none. */
static struct gpu_wish compose_gpus(const struct export_wish *wish)
{
	const struct cluster *cluster = wish->cluster;
	const char *text = cluster->host_count ? cluster->hosts[0].gpus : "";
	struct gpu_wish gpus;
	struct error ignored = {0}; /* the file has been checked */

	if (gpu_wish_parse(*text ? text : cluster->container.gpus, wish->arena, &gpus, &ignored) <
	    0)
		return (struct gpu_wish){.kind = GPU_ALL};
	return gpus;
}

static int compose_check_gpus(const struct export_wish *wish, struct error *err)
{
	const struct gpu_wish gpus = compose_gpus(wish);

	if (gpus.kind < GPU_COUNT || wish->gpus_per_node <= (int)gpus.count)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"the ranks are to have %d GPUs of their own in all, and the cluster file names %zu (gpus: %s); correct one of them, or take fewer ranks",
		wish->gpus_per_node, gpus.count, gpu_wish_text(&gpus, wish->arena));
}

/* What Docker calls capabilities are "gpu" and those of NVIDIA's driver, as `docker run --gpus` has them. */
static void compose_add_gpus(const struct export_wish *wish, struct str *out)
{
	const struct gpu_wish gpus = compose_gpus(wish);

	if (!wish->gpus_per_node)
		return;
	str_add(out, "    deploy:\n"
		     "      resources:\n"
		     "        reservations:\n"
		     "          devices:\n"
		     "            - {driver: nvidia, ");
	if (gpus.kind == GPU_LIST) {
		str_add(out, "device_ids: [");
		for (int i = 0; i < wish->gpus_per_node; i++)
			str_addf(out, "%s\"%s\"", i ? ", " : "", gpus.devices[i]);
		str_add(out, "]");
	} else {
		str_addf(out, "count: %d", wish->gpus_per_node);
	}
	str_add(out, ", capabilities: [gpu");
	for (const char *const *word = wish->cluster->container.capabilities; *word; word++)
		str_addf(out, ", %s", *word);
	str_add(out, "]}\n");
}

static void compose_add_env(const struct export_wish *wish, const struct words *own,
			    struct str *out)
{
	const char *const *lists[] = {export_env(wish),
				      export_defaults(wish, export_threads(wish, wish->world)),
				      export_own_env(wish, words_list(own))};

	if (!*lists[0] && !*lists[1] && !*lists[2])
		return;
	str_add(out, "    environment:\n");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const char *const *pair = lists[i]; *pair; pair++) {
			size_t length = strcspn(*pair, "=");

			yaml_add_pair(out, 6, arena_strndup(wish->arena, *pair, length),
				      *pair + length + 1);
		}
}

static void compose_add_list(const struct export_wish *wish, const char *key,
			     const char *const *list, struct str *out)
{
	if (!*list)
		return;
	str_addf(out, "    %s:\n", key);
	yaml_add_list(out, export_words(wish, list), 6);
}

/* Compose wants a number; what is none is its error to name. */
static void compose_add_number(const struct export_wish *wish, const char *text, size_t length,
			       struct str *out)
{
	const char *value = arena_strndup(wish->arena, text, strnlen(text, length));

	if (*value && !value[strspn(value, "-0123456789")])
		str_add(out, value);
	else
		yaml_add_text(out, value, 0);
}

static void compose_add_limits(const struct export_wish *wish, struct str *out)
{
	const struct cluster_container *container = &wish->cluster->container;

	if (wish->retries)
		str_addf(out, "    restart: on-failure:%d\n", wish->retries);
	if (wish->job.grace_s > 0)
		str_addf(out, "    stop_grace_period: %ds # the job's grace, and a little more\n",
			 wish->job.grace_s + NODE_GRACE_MORE_S);
	yaml_add_pair(out, 4, "shm_size", container->shm_size);
	if (*container->memory)
		yaml_add_pair(out, 4, "mem_limit", container->memory);
	if (*container->cpus)
		yaml_add_pair(out, 4, "cpus", container->cpus);
	if (*container->ulimits)
		str_add(out, "    ulimits:\n");
	for (const char *const *pair = container->ulimits; *pair; pair++) {
		size_t length = strcspn(*pair, "=");
		const char *value = *pair + length + 1;
		size_t soft = strcspn(value, ":");

		/* Docker's "SOFT:HARD" */
		str_addf(out, "      %.*s: {soft: ", (int)length, *pair);
		compose_add_number(wish, value, soft, out);
		str_add(out, ", hard: ");
		compose_add_number(wish, value[soft] ? value + soft + 1 : value, SIZE_MAX, out);
		str_add(out, "}\n");
	}
	if (container->privileged)
		str_add(out, "    privileged: true\n");
	if (!export_has_rdma(wish))
		return;
	str_add(out, "    devices: [/dev/infiniband]\n"
		     "    cap_add: [IPC_LOCK] # RDMA pins memory\n");
}

/* A volume with a name is one that the engine keeps: Compose wants it declared, and is not to put the project's name before it. */
static void compose_add_named_volumes(const struct export_wish *wish, struct str *out)
{
	const char *const *volume = wish->cluster->container.volumes;
	bool has_one = false;

	for (; *volume; volume++) {
		const struct export_volume v = export_volume(*volume, wish->arena);

		if (!v.is_name)
			continue;
		str_add(out, has_one ? "" : "volumes:\n");
		has_one = true;
		str_add(out, "  ");
		yaml_add_text(out, v.source, 2);
		str_add(out, ":\n");
		yaml_add_pair(out, 4, "name", v.source);
	}
}

/* All ranks are here, so those of mpirun need no list of hosts. */
static int compose_command(const struct export_wish *wish, struct words *command, struct words *env,
			   struct error *err)
{
	const struct launcher_node node = {.nodes = 1,
					   .per_node = wish->world,
					   .world = wish->world,
					   .id = wish->job.name,
					   .rank = "0",
					   .address = "127.0.0.1",
					   .port = COMPOSE_PORT};

	if (wish->job.launcher->place == PLACE_ROLES && wish->world > 1)
		return error_set(
			err, ERROR_USAGE,
			"%d ranks of '%s' need an address each, and Compose gives them one container; say -n 1, or take another launcher",
			wish->world, wish->job.launcher->name);
	return export_node(wish, &node, command, env, err);
}

static int compose_write(const struct export_wish *given, struct export_files *files,
			 struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	struct export_wish copy = *given;
	const struct export_wish *wish = &copy;
	struct words command = WORDS_INIT(wish->arena), env = WORDS_INIT(wish->arena);
	const char *limit = "";

	copy.escape = compose_escape;
	copy.cpus = strtod(wish->cluster->container.cpus, NULL);
	/* Compose has no limit of time: who starts it has */
	if (wish->job.timeout_s)
		limit = arena_printf(wish->arena, "timeout %d ", wish->job.timeout_s);
	if (compose_check_gpus(wish, err) < 0 || compose_command(wish, &command, &env, err) < 0)
		return -1;
	str_addf(&out,
		 "# %s\n"
		 "# The job '%s' on this machine alone, with %d rank%s in one container:\n"
		 "#   %sdocker compose -f compose.yaml up --exit-code-from %s\n",
		 wish->origin, wish->job.name, wish->world, wish->world == 1 ? "" : "s", limit,
		 wish->job.name);
	str_add(&out, "services:\n  ");
	yaml_add_text(&out, wish->job.name, 2);
	str_add(&out, ":\n");
	yaml_add_pair(&out, 4, "image", wish->image);
	str_add(&out, "    entrypoint: [] # not the cluster's sshd\n    command:\n");
	yaml_add_list(&out, command.list, 6);
	if (*wish->job.workdir)
		yaml_add_pair(&out, 4, "working_dir", wish->job.workdir);
	compose_add_env(wish, &env, &out);
	compose_add_list(wish, "volumes", wish->cluster->container.volumes, &out);
	compose_add_limits(wish, &out);
	compose_add_gpus(wish, &out);
	compose_add_named_volumes(wish, &out);
	export_add(wish, files, "compose.yaml", out.text);
	return 0;
}

static const struct export_setting compose_settings[] = {{0}};

const struct exporter exporter_compose = {
	.name = "compose",
	.help = "one machine, by Docker Compose: the ranks of one node in one container",
	.settings = compose_settings,
	.needs_image = true,
	.is_one_node = true,
	.write = compose_write,
};
