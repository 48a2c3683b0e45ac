/* SPDX-License-Identifier: MIT */
/*
 * referrers.h - what refers to an image: its bill of materials, provenance, signatures.
 *
 * Source: OCI distribution-spec 1.1, "Listing Referrers" and "Pushing Manifests with Subject". A
 * registry of 1.1 keeps the list itself and says so (OCI-Subject in its answer to the PUT). For any
 * other, Distribution 2.8 among them, the client keeps it: an index under the tag sha256-HEX, HEX
 * being the subject's digest ("Referrers Tag Schema"). Two clients that change that index at the
 * same moment may lose an entry: it is read back after it was written, and written again if ours is
 * not in it.
 */
#ifndef REGISTRY_CLIENT_REFERRERS_H
#define REGISTRY_CLIENT_REFERRERS_H

#include "oci/index.h"
#include "registry-client/manifest.h"
#include "registry-client/registry.h"

/*
 * Pushes an artifact out of the layout, whose manifest's `subject` must be the manifest that `ref`
 * names by its digest (ERROR_USAGE otherwise), and enters it into the subject's list. Doing so
 * twice changes nothing. The subject itself need not be there yet.
 */
int registry_push_referrer(struct registry *registry, const struct reference *ref,
			   const char *layout_folder, const struct descriptor *artifact_manifest,
			   struct error *err);

/*
 * What refers to the manifest that `ref` names by its digest; `artifact_type` NULL: all. None is an
 * empty index and no error. Entries live in the arena; at most INDEX_ENTRIES_MAX of them.
 */
int registry_list_referrers(struct registry *registry, const struct reference *ref,
			    const char *artifact_type, struct arena *arena, struct index *index,
			    struct error *err);

/*
 * For push.c: enters a manifest that was put into the fallback list of its subject. `bytes` is the
 * manifest; fine when it has no subject.
 */
int referrers_keep_tag(struct registry *registry, const struct reference *ref,
		       const struct descriptor *manifest, const char *bytes, struct error *err);

/*
 * For a manifest that was deleted: removes it from that list; an empty list stays. Does nothing
 * when the manifest has no subject.
 */
int referrers_drop_tag(struct registry *registry, const struct reference *ref,
		       const struct descriptor *manifest, const char *bytes, struct error *err);

#endif
