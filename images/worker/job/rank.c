/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/rank.h"
#include "job/host.h"
#include "job/protocol.h"
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

/* The folder of this host's supervisor. Hosts that share one /tmp have one folder each. */
static void find_folder(const char *id, const char *address, char *folder, size_t size)
{
	char pattern[108];
	glob_t found = {0};

	snprintf(folder, size, JOB_SOCKET_FOLDER, id, address);
	snprintf(pattern, sizeof(pattern), JOB_SOCKET_PATTERN, id);
	if (!*address && glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
		snprintf(folder, size, "%s", found.gl_pathv[0]);
	globfree(&found);
}

static int runner_connect(struct runner *r, const char *id, const char *host)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[sizeof(address.sun_path) - sizeof("/socket")];

	find_folder(id, host, folder, sizeof(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	r->connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (r->connection < 0)
		return runner_fail("cannot make a socket");
	if (connect(r->connection, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	fprintf(stderr,
		"ringup-job: this host has no supervisor of the job %s (%s: %s): the launcher started a rank on a host that the job was not planned for\n",
		id, address.sun_path, strerror(errno));
	return -1;
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
		setenv(value, equals + 1, strcmp(line, "set") == 0);
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
	int status;

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

	if (runner_connect(&r, id, address) == 0 && runner_join(&r) == 0 &&
	    runner_wait_for_go(&r) == 0)
		status = runner_run(&r, id, words);
	text_release(&r.heard);
	free(r.folder);
	return status;
}
