/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/runtime.h"

#include "builder/native/layer/layer_disk.h"
#include "builder/native/runtime/runtime_config.h"
#include "builder/native/runtime/seccomp.h"
#include "builder/native/runtime/userns.h"
#include "core/file.h"
#include "core/log.h"
#include "core/proc.h"
#include "core/words.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_TIMEOUT_S 7200
#define STEP_OUTPUT_BYTES 4000
#define RESOLV_BYTES_MAX (64 * KIB)

/*
 * Mounts the layers ($1: options, $2: where), then runs the words behind them. "volatile" (Linux
 * 5.10) leaves out the syncs that package tools make after every file: an interrupted step is
 * thrown away in any case.
 */
static const char enter[] = "mount -t overlay overlay -o \"$1,volatile\" \"$2\" 2>/dev/null ||\n"
			    "\tmount -t overlay overlay -o \"$1\" \"$2\" || exit 125\n"
			    "shift 2\n"
			    "exec \"$@\"\n";

/*
 * The root file system of a step in a user namespace: its root must be able to go there, and the
 * store is closed to all but its owner. A step mounts here in a mount namespace of its own.
 */
#define STEP_PLACE "/run/ringup-step"

struct place {
	const char *folder; /* of this step, in the work folder */
	const char *disk;   /* put before the names in it: where it has the step's own ids */
	const char *files;  /* the folder of resolv.conf and hosts */
	const char *merged, *bundle, *name;
};

const char *runtime_name(void)
{
	/* crun starts faster; it refuses cgroups in hybrid mode, and must be able to make one */
	if (proc_exists("crun") && !file_exists("/sys/fs/cgroup/unified") && !userns_inside())
		return "crun";
	return proc_exists("runc") ? "runc" : proc_exists("crun") ? "crun" : NULL;
}

static bool has_overlay(void)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	char *text;

	return file_read("/proc/filesystems", FILE_CEILING_BYTES, &arena, &text, NULL, &ignored) ==
		       0 &&
	       strstr(text, "\toverlay\n");
}

bool runtime_available(struct arena *arena, const char **why)
{
	*why = NULL;
	if (!runtime_name())
		*why = "neither crun nor runc is installed (apt-get install crun)";
	else if (!proc_exists("unshare"))
		*why = "unshare is not installed (apt-get install util-linux)";
	else if (!has_overlay())
		*why = "the kernel has no overlay file system (modprobe overlay)";
	else if (geteuid() != 0)
		return userns_available(arena, why);
	return !*why;
}

/*
 * Device rules of cgroup v2 are BPF programs. crun raises RLIMIT_MEMLOCK for them, and fails
 * without CAP_SYS_RESOURCE, which root of an outer container may not have.
 */
static bool runtime_can_rule_devices(const struct runtime *runtime)
{
	return !runtime->in_userns && (strcmp(runtime->name, "crun") != 0 ||
				       prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE, 0, 0, 0) == 1);
}

/* A user namespace for root's steps; without one, `why` is set. */
static int runtime_map_ids(struct runtime *runtime, const char *folder, struct error *why)
{
	if (folder_make(STEP_PLACE, 0755, why) < 0)
		return -1;
	return idmap_make(&runtime->map, folder, why);
}

int runtime_find(struct runtime *runtime, const char *userns, const char *folder,
		 struct arena *arena, struct error *err)
{
	struct error lacks = {0};
	const char *why;

	*runtime = (struct runtime){
		.name = runtime_name(), .in_userns = userns_inside(), .map.fd = -1};
	if (!runtime->name)
		return error_set(err, ERROR_FAILED, "neither crun nor runc is installed");
	runtime->rules_devices = runtime_can_rule_devices(runtime);
	runtime->has_seccomp = seccomp_available(runtime->name, arena, &why);
	if (!runtime->has_seccomp)
		log_warn("the steps of this build may make every system call: %s", why);
	if (runtime->in_userns || strcmp(userns, "never") == 0 ||
	    runtime_map_ids(runtime, folder, &lacks) == 0)
		return 0;
	runtime_release(runtime);
	if (strcmp(userns, "always") == 0) {
		runtime->name = NULL;
		return error_set(err, ERROR_FAILED, "build.userns is 'always': %s", lacks.text);
	}
	log_warn("the root of this build's steps is the machine's root: %s", lacks.text);
	return 0;
}

void runtime_release(struct runtime *runtime)
{
	if (runtime->name)
		idmap_release(&runtime->map);
}

static bool is_mapped(const struct runtime *runtime)
{
	return runtime->map.fd >= 0;
}

/* resolv.conf and hosts, as the container sees them. */
static int write_files(const char *folder, struct arena *arena, struct error *err)
{
	static const char hosts[] = "127.0.0.1 localhost " STEP_HOST_NAME "\n"
				    "::1 localhost ip6-localhost ip6-loopback\n";
	struct error none = {0};
	char *resolv;

	if (file_read("/etc/resolv.conf", RESOLV_BYTES_MAX, arena, &resolv, NULL, &none) < 0)
		resolv = arena_strdup(arena, "");
	if (file_write(arena_printf(arena, "%s/resolv.conf", folder), resolv, strlen(resolv), 0644,
		       err) < 0)
		return -1;
	return file_write(arena_printf(arena, "%s/hosts", folder), hosts, strlen(hosts), 0644, err);
}

/* Adds a folder or an empty file, on which something is mounted, to the lowest layer. */
static int add_mount_point(struct tree *tree, const struct view *view, const char *path,
			   bool is_folder, bool *missing, struct error *err)
{
	struct tree_entry entry = {.mode = is_folder ? 0755 : 0644, .text = ""};
	struct tree_entry *added;
	bool found;

	if (view_find(view, path, &tree->arena, &entry, &found, err) < 0)
		return -1;
	if (found && entry.type != TREE_FOLDER)
		return 0;
	*missing = *missing || !found;
	added = tree_add(tree, is_folder ? TREE_FOLDER : TREE_FILE, path);
	entry.path = added->path;
	entry.type = added->type;
	*added = entry;
	return 0;
}

/* Mount points must be there: the runtime would make them, and the layer would have them. */
static int make_mount_points(const struct run_step *step, const char *folder, bool *any,
			     struct error *err)
{
	_cleanup_(tree_release) struct tree tree;

	tree_init(&tree);
	*any = false;
	if (add_mount_point(&tree, step->below, "dev", true, any, err) < 0 ||
	    add_mount_point(&tree, step->below, "etc", true, any, err) < 0 ||
	    add_mount_point(&tree, step->below, "etc/hosts", false, any, err) < 0 ||
	    add_mount_point(&tree, step->below, "etc/resolv.conf", false, any, err) < 0 ||
	    add_mount_point(&tree, step->below, "proc", true, any, err) < 0 ||
	    add_mount_point(&tree, step->below, "sys", true, any, err) < 0)
		return -1;
	return *any ? layer_place(&tree, folder, err) : 0;
}

/* Where a layer has the step's own ids, from the step's folder. */
static const char *mapped_place(const struct store *store, const struct place *at,
				const char *folder, struct arena *arena)
{
	size_t length = strlen(store->folder);

	if (!*at->disk || strncmp(folder, store->folder, length) != 0 || folder[length] != '/')
		return folder;
	return arena_printf(arena, "mapped%s", folder + length);
}

/* Short names for the layers: mount(2) takes options of one page at most. */
static int name_layers(const struct store *store, const struct run_step *step,
		       const struct place *at, bool has_points, struct arena *arena,
		       const char **lower, struct error *err)
{
	const char *names = has_points ? arena_printf(arena, "%sp", at->disk) : "";

	for (size_t i = step->below->count; i-- > 0;) {
		const char *name = arena_printf(arena, "%zu", i);

		if (symlink(mapped_place(store, at, step->below->list[i].folder, arena),
			    arena_printf(arena, "%s/%s", at->folder, name)) < 0)
			return error_errno(err, "cannot write in %s", at->folder);
		names = arena_printf(arena, "%s%s%s", names, *names ? ":" : "", name);
	}
	*lower = names;
	return 0;
}

static int runtime_prepare(const struct runtime *runtime, struct store *store,
			   const struct run_step *step, struct arena *arena, struct place *at,
			   const char **options, struct error *err)
{
	static const char *const folders[] = {"merged", "bundle", "upper", "work", "mapped"};
	const char *lower = "";
	bool has_points;

	at->folder = store_work_path(store, arena);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (folder_make(arena_printf(arena, "%s/%s", at->folder, folders[i]), 0755, err) <
		    0)
			return -1;
	at->disk = "";
	at->files = at->folder;
	at->merged = arena_printf(arena, "%s/merged", at->folder);
	if (is_mapped(runtime)) {
		at->disk = arena_printf(arena, "mapped%s/", at->folder + strlen(store->folder));
		at->files = STEP_PLACE;
		at->merged = STEP_PLACE "/root";
	}
	at->bundle = arena_printf(arena, "%s/bundle", at->folder);
	at->name = arena_printf(arena, "ringup-%s-%s", strrchr(store->work, '/') + 1,
				strrchr(at->folder, '/') + 1);
	if (make_mount_points(step, arena_printf(arena, "%s/p", at->folder), &has_points, err) <
		    0 ||
	    name_layers(store, step, at, has_points, arena, &lower, err) < 0 ||
	    (!is_mapped(runtime) && write_files(at->files, arena, err) < 0))
		return -1;
	/* an image from scratch has no layers, and overlayfs needs one */
	if (!*lower) {
		lower = arena_printf(arena, "%sp", at->disk);
		if (folder_make(arena_printf(arena, "%s/p", at->folder), 0755, err) < 0)
			return -1;
	}
	/*
	 * With userxattr, overlayfs has no redirects and refuses the option. Without rules for
	 * devices, nodes that a base brings are as good as plain files.
	 */
	*options = arena_printf(
		arena, "lowerdir=%s,upperdir=%supper,workdir=%swork,index=off,metacopy=off,%s%s",
		lower, at->disk, at->disk, runtime->in_userns ? "userxattr" : "redirect_dir=off",
		runtime->rules_devices || is_mapped(runtime) ? "" : ",nodev");
	return 0;
}

static int runtime_write_config(const struct runtime *runtime, const struct run_step *step,
				const struct place *at, struct arena *arena, struct error *err)
{
	const struct container container = {.root = at->merged,
					    .files = at->files,
					    .has_seccomp = runtime->has_seccomp,
					    .rules_devices = runtime->rules_devices,
					    .in_userns = runtime->in_userns,
					    .map = is_mapped(runtime) ? &runtime->map : NULL};
	_cleanup_(json_free) cJSON *config = NULL;
	struct words env = WORDS_INIT(arena);
	struct run_step with_home = *step;
	struct run_user user;

	if (runtime_user(step->below, step->user, arena, &user, err) < 0)
		return -1;
	words_addf(&env, "HOME=%s", user.home);
	words_add_all(&env, step->env);
	with_home.env = env.list;
	if (runtime_config(&with_home, &user, &container, &config, err) < 0)
		return -1;
	return json_write(arena_printf(arena, "%s/config.json", at->bundle), config, 0600, err);
}

/* Removes what an interrupted runtime left of the container: its cgroups. */
static void clean_up(const char *runtime, const char *state, const struct place *at)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS(runtime, "--root", state, "delete", "--force", at->name),
			    .even_when_interrupted = true,
			    .timeout_s = 20};
	struct error ignored = {0};

	proc_run(&proc, &result, &ignored);
}

/* Where the process may not make cgroups, crun must be told so; runc finds out by itself. */
static const char *const *start_words(const struct runtime *runtime, const char *options,
				      const char *state, const struct place *at,
				      struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("unshare", "--mount", "--propagation", "private", "--pid",
				    "--fork", "--kill-child=KILL", "--mount-proc", "--"));
	if (!is_mapped(runtime))
		words_add_all(&words, WORDS("sh", "-c", enter, "sh", options, "merged"));
	words_add(&words, runtime->name);
	if (strcmp(runtime->name, "crun") == 0 && runtime->in_userns)
		words_add(&words, "--cgroup-manager=disabled");
	words_add_all(&words, WORDS("--root", state, "run", "--bundle", at->bundle, at->name));
	return words.list;
}

/* A run in a mount namespace of its own, in which the layers have the step's ids. */
struct mapped_run {
	const struct runtime *runtime;
	const struct store *store;
	const struct place *at;
	const char *options;
	const struct proc *proc;
	struct proc_result *output;
	struct arena *arena;
	struct error *err;
	int rc;
};

static int runtime_mount_mapped(const struct mapped_run *run)
{
	const struct idmap *map = &run->runtime->map;
	const char *mapped = arena_printf(run->arena, "%s/mapped", run->at->folder);

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_errno(run->err, "cannot make a mount namespace");
	if (idmap_mount(map, run->store->folder, mapped, run->err) < 0)
		return -1;
	if (mount("tmpfs", STEP_PLACE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return error_errno(run->err, "cannot mount on %s", STEP_PLACE);
	if (folder_make(run->at->merged, 0755, run->err) < 0 ||
	    write_files(run->at->files, run->arena, run->err) < 0)
		return -1;
	if (chdir(run->at->folder) < 0)
		return error_errno(run->err, "cannot enter %s", run->at->folder);
	return idmap_mount_overlay(map, run->options, run->at->merged, run->err);
}

/* Namespaces belong to a thread, and what it starts begins with the thread's. */
static void *runtime_mapped_thread(void *arg)
{
	struct mapped_run *run = arg;

	run->rc = runtime_mount_mapped(run);
	if (run->rc == 0)
		run->rc = proc_run(run->proc, run->output, run->err);
	return NULL;
}

static int runtime_start(const struct runtime *runtime, const struct store *store,
			 const struct place *at, const char *options, const struct proc *proc,
			 struct proc_result *output, struct arena *arena, struct error *err)
{
	struct mapped_run run = {runtime, store, at, options, proc, output, arena, err, -1};
	pthread_t thread;

	if (!is_mapped(runtime))
		return proc_run(proc, output, err);
	if (pthread_create(&thread, NULL, runtime_mapped_thread, &run) != 0)
		return error_set(err, ERROR_FAILED, "cannot start a thread");
	pthread_join(thread, NULL);
	return run.rc;
}

int runtime_run(const struct runtime *runtime, struct store *store, const struct run_step *step,
		struct arena *arena, struct run_result *result, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result output = {0};
	const char *options, *state;
	struct proc proc = {.line = step->line,
			    .arg = step->arg,
			    .joined = true,
			    .dies_with_us = true,
			    .stop = step->stop,
			    .inherits_terminal = step->interactive,
			    .timeout_s = STEP_TIMEOUT_S};
	struct place at;
	int rc;

	if (runtime_prepare(runtime, store, step, arena, &at, &options, err) < 0 ||
	    runtime_write_config(runtime, step, &at, arena, err) < 0)
		return -1;
	state = arena_printf(arena, "%s/runtime", at.folder);
	proc.folder = at.folder;
	proc.words = start_words(runtime, options, state, &at, arena);
	rc = runtime_start(runtime, store, &at, options, &proc, &output, arena, err);
	if (rc < 0 || output.status >= 125)
		clean_up(runtime->name, state, &at);
	if (rc < 0)
		return -1;
	result->status = output.status;
	result->output = arena_strdup(arena, text_tail(output.out.text, STEP_OUTPUT_BYTES));
	result->upper = arena_printf(arena, "%s/upper", at.folder);
	if (output.status == 125 || strstr(result->output, "runc run failed"))
		return error_set(
			err, ERROR_FAILED,
			"no container can be started in %s (%s): %s; take another build engine, or with XDG_CACHE_HOME a folder on ext4 or xfs",
			store->folder, runtime->name, result->output);
	return 0;
}
