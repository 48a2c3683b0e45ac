/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a job do at this moment, for a job that hangs.
 *
 * The kernel's view comes first. Then each rank's own program says more: a Python by py-spy where the image has it, else by
 * its own faulthandler, which prints all stacks on SIGABRT (the job ends anyway); any other program by gdb.
 */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/sweep.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES_MAX 4096
#define TOOLS_MAX 8 /* py-spy and gdb need a second of a processor for each */
#define TOOL_SECONDS "3"
#define ABORT_USEC 1500000 /* for faulthandler to print */

/* A program that prints the stack of a rank's process. */
struct stack_tool {
	const struct process *rank;
	pid_t pid; /* whose stack it is */
	bool is_python;
	pid_t child;
	int out;
};

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

/* The task or rank that a process belongs to: the nearest, since mpirun's ranks descend from mpirun. */
static struct process *stack_rank(const struct host *host, pid_t pid)
{
	struct process *nearest = NULL;

	for (size_t i = 0; i < host->count; i++) {
		struct process *process = &host->processes[i];

		if (process->pid && (process->pid == pid || process_descends(pid, process->pid)) &&
		    (!nearest || process_descends(process->pid, nearest->pid)))
			nearest = process;
	}
	return nearest;
}

static bool stack_is_python(pid_t pid)
{
	char path[64], program[STACK_BYTES_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	return strstr(program, "python");
}

/* In the child: the tool, which has three seconds. */
static void stack_become_tool(const struct stack_tool *tool, int out)
{
	char digits[16];
	int null = open("/dev/null", O_RDWR);

	snprintf(digits, sizeof(digits), "%d", (int)tool->pid);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (tool->is_python)
		execlp("timeout", "timeout", TOOL_SECONDS, "py-spy", "dump", "--nonblocking",
		       "--full-filenames", "--pid", digits, (char *)NULL);
	else
		execlp("timeout", "timeout", "-s", "KILL", TOOL_SECONDS, "gdb", "-nx", "-batch",
		       "-p", digits, "-ex", "bt 20", (char *)NULL);
	_exit(127);
}

static void stack_start_tool(struct stack_tool *tool)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	tool->child = fork();
	if (tool->child == 0)
		stack_become_tool(tool, ends[1]);
	close(ends[1]);
	tool->out = ends[0];
	if (tool->child < 0)
		close(ends[0]);
}

/* Whether a line is a frame of a stack: py-spy's are indented, and gdb's are behind a number. */
static bool stack_is_frame(const struct stack_tool *tool, const char *line)
{
	if (tool->is_python)
		return strncmp(line, "    ", 4) == 0;
	return line[0] == '#' && isdigit((unsigned char)line[1]);
}

/* Says what the tool printed, without gdb's words about libraries; false: no stack, as where there is no such tool. */
static bool stack_hear_tool(struct host *host, struct stack_tool *tool)
{
	struct text said = {0};
	char bytes[4096], *line;
	size_t offset = 0;
	bool has_frames = false;
	ssize_t got;

	if (tool->child <= 0)
		return false;
	/* (the end of another tool interrupts) */
	while ((got = read(tool->out, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			text_add_bytes(&said, bytes, (size_t)got);
	close(tool->out);
	while (waitpid(tool->child, NULL, 0) < 0 && errno == EINTR)
		;
	while ((line = text_next_line(&said, &offset))) {
		bool is_frame = stack_is_frame(tool, line);

		if (is_frame || tool->is_python)
			stack_say(host, tool->rank->label, line);
		has_frames |= is_frame;
	}
	text_release(&said);
	return has_frames;
}

/* Makes a Python print its stacks, and end; what it prints is said as a stack (source_say). */
static void stack_abort(struct host *host, const struct stack_tool *tool)
{
	static const struct rlimit none = {0, 0};
	struct text environment = process_environment(tool->pid);
	bool is_asked = environment.length &&
			memmem(environment.bytes, environment.length, "PYTHONFAULTHANDLER=", 19);

	text_release(&environment);
	if (!is_asked || tool->rank->sources[0].is_terminal)
		return;
	prlimit(tool->pid, RLIMIT_CORE, &none, NULL);
	if (kill(tool->pid, SIGABRT) == 0)
		host->stacks_usec = job_clock_usec() + ABORT_USEC;
}

/* The kernel's view of one process. */
static void stack_say_process(struct host *host, const struct job_process *p, const char *label)
{
	char words[STACK_BYTES_MAX], waits[STACK_BYTES_MAX], kernel[STACK_BYTES_MAX];
	struct text line = {0};

	stack_read(p->pid, "cmdline", words);
	stack_read(p->pid, "wchan", waits);
	stack_read(p->pid, "stack", kernel);
	text_addf(&line, "pid %d state %c waits in %s: %.200s", (int)p->pid, p->state,
		  *waits ? waits : "?", words);
	stack_say(host, label, line.bytes);
	if (*kernel)
		stack_say(host, label, kernel);
	text_release(&line);
}

/* The program of a rank: its outermost Python, or else its innermost process, below shells and runners. */
static struct stack_tool stack_program(const struct job_processes *all,
				       struct process *const *ranks, const struct process *rank)
{
	struct stack_tool tool = {.rank = rank};

	for (size_t i = 0; i < all->count; i++) {
		pid_t pid = all->list[i].pid;
		bool is_python = stack_is_python(pid), is_nearer;

		if (ranks[i] != rank)
			continue;
		is_nearer = is_python ? !tool.is_python || process_descends(tool.pid, pid)
				      : !tool.is_python && process_descends(pid, tool.pid);
		if (!tool.pid || is_nearer) {
			tool.pid = pid;
			tool.is_python = is_python;
		}
	}
	return tool;
}

/* The stacks of the first ranks' programs, all at the same time. */
static void stack_say_programs(struct host *host, const struct job_processes *all,
			       struct process *const *ranks)
{
	struct stack_tool *tools = calloc(host->count + 1, sizeof(*tools));
	size_t count = 0;

	if (!tools)
		abort();
	for (size_t i = 0; i < host->count; i++) {
		if (!isdigit((unsigned char)host->processes[i].label[0]))
			continue;
		tools[count] = stack_program(all, ranks, &host->processes[i]);
		if (tools[count].pid && count < TOOLS_MAX)
			stack_start_tool(&tools[count]);
		count += tools[count].pid != 0;
	}
	for (size_t i = 0; i < count; i++)
		if (!stack_hear_tool(host, &tools[i]) && tools[i].is_python)
			stack_abort(host, &tools[i]);
	free(tools);
}

void host_say_stacks(struct host *host)
{
	struct job_processes all = host_processes(host);
	struct process **ranks = calloc(all.count + 1, sizeof(*ranks));

	if (!ranks)
		abort();
	for (size_t i = 0; i < all.count; i++) {
		ranks[i] = stack_rank(host, all.list[i].pid);
		stack_say_process(host, &all.list[i], ranks[i] ? ranks[i]->label : "-");
	}
	stack_say_programs(host, &all, ranks);
	free(ranks);
	free(all.list);
	if (!host->stacks_usec)
		host_end_stacks(host);
}

void host_end_stacks(struct host *host)
{
	host_flush_sources(host, true);
	host->stacks_usec = 0;
	text_addf(&host->out, "stacked\n");
}
