/* SPDX-License-Identifier: MIT */
/* Lab hosts made of namespaces: a bridge, veth pairs, and one first process per host. */
#include "deployer/lab/lab_netns.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/pool.h"
#include "core/proc.h"
#include "core/progress.h"
#include "core/words.h"
#include "deployer/engine/engine.h"
#include "deployer/lab/lab_bare.h"
#include "deployer/lab/lab_gpus.h"
#include "deployer/lab/lab_process.h"
#include "deployer/lab/lab_state.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_START_S 60
#define ENGINE_START_S 90
#define HOST_PORT_S 10
#define HOST_ASK_S 30
#define CGROUP_TRIES 100

static bool succeeds(const char *const *words)
{
	struct error ignored = {0};

	return proc_check(words, &ignored) == 0;
}

const char *lab_netns_refusal(const char *engine, struct arena *arena)
{
	static const char *const needed[] = {"ip",	   "nsenter",	      "unshare",
					     "dockerd",	   "docker",	      "sshd",
					     "mmdebstrap", "docker-registry", NULL};
	const char *probe;

	if (geteuid() != 0)
		return "this user is not root";
	for (const char *const *name = needed; *name; name++)
		if (!proc_exists(*name))
			return arena_printf(arena, "%s is not installed (make deps installs it)",
					    *name);
	if (!proc_exists(engine))
		return arena_printf(arena, "%s is not installed", engine);
	probe = arena_printf(arena, "rlprobe%d", (int)getpid());
	if (!succeeds(WORDS("ip", "netns", "add", probe)))
		return "this machine allows no network namespaces";
	succeeds(WORDS("ip", "netns", "del", probe));
	if (!succeeds(WORDS("unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "mount",
			    "-t", "tmpfs", "tmpfs", "/mnt")))
		return "this machine allows no mounts in a new mount namespace";
	return NULL;
}

static const char *netns_name(const struct lab *lab, size_t index, struct arena *arena)
{
	return arena_printf(arena, "%s-%s", lab->name, lab->hosts[index].name);
}

/* The machine's end of the host's link. */
static const char *link_name(const struct lab *lab, size_t index, struct arena *arena)
{
	return arena_printf(arena, "%sv%zu", lab->name, index + 1);
}

/* A subnet that no route of this machine covers yet. */
static int choose_subnet(struct lab *lab, struct arena *arena, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("ip", "-4", "route", "show")};

	if (lab->subnet)
		return 0;
	if (proc_run(&proc, &result, err) < 0)
		return -1;
	for (int subnet = 1; subnet < 250; subnet++) {
		if (strstr(result.out.text, arena_printf(arena, "10.83.%d.", subnet)))
			continue;
		lab->subnet = subnet;
		return 0;
	}
	return error_set(err, ERROR_FAILED, "no free subnet in 10.83.0.0/16 for the lab");
}

/* Two labs that start at the same time must not take the same subnet, so a lock is held. */
static int make_bridge(struct lab *lab, struct arena *arena, struct error *err)
{
	_cleanup_(fd_close) int lock = -1;
	const char *address;

	if (lab_lock_machine(&lock, err) < 0)
		return -1;
	if (choose_subnet(lab, arena, err) < 0)
		return -1;
	address = arena_printf(arena, "10.83.%d.254/24", lab->subnet);
	if (succeeds(WORDS("ip", "link", "show", lab->name)))
		return 0;
	if (proc_check(WORDS("ip", "link", "add", lab->name, "type", "bridge"), err) < 0 ||
	    proc_check(WORDS("ip", "addr", "add", address, "dev", lab->name), err) < 0 ||
	    proc_check(WORDS("ip", "link", "set", lab->name, "up"), err) < 0)
		return error_wrap(err, "cannot make the lab's bridge");
	return 0;
}

static int make_link(const struct lab *lab, size_t index, struct arena *arena, struct error *err)
{
	const char *netns = netns_name(lab, index, arena);
	const char *outside = link_name(lab, index, arena);
	const char *address = arena_printf(arena, "%s/24", lab->hosts[index].address);
	const char *gateway = arena_printf(arena, "10.83.%d.254", lab->subnet);

	succeeds(WORDS("ip", "netns", "del", netns));
	succeeds(WORDS("ip", "link", "del", outside));
	if (proc_check(WORDS("ip", "netns", "add", netns), err) < 0 ||
	    proc_check(WORDS("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0",
			     "netns", netns),
		       err) < 0 ||
	    proc_check(WORDS("ip", "link", "set", outside, "master", lab->name, "up"), err) < 0 ||
	    proc_check(WORDS("ip", "-n", netns, "addr", "add", address, "dev", "eth0"), err) < 0 ||
	    proc_check(WORDS("ip", "-n", netns, "link", "set", "eth0", "up"), err) < 0 ||
	    proc_check(WORDS("ip", "-n", netns, "link", "set", "lo", "up"), err) < 0)
		return -1;
	if (*lab->hosts[index].bare) /* its way out is another one */
		return 0;
	return proc_check(WORDS("ip", "-n", netns, "route", "add", "default", "via", gateway), err);
}

/* The command that starts a host with the system of this machine. NULL with the error. */
static const char *const *host_words(const struct lab *lab, const struct lab_host *host,
				     const char *netns, struct arena *arena, struct error *err)
{
	struct words words = WORDS_INIT(arena), environment = WORDS_INIT(arena);
	const char *script;

	if (share_path(arena, "deployer/remote/lab_host.sh", &script, err) < 0)
		return NULL;
	lab_gpus_environment(lab, host, &environment);
	words_add_all(&words,
		      WORDS("nsenter", arena_printf(arena, "--net=/run/netns/%s", netns), "unshare",
			    "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child"));
	words_add_all(&words, WORDS("sh", script, lab_path(lab, host->name, arena), host->name,
				    host->address, arena_printf(arena, "%d", lab->port),
				    arena_printf(arena, "/%s/%s", lab->name, host->name),
				    lab->engine, lab_setenv(&environment), lab->user));
	return words_list(&words);
}

/* Starts the first process. Its id on this machine is the id of unshare's child. */
static int start_init(struct lab *lab, size_t index, const char *state, struct arena *arena,
		      struct error *err)
{
	struct lab_host *host = &lab->hosts[index];
	const char *netns = netns_name(lab, index, arena);
	const char *log = arena_printf(arena, "%s/host.log", state);
	const char *const *words = *host->bare ? lab_bare_words(lab, host, netns, arena, err)
					       : host_words(lab, host, netns, arena, err);
	pid_t pid;

	if (!words || proc_spawn(words, NULL, log, &pid, err) < 0)
		return -1;
	usleep(50000);
	return lab_process_note(pid, log, &host->process, err);
}

static int wait_engine(const struct lab *lab, size_t index, const char *state, struct arena *arena,
		       struct error *err)
{
	const char *up = arena_printf(arena, "%s/engine.up", state);
	uint64_t deadline = clock_usec() + ENGINE_START_S * 1000000ULL;

	for (;;) {
		if (file_exists(up))
			return 0;
		if (interrupt_check(err) < 0)
			return -1;
		if (!clock_left_msec(deadline) || !lab_process_alive(&lab->hosts[index].process))
			return error_set(err, ERROR_FAILED,
					 "its container engine did not start; see the logs in %s",
					 state);
		usleep(100000);
	}
}

struct start {
	struct lab *lab;
	struct error errors[LAB_HOSTS_MAX];
};

static int start_host(struct lab *lab, size_t index, struct arena *arena, struct error *err)
{
	struct lab_host *host = &lab->hosts[index];
	const char *state = lab_path(lab, host->name, arena), *key;
	char *public_key;

	/* of an earlier start */
	unlink(arena_printf(arena, "%s/engine.up", state));
	if (folder_make(state, 0700, err) < 0 ||
	    lab_key(lab, arena_printf(arena, "%s/ssh_host_ed25519_key", host->name), arena, err) <
		    0)
		return -1;
	key = lab_path(lab, "id_ed25519.pub", arena);
	if (file_read(key, 4096, arena, &public_key, NULL, err) < 0 ||
	    file_write(arena_printf(arena, "%s/authorized_keys", state), public_key,
		       strlen(public_key), 0600, err) < 0 ||
	    make_link(lab, index, arena, err) < 0 || start_init(lab, index, state, arena, err) < 0)
		return -1;
	if (!lab_wait_port(host->address, lab->port, &host->process, HOST_START_S))
		return error_set(err, ERROR_FAILED,
				 "its sshd did not start; see %s/host.log and %s/sshd.log", state,
				 state);
	return *host->bare ? 0 : wait_engine(lab, index, state, arena, err);
}

/*
 * Whether a host that is up takes logins, and its engine's daemon answers: either may have been ended without it. The words
 * run in the host's mounts, so that they find its own socket; what the person's environment says of engines is not for it.
 */
static bool host_serves(const struct lab *lab, const struct lab_host *host, struct arena *arena)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const struct engine *engine = engine_find(lab->engine);
	struct words words = WORDS_INIT(arena);
	struct proc proc = {.timeout_s = HOST_ASK_S};
	struct error ignored = {0};

	if (*host->bare)
		return true;
	if (!lab_wait_port(host->address, lab->port, &host->process, HOST_PORT_S))
		return false;
	if (!engine || !engine->permit) /* it has no daemon */
		return true;
	words_addf(&words, "nsenter");
	words_addf(&words, "--mount=/proc/%d/ns/mnt", (int)host->process.pid);
	words_add_all(&words, WORDS("env", "-i"));
	words_addf(&words, "PATH=%s",
		   getenv("PATH") ? getenv("PATH") : "/usr/sbin:/usr/bin:/sbin:/bin");
	words_add_all(&words, engine->probe);
	proc.words = words_list(&words);
	return proc_run(&proc, &result, &ignored) == 0 && result.status == 0;
}

/* A host that runs and serves nobody is ended, as for a reboot. */
static const char *host_doing(const struct lab *lab, const struct lab_host *host,
			      struct arena *arena)
{
	if (!lab_process_alive(&host->process))
		return *host->bare ? "starts: network, system"
				   : "starts: network, sshd, container engine";
	/* an interrupted question has no answer */
	if (host_serves(lab, host, arena) || interrupted())
		return NULL;
	lab_process_end(&host->process, true);
	return "starts again: its sshd or its container engine did not answer";
}

static void start_one(void *arg, size_t index)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct start *start = arg;
	struct lab_host *host = &start->lab->hosts[index];
	struct progress_step *step;
	uint64_t begin = clock_usec();
	const char *doing = host_doing(start->lab, host, &arena);
	int rc;

	if (!doing)
		return;
	step = progress_begin(host->name, doing);
	rc = start_host(start->lab, index, &arena, &start->errors[index]);
	progress_end(step, rc == 0, rc == 0 ? "%s up in %.1f s" : "%s failed after %.1f s",
		     host->address, clock_seconds_since(begin));
}

int lab_netns_up(struct lab *lab, struct arena *arena, struct error *err)
{
	struct start *start = ARENA_NEW(arena, struct start);

	start->lab = lab;
	if (make_bridge(lab, arena, err) < 0)
		return -1;
	for (int i = 0; i < lab->host_count; i++) {
		lab->hosts[i].name = arena_printf(arena, "node%02d", i + 1);
		lab->hosts[i].address = arena_printf(arena, "10.83.%d.%d", lab->subnet, i + 1);
	}
	/* so that 'lab down' knows the names if this process is stopped here */
	if (lab_save(lab, err) < 0)
		return -1;
	pool_each((size_t)lab->host_count, 8, start_one, start);
	if (lab_save(lab, err) < 0)
		return -1;
	for (int i = 0; i < lab->host_count; i++) {
		if (!start->errors[i].kind)
			continue;
		*err = start->errors[i];
		return error_wrap(err, "lab host %s", lab->hosts[i].name);
	}
	return 0;
}

/* Control groups are folders. Removes the lab's empty ones, deepest first. */
static int remove_cgroup(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (kind == FTW_DP)
		rmdir(path);
	return 0;
}

static void remove_tree_of_cgroups(const char *path)
{
	nftw(path, remove_cgroup, 16, FTW_DEPTH | FTW_PHYS);
}

/* Podman's own groups of the host's containers, which are named for them: libpod_parent/libpod-ID. */
static void remove_groups_of_containers(const struct lab *lab, size_t index, struct arena *arena)
{
	const char *made = arena_printf(arena, "%s/containers/storage/overlay-containers",
					lab_path(lab, lab->hosts[index].name, arena));
	struct error ignored = {0};
	const char **ids, **controllers;

	/* where both versions of control groups are, Podman leaves its empty ones of version 2 behind */
	remove_tree_of_cgroups("/sys/fs/cgroup/unified/libpod_parent");
	if (folder_list(made, "", arena, &ids, &ignored) < 0 ||
	    folder_list("/sys/fs/cgroup", "", arena, &controllers, &ignored) < 0)
		return;
	for (; *controllers; controllers++) {
		const char *parent =
			arena_printf(arena, "/sys/fs/cgroup/%s/libpod_parent", *controllers);

		for (const char **id = ids; *id; id++)
			remove_tree_of_cgroups(arena_printf(arena, "%s/libpod-%s", parent, *id));
		rmdir(arena_printf(arena, "%s/conmon", parent));
		rmdir(parent);
	}
}

/* True when none is left. A process that is still ending holds its control group for a moment. */
static bool remove_cgroups(const struct lab *lab, struct arena *arena)
{
	const char *path = arena_printf(arena, "/sys/fs/cgroup/%s", lab->name);
	struct error ignored = {0};
	bool left = false;
	const char **names;

	remove_tree_of_cgroups(path);
	left = file_exists(path);
	if (folder_list("/sys/fs/cgroup", "", arena, &names, &ignored) < 0)
		return !left;
	for (; *names; names++) {
		path = arena_printf(arena, "/sys/fs/cgroup/%s/%s", *names, lab->name);
		remove_tree_of_cgroups(path);
		left = left || file_exists(path);
	}
	return !left;
}

/*
 * Whether any process sees a mount on the folder. A folder that is a mount point only in other
 * mount namespaces can be removed, and that removes the mount there too. The hosts of another lab
 * would lose it.
 */
static bool is_mount_point_somewhere(const char *folder, struct arena *arena)
{
	const char *pattern = arena_printf(arena, " %s ", folder);
	struct error ignored = {0};
	const char **processes;

	if (folder_list("/proc", "", arena, &processes, &ignored) < 0)
		return true;
	for (; *processes; processes++) {
		const char *path = arena_printf(arena, "/proc/%s/mountinfo", *processes);
		_cleanup_(arena_release) struct arena own = ARENA_INIT;
		char *text;

		if ((*processes)[0] < '1' || (*processes)[0] > '9')
			continue;
		if (file_read(path, FILE_CEILING_BYTES, &own, &text, NULL, &ignored) == 0 &&
		    strstr(text, pattern))
			return true;
	}
	return false;
}

/*
 * Removes the folders on which hosts mount their own, unless they hold something. A host of another
 * lab that starts meanwhile makes them and mounts on them under the same lock (remote/lab_host.sh).
 */
static void remove_mount_points(struct arena *arena)
{
	static const char *const folders[] = {
		"/etc/docker",	   "/etc/containers",	  "/etc/cdi",
		"/var/lib/ringup", "/var/lib/containers", "/dev/infiniband"};
	_cleanup_(fd_close) int lock = -1;
	struct error ignored = {0};

	if (lab_lock_machine(&lock, &ignored) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (!is_mount_point_somewhere(folders[i], arena))
			rmdir(folders[i]);
}

void lab_netns_down(const struct lab *lab, struct arena *arena)
{
	for (int i = 0; i < lab->host_count; i++)
		lab_process_end(&lab->hosts[i].process, true);
	for (int i = 0; i < lab->host_count; i++) {
		/* the link first, because the kernel removes a namespace only some time later */
		succeeds(WORDS("ip", "link", "del", link_name(lab, (size_t)i, arena)));
		succeeds(WORDS("ip", "netns", "del", netns_name(lab, (size_t)i, arena)));
	}
	succeeds(WORDS("ip", "link", "del", lab->name));
	for (int i = 0; i < lab->host_count; i++)
		remove_groups_of_containers(lab, (size_t)i, arena);
	for (int tries = 0; tries < CGROUP_TRIES && !remove_cgroups(lab, arena); tries++)
		usleep(100000);
	remove_mount_points(arena);
}
