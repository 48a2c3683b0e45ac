/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/agent.h"
#include "job/host.h"
#include "job/protocol.h"
#include "job/sweep.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAITING_MAX 1024
#define HEARD_BYTES_MAX (256 * 1024) /* the command of an agent may be long */
#define OLD_SECONDS 60
#define OPEN_FOLDERS_MAX 16 /* while a tree is removed */

/* Whether the socket's folder is this user's, and older than a start of a supervisor takes. */
static bool gate_is_old(const char *path)
{
	char folder[108];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       time(NULL) - st.st_mtime > OLD_SECONDS;
}

/* Puts this program under ssh's name into the folder, which launchers have in their PATH. */
static int gate_put_agent(const char *folder)
{
	char self[PATH_MAX], link[128];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -1;
	self[length] = '\0';
	snprintf(link, sizeof(link), "%s/" AGENT_NAME, folder);
	return symlink(self, link);
}

static int gate_remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
	(void)st;
	(void)kind;
	(void)place;
	remove(path); /* what stays is in the way of nobody */
	return 0;
}

/* Removes a supervisor's folder, and what programs that start ranks left there. */
static void gate_remove(const char *folder)
{
	nftw(folder, gate_remove_one, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
}

/* Kills what is left of the job that such a folder is named for (JOB_SOCKET_FOLDER). */
static void gate_sweep(const char *folder)
{
	char id[108];
	struct host other = {.options = {.id = id}};

	if (sscanf(folder, JOB_SOCKET_PREFIX "%107s", id) != 1 || !strrchr(id, '-'))
		return;
	*strrchr(id, '-') = '\0';
	host_sweep(&other, SIGKILL);
}

/*
 * Removes what supervisors of other jobs left that were killed: nobody answers at their sockets. A daemon
 * of a rank may have outlived its supervisor, and ends now.
 */
static void gate_clean(void)
{
	glob_t found = {0};

	if (glob(JOB_SOCKET_ANY, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		snprintf(address.sun_path, sizeof(address.sun_path), "%s", found.gl_pathv[i]);
		if (gate_is_old(address.sun_path) &&
		    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
		    errno == ECONNREFUSED) {
			*strrchr(address.sun_path, '/') = '\0';
			gate_sweep(address.sun_path);
			gate_remove(address.sun_path);
		}
		close(fd);
	}
	globfree(&found);
}

int gate_open(struct host *host)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[sizeof(address.sun_path) - sizeof("/socket")];

	gate_clean();
	snprintf(folder, sizeof(folder), JOB_SOCKET_FOLDER, host->options.id,
		 host->options.address);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	if (mkdir(folder, 0700) < 0) {
		host_trouble(host, "cannot make the folder %s: %s", folder, strerror(errno));
		return -1;
	}
	host->socket_folder = text_copy(folder);
	if (gate_put_agent(folder) < 0) {
		host_trouble(host, "cannot make a link in %s: %s", folder, strerror(errno));
		return -1;
	}
	host->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (host->listener < 0 ||
	    bind(host->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(host->listener, WAITING_MAX) < 0) {
		host_trouble(host, "cannot listen at %s: %s", address.sun_path, strerror(errno));
		return -1;
	}
	return 0;
}

void gate_close(struct host *host)
{
	if (host->listener >= 0)
		close(host->listener);
	host->listener = -1;
	if (!host->socket_folder)
		return;
	gate_remove(host->socket_folder);
	free(host->socket_folder);
	host->socket_folder = NULL;
}

void gate_accept(struct host *host)
{
	int fd = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);
	struct process *process;

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid()) {
		close(fd);
		return;
	}
	process = host_add_process(host, "?");
	process->joined = true;
	process->connection = fd;
	process->pid = peer.pid;
	host_note_launchers(host, peer.pid);
}

static void gate_add(struct text *words, const char *keyword, const char *value)
{
	text_addf(words, "%s ", keyword);
	text_add_escaped(words, value, strlen(value));
	text_add_bytes(words, "\n", 1);
}

/* Hands over the rank's end of its stdin or terminal. */
static void gate_give_input(struct host *host, struct process *process)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	const char *line = host->input.is_terminal ? "terminal\n" : "input\n";
	struct iovec part = {(void *)(uintptr_t)line, strlen(line)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int fd = input_open(host, process);

	if (fd < 0)
		return;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(process->connection, &message, MSG_NOSIGNAL) < 0)
		host_trouble(host, "cannot give rank %s its stdin: %s", process->label,
			     strerror(errno));
	close(fd);
}

static void gate_admit(struct host *host, struct process *process)
{
	struct text words = {0};

	if (input_is_for(host, process))
		gate_give_input(host, process);
	for (size_t i = 0; i < host->defaults.count; i++)
		gate_add(&words, "default", host->defaults.items[i]);
	for (size_t i = 0; i < host->variables.count; i++)
		gate_add(&words, "set", host->variables.items[i]);
	if (host->folder)
		gate_add(&words, "dir", host->folder);
	text_addf(&words, "go\n");
	/* the runner reads at once; what it does not take is an error of its own */
	for (size_t sent = 0; sent < words.length;) {
		ssize_t done = send(process->connection, words.bytes + sent, words.length - sent,
				    MSG_NOSIGNAL);

		if (done < 0 && errno != EAGAIN && errno != EINTR)
			break;
		sent += done > 0 ? (size_t)done : 0;
	}
	text_release(&words);
	process->began = true;
}

void gate_go(struct host *host)
{
	host->going = true;
	host_begin_to_look(host);
	for (size_t i = 0; i < host->count; i++)
		if (host->processes[i].joined && !host->processes[i].began &&
		    host->processes[i].label[0] != '?' && host->processes[i].connection >= 0)
			gate_admit(host, &host->processes[i]);
}

/* Takes the two pipes that come with the first words. */
static ssize_t gate_receive(struct process *process, char *bytes, size_t size)
{
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct iovec part = {bytes, size};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(process->connection, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fds[2];

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fds))) {
		memcpy(fds, CMSG_DATA(c), sizeof(fds));
		for (int k = 0; k < 2; k++) {
			if (process->sources[k].fd >= 0)
				close(process->sources[k].fd);
			source_open(&process->sources[k], fds[k], k == 1);
		}
	}
	return got;
}

static void gate_hear(struct host *host, struct process *process, char *line)
{
	long rank, world, local, status;
	char *command;

	if (sscanf(line, "join %ld %ld %ld", &rank, &world, &local) == 3 && rank >= 0 &&
	    rank < 1000000 && process->label[0] == '?') {
		snprintf(process->label, sizeof(process->label), "%ld", rank);
		text_addf(&host->out, "join %ld %ld %ld\n", rank, world, local);
		if (host->going)
			gate_admit(host, process);
	} else if (sscanf(line, "exit %ld", &status) == 1 && process->label[0] != '?') {
		process_end(host, process, (int)status & 255);
	} else if (strncmp(line, "spawn ", 6) == 0 && process->label[0] == '?' &&
		   (command = strchr(line + 6, ' ')) && command > line + 6) {
		/* both fields are as ringup takes them */
		text_addf(&host->out, "spawn %zu %s\n", (size_t)(process - host->processes),
			  line + 6);
	}
}

void gate_spawned(struct host *host, size_t number, int status)
{
	const struct process *process = number < host->count ? &host->processes[number] : NULL;

	if (process && process->joined && process->label[0] == '?' && process->connection >= 0)
		dprintf(process->connection, "exit %d\n", status);
}

void gate_read(struct host *host, struct process *process)
{
	char bytes[1024], *line;
	ssize_t got = gate_receive(process, bytes, sizeof(bytes));
	size_t offset = 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		text_add_bytes(&process->heard, bytes, (size_t)got);
		while ((line = text_next_line(&process->heard, &offset)))
			gate_hear(host, process, line);
		text_drop(&process->heard, offset);
		if (process->heard.length < HEARD_BYTES_MAX)
			return;
	}
	/* it is gone; without a word when it was killed */
	close(process->connection);
	process->connection = -1;
	text_release(&process->heard);
	if (process->label[0] != '?')
		process_end(host, process, 128 + 9);
	process->ended = true;
}
