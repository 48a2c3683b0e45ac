/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_job.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/lab/lab.h"
#include "deployer/lab/lab_bare.h"
#include "deployer/lab/lab_gpus.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LAB_JOBS_END_S 30 /* then they are killed; a job has 4 s of grace unless it says more */
#define LAB_STATE "lab/state.json" /* where there is a lab */
#define LAB_JOBS_PAUSE_USEC 100000

struct options {
	int hosts;
	bool loopback, nvlink, no_nvlink, infiniband, no_infiniband;
	const char *engine, *user;
	struct words gpus, drivers, no_toolkit, bare;
};

static const struct opt options[] = {
	{0, "hosts", "N", "number of hosts (3)", OPT_INT, offsetof(struct options, hosts)},
	{0, "loopback", NULL, "loopback hosts without an engine, as without root", OPT_FLAG,
	 offsetof(struct options, loopback)},
	{0, "engine", "NAME", "container engine of the hosts: docker (default) or podman", OPT_TEXT,
	 offsetof(struct options, engine)},
	{0, "user", "NAME", "logins are those of this user, who is not root (root)", OPT_TEXT,
	 offsetof(struct options, user)},
	{0, "bare", "[HOST=]SYSTEM",
	 "a fresh system with systemd and sshd and no engine, such as debian12", OPT_LIST,
	 offsetof(struct options, bare)},
	{0, "gpus", "[HOST=]NxGPU",
	 "simulated GPUs of all hosts or one, such as 8xH100; none: without", OPT_LIST,
	 offsetof(struct options, gpus)},
	{0, "driver", "[HOST=]V", "their NVIDIA driver (one that fits the GPUs)", OPT_LIST,
	 offsetof(struct options, drivers)},
	{0, "nvlink", NULL, "their NVLinks work", OPT_FLAG, offsetof(struct options, nvlink)},
	{0, "no-nvlink", NULL, "they do not work any more", OPT_FLAG,
	 offsetof(struct options, no_nvlink)},
	{0, "infiniband", NULL, "hosts with GPUs have an InfiniBand port", OPT_FLAG,
	 offsetof(struct options, infiniband)},
	{0, "no-infiniband", NULL, "they have none any more", OPT_FLAG,
	 offsetof(struct options, no_infiniband)},
	{0, "no-toolkit", "HOST", "a host without NVIDIA's container toolkit; all: no host has it",
	 OPT_LIST, offsetof(struct options, no_toolkit)},
	OPT_END,
};

/* One warning for all hosts; the table of hosts says which has what. */
static bool lab_say_gpus(const struct lab *lab, struct arena *arena)
{
	bool found = false;

	for (int i = 0; i < lab->host_count; i++) {
		if (!*lab->hosts[i].gpus.spec)
			continue;
		if (!found)
			log_warn(
				"simulated GPUs: no GPU is there, and nothing here says how fast one is");
		found = true;
		log_info("  %-20s %s, driver %s%s%s%s", lab->hosts[i].name,
			 lab_gpus_text(&lab->hosts[i], arena),
			 lab_gpus_driver(&lab->hosts[i], arena),
			 lab->hosts[i].gpus.nvlink ? ", NVLink" : "",
			 lab->hosts[i].gpus.infiniband ? ", InfiniBand" : "",
			 lab->hosts[i].gpus.toolkit ? "" : ", no container toolkit");
	}
	return found;
}

static void print_lab(const struct lab *lab, const struct context *ctx)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");
	bool is_one = lab->host_count == 1;

	for (int i = 0; i < lab->host_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", lab->hosts[i].name);
		cJSON_AddStringToObject(item, "address", lab->hosts[i].address);
		if (*lab->hosts[i].gpus.spec)
			cJSON_AddStringToObject(item, "gpus",
						lab_gpus_text(&lab->hosts[i], ctx->arena));
		cJSON_AddItemToArray(hosts, item);
	}
	cJSON_AddStringToObject(json, "kind", lab->loopback ? "loopback" : "namespaces");
	cJSON_AddStringToObject(json, "cluster", ctx->cluster_path);
	if (lab_say_gpus(lab, ctx->arena))
		cJSON_AddTrueToObject(json, "simulated");
	if (ctx->json) {
		json_print(stdout, json);
		return;
	}
	say("lab of %d %shost%s is up: %s%s%s; cluster file: %s\n", lab->host_count,
	    lab->loopback ? "loopback " : "", is_one ? "" : "s", lab->hosts[0].address,
	    is_one ? "" : " to ", is_one ? "" : lab->hosts[lab->host_count - 1].address,
	    ctx->cluster_path);
}

static void lab_fill(const char *name, struct str *out)
{
	if (strcmp(name, "gpus") == 0)
		lab_gpus_list_models(out);
	if (strcmp(name, "bare") == 0)
		lab_bare_list(out);
}

static int up(struct context *ctx, const struct options *o, struct error *err)
{
	struct lab *lab = ARENA_NEW(ctx->arena, struct lab);
	const struct lab_wish wish = {
		.hosts = o->hosts,
		.loopback = o->loopback,
		.engine = o->engine,
		.user = o->user,
		.bare = o->bare,
		.gpus = {.gpus = o->gpus,
			 .drivers = o->drivers,
			 .no_toolkit = o->no_toolkit,
			 .nvlink = o->nvlink,
			 .infiniband = o->infiniband,
			 .no_nvlink = o->no_nvlink,
			 .no_infiniband = o->no_infiniband},
	};

	if (lab_up(ctx->cluster_path, &wish, ctx->arena, lab, err) < 0)
		return -1;
	print_lab(lab, ctx);
	return 0;
}

/* How many jobs run on the lab, or wait for it. Each gets the signal; 0: none. */
static size_t lab_signal_jobs(const struct stages *s, int signal)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	struct job_record *list;
	size_t count, running = 0;

	if (job_records_list(&s->cluster, &arena, &list, &count, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (*list[i].ended || *list[i].scheduler || list[i].pid <= 1 ||
		    !job_is_alive(&list[i]))
			continue;
		running++;
		if (!signal)
			continue;
		log_info("  %-20s ends, since it runs on the lab", list[i].name);
		kill(list[i].pid, signal);
	}
	return running;
}

/* Hosts on loopback share this machine's processes, so that a job would go on without them, and without its records. */
static int lab_end_jobs(struct context *ctx, struct error *err)
{
	uint64_t deadline = clock_usec() + (uint64_t)LAB_JOBS_END_S * 1000000;
	struct error ignored = {0};
	struct stages s;

	if (stage_cluster_or_defaults(&s, ctx, &ignored) < 0 ||
	    !file_exists(cluster_state_path(&s.cluster, LAB_STATE, ctx->arena)) ||
	    !lab_signal_jobs(&s, SIGINT))
		return 0;
	while (lab_signal_jobs(&s, 0)) {
		if (interrupt_check(err) < 0)
			return -1;
		if (clock_usec() > deadline) {
			lab_signal_jobs(&s, SIGKILL);
			return 0;
		}
		usleep(LAB_JOBS_PAUSE_USEC);
	}
	return 0;
}

static int down(struct context *ctx, struct error *err)
{
	bool found;

	if (lab_end_jobs(ctx, err) < 0)
		return -1;
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
	.help = "'lab up' starts hosts in namespaces, each with its own address, sshd and container engine, and a\n"
		"registry with TLS and a password; it writes cluster.yaml. Without root, namespaces or dockerd\n"
		"it says what is missing, and starts loopback hosts with engine: none. 'lab down' ends and\n"
		"removes all of it. Running either twice is harmless.\n"
		"--gpus gives the hosts GPUs that are not there, to practise with: nvidia-smi, /sys and --gpus of\n"
		"the engine answer as with real ones, and every command says \"simulated GPUs\". Known GPUs:\n"
		"@{gpus};\n"
		"with -MIG behind its name a GPU is divided into seven MIG devices.\n"
		"  ringup lab up --gpus 8xH100 --driver 550.54.15 --nvlink\n"
		"  ringup lab up --gpus node01=8xH100,node02=4xA100 --driver node02=470.57.02\n"
		"Running it again with other --gpus changes the hosts: node02=7xH100 is a GPU that was lost.\n"
		"--bare gives hosts a system of their own, to try 'ringup setup' on: @{bare}.\n"
		"  ringup lab up --bare node01=debian12,node02=debian11 --hosts 2\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.fill = lab_fill,
	.run = lab_run,
};
