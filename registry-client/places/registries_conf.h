/* SPDX-License-Identifier: MIT */
/*
 * registries_conf.h - the text of a registries.conf as entries: as much of TOML as such a file needs, which is
 * tables, arrays of tables (also inline, as values), and keys with texts and booleans. Other values are
 * passed over. Sources: containers-registries.conf(5), https://toml.io/en/v1.0.0.
 */
#ifndef REGISTRY_CLIENT_PLACES_REGISTRIES_CONF_H
#define REGISTRY_CLIENT_PLACES_REGISTRIES_CONF_H

#include "core/arena.h"
#include "core/error.h"

#define MIRRORS_MAX 16

/* One [[registry]] of a registries.conf. */
struct registry_entry {
	struct registry_entry *next; /* read before it */
	const char *prefix, *location;
	bool insecure, blocked, by_digest_only;
	struct {
		const char *location, *pulls; /* "all", "digest-only" or "tag-only" */
		bool insecure;
	} mirrors[MIRRORS_MAX];
	size_t mirror_count;
};

/* Adds the file's entries to *list. `path` is for messages: "PATH:LINE: ...". */
int registries_conf_parse(const char *path, const char *text, struct arena *arena,
			  struct registry_entry **list, struct error *err);

#endif
