/* SPDX-License-Identifier: MIT */
#include "registry-client/serve_process.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/proc.h"
#include "registry-client/limits.h"

#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_TAIL_BYTES 400

/* Field 22 of /proc/PID/stat: the start time in clock ticks since boot; 0: no such process. */
static unsigned long long start_time(pid_t pid)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored;
	char *text, *p;

	if (file_read(arena_printf(&arena, "/proc/%d/stat", (int)pid), 4 * KIB, &arena, &text, NULL,
		      &ignored) < 0)
		return 0;
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* The process of the folder's pid file, or 0. */
static pid_t find(const char *folder)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	unsigned long long began = 0;
	struct error ignored;
	char *text;
	int pid = 0;

	if (file_read(arena_printf(&arena, "%s/registry.pid", folder), KIB, &arena, &text, NULL,
		      &ignored) < 0 ||
	    sscanf(text, "%d %llu", &pid, &began) != 2 || pid <= 1)
		return 0;
	return began && start_time(pid) == began ? pid : 0;
}

bool serve_process_runs(const char *folder)
{
	return find(folder) != 0;
}

static bool answers(const char *address, struct arena *arena)
{
	char *host = arena_strdup(arena, address), *port = strrchr(host, ':');
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	_cleanup_(fd_close) int fd = -1;
	bool ok;

	*port++ = '\0';
	if (host[0] == '[') {
		host++;
		host[strcspn(host, "]")] = '\0';
	}
	if (getaddrinfo(host, port, &hints, &list) != 0)
		return false;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ok = fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) == 0;
	freeaddrinfo(list);
	return ok;
}

/* What the log says last goes into the error: the port is taken, the disk is full. */
static int not_started(const char *log, const char *address, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str tail = {0};
	struct error ignored;
	char *text = NULL;

	str_init(&tail);
	if (file_read(log, 16 * MIB, arena, &text, NULL, &ignored) == 0)
		str_add(&tail, text);
	str_trim(&tail);
	str_one_line(&tail, LOG_TAIL_BYTES);
	return error_set(err, ERROR_FAILED, "the registry did not start on %s: %s; see %s", address,
			 tail.length ? tail.text : "it said nothing", log);
}

int serve_process_start(const char *folder, const char *address, struct arena *arena,
			struct error *err)
{
	const char *log = arena_printf(arena, "%s/registry.log", folder), *note;
	const char *config = arena_printf(arena, "%s/config.yml", folder);
	uint64_t deadline = clock_usec() + SERVE_START_SECONDS * 1000000ULL;
	pid_t pid;

	if (proc_spawn(WORDS("docker-registry", "serve", config), NULL, log, &pid, err) < 0)
		return -1;
	note = arena_printf(arena, "%d %llu\n", (int)pid, start_time(pid));
	if (file_write(arena_printf(arena, "%s/registry.pid", folder), note, strlen(note), 0600,
		       err) < 0)
		return -1;
	while (serve_process_runs(folder) && clock_usec() < deadline) {
		/* The port alone is no proof: another server may hold it, and ours ends at once. */
		usleep(200000);
		if (answers(address, arena) && serve_process_runs(folder))
			return 0;
		if (interrupt_check(err) < 0)
			return -1;
	}
	return not_started(log, address, arena, err);
}

int serve_process_stop(const char *folder, bool *was_running, struct error *err)
{
	pid_t pid = find(folder);
	uint64_t deadline = clock_usec() + SERVE_STOP_SECONDS * 1000000ULL;

	*was_running = pid != 0;
	if (!pid)
		return 0;
	if (kill(pid, SIGTERM) < 0)
		return error_errno(err, "cannot end the registry's process %d", (int)pid);
	while (find(folder) && clock_usec() < deadline)
		usleep(50000);
	if (find(folder))
		kill(pid, SIGKILL);
	return 0;
}
