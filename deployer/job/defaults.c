/* SPDX-License-Identifier: MIT */
#include "deployer/job/defaults.h"

void job_defaults_add(struct words *env, const char *threads)
{
	/* so that a line is there when it is printed, also the last one of a rank that is killed */
	words_add(env, "PYTHONUNBUFFERED=1");
	words_add(env, "PYTHONFAULTHANDLER=1"); /* so that a crash or a hang has a stack */
	if (threads)
		words_addf(env, JOB_THREADS "=%s", threads);
}
