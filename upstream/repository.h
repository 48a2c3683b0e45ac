/* SPDX-License-Identifier: MIT */
/*
 * repository.h - NVIDIA's repositories of each OS: the rows of kind apt and rpm of cudnn.csv and nccl.csv.
 *
 * Where a repository is, says the column `repository` of os.csv; what reads it, the OS's package manager
 * (apt.h, rpm.h).
 */
#ifndef UPSTREAM_REPOSITORY_H
#define UPSTREAM_REPOSITORY_H

#include "upstream/refresh.h"

/* A package that is one of the names that the rows are made of. */
struct package {
	const char *name;    /* "libnccl2" */
	const char *version; /* with its revision: "2.27.7-1+cuda12.9" */
};

struct package_list {
	struct arena *arena;
	size_t count, capacity;
	struct package *packages;
};

/* One repository, and its packages once it is read. */
struct repository {
	const char *place; /* as os.csv has it, without https:// */
	const char *kind;  /* apt or rpm */
	const char *url;   /* behind the mirror */
	struct package_list list;
	struct error err; /* has a kind when it could not be read */
};

/* Adds it, when the name is of cuDNN or NCCL, and name and version have plain characters only. */
void package_add(struct package_list *list, const char *name, const char *version);

/* Unpacks a gzip stream into `text`, up to its ceiling. */
int repository_gunzip(const void *bytes, size_t length, const char *what, struct str *text,
		      struct error *err);

/*
 * The rows of kinds apt and rpm of cudnn.csv or nccl.csv. Repositories of an OS past its end of life are not
 * asked.
 */
int refresh_repositories(struct refresh *refresh, const char *component, struct error *err);

#endif
