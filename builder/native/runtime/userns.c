/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/userns.h"

#include "builder/native/runtime/subids.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAP_TIMEOUT_S 20
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWNS)
#define SMALL_BYTES_MAX (64 * KIB) /* of files in /proc */

/* The two pipes between parent and child. */
struct talk {
	int go[2];     /* to the child: a byte once its ids are there */
	int answer[2]; /* from it: a struct error once it needs them, and one at its end */
	pid_t pid;
	bool told; /* of Ctrl-C */
};

bool userns_inside(void)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	unsigned long inside, outside, length;
	struct error ignored = {0};
	char *text;

	if (file_read("/proc/self/uid_map", SMALL_BYTES_MAX, &arena, &text, NULL, &ignored) < 0)
		return false;
	return sscanf(text, "%lu %lu %lu", &inside, &outside, &length) != 3 || inside || outside ||
	       length != UINT32_MAX;
}

static const char *person_name(struct arena *arena)
{
	const struct passwd *me = getpwuid(getuid());

	return me ? arena_strdup(arena, me->pw_name)
		  : arena_printf(arena, "%u", (unsigned)getuid());
}

/* Mounts of overlayfs in user namespaces came with Linux 5.11. */
static bool is_new_enough(void)
{
	struct utsname uts;
	int major, minor;

	return uname(&uts) < 0 || sscanf(uts.release, "%d.%d", &major, &minor) != 2 || major > 5 ||
	       (major == 5 && minor >= 11);
}

static bool is_one(const char *path)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	char *text;

	return file_read(path, SMALL_BYTES_MAX, &arena, &text, NULL, &ignored) == 0 &&
	       strtol(text, NULL, 10) == 1;
}

static bool is_zero(const char *path)
{
	return file_exists(path) && !is_one(path);
}

/* Makes the namespaces in a child and becomes root there: AppArmor may allow only the first. */
static bool kernel_allows(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(NAMESPACES) < 0 ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	return status == 0;
}

static const char *kernel_reason(void)
{
	if (is_zero("/proc/sys/kernel/unprivileged_userns_clone"))
		return "the kernel keeps user namespaces for root (sysctl kernel.unprivileged_userns_clone=1)";
	if (is_one("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
		return "AppArmor keeps user namespaces from programs without a profile (sysctl kernel.apparmor_restrict_unprivileged_userns=0)";
	return "the kernel makes no user namespace here (sysctl user.max_user_namespaces; inside of a container its runtime may forbid it)";
}

bool userns_available(struct arena *arena, const char **why)
{
	const char *name = person_name(arena), *missing = NULL;
	struct subids ids;

	*why = NULL;
	if (!subids_read("/etc/subuid", name, getuid(), &ids))
		missing = "uid";
	else if (!subids_read("/etc/subgid", name, getuid(), &ids))
		missing = "gid";
	if (!proc_exists("newuidmap") || !proc_exists("newgidmap"))
		*why = "it needs root, or newuidmap (apt-get install uidmap)";
	else if (missing)
		*why = arena_printf(
			arena,
			"it needs root, or 65536 ids for %s in /etc/sub%s (usermod --add-sub%ss 100000-165535 %s)",
			name, missing, missing, name);
	else if (!is_new_enough())
		*why = "it needs root, or Linux 5.11 for overlay mounts without root";
	else if (!kernel_allows())
		*why = arena_printf(arena, "it needs root: %s", kernel_reason());
	return !*why;
}

/* newuidmap or newgidmap. */
static int set_map(const char *program, const char *file, pid_t pid, unsigned long own,
		   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&arena);
	struct proc proc = {.timeout_s = MAP_TIMEOUT_S};
	const char *name = person_name(&arena);
	struct subids ids;

	if (!subids_read(file, name, getuid(), &ids))
		return error_set(err, ERROR_FAILED, "%s has no ids for %s", file, name);
	words_add(&words, program);
	words_addf(&words, "%d", (int)pid);
	subids_map(&ids, own, &words);
	proc.words = words.list;
	if (proc_run(&proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}

static bool userns_read_all(int fd, void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, (char *)bytes + done, length - done);

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

/* It is smaller than PIPE_BUF, so one write takes all of it. */
static bool userns_answer(const struct talk *talk, const struct error *err)
{
	return write(talk->answer[1], err, sizeof(*err)) == (ssize_t)sizeof(*err);
}

static int enter(struct talk *talk, pid_t parent, struct error *err)
{
	char byte;

	interrupt_follow();
	if (unshare(NAMESPACES) < 0)
		return error_errno(err, "cannot make a user namespace");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    !userns_answer(talk, err) || !userns_read_all(talk->go[0], &byte, 1))
		return error_set(err, ERROR_INTERRUPTED, "stopped");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_errno(err, "cannot become root of a user namespace");
	return 0;
}

static void be_child(struct talk *talk, pid_t parent, int (*fn)(void *arg, struct error *err),
		     void *arg)
{
	struct error err = {0};

	fd_close(&talk->go[1]);
	fd_close(&talk->answer[0]);
	if (enter(talk, parent, &err) == 0 && fn(arg, &err) == 0)
		err.kind = ERROR_NONE;
	fflush(stderr);
	_exit(!userns_answer(talk, &err));
}

/* Reads its next answer, and hands Ctrl-C on meanwhile. False when the child has ended. */
static bool userns_hear(struct talk *talk, struct error *said)
{
	struct pollfd fds = {talk->answer[0], POLLIN, 0};

	while (poll(&fds, 1, INTERRUPT_POLL_MSEC) <= 0)
		if (interrupted() && !talk->told) {
			kill(talk->pid, SIGINT);
			talk->told = true;
		}
	return userns_read_all(talk->answer[0], said, sizeof(*said));
}

/* Gives the child its ids, and reads how it ended. */
static int lead(struct talk *talk, struct error *err)
{
	struct error said;
	char byte = 0;

	if (!userns_hear(talk, &said))
		return error_set(err, ERROR_FAILED, "the part of ringup that builds did not start");
	if (!said.kind) {
		if (set_map("newuidmap", "/etc/subuid", talk->pid, getuid(), err) < 0 ||
		    set_map("newgidmap", "/etc/subgid", talk->pid, getgid(), err) < 0)
			return -1;
		if (write(talk->go[1], &byte, 1) != 1 || !userns_hear(talk, &said))
			return error_set(
				err, ERROR_FAILED,
				"the part of ringup that builds was ended; run the same command to go on");
	}
	if (!said.kind)
		return 0;
	*err = said;
	return -1;
}

int userns_run(int (*fn)(void *arg, struct error *err), void *arg, struct error *err)
{
	struct talk talk = {.go = {-1, -1}, .answer = {-1, -1}};
	pid_t parent = getpid();
	int rc = -1;

	if (pipe2(talk.go, O_CLOEXEC) < 0 || pipe2(talk.answer, O_CLOEXEC) < 0) {
		error_errno(err, "cannot make a pipe");
	} else {
		fflush(NULL); /* or the child would print what waits in buffers again */
		talk.pid = fork();
		if (talk.pid == 0)
			be_child(&talk, parent, fn, arg);
		fd_close(&talk.go[0]);
		fd_close(&talk.answer[1]);
		rc = talk.pid < 0 ? error_errno(err, "cannot start a part of ringup")
				  : lead(&talk, err);
	}
	for (int i = 0; i < 2; i++) {
		fd_close(&talk.go[i]);
		fd_close(&talk.answer[i]);
	}
	while (talk.pid > 0 && waitpid(talk.pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
