/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/runtime_config.h"

#include "core/words.h"

#include <string.h>

static const char *const capabilities[] = {
	"CAP_AUDIT_WRITE", "CAP_CHOWN",	 "CAP_DAC_OVERRIDE",	 "CAP_FOWNER",	"CAP_FSETID",
	"CAP_KILL",	   "CAP_MKNOD",	 "CAP_NET_BIND_SERVICE", "CAP_SETFCAP", "CAP_SETGID",
	"CAP_SETPCAP",	   "CAP_SETUID", "CAP_SYS_CHROOT",
};

struct mount {
	const char *destination, *type, *source;
	const char *const *options;
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

static void add_mounts(cJSON *config, const char *files)
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
	add_mount(mounts, "/sys", "bind", "/sys",
		  WORDS("rbind", "nosuid", "noexec", "nodev", "ro"));
	add_mount(mounts, "/etc/resolv.conf", "bind", arena_printf(&arena, "%s/resolv.conf", files),
		  WORDS("bind", "ro"));
	add_mount(mounts, "/etc/hosts", "bind", arena_printf(&arena, "%s/hosts", files),
		  WORDS("bind", "ro"));
}

static void add_capabilities(cJSON *process)
{
	static const char *const sets[] = {"bounding", "effective", "permitted"};
	cJSON *object = cJSON_AddObjectToObject(process, "capabilities");

	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		cJSON *list = cJSON_AddArrayToObject(object, sets[i]);

		for (size_t k = 0; k < ARRAY_LEN(capabilities); k++)
			cJSON_AddItemToArray(list, cJSON_CreateString(capabilities[k]));
	}
}

static void runtime_config_add_process(cJSON *config, const struct run_step *step,
				       const struct run_user *user)
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
	add_capabilities(process);
}

cJSON *runtime_config(const struct run_step *step, const struct run_user *user, const char *root,
		      const char *files)
{
	static const char *const namespaces[] = {"pid", "ipc", "uts", "mount"};
	cJSON *config = cJSON_CreateObject(), *object, *list;

	cJSON_AddStringToObject(config, "ociVersion", "1.0.2");
	runtime_config_add_process(config, step, user);
	object = cJSON_AddObjectToObject(config, "root");
	cJSON_AddStringToObject(object, "path", root);
	cJSON_AddStringToObject(config, "hostname", STEP_HOST_NAME);
	add_mounts(config, files);
	object = cJSON_AddObjectToObject(config, "linux");
	list = cJSON_AddArrayToObject(object, "namespaces");
	for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "type", namespaces[i]);
		cJSON_AddItemToArray(list, item);
	}
	return config;
}
