/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* dlinfo, GLOB_BRACE */
#include "nccl.h"
#include "library.h"

#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libnccl.so.2"
#define WHEEL "nvidia/nccl/lib/" LIBRARY
#define PATTERN_BYTES (PATH_MAX + 128)

static const struct {
	const char *symbol;
	size_t offset;
	bool optional;
} symbols[] = {
#define SYMBOL(name, optional)                               \
	{                                                    \
#name, offsetof(struct nccl, name), optional \
	}
	SYMBOL(ncclGetVersion, false),
	SYMBOL(ncclGetErrorString, false),
	SYMBOL(ncclGetUniqueId, false),
	SYMBOL(ncclCommInitRank, false),
	SYMBOL(ncclCommGetAsyncError, false),
	SYMBOL(ncclCommAbort, false),
	SYMBOL(ncclCommDestroy, false),
	SYMBOL(ncclAllReduce, false),
	SYMBOL(ncclReduceScatter, false),
	SYMBOL(ncclAllGather, false),
	SYMBOL(ncclBroadcast, false),
	SYMBOL(ncclGroupStart, false),
	SYMBOL(ncclGroupEnd, false),
	SYMBOL(ncclSend, true),
	SYMBOL(ncclRecv, true),
	SYMBOL(ncclCommInitRankConfig, true),
	SYMBOL(ncclCommFinalize, true),
	SYMBOL(ncclGetLastError, true),
	SYMBOL(ncclMemAlloc, true),
	SYMBOL(ncclMemFree, true),
	SYMBOL(ncclCommRegister, true),
	SYMBOL(ncclCommDeregister, true),
#undef SYMBOL
};

/* Opens the first file that @pattern (of glob(), with braces) names; NULL if there is none. */
static void *open_match(const char *pattern)
{
	glob_t found = {.gl_pathc = 0};
	void *handle = NULL;

	if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && !handle; i++)
			handle = library_open(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
	globfree(&found);
	return handle;
}

/* A Python that is installed below @prefix. */
static void *open_prefix(const char *prefix)
{
	char pattern[PATTERN_BYTES];

	if (!prefix || prefix[0] != '/')
		return NULL;
	snprintf(pattern, sizeof(pattern), "%s/{lib,lib64}/python3*/{site,dist}-packages/" WHEEL,
		 prefix);
	return open_match(pattern);
}

/* Calls @open for each folder of the list @name of the environment, separated by colons. */
static void *open_list(const char *name, void *(*open)(const char *folder))
{
	const char *list = getenv(name);
	char folder[PATH_MAX];
	void *handle = NULL;

	while (list && *list && !handle) {
		size_t length = strcspn(list, ":");

		snprintf(folder, sizeof(folder), "%.*s", (int)length, list);
		handle = open(folder);
		list += length + (list[length] == ':');
	}
	return handle;
}

static void *open_packages(const char *folder)
{
	char path[PATTERN_BYTES];

	snprintf(path, sizeof(path), "%s/" WHEEL, folder);
	return *folder == '/' ? open_match(path) : NULL;
}

/* The Python whose program lies in @folder: PREFIX/bin/python3, links followed. */
static void *open_program(const char *folder)
{
	char path[PATTERN_BYTES], program[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s/python3", folder);
	if (!realpath(path, program))
		return NULL;
	for (int up = 0; up < 2; up++) {
		slash = strrchr(program, '/');
		if (slash)
			*slash = '\0';
	}
	return open_prefix(program);
}

static void *open_wheel(void)
{
	char local[PATH_MAX];
	const char *home = getenv("HOME");
	void *handle = open_prefix(getenv("VIRTUAL_ENV"));

	snprintf(local, sizeof(local), "%s/.local", home ? home : "");
	if (!handle)
		handle = open_prefix(getenv("CONDA_PREFIX"));
	if (!handle)
		handle = open_list("PYTHONPATH", open_packages);
	if (!handle)
		handle = open_list("PATH", open_program);
	if (!handle)
		handle = open_prefix("/usr/local");
	if (!handle)
		handle = open_prefix("/usr");
	if (!handle)
		handle = open_prefix("/opt/*");
	return handle ? handle : open_prefix(local);
}

static void *open_named(const char *named)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", named,
		 stat(named, &st) == 0 && S_ISDIR(st.st_mode) ? "/" LIBRARY : "");
	return library_open(path, RTLD_NOW | RTLD_LOCAL);
}

/* The library, or NULL with why not. */
static void *open_library(char *why, size_t why_bytes)
{
	const char *named = getenv("RINGUP_NCCL"), *said;
	void *handle =
		named && *named ? open_named(named) : library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (handle)
		return handle;
	said = library_error();
	if (named && *named) {
		snprintf(why, why_bytes, "$RINGUP_NCCL: %s", said);
		return NULL;
	}
	if (strstr(said, "No such file"))
		said = "no " LIBRARY
		       " on the loader's path, nor a pip wheel of it in a Python here; install NCCL or set $RINGUP_NCCL to the file";
	snprintf(why, why_bytes, "%s", said); /* before library_error() speaks again */
	handle = open_wheel();
	said = handle ? NULL : library_error(); /* a wheel that is there and does not load */
	if (said)
		snprintf(why, why_bytes, "%s", said);
	return handle;
}

int nccl_open(struct nccl *nccl, struct failure *err)
{
	char why[384] = "";
	struct link_map *map = NULL;
	void *handle = open_library(why, sizeof(why));
	int rc;

	memset(nccl, 0, sizeof(*nccl));
	if (!handle)
		return failure_set(err, STATUS_GPU, -1, "", "NCCL cannot be loaded: %s", why);
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map)
		snprintf(nccl->path, sizeof(nccl->path), "%s", map->l_name);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(handle, symbols[i].symbol);

		if (!symbol && !symbols[i].optional)
			return failure_set(
				err, STATUS_GPU, -1, "",
				"%.256s is too old: it has no %s; NCCL 2.4 or newer is needed",
				nccl->path, symbols[i].symbol);
		memcpy((char *)nccl + symbols[i].offset, &symbol, sizeof(symbol));
	}
	rc = nccl->ncclGetVersion(&nccl->version);
	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_GPU, -1, "", "ncclGetVersion: %s",
			   nccl->ncclGetErrorString(rc));
}

/* NCCL_VERSION() of nccl.h: until 2.8 the minor number had two digits, later it has three. */
void nccl_version_text(int version, char text[16])
{
	int unit = version < 10000 ? 1000 : 10000;

	snprintf(text, 16, "%d.%d.%d", version / unit % 100, version % unit / 100, version % 100);
}
