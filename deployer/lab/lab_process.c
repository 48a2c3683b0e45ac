/* SPDX-License-Identifier: MIT */
#include "deployer/lab/lab_process.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/ssh/tcp.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_WAIT_S 15
#define LOG_CEILING_BYTES (64 * MIB)

/* Start time in clock ticks since boot, 0 when there is no such process or it is a zombie. */
static unsigned long long started_at(pid_t pid)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	char *text, *p;

	if (pid <= 0 || file_read(arena_printf(&arena, "/proc/%d/stat", (int)pid), 4096, &arena,
				  &text, NULL, &ignored) < 0)
		return 0;
	p = strrchr(text, ')');
	if (!p || p[1] != ' ' || p[2] == 'Z')
		return 0;
	for (int field = 2; field < 22 && p; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

int lab_lock_machine(int *lock, struct error *err)
{
	*lock = open("/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock < 0 || flock(*lock, LOCK_EX) < 0)
		return error_errno(err, "cannot lock /run");
	return 0;
}

int lab_process_note(pid_t pid, const char *log_path, struct lab_process *process,
		     struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	char *log = NULL;
	size_t length = 0;

	*process = (struct lab_process){pid, started_at(pid)};
	if (process->started)
		return 0;
	waitpid(pid, NULL, WNOHANG);
	if (file_read(log_path, LOG_CEILING_BYTES, &arena, &log, &length, &ignored) < 0)
		log = arena_strdup(&arena, "");
	return error_set(err, ERROR_FAILED, "it ended at once; the end of %s: %s", log_path,
			 length > 500 ? log + length - 500 : log);
}

bool lab_process_alive(const struct lab_process *process)
{
	waitpid(process->pid, NULL, WNOHANG); /* ours may be a zombie */
	return process->started && started_at(process->pid) == process->started;
}

void lab_process_end(const struct lab_process *process, bool hard)
{
	uint64_t deadline = clock_usec() + END_WAIT_S * 1000000ULL;

	if (!lab_process_alive(process))
		return;
	kill(process->pid, hard ? SIGKILL : SIGTERM);
	while (lab_process_alive(process)) {
		if (!clock_left_msec(deadline))
			kill(process->pid, SIGKILL);
		usleep(20000);
	}
}

/* sshd takes the first SetEnv only, so all stand in one. */
const char *lab_setenv(const struct words *pairs)
{
	return arena_printf(pairs->arena, "\"SHLVL=2\"%s%s%s", pairs->count ? " \"" : "",
			    words_join(pairs, "\" \""), pairs->count ? "\"" : "");
}

bool lab_wait_port(const char *address, int port, const struct lab_process *process, int seconds)
{
	uint64_t deadline = clock_usec() + (uint64_t)seconds * 1000000;

	while (clock_left_msec(deadline) && !interrupted() && lab_process_alive(process)) {
		struct error ignored = {0};
		int fd = tcp_connect(address, port, clock_usec() + 1000000, &ignored);

		if (fd >= 0) {
			fd_close(&fd);
			return true;
		}
		usleep(100000);
	}
	return false;
}
