/* SPDX-License-Identifier: MIT */
/*
 * refresh.h - compares components of the catalog with their upstreams.
 *
 * docs/upstream.md says which upstream each component has, and what is taken from it.
 */
#ifndef UPSTREAM_REFRESH_H
#define UPSTREAM_REFRESH_H

#include "core/words.h"
#include "upstream/python/pypi.h"
#include "upstream/rows.h"
#include "upstream/web.h"

struct repository;

struct refresh {
	struct arena *arena;
	struct web web;
	const char *pip;       /* index of Python packages; "" for PyPI */
	const char *pytorch;   /* PyTorch's indexes, each below it; "" for PyTorch's own server */
	const char *downloads; /* mirror with a folder for each host; "" for the hosts themselves */
	/* Lists the tags of nvidia/cuda on Docker Hub, or a mirror of it: the caller knows how to log in. */
	int (*list_tags)(void *arg, struct words *tags, struct error *err);
	void *list_tags_arg;
	struct rows rows;
	struct repository *repositories; /* of repository.h; NULL until they are read */
	size_t repository_count;
};

/* A component and its upstream. */
struct refresh_part {
	const char *component; /* the table's name */
	const char *what;      /* the upstream, for people */
	const char *source;    /* id of sources.csv */
	int (*run)(struct refresh *refresh, struct error *err);
};

/* All that can be refreshed, NULL-terminated by component. */
extern const struct refresh_part refresh_parts[];

/*
 * Compares one component, and notes the date when all of its upstream answered. -1 when something did not answer:
 * what did answer is in the rows all the same.
 */
int refresh_component(struct refresh *refresh, const struct refresh_part *part, struct error *err);

/* The URL behind the downloads mirror: MIRROR/HOST/PATH, or https://HOST/PATH without one. */
const char *refresh_url(const struct refresh *refresh, const char *host_and_path);

/* An index of Python packages, with or without a slash at its end. */
struct pypi refresh_index(const struct refresh *refresh, const char *index);

/* The index that `pip` names. */
struct pypi refresh_pypi(const struct refresh *refresh);

/* Keeps the first of several errors, so that the others can go on. */
int refresh_keep_error(struct error *first, const struct error *err);

#endif
