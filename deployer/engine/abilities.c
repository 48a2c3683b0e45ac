/* SPDX-License-Identifier: MIT */
#include "deployer/engine/abilities.h"

#include "core/str.h"
#include "deployer/engine/engine.h"
#include "deployer/remote.h"

#include <stdlib.h>
#include <string.h>

#define CAPABILITY_IPC_LOCK 14 /* capabilities(7), linux/capability.h */
#define CAPABILITIES_MAX 63
#define LIMIT_NONE UINT64_MAX

const struct abilities abilities_unknown = {
	.limits = "",
	.controllers = "",
	.runtimes = "",
	.version = "",
	.trust_folder = "",
};

static bool abilities_says(const char *text, const char *key, const char *value,
			   struct arena *arena)
{
	return strcmp(remote_value(text, key, arena), value) == 0;
}

static void abilities_parse_capabilities(const char *text, struct arena *arena,
					 struct abilities *out)
{
	const char *mask = remote_value(text, "can_capabilities", arena);
	long last = strtol(remote_value(text, "can_last_capability", arena), NULL, 10);
	char *end;

	out->capabilities = strtoull(mask, &end, 16);
	out->knows_capability = end != mask && !*end;
	if (last > 0 && last <= CAPABILITIES_MAX)
		out->last_capability = (int)last;
}

void abilities_parse(const char *text, struct arena *arena, struct abilities *out)
{
	const char *security = remote_value(text, "can_security", arena);

	*out = (struct abilities){
		.is_rootless = strstr(security, "name=rootless"),
		.has_selinux = strstr(security, "name=selinux"),
		.limits = remote_value(text, "can_limits", arena),
		.controllers = remote_value(text, "can_controllers", arena),
		/* podman info has an empty list without any; a line is printed all the same */
		.knows_controllers = strstr(text, "can_controllers="),
		.runtimes = remote_value(text, "can_runtimes", arena),
		.version = remote_value(text, "engine_version", arena),
		.has_gpu_hook = abilities_says(text, "can_gpu_hook", "yes", arena),
		.has_cdi = abilities_says(text, "can_cdi", "yes", arena),
		.lacks_rdma = abilities_says(text, "can_rdma", "no", arena),
		.lacks_rdma_files = abilities_says(text, "infiniband_files", "no", arena),
		.trust_folder = remote_value(text, "can_trust_folder", arena),
	};
	abilities_parse_capabilities(text, arena, out);
	if (out->trust_folder[0] != '/' || strstr(out->trust_folder, "/../"))
		out->trust_folder = "";
}

bool abilities_control(const struct abilities *can, const char *controller)
{
	return !can->knows_controllers ||
	       list_has(can->controllers, controller, strlen(controller));
}

/* A number, or none: "-1" and "unlimited". */
static uint64_t abilities_number(const char *text, size_t length)
{
	return !length || *text == '-' || *text == 'u' ? LIMIT_NONE : strtoull(text, NULL, 10);
}

/* The larger one of SOFT:HARD. */
static uint64_t abilities_wanted(const char *value)
{
	size_t soft = strcspn(value, ":");
	uint64_t first = abilities_number(value, soft), second = first;

	if (value[soft])
		second = abilities_number(value + soft + 1, strlen(value + soft + 1));
	return first > second ? first : second;
}

/* The highest value of the limit, digits in the arena; NULL when it is not known, or there is none. */
static const char *abilities_limit(const struct abilities *can, const char *name, size_t length,
				   struct arena *arena)
{
	for (const char *at = can->limits; *at; at += strspn(at, ";")) {
		size_t entry = strcspn(at, ";");

		if (entry > length + 1 && strncmp(at, name, length) == 0 && at[length] == ':' &&
		    strspn(at + length + 1, "0123456789") == entry - length - 1)
			return arena_strndup(arena, at + length + 1, entry - length - 1);
		at += entry;
	}
	return NULL;
}

static void abilities_trim_limits(const struct abilities *can, struct container_wish *wish,
				  struct words *left_out)
{
	struct words kept = WORDS_INIT(left_out->arena);

	for (const char *const *limit = wish->limits; *limit; limit++) {
		size_t name = strcspn(*limit, "=");
		const char *most = abilities_limit(can, *limit, name, left_out->arena);

		if (!most || !(*limit)[name] ||
		    abilities_wanted(*limit + name + 1) <= abilities_number(most, strlen(most))) {
			words_add(&kept, *limit);
			continue;
		}
		words_addf(left_out, "%.*s", (int)name, *limit);
		words_addf(left_out, "the limit %s: the engine there can set at most %s", *limit,
			   most);
	}
	wish->limits = words_list(&kept);
}

static bool abilities_have(const struct abilities *can, int capability)
{
	return !can->knows_capability || (can->capabilities >> capability & 1);
}

static void abilities_trim_privileged(const struct abilities *can, struct container_wish *wish,
				      struct words *left_out)
{
	int lacking = 0;

	for (int i = 0; i <= can->last_capability; i++)
		lacking += !abilities_have(can, i);
	if (!wish->privileged || !lacking || can->is_rootless)
		return;
	wish->privileged = false;
	words_add(left_out, "privileged");
	words_addf(
		left_out,
		"privileged: the engine there lacks %d of the %d capabilities (is the host a container itself?)",
		lacking, can->last_capability + 1);
}

/* Why containers cannot have the devices; NULL: they can. */
static const char *abilities_rdma_trouble(const struct abilities *can)
{
	if (can->lacks_rdma_files)
		return "the host shows InfiniBand or RoCE and has no device file for it ('modprobe ib_uverbs' there makes them, or its machine where the host is a container)";
	if (can->lacks_rdma)
		return "this user may not use it there (a udev rule with MODE=\"0666\" lets all users)";
	return NULL;
}

static void abilities_trim_rdma(const struct abilities *can, struct container_wish *wish,
				struct words *left_out)
{
	static const char *const none[] = {NULL};
	const char *trouble = abilities_rdma_trouble(can);

	if (!*wish->devices || (!trouble && abilities_have(can, CAPABILITY_IPC_LOCK)))
		return;
	words_add(left_out, "rdma");
	if (trouble) {
		words_addf(left_out, "%s: %s", *wish->devices, trouble);
		wish->devices = none;
	} else {
		words_add(left_out,
			  "IPC_LOCK: the engine there lacks it, so RDMA is bounded by memlock");
	}
	wish->capabilities = none;
}

static void abilities_trim_control(const struct abilities *can, const char *controller,
				   const char *name, const char **value, struct words *left_out)
{
	if (!**value || abilities_control(can, controller))
		return;
	words_add(left_out, name);
	words_addf(left_out, "%s %s: the engine there has no control group for it%s", name, *value,
		   can->is_rootless ? " (without root that needs version 2, delegated to the user)"
				    : "");
	*value = "";
}

void abilities_trim(const struct abilities *can, struct container_wish *wish,
		    struct words *left_out)
{
	abilities_trim_limits(can, wish, left_out);
	abilities_trim_privileged(can, wish, left_out);
	abilities_trim_rdma(can, wish, left_out);
	abilities_trim_control(can, "memory", "memory", &wish->memory, left_out);
	abilities_trim_control(can, "cpu", "cpus", &wish->cpus, left_out);
}
