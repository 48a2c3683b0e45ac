/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"
#include "job/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_BYTES_MAX (4 * 1024 * 1024) /* execve(2) allows less */
#define PARENTS_MAX 64

/* What proc(5) says of a process in "stat". */
struct stat_line {
	char name[64], state;
	pid_t parent;
	uint64_t start;
};

static bool stat_read(pid_t pid, struct stat_line *stat)
{
	char path[64], line[1024], *name, *end;
	unsigned long long start = 0;
	int fd, parent = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (got <= 0)
		return false;
	line[got] = '\0';
	/* the name may hold anything, also ") " */
	name = strchr(line, '(');
	end = strrchr(line, ')');
	if (!name || !end || end < name)
		return false;
	*end = '\0';
	snprintf(stat->name, sizeof(stat->name), "%s", name + 1);
	if (sscanf(end + 2,
		   "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &stat->state, &parent, &start) != 3)
		return false;
	stat->parent = parent;
	stat->start = start;
	return true;
}

/* Whether the process was started with the job's variable. */
static bool has_variable(const struct host *host, pid_t pid)
{
	struct text environment = {0};
	char path[64], wanted[128], bytes[16 * 1024];
	bool found = false;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	snprintf(wanted, sizeof(wanted), JOB_VARIABLE "=%s", host->options.id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (environment.length < ENVIRONMENT_BYTES_MAX &&
	       (got = read(fd, bytes, sizeof(bytes))) > 0)
		text_add_bytes(&environment, bytes, (size_t)got);
	close(fd);
	for (size_t i = 0; !found && i < environment.length; i += strlen(environment.bytes + i) + 1)
		found = strcmp(environment.bytes + i, wanted) == 0;
	text_release(&environment);
	return found;
}

static bool is_descendant(pid_t pid)
{
	struct stat_line stat;

	for (int i = 0; i < PARENTS_MAX && pid > 1; i++) {
		if (!stat_read(pid, &stat))
			return false;
		if (stat.parent == getpid())
			return true;
		pid = stat.parent;
	}
	return false;
}

pid_t process_parent(pid_t pid)
{
	struct stat_line stat;

	return stat_read(pid, &stat) ? stat.parent : 0;
}

static bool is_noted(const struct host *host, pid_t pid, const struct stat_line *stat)
{
	for (size_t i = 0; i < host->launcher_count; i++)
		if (host->launchers[i].pid == pid && host->launchers[i].start == stat->start)
			return true;
	return false;
}

static bool belongs(const struct host *host, pid_t pid, struct stat_line *stat)
{
	if (pid == getpid() || !stat_read(pid, stat) || stat->state == 'Z')
		return false;
	return has_variable(host, pid) || is_noted(host, pid, stat) || is_descendant(pid);
}

struct job_processes host_processes(const struct host *host)
{
	struct job_processes all = {0};
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct stat_line stat;
	long pid;

	while (folder && (entry = readdir(folder))) {
		if (!text_number(entry->d_name, 2, 1 << 30, &pid) ||
		    !belongs(host, (pid_t)pid, &stat))
			continue;
		all.list = realloc(all.list, (all.count + 1) * sizeof(*all.list));
		if (!all.list)
			abort();
		all.list[all.count++] = (struct job_process){(pid_t)pid, stat.parent, stat.state};
	}
	if (folder)
		closedir(folder);
	return all;
}

size_t host_sweep(const struct host *host, int number)
{
	struct job_processes all = host_processes(host);

	for (size_t i = 0; i < all.count; i++) {
		kill(all.list[i].pid, number);
		if (number == SIGTERM && all.list[i].state == 'T')
			kill(all.list[i].pid, SIGCONT); /* it takes no other signal before */
	}
	free(all.list);
	return all.count;
}

/*
 * Programs that start the ranks of one job on one host. sshd starts them without the job's variable.
 * Names are those of /proc, which keeps 15 bytes.
 */
static bool is_launcher(const char *name)
{
	static const char *const launchers[] = {"orted",	   "prted",	     "prterun",
						"mpirun",	   "mpiexec",	     "orterun",
						"hydra_pmi_proxy", "hydra_bstrap_pr"};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (strcmp(name, launchers[i]) == 0)
			return true;
	return false;
}

void host_note_launchers(struct host *host, pid_t pid)
{
	struct stat_line stat;

	for (int i = 0; i < PARENTS_MAX && pid > 1 && pid != getpid(); i++) {
		if (!stat_read(pid, &stat))
			return;
		if (is_launcher(stat.name) && !is_noted(host, pid, &stat)) {
			host->launchers = realloc(host->launchers, (host->launcher_count +
								    1) * sizeof(*host->launchers));
			if (!host->launchers)
				abort();
			host->launchers[host->launcher_count++] =
				(struct launcher){pid, stat.start};
		}
		pid = stat.parent;
	}
}
