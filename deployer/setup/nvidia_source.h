/* SPDX-License-Identifier: MIT */
/* nvidia_source.h - NVIDIA's repository of packages for a host, by os.csv and key.csv of the catalog. */
#ifndef DEPLOYER_SETUP_NVIDIA_SOURCE_H
#define DEPLOYER_SETUP_NVIDIA_SOURCE_H

#include "plan/facts.h"
#include "resolver/catalog.h"

/* Each "" where it is not known. */
struct nvidia_source {
	const char *place;	 /* HOST/PATH */
	const char *key;	 /* the name of its key's file there */
	const char *fingerprint; /* of the key */
	const char *sha256;	 /* of the key's file: where the fingerprint is not known */
};

/* All is "" where the catalog has no repository for the host, or its key cannot be checked. `catalog`: NULL is none. */
void nvidia_source_of(const struct catalog *catalog, const struct facts *facts, struct arena *arena,
		      struct nvidia_source *source);

#endif
