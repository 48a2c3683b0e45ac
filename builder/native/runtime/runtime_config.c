/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/runtime_config.h"

#include "builder/native/runtime/seccomp.h"
#include "core/words.h"

#include <glob.h>
#include <string.h>

static const char *const capabilities[] = {
	"CAP_AUDIT_WRITE", "CAP_CHOWN",	 "CAP_DAC_OVERRIDE",	 "CAP_FOWNER",	"CAP_FSETID",
	"CAP_KILL",	   "CAP_MKNOD",	 "CAP_NET_BIND_SERVICE", "CAP_SETFCAP", "CAP_SETGID",
	"CAP_SETPCAP",	   "CAP_SETUID", "CAP_SYS_CHROOT",	 NULL,
};

/* A container finds an empty file or folder here. */
static const char *const masked_paths[] = {
	"/proc/acpi",
	"/proc/asound",
	"/proc/interrupts",
	"/proc/kcore",
	"/proc/keys",
	"/proc/latency_stats",
	"/proc/sched_debug",
	"/proc/scsi",
	"/proc/timer_list",
	"/proc/timer_stats",
	"/sys/firmware",
	"/sys/devices/virtual/powercap",
	NULL,
};
#define MASKED_CPU_PATHS "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle"

static const char *const readonly_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};

/* moby's rules for the device cgroup, in their order; the runtime adds OCI's default devices. */
static const struct {
	bool allow;
	int major, minor; /* of a character device; -1: all devices */
} device_rules[] = {
	{false, -1, -1}, {true, 1, 5}, {true, 1, 3}, {true, 1, 9},
	{true, 1, 8},	 {true, 5, 0}, {true, 5, 1}, {false, 10, 229},
};

static cJSON *list_of(const char *const *words)
{
	cJSON *list = cJSON_CreateArray();

	for (; *words; words++)
		cJSON_AddItemToArray(list, cJSON_CreateString(*words));
	return list;
}

static void add_mount(cJSON *mounts, const char *destination, const char *type, const char *source,
		      const char *const *options)
{
	cJSON *mount = cJSON_CreateObject();

	cJSON_AddStringToObject(mount, "destination", destination);
	cJSON_AddStringToObject(mount, "type", type);
	cJSON_AddStringToObject(mount, "source", source);
	cJSON_AddItemToObject(mount, "options", list_of(options));
	cJSON_AddItemToArray(mounts, mount);
}

/*
 * A sysfs of its own cannot be mounted in a user namespace that does not own the network. "ro"
 * holds for the first mount only, "rro" for those below it too (Linux 5.12; ignored by runtimes
 * that do not know it).
 */
static void add_sys(cJSON *mounts, bool in_userns)
{
	if (in_userns) {
		add_mount(mounts, "/sys", "bind", "/sys",
			  WORDS("rbind", "nosuid", "noexec", "nodev", "ro", "rro"));
		return;
	}
	add_mount(mounts, "/sys", "sysfs", "sysfs", WORDS("nosuid", "noexec", "nodev", "ro"));
	add_mount(mounts, "/sys/fs/cgroup", "cgroup", "cgroup",
		  WORDS("ro", "nosuid", "noexec", "nodev"));
}

static void add_mounts(cJSON *config, const char *files, bool in_userns)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	cJSON *mounts = cJSON_AddArrayToObject(config, "mounts");

	add_mount(mounts, "/proc", "proc", "proc", WORDS("nosuid", "noexec", "nodev"));
	add_mount(mounts, "/dev", "tmpfs", "tmpfs",
		  WORDS("nosuid", "strictatime", "mode=755", "size=65536k"));
	add_mount(mounts, "/dev/pts", "devpts", "devpts",
		  WORDS("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"));
	add_mount(mounts, "/dev/shm", "tmpfs", "shm",
		  WORDS("nosuid", "noexec", "nodev", "mode=1777", "size=65536k"));
	add_sys(mounts, in_userns);
	/* a user namespace cannot take off flags that their file system is mounted with */
	add_mount(mounts, "/etc/resolv.conf", "bind", arena_printf(&arena, "%s/resolv.conf", files),
		  WORDS("bind", "ro", "nosuid", "noexec", "nodev"));
	add_mount(mounts, "/etc/hosts", "bind", arena_printf(&arena, "%s/hosts", files),
		  WORDS("bind", "ro", "nosuid", "noexec", "nodev"));
}

/* In a user namespace no device can be made, whatever the capabilities. */
static bool may_have(const struct container *container, const char *capability)
{
	return container->rules_devices || container->in_userns ||
	       strcmp(capability, "CAP_MKNOD") != 0;
}

static void add_capabilities(cJSON *process, const struct container *container)
{
	static const char *const sets[] = {"bounding", "effective", "permitted"};
	cJSON *object = cJSON_AddObjectToObject(process, "capabilities");

	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		cJSON *list = cJSON_AddArrayToObject(object, sets[i]);

		for (size_t k = 0; capabilities[k]; k++)
			if (may_have(container, capabilities[k]))
				cJSON_AddItemToArray(list, cJSON_CreateString(capabilities[k]));
	}
}

static void runtime_config_add_process(cJSON *config, const struct run_step *step,
				       const struct run_user *user,
				       const struct container *container)
{
	cJSON *process = cJSON_AddObjectToObject(config, "process");
	cJSON *ids = cJSON_AddObjectToObject(process, "user"), *groups;

	cJSON_AddBoolToObject(process, "terminal", step->interactive);
	cJSON_AddNumberToObject(ids, "uid", user->uid);
	cJSON_AddNumberToObject(ids, "gid", user->gid);
	cJSON_AddNumberToObject(ids, "umask", 022);
	groups = cJSON_AddArrayToObject(ids, "additionalGids");
	for (size_t i = 0; i < user->group_count; i++)
		cJSON_AddItemToArray(groups, cJSON_CreateNumber(user->groups[i]));
	cJSON_AddItemToObject(process, "args", list_of(step->words));
	cJSON_AddItemToObject(process, "env", list_of(step->env));
	cJSON_AddStringToObject(process, "cwd", step->cwd);
	cJSON_AddBoolToObject(process, "noNewPrivileges", false);
	add_capabilities(process, container);
}

static void add_masked(cJSON *linux_part)
{
	cJSON *list = list_of(masked_paths);
	glob_t found;

	cJSON_AddItemToObject(linux_part, "maskedPaths", list);
	if (glob(MASKED_CPU_PATHS, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(found.gl_pathv[i]));
	globfree(&found);
}

static void add_device_rules(cJSON *linux_part)
{
	cJSON *rules =
		cJSON_AddArrayToObject(cJSON_AddObjectToObject(linux_part, "resources"), "devices");

	for (size_t i = 0; i < ARRAY_LEN(device_rules); i++) {
		cJSON *rule = cJSON_CreateObject();

		cJSON_AddBoolToObject(rule, "allow", device_rules[i].allow);
		if (device_rules[i].major >= 0) {
			cJSON_AddStringToObject(rule, "type", "c");
			cJSON_AddNumberToObject(rule, "major", device_rules[i].major);
			cJSON_AddNumberToObject(rule, "minor", device_rules[i].minor);
		}
		cJSON_AddStringToObject(rule, "access", "rwm");
		cJSON_AddItemToArray(rules, rule);
	}
}

static void add_map(cJSON *linux_part, const char *name, unsigned long start)
{
	cJSON *map = cJSON_CreateObject();

	cJSON_AddNumberToObject(map, "containerID", 0);
	cJSON_AddNumberToObject(map, "hostID", (double)start);
	cJSON_AddNumberToObject(map, "size", (double)IDMAP_LENGTH);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(linux_part, name), map);
}

static void add_namespaces(cJSON *linux_part, const struct idmap *map)
{
	static const char *const namespaces[] = {"pid", "ipc", "uts", "mount", "user"};
	size_t count = ARRAY_LEN(namespaces) - !map;
	cJSON *list = cJSON_AddArrayToObject(linux_part, "namespaces");

	for (size_t i = 0; i < count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "type", namespaces[i]);
		cJSON_AddItemToArray(list, item);
	}
	if (!map)
		return;
	add_map(linux_part, "uidMappings", map->start);
	add_map(linux_part, "gidMappings", map->start);
}

int runtime_config(const struct run_step *step, const struct run_user *user,
		   const struct container *container, cJSON **config, struct error *err)
{
	cJSON *profile = NULL, *part;

	if (container->has_seccomp && seccomp_profile(capabilities, &profile, err) < 0)
		return -1;
	*config = cJSON_CreateObject();
	cJSON_AddStringToObject(*config, "ociVersion", "1.0.2");
	runtime_config_add_process(*config, step, user, container);
	part = cJSON_AddObjectToObject(*config, "root");
	cJSON_AddStringToObject(part, "path", container->root);
	cJSON_AddStringToObject(*config, "hostname", STEP_HOST_NAME);
	add_mounts(*config, container->files, container->in_userns || container->map);
	part = cJSON_AddObjectToObject(*config, "linux");
	add_namespaces(part, container->map);
	add_masked(part);
	cJSON_AddItemToObject(part, "readonlyPaths", list_of(readonly_paths));
	if (container->rules_devices)
		add_device_rules(part);
	if (profile)
		cJSON_AddItemToObject(part, "seccomp", profile);
	return 0;
}
