/* SPDX-License-Identifier: MIT */
#include "backend/mpi/mpi_library.h"
#include "backend/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find_plugin(char *path, size_t bytes)
{
	const char *named = getenv("RINGUP_MPI_PLUGIN");
	char program[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[length > 0 ? length : 0] = '\0';
	slash = strrchr(program, '/');
	if (slash)
		slash[1] = '\0';
	if (named)
		snprintf(path, bytes, "%s", named);
	else
		snprintf(path, bytes, "%s%s", program, MPI_PLUGIN_FILE);
}

const struct mpi_plugin *mpi_library(struct failure *err)
{
	static const struct mpi_plugin *loaded;
	const struct mpi_plugin *plugin;
	char path[PATH_MAX + sizeof(MPI_PLUGIN_FILE)];
	void *handle;

	if (loaded)
		return loaded;
	find_plugin(path, sizeof(path));
	handle = library_open(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle) {
		failure_set(
			err, STATUS_USAGE, -1, "",
			"cannot open the MPI plug-in: %s; build it with mpicc (build.sh) or set $RINGUP_MPI_PLUGIN",
			library_error());
		return NULL;
	}
	plugin = dlsym(handle, MPI_PLUGIN_SYMBOL);
	if (plugin && plugin->abi == MPI_PLUGIN_ABI)
		loaded = plugin;
	else
		failure_set(err, STATUS_USAGE, -1, "",
			    "%s belongs to another version of this program", path);
	return loaded;
}
