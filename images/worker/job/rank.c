/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/rank.h"
#include "job/gloo.h"
#include "job/host.h"
#include "job/protocol.h"
#include "job/sweep.h"
#include "job/text.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORPHAN_GRACE_MSEC 3000 /* for the command, when the supervisor is gone */

struct runner {
	int connection;
	pid_t supervisor;
	struct list names; /* of the variables that the supervisor has */
	int out[2], errors[2];
	struct text heard;
	char *folder;
	int input; /* its stdin, or its terminal; -1: that of the launcher */
	bool is_terminal;
	bool goes;
};

static volatile pid_t runner_child;

/* How launchers say which rank a process is. The most special one comes first. */
static const struct {
	const char *rank, *world, *local;
} rank_variables[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
	{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
};

static long variable_number(const char *name)
{
	const char *value = getenv(name);
	long number;

	return value && text_number(value, 0, 1000000, &number) ? number : -1;
}

static int runner_fail(const char *what)
{
	fprintf(stderr, "ringup-job: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Connects to the socket; *peer becomes the process that listens there. */
static int socket_connect(const char *path, pid_t *peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred owner = {.pid = 0};
	socklen_t size = sizeof(owner);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0 && owner.uid == geteuid()) {
		*peer = owner.pid;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int supervisor_connect(const char *id, const char *address, pid_t *supervisor)
{
	char pattern[108];
	glob_t found = {0};
	pid_t peer = 0;
	int fd = -1;

	if (*address)
		snprintf(pattern, sizeof(pattern), JOB_SOCKET_FOLDER "/socket", id, address);
	else
		snprintf(pattern, sizeof(pattern), JOB_SOCKET_PATTERN "/socket", id);
	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		fd = socket_connect(found.gl_pathv[i], &peer);
		if (fd >= 0 && found.gl_pathc > 1 && !process_descends(getpid(), peer)) {
			close(fd);
			fd = -1;
		}
	}
	globfree(&found);
	if (supervisor)
		*supervisor = peer;
	if (fd < 0)
		fprintf(stderr,
			"ringup-job: this host has no supervisor of the job %s (%s): the launcher started a rank on a host that the job was not planned for\n",
			id, pattern);
	return fd;
}

/* Takes the supervisor's environment and folder. */
static void runner_move_in(struct runner *r)
{
	char path[64];
	struct text all;

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)r->supervisor);
	if (chdir(path) < 0)
		runner_fail("cannot enter the supervisor's folder");
	unsetenv("TMPDIR"); /* that of the program that started this */
	all = process_environment(r->supervisor);
	for (size_t i = 0; i < all.length; i += strlen(all.bytes + i) + 1) {
		char *equals = strchr(all.bytes + i, '=');

		if (!equals)
			continue;
		*equals = '\0';
		setenv(all.bytes + i, equals + 1, 1);
		list_add(&r->names, all.bytes + i);
		*equals = '=';
	}
	text_release(&all);
}

static bool runner_has_name(const struct runner *r, const char *name)
{
	for (size_t i = 0; i < r->names.count; i++)
		if (strcmp(r->names.items[i], name) == 0)
			return true;
	return false;
}

/* Says which rank this is, and hands over the reading ends of its stdout and stderr. */
static int runner_join(struct runner *r)
{
	char line[128], control[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec part = {line, 0};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	long rank = -1;
	size_t i;

	for (i = 0; i < sizeof(rank_variables) / sizeof(*rank_variables); i++)
		if ((rank = variable_number(rank_variables[i].rank)) >= 0)
			break;
	if (rank < 0) {
		fputs("ringup-job: nothing in the environment says which rank this is\n", stderr);
		return -1;
	}
	if (pipe2(r->out, O_CLOEXEC) < 0 || pipe2(r->errors, O_CLOEXEC) < 0)
		return runner_fail("cannot make a pipe");
	part.iov_len = (size_t)snprintf(line, sizeof(line), "join %ld %ld %ld\n", rank,
					variable_number(rank_variables[i].world),
					variable_number(rank_variables[i].local));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), (const int[]){r->out[0], r->errors[0]}, 2 * sizeof(int));
	if (sendmsg(r->connection, &message, MSG_NOSIGNAL) < 0)
		return runner_fail("cannot join the supervisor");
	close(r->out[0]);
	close(r->errors[0]);
	return 0;
}

static void runner_obey(struct runner *r, char *line)
{
	char *value = strchr(line, ' '), *equals;

	if (strcmp(line, "go") == 0)
		r->goes = true;
	else if (strcmp(line, "terminal") == 0)
		r->is_terminal = true;
	if (!value)
		return;
	*value++ = '\0';
	text_unescape(value);
	if (strcmp(line, "dir") == 0) {
		r->folder = text_copy(value);
	} else if ((equals = strchr(value, '='))) {
		*equals = '\0';
		/* a default gives way to what the host has, and not to the first host's default */
		if (strcmp(line, "set") == 0 || !runner_has_name(r, value))
			setenv(value, equals + 1, 1);
	}
}

/* Words of the supervisor, and the descriptor that may come with them. */
static ssize_t runner_receive(struct runner *r, char *bytes, size_t size)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {bytes, size};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(r->connection, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&r->input, CMSG_DATA(c), sizeof(int));
	return got;
}

static int runner_wait_for_go(struct runner *r)
{
	char bytes[4096], *line;

	while (!r->goes) {
		ssize_t got = runner_receive(r, bytes, sizeof(bytes));
		size_t offset = 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1; /* the job ends before it began */
		text_add_bytes(&r->heard, bytes, (size_t)got);
		while ((line = text_next_line(&r->heard, &offset)))
			runner_obey(r, line);
		text_drop(&r->heard, offset);
	}
	return 0;
}

/* In the child. */
static void runner_become(const struct runner *r, const char *id, char *const *words)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL); /* the supervisor's way is not the command's */
	setenv(JOB_VARIABLE, id, 1);
	dup2(r->out[1], STDOUT_FILENO);
	dup2(r->errors[1], STDERR_FILENO);
	if (r->input >= 0)
		input_become(r->input, r->is_terminal);
	if (r->folder && chdir(r->folder) < 0)
		fprintf(stderr, "ringup: cannot enter the folder %s: %s\n", r->folder,
			strerror(errno));
	else if (execvp(words[0], words) < 0)
		fprintf(stderr, "ringup: cannot run %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void runner_hand_on(int number)
{
	if (runner_child > 0)
		kill(runner_child, number);
}

static void runner_catch_signals(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT};
	struct sigaction action = {.sa_handler = runner_hand_on, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* Waits for the command's end. When the supervisor is gone first, the command has to end too. */
static int runner_wait(const struct runner *r)
{
	struct pollfd lost = {.fd = r->connection, .events = POLLIN | POLLHUP};
	int status, waited_msec = -1;

	for (;;) {
		if (waitpid(runner_child, &status, WNOHANG) == runner_child)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (waited_msec < 0 && poll(&lost, 1, 20) > 0 && (lost.revents & POLLHUP)) {
			waited_msec = 0;
			kill(runner_child, SIGTERM);
		} else if (waited_msec >= 0) {
			poll(NULL, 0, 20);
			waited_msec += 20;
			if (waited_msec >= ORPHAN_GRACE_MSEC)
				kill(runner_child, SIGKILL);
		}
	}
}

static int runner_run(struct runner *r, const char *id, char *const *words)
{
	char reason[GLOO_REASON_BYTES];
	int status;

	if (!gloo_is_reached(reason)) {
		dprintf(r->errors[1], "ringup: %s\n", reason);
		dprintf(r->connection, "exit %d\n", RANK_EXIT_NOT_STARTED);
		return RANK_EXIT_NOT_STARTED;
	}
	runner_catch_signals();
	runner_child = fork();
	if (runner_child < 0) {
		runner_fail("cannot start the command");
		return RANK_EXIT_NOT_STARTED;
	}
	if (runner_child == 0)
		runner_become(r, id, words);
	close(r->out[1]);
	close(r->errors[1]);
	if (r->input >= 0)
		close(r->input);
	status = runner_wait(r);
	dprintf(r->connection, "exit %d\n", status);
	return status;
}

int rank_run(const char *id, const char *address, char *const *words)
{
	struct runner r = {.connection = -1, .input = -1};
	int status = RANK_EXIT_NOT_STARTED;

	r.connection = supervisor_connect(id, address, &r.supervisor);
	if (r.connection >= 0 && runner_join(&r) == 0) {
		runner_move_in(&r);
		if (runner_wait_for_go(&r) == 0)
			status = runner_run(&r, id, words);
	}
	text_release(&r.heard);
	list_release(&r.names);
	free(r.folder);
	return status;
}
