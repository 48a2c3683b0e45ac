/* SPDX-License-Identifier: MIT */
/* What the processes of a job do at this moment, for a job that hangs. */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/sweep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES_MAX 4096
#define PYTHON_STACKS_MAX 8 /* py-spy needs a second for each */

static void stack_say(struct host *host, const char *label, const char *text)
{
	text_addf(&host->out, "stack %s ", label);
	text_add_escaped(&host->out, text, strlen(text));
	text_add_bytes(&host->out, "\n", 1);
}

/* A short file of /proc as one line; "" when it cannot be read. */
static void stack_read(pid_t pid, const char *name, char text[static STACK_BYTES_MAX])
{
	char path[64];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, STACK_BYTES_MAX - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	for (char *p = text; got > 0 && p < text + got; p++)
		if (!*p || *p == '\n')
			*p = ' ';
}

/* The rank of a process: its own, or that of the runner that started it. */
static const char *stack_label(const struct host *host, pid_t pid, pid_t parent)
{
	for (size_t i = 0; i < host->count; i++)
		if (host->processes[i].pid == (host->processes[i].joined ? parent : pid))
			return host->processes[i].label;
	return "-";
}

/* In the child: py-spy, which has three seconds. */
static void stack_become_py_spy(pid_t pid, int out)
{
	char digits[16];
	int null = open("/dev/null", O_RDWR);

	snprintf(digits, sizeof(digits), "%d", (int)pid);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("timeout", "timeout", "3", "py-spy", "dump", "--nonblocking", "--pid", digits,
	       (char *)NULL);
	_exit(127);
}

/* Python's own stack, by py-spy where the image has it. */
static void stack_say_python(struct host *host, const char *label, pid_t pid)
{
	struct text said = {0};
	char bytes[4096], *line;
	size_t offset = 0;
	int ends[2];
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	child = fork();
	if (child == 0)
		stack_become_py_spy(pid, ends[1]);
	close(ends[1]);
	while (child > 0 && (got = read(ends[0], bytes, sizeof(bytes))) > 0)
		text_add_bytes(&said, bytes, (size_t)got);
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	while ((line = text_next_line(&said, &offset)))
		stack_say(host, label, line);
	text_release(&said);
}

void host_say_stacks(struct host *host)
{
	char words[STACK_BYTES_MAX], waits[STACK_BYTES_MAX], kernel[STACK_BYTES_MAX];
	struct job_processes all = host_processes(host);
	int python = 0;

	for (size_t i = 0; i < all.count; i++) {
		const struct job_process *p = &all.list[i];
		const char *label = stack_label(host, p->pid, p->parent);
		struct text line = {0};

		stack_read(p->pid, "cmdline", words);
		stack_read(p->pid, "wchan", waits);
		stack_read(p->pid, "stack", kernel);
		text_addf(&line, "pid %d state %c waits in %s: %.200s", (int)p->pid, p->state,
			  *waits ? waits : "?", words);
		stack_say(host, label, line.bytes);
		if (*kernel)
			stack_say(host, label, kernel);
		if (strstr(words, "python") && strcmp(label, "-") != 0 &&
		    python++ < PYTHON_STACKS_MAX)
			stack_say_python(host, label, p->pid);
		text_release(&line);
	}
	free(all.list);
	text_addf(&host->out, "stacked\n");
}
