/* SPDX-License-Identifier: MIT */
#include "host/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#define LINE_BYTES 1024

static FILE *open_below(const char *folder, const char *name)
{
	const char *root = getenv("RINGUP_TEST_ROOT");
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s/%s", root ? root : "", folder, name);

	return length < (int)sizeof(path) ? fopen(path, "re") : NULL;
}

/* The number in @folder/@name, or @most: "max", or no such file. */
static uint64_t read_limit(const char *folder, const char *name, uint64_t most)
{
	FILE *file = open_below(folder, name);
	unsigned long long value = 0;

	if (file && fscanf(file, "%llu", &value) == 1 && value > 0 && value < most)
		most = value;
	if (file)
		fclose(file);
	return most;
}

/* The least of @most and the limits of the group @path below @mount and of those around it. In a
 * container the path may be the host's, of which only the container's own part is visible
 * group, at the mount itself. */
static uint64_t least_limit(const char *mount, const char *path, const char *name, uint64_t most)
{
	char folder[LINE_BYTES + 64], *slash;
	size_t length = strlen(mount);

	snprintf(folder, sizeof(folder), "%s%s", mount, path);
	do {
		most = read_limit(folder, name, most);
		slash = strrchr(folder + length, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return most;
}

uint64_t memory_limit(void)
{
	FILE *groups = open_below("/proc/self", "cgroup");
	uint64_t most = UINT64_MAX;
	char line[LINE_BYTES];
	struct sysinfo info;

	if (sysinfo(&info) == 0)
		most = ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
	while (groups && fgets(line, sizeof(line), groups)) {
		char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(kind, ":") == 0)
			most = least_limit("/sys/fs/cgroup", path, "memory.max", most);
		else if (strcmp(kind, ":memory") == 0)
			most = least_limit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes",
					   most);
	}
	if (groups)
		fclose(groups);
	return most;
}
