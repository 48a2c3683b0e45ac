/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"
#include "job/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ENVIRONMENT_BYTES_MAX (4 * 1024 * 1024) /* execve(2) allows less */
#define PARENTS_MAX 64
#define SWEEP_STEP_MSEC 100
#define SWEEP_KILL_USEC 3000000 /* what lives so long after SIGKILL hangs in the kernel */

/* What proc(5) says of a process in "stat". */
struct stat_line {
	char name[64], state;
	pid_t parent;
	uint64_t start;
	uint64_t ticks; /* of processors, with those of its children that have ended */
};

static bool stat_read(pid_t pid, struct stat_line *stat)
{
	char path[64], line[1024], *name, *end;
	unsigned long long start = 0, ticks[4];
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
		   "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d %llu",
		   &stat->state, &parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3], &start) != 7)
		return false;
	stat->ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
	stat->parent = parent;
	stat->start = start;
	return true;
}

struct text process_environment(pid_t pid)
{
	struct text environment = {0};
	char path[64], bytes[16 * 1024];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return environment;
	while (environment.length < ENVIRONMENT_BYTES_MAX &&
	       (got = read(fd, bytes, sizeof(bytes))) > 0)
		text_add_bytes(&environment, bytes, (size_t)got);
	close(fd);
	return environment;
}

/* Whether the process was started with the job's variable. */
static bool has_variable(const struct host *host, pid_t pid)
{
	struct text environment = process_environment(pid);
	char wanted[128];
	bool found = false;

	snprintf(wanted, sizeof(wanted), JOB_VARIABLE "=%s", host->options.id);
	for (size_t i = 0; !found && i < environment.length; i += strlen(environment.bytes + i) + 1)
		found = strcmp(environment.bytes + i, wanted) == 0;
	text_release(&environment);
	return found;
}

bool process_descends(pid_t pid, pid_t ancestor)
{
	struct stat_line stat;

	for (int i = 0; i < PARENTS_MAX && pid > 1 && stat_read(pid, &stat); i++) {
		if (stat.parent == ancestor)
			return true;
		pid = stat.parent;
	}
	return false;
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
	return has_variable(host, pid) || is_noted(host, pid, stat) ||
	       process_descends(pid, getpid());
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
		all.list[all.count++] =
			(struct job_process){(pid_t)pid, stat.parent, stat.state, stat.ticks};
	}
	if (folder)
		closedir(folder);
	return all;
}

void host_say_cpu(struct host *host)
{
	struct job_processes all = host_processes(host);
	uint64_t msec = 0, per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct rusage ended;

	for (size_t i = 0; i < all.count; i++)
		msec += all.list[i].ticks * 1000 / per_second;
	free(all.list);
	if (getrusage(RUSAGE_CHILDREN, &ended) == 0)
		msec += (uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * 1000 +
			(uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) / 1000;
	text_addf(&host->out, "cpu %llu\n", (unsigned long long)msec % PROTOCOL_CPU_MSEC_MAX);
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

int sweep_run(const char *id, long grace_seconds)
{
	struct host host = {.options = {.id = id}};
	int64_t begin = job_clock_usec(), grace = grace_seconds * 1000000, now = begin;
	size_t first = host_sweep(&host, SIGTERM), left = first;

	while (left && now - begin < grace + SWEEP_KILL_USEC) {
		poll(NULL, 0, SWEEP_STEP_MSEC);
		now = job_clock_usec();
		left = host_sweep(&host, now - begin < grace ? 0 : SIGKILL);
	}
	printf("swept %zu\n", first);
	return left != 0;
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
