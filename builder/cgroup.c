/* SPDX-License-Identifier: MIT */
#include "builder/cgroup.h"

#include <glob.h>
#include <stdio.h>
#include <unistd.h>

void cgroup_forget(const char *work)
{
	/* cgroup v2, and v1's hierarchies or v2 in its hybrid place */
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/*"};
	char pattern[256];

	for (int i = 0; i < 2; i++) {
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s/ringup-%.80s-[0-9]*", roots[i], work);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			rmdir(found.gl_pathv[k]);
		globfree(&found);
	}
}
