/* SPDX-License-Identifier: MIT */
/*
 * list.h - what a registry holds.
 *
 * Sources: OCI distribution-spec 1.1, "Listing Tags"; Docker Registry HTTP API V2, "Catalog". Both
 * lists come in pages that the answer's Link header joins.
 */
#ifndef REGISTRY_CLIENT_LIST_H
#define REGISTRY_CLIENT_LIST_H

#include "core/words.h"
#include "plan/reference.h"
#include "registry-client/registry.h"

/* Adds the repository's tags, in the registry's order. A missing repository is an error. */
int registry_list_tags(struct registry *registry, const struct reference *ref, struct words *tags,
		       struct error *err);

/* Adds the names of all repositories. Many public registries refuse this. */
int registry_list_repositories(struct registry *registry, struct words *names, struct error *err);

#endif
