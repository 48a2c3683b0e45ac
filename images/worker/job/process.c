/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void host_trouble(struct host *host, const char *format, ...)
{
	char said[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(said, sizeof(said), format, values);
	va_end(values);
	text_addf(&host->out, "trouble ");
	text_add_escaped(&host->out, said, strlen(said));
	text_add_bytes(&host->out, "\n", 1);
}

struct process *host_add_process(struct host *host, const char *label)
{
	struct process *process;

	host->processes = realloc(host->processes, (host->count + 1) * sizeof(*host->processes));
	if (!host->processes)
		abort();
	process = &host->processes[host->count++];
	*process = (struct process){.connection = -1, .sources = {{.fd = -1}, {.fd = -1}}};
	snprintf(process->label, sizeof(process->label), "%s", label);
	return process;
}

static void set_variables(const struct list *variables, bool over)
{
	for (size_t i = 0; i < variables->count; i++) {
		char *equals = strchr(variables->items[i], '=');

		if (!equals)
			continue;
		*equals = '\0';
		setenv(variables->items[i], equals + 1, over);
		*equals = '=';
	}
}

/*
 * Programs that start ranks find the job's agent where they look for ssh, and put their files where those
 * of no other job are. Open MPI's daemons would share /tmp/ompi.HOST.UID and remove it when they end,
 * and another job's that start at this moment would fail; torchrun leaves /tmp/torchelastic_*.
 */
static void task_offer_folder(const struct host *host)
{
	const char *path = getenv("PATH");
	struct text longer = {0};

	text_addf(&longer, "%s:%s", host->socket_folder,
		  path ? path : "/usr/local/bin:/usr/bin:/bin");
	setenv("PATH", longer.bytes, 1);
	setenv("TMPDIR", host->socket_folder, 1); /* ringup-job rank takes it away again */
	text_release(&longer);
}

/* In the child. Its stdin, stdout and stderr are set. */
static void task_become(const struct host *host, const struct process *process)
{
	sigset_t none;

	setpgid(0, 0); /* the leader of a terminal's session has its group already */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	set_variables(&host->defaults, false);
	set_variables(&host->variables, true);
	set_variables(&process->env, true);
	if (process->label[0] == 't')
		task_offer_folder(host);
	if (host->folder && chdir(host->folder) < 0)
		fprintf(stderr, "ringup: cannot enter the folder %s: %s\n", host->folder,
			strerror(errno));
	else if (execvp(process->words.items[0], process->words.items) < 0)
		fprintf(stderr, "ringup: cannot run %s: %s\n", process->words.items[0],
			strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int task_start(struct host *host, struct process *process)
{
	int out[2] = {-1, -1}, errors[2] = {-1, -1}, in = -1;
	bool has_terminal = false;

	if (!process->words.count)
		return 0;
	if (input_is_for(host, process)) {
		has_terminal = host->input.is_terminal;
		in = input_open(host, process);
	}
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
	    (process->pid = fork()) < 0) {
		host_trouble(host, "cannot start %s: %s", process->words.items[0], strerror(errno));
		process->pid = 0;
		return -1;
	}
	if (process->pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(errors[1], STDERR_FILENO);
		input_become(in >= 0 ? in : open("/dev/null", O_RDONLY), in >= 0 && has_terminal);
		task_become(host, process);
	}
	if (!has_terminal) /* a group's leader could not begin a session */
		setpgid(process->pid, process->pid);
	process->began = true;
	if (in >= 0)
		close(in);
	close(out[1]);
	close(errors[1]);
	if (has_terminal)
		close(out[0]);
	else
		source_open(&process->sources[0], out[0], false);
	source_open(&process->sources[1], errors[0], true);
	return 0;
}

void host_start_tasks(struct host *host)
{
	for (size_t i = 0; i < host->count; i++)
		if (!host->processes[i].began && !host->processes[i].joined &&
		    task_start(host, &host->processes[i]) < 0)
			return;
}

void process_end(struct host *host, struct process *process, int status)
{
	if (process->ended)
		return;
	/* its last words come first, as far as they are in the pipe */
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 64 && process->sources[k].fd >= 0; i++)
			source_read(host, process, &process->sources[k]);
	process_flush(host, process);
	process->ended = true;
	process->pid = 0;
	if (host->input.is_given && strcmp(process->label, host->input.label) == 0)
		input_close(host);
	text_addf(&host->out, "exit %s %d\n", process->label, status);
}

void host_reap(struct host *host)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < host->count; i++)
			if (!host->processes[i].joined && host->processes[i].pid == pid)
				process_end(host, &host->processes[i],
					    WIFSIGNALED(status) ? 128 + WTERMSIG(status)
								: WEXITSTATUS(status));
}

void host_signal_ranks(struct host *host, int number)
{
	for (size_t i = 0; i < host->count; i++) {
		const struct process *process = &host->processes[i];

		/* what starts ranks would end: torchrun by SIGUSR1 */
		if (process->pid <= 0 || process->ended ||
		    !isdigit((unsigned char)process->label[0]))
			continue;
		/* the runner of a rank that joined hands the signal on */
		kill(process->joined ? process->pid : -process->pid, number);
	}
}
