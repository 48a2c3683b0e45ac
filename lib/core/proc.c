/* SPDX-License-Identifier: MIT */
#include "core/proc.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct stream {
	int fd;
	struct str *text;
	size_t line_start; /* offset of the line that the callback has not yet seen */
};

struct run {
	const struct proc *proc;
	pid_t pid;
	int input_fd;
	size_t input_done;
	struct stream out, err;
};

static struct rlimit proc_core_before;
static bool proc_core_is_off;

void proc_leave_no_core(void)
{
	struct rlimit off;

	if (proc_core_is_off || getrlimit(RLIMIT_CORE, &proc_core_before) < 0)
		return;
	off = (struct rlimit){.rlim_cur = 1, .rlim_max = proc_core_before.rlim_max};
	if (!off.rlim_max)
		off.rlim_max = 1; /* root may */
	if (setrlimit(RLIMIT_CORE, &off) < 0) {
		off = (struct rlimit){.rlim_cur = 0, .rlim_max = proc_core_before.rlim_max};
		setrlimit(RLIMIT_CORE, &off);
	}
	proc_core_is_off = true;
}

void proc_result_release(struct proc_result *result)
{
	str_release(&result->out);
	str_release(&result->err);
}

static void child_setup(const struct proc *proc, const int standard[3])
{
	sigset_t none;

	if (proc_core_is_off)
		setrlimit(RLIMIT_CORE, &proc_core_before);
	if (!proc->inherits_terminal)
		setpgid(0, 0);
	if (proc->dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < 3 && !proc->inherits_terminal; i++)
		dup2(standard[i], i);
	/* libraries leave descriptors open, and the program must not inherit them */
	close_range(3, ~0U, 0);
	if (proc->folder && chdir(proc->folder) < 0) {
		dprintf(2, "cannot enter %s: %s\n", proc->folder, strerror(errno));
		_exit(126);
	}
	for (size_t i = 0; proc->env && proc->env[i]; i++)
		putenv((char *)(uintptr_t)proc->env[i]);
	execvp(proc->words[0], (char *const *)(uintptr_t)proc->words);
	dprintf(2, "%s: %s\n", proc->words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/*
 * The same file on a descriptor above the standard three. Those may be closed in this process, and
 * then `fd` may be one of them. dup2 of a descriptor onto itself keeps close-on-exec, so the
 * program would find it closed.
 */
static int above_standard(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	fd_close(&fd);
	return high;
}

static int open_pipe(int ends[2], struct error *err)
{
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	/* above the standard three, for the reason at above_standard */
	for (int i = 0; i < 2; i++) {
		int low = ends[i];

		ends[i] = fcntl(low, F_DUPFD_CLOEXEC, 3);
		close(low);
	}
	return 0;
}

static int proc_fork(struct run *run, const int standard[3], struct error *err)
{
	run->pid = fork();
	if (run->pid < 0)
		return error_errno(err, "cannot start %s", run->proc->words[0]);
	if (run->pid == 0)
		child_setup(run->proc, standard);
	if (!run->proc->inherits_terminal)
		setpgid(run->pid, run->pid);
	return 0;
}

static int proc_start(struct run *run, struct proc_result *result, struct error *err)
{
	const struct proc *proc = run->proc;
	int in[2] = {-1, -1}, out[2] = {-1, -1}, error[2] = {-1, -1};
	int rc = -1, standard[3];

	if (open_pipe(out, err) < 0 || open_pipe(error, err) < 0)
		goto done;
	if (proc->input_fd > 0)
		in[0] = fcntl(proc->input_fd, F_DUPFD_CLOEXEC, 3);
	else if (!proc->input && !proc->holds_input)
		in[0] = above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
	else if (open_pipe(in, err) < 0)
		goto done;
	standard[0] = in[0];
	standard[1] = proc->output_fd > 0 ? proc->output_fd : out[1];
	standard[2] = proc->joined ? out[1] : error[1];
	if (proc->runner ? proc->runner->start(proc->runner_state, standard, err) < 0
			 : proc_fork(run, standard, err) < 0)
		goto done;
	run->input_fd = in[1];
	in[1] = -1;
	run->out = (struct stream){.fd = out[0], .text = &result->out};
	run->err = (struct stream){.fd = error[0], .text = &result->err};
	out[0] = error[0] = -1;
	if (run->input_fd >= 0)
		fcntl(run->input_fd, F_SETFL, O_NONBLOCK);
	rc = 0;
done:
	for (int i = 0; i < 2; i++) {
		fd_close(&in[i]);
		fd_close(&out[i]);
		fd_close(&error[i]);
	}
	return rc;
}

static void proc_give_lines(struct run *run, struct stream *stream, bool at_end)
{
	struct str *text = stream->text;

	while (run->proc->line && stream->line_start < text->length) {
		char *line = text->text + stream->line_start;
		char *end = memchr(line, '\n', text->length - stream->line_start);
		char kept;

		if (!end && !at_end)
			return;
		if (!end)
			end = text->text + text->length;
		kept = *end;
		*end = '\0';
		run->proc->line(run->proc->arg, line);
		*end = kept;
		stream->line_start = (size_t)(end - text->text) + 1;
	}
}

/* Forgets the lines that were given. */
static void proc_drop_lines(struct run *run, struct stream *stream)
{
	if (!run->proc->only_lines || stream != &run->out)
		return;
	str_drop(stream->text, stream->line_start);
	stream->line_start = 0;
}

static void read_stream(struct run *run, struct stream *stream)
{
	char buffer[16 * KIB];
	ssize_t got = read(stream->fd, buffer, sizeof(buffer));

	if (got > 0) {
		str_add_bytes(stream->text, buffer, (size_t)got);
		proc_give_lines(run, stream, false);
		proc_drop_lines(run, stream);
	} else if (got == 0 || errno != EINTR) {
		proc_give_lines(run, stream, true);
		fd_close(&stream->fd);
	}
}

static void write_input(struct run *run)
{
	const struct proc *proc = run->proc;
	ssize_t done = write(run->input_fd, (const char *)proc->input + run->input_done,
			     proc->input_bytes - run->input_done);

	if (done > 0)
		run->input_done += (size_t)done;
	if ((done < 0 && errno != EAGAIN && errno != EINTR) ||
	    (run->input_done == proc->input_bytes && !proc->holds_input))
		fd_close(&run->input_fd);
}

/* Whether the program may go on. */
static int check_stop(const struct proc *proc, struct error *err)
{
	if (proc->stop && atomic_load(proc->stop))
		return error_set(err, ERROR_INTERRUPTED, "%s was stopped", proc->words[0]);
	return proc->even_when_interrupted ? 0 : interrupt_check(err);
}

static int proc_too_late(const struct proc *proc, struct error *err)
{
	error_set(err, ERROR_FAILED, "%s did not end in time and was stopped", proc->words[0]);
	err->system = ETIMEDOUT;
	return -1;
}

static int pump(struct run *run, uint64_t deadline_usec, struct error *err)
{
	while (run->out.fd >= 0 || run->err.fd >= 0) {
		bool pauses = run->proc->paused && run->proc->paused(run->proc->arg);
		bool gives = run->input_done < run->proc->input_bytes || !run->proc->holds_input;
		struct pollfd fds[3] = {{pauses ? -1 : run->out.fd, POLLIN, 0},
					{run->err.fd, POLLIN, 0},
					{gives ? run->input_fd : -1, POLLOUT, 0}};

		if (check_stop(run->proc, err) < 0)
			return -1;
		if (!clock_left_msec(deadline_usec))
			return proc_too_late(run->proc, err);
		poll(fds, 3, pauses ? PROC_PAUSE_MSEC : INTERRUPT_POLL_MSEC);
		if (fds[0].revents)
			read_stream(run, &run->out);
		if (fds[1].revents)
			read_stream(run, &run->err);
		if (fds[2].revents)
			write_input(run);
	}
	return 0;
}

static int proc_reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 255;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool has_ended(struct run *run, int *status)
{
	siginfo_t info = {0};

	if (run->proc->runner)
		return run->proc->runner->has_ended(run->proc->runner_state, status);
	return waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid;
}

/* A program may close its output and go on, but it still has to end in time. */
static int wait_end(struct run *run, uint64_t deadline_usec, int *status, struct error *err)
{
	for (useconds_t pause = 500; !has_ended(run, status);
	     pause = pause < 50000 ? pause * 2 : pause) {
		if (check_stop(run->proc, err) < 0)
			return -1;
		if (!clock_left_msec(deadline_usec))
			return proc_too_late(run->proc, err);
		usleep(pause);
	}
	return 0;
}

/* Asks the process group to end, then kills it. */
static void end_group(struct run *run)
{
	int status;

	if (run->proc->runner) {
		run->proc->runner->stop(run->proc->runner_state);
		return;
	}
	kill(-run->pid, SIGTERM);
	for (int i = 0; i < 20; i++) {
		usleep(100000);
		if (has_ended(run, &status))
			break;
	}
	kill(-run->pid, SIGKILL);
}

int proc_run(const struct proc *proc, struct proc_result *result, struct error *err)
{
	struct run run = {.proc = proc, .input_fd = -1};
	int seconds = proc->timeout_s ? proc->timeout_s : 3600;
	uint64_t deadline;
	int rc;

	*result = (struct proc_result){0};
	str_init_ceiling(&result->out, PROC_OUTPUT_CEILING_BYTES);
	str_init_ceiling(&result->err, PROC_OUTPUT_CEILING_BYTES);
	if (proc_start(&run, result, err) < 0)
		return -1;
	deadline = clock_usec() + (uint64_t)seconds * 1000000;
	rc = pump(&run, deadline, err);
	if (rc == 0)
		rc = wait_end(&run, deadline, &result->status, err);
	if (rc < 0)
		end_group(&run);
	fd_close(&run.out.fd);
	fd_close(&run.err.fd);
	fd_close(&run.input_fd);
	if (!proc->runner)
		result->status = proc_reap(run.pid);
	return rc;
}

int proc_failed(const struct proc *proc, const struct proc_result *result, struct error *err)
{
	const char *said = result->err.length ? result->err.text : result->out.text;
	size_t length = strlen(said);

	while (length && strchr(" \n\r\t", said[length - 1]))
		length--;
	if (length > 600) {
		said += length - 600;
		length = 600;
	}
	return error_set(err, ERROR_FAILED, "%s failed (status %d)%s%.*s", proc->words[0],
			 result->status, length ? ": " : "", (int)length, said);
}

int proc_check(const char *const *words, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result;
	struct proc proc = {.words = words};

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}

int proc_spawn(const char *const *words, const char *const *env, const char *log_path, pid_t *pid,
	       struct error *err)
{
	_cleanup_(fd_close) int log =
		open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	_cleanup_(fd_close) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct proc proc = {.words = words, .env = env};

	if (log < 0)
		return error_errno(err, "cannot write %s", log_path);
	*pid = fork();
	if (*pid < 0)
		return error_errno(err, "cannot start %s", words[0]);
	if (*pid == 0) {
		setsid();
		child_setup(&proc, (const int[]){null, log, log});
	}
	return 0;
}

bool proc_exists(const char *name)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = getenv("PATH");
	char *copy = arena_strdup(&arena, path ? path : "/usr/bin:/bin");
	char *rest = copy, *folder;

	while ((folder = strsep(&rest, ":")))
		if (access(arena_printf(&arena, "%s/%s", folder, name), X_OK) == 0)
			return true;
	return false;
}
