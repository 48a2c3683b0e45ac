/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/cgroup.h"

#include "core/base.h"
#include "core/file.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define END_TRIES 250
#define END_PAUSE_US 20000

/* The kernel holds a cgroup until its last process is gone: killed ones need a moment for that. */
static void cgroup_remove(const char *path)
{
	for (int tries = 0; rmdir(path) < 0 && errno == EBUSY && tries < END_TRIES; tries++)
		usleep(END_PAUSE_US);
}

static void cgroup_remove_below(const char *root, const char *path, const char *work)
{
	char pattern[PATH_MAX + 256];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s%s/ringup-%.80s-[0-9]*", root, path, work);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		cgroup_remove(found.gl_pathv[i]);
	globfree(&found);
}

void cgroup_forget(const char *work)
{
	_cleanup_(file_close) FILE *own = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	/* runc makes a container's cgroups below its own: "N:CONTROLLERS:PATH", a line for each
	 * hierarchy */
	while (own && fgets(line, sizeof(line), own)) {
		const char *path = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		path = path ? strchr(path + 1, ':') : NULL;
		if (!path)
			continue;
		path += strcmp(path, ":/") == 0 ? 2 : 1;
		/* cgroup v2, and v1's hierarchies or v2 in its hybrid place */
		cgroup_remove_below("/sys/fs/cgroup", path, work);
		cgroup_remove_below("/sys/fs/cgroup/*", path, work);
	}
}
