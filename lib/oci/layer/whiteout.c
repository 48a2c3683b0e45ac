/* SPDX-License-Identifier: MIT */
#include "oci/layer/whiteout.h"

#include "core/str.h"

#include <stdio.h>
#include <string.h>

int whiteout_find(const char *path, enum whiteout *kind, char target[static PATH_PLAIN_BYTES],
		  struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int folder = slash ? (int)(slash - path) : 0;

	*kind = WHITEOUT_NONE;
	if (!starts_with(name, WHITEOUT_PREFIX))
		return 0;
	*kind = strcmp(name, WHITEOUT_OPAQUE_NAME) == 0	  ? WHITEOUT_OPAQUE
		: starts_with(name, WHITEOUT_AUFS_PREFIX) ? WHITEOUT_IGNORED
							  : WHITEOUT_REMOVED;
	snprintf(target, PATH_PLAIN_BYTES, "%.*s", folder, path);
	if (*kind != WHITEOUT_REMOVED)
		return 0;
	name += strlen(WHITEOUT_PREFIX);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, ERROR_FAILED, "the whiteout '%.100s' names nothing", path);
	snprintf(target, PATH_PLAIN_BYTES, "%.*s%s%s", folder, path, slash ? "/" : "", name);
	return 0;
}
