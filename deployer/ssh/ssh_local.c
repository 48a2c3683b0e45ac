/* SPDX-License-Identifier: MIT */
/* This machine, without a connection: for jobs that run where ringup runs. */
#include "deployer/ssh/ssh_transport.h"

#include "core/clock.h"
#include "core/words.h"

static int open_local(const struct ssh_target *target, void **state, enum ssh_failure *failure,
		      struct error *err)
{
	(void)target;
	(void)failure;
	(void)err;
	*state = NULL;
	return 0;
}

static int run_local(void *state, const char *line, const struct ssh_command *command,
		     uint64_t deadline_usec, struct proc_result *result, struct error *err)
{
	struct proc proc = ssh_command_proc(command, deadline_usec);

	(void)state;
	proc.words = WORDS("/bin/sh", "-c", line);
	proc_result_release(result);
	return proc_run(&proc, result, err);
}

static void close_local(void *state)
{
	(void)state;
}

const struct ssh_transport ssh_transport_local = {
	.name = "local",
	.open = open_local,
	.run = run_local,
	.close = close_local,
};
