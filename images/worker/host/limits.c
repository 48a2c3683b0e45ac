/* SPDX-License-Identifier: MIT */
#include "host/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define SPARE 8 /* files */

void limits_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files); /* if it does not work, accept4() will say so */
}

bool limits_refused(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

bool limits_is_last(int fd)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)fd + SPARE >= files.rlim_cur;
}

void limits_sentence(int error, char text[128])
{
	struct rlimit files = {.rlim_max = 0};

	if (error == -EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
		snprintf(text, 128,
			 "%s: the limit is %llu (RLIMIT_NOFILE); raise it with 'ulimit -n'",
			 strerror(-error), (unsigned long long)files.rlim_cur);
	else
		snprintf(text, 128, "%s", strerror(-error));
}
