/* SPDX-License-Identifier: MIT */
/* Image -> registry: compressed once, and only what the registry lacks is sent. */
#include "cli/app/stages.h"

#include "builder/evidence/attest.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/progress.h"
#include "registry-client/manifest.h"
#include "registry-client/push.h"
#include "registry-client/referrers.h"

int stage_find_image(struct stages *s, struct registry *registry, bool *found, struct error *err)
{
	struct descriptor manifest;

	if (registry_head_manifest(registry, &s->reference, &manifest, found, err) < 0)
		return -1;
	if (*found)
		s->reference.digest = arena_strdup(s->arena, manifest.digest);
	return 0;
}

static int stage_push_export_image(struct stages *s, const struct image *image, const char **layout,
				   struct descriptor *manifest, struct error *err)
{
	const char *scratch = cluster_state_path(&s->cluster, "image", s->arena);
	struct progress_step *step;
	uint64_t begin = clock_usec();

	/* a layout of the backend's own is there already, compressed */
	if (image->kept)
		return image_export(image, scratch, s->arena, layout, manifest, err);
	step = progress_begin("image",
			      arena_printf(s->arena, "exports and compresses %s", image->name));
	if (image_export(image, scratch, s->arena, layout, manifest, err) < 0) {
		progress_end(step, false, "failed");
		return error_wrap(err, "export of %s", image->name);
	}
	progress_end(step, true, "compressed in %.1f s", clock_seconds_since(begin));
	return 0;
}

/* The image's bill of materials and its provenance, beside it. */
static int push_documents(struct stages *s, struct registry *registry, const struct image *image,
			  const char *layout, const struct descriptor *manifest, struct error *err)
{
	const struct attest_input input = {
		.name = arena_printf(s->arena, "%s/%s", s->reference.registry,
				     s->reference.repository),
		.layout = layout,
		.manifest = manifest,
		.spec = s->spec,
		.plan = &s->plan,
		.created_s = image->newest_s,
		.cache_folder = arena_printf(s->arena, "%s/inventory", stage_cache_folder(s)),
	};
	struct reference subject = s->reference;
	struct descriptor sbom, provenance;

	subject.digest = manifest->digest;
	if (attest_put(&input, s->arena, &sbom, &provenance, err) < 0 ||
	    registry_push_referrer(registry, &subject, layout, &sbom, err) < 0 ||
	    registry_push_referrer(registry, &subject, layout, &provenance, err) < 0)
		return error_wrap(err, "the image is pushed, its SBOM and provenance are not");
	return 0;
}

int stage_push(struct stages *s, struct registry *registry, const struct image *image,
	       struct error *err)
{
	struct descriptor manifest;
	struct push_report report;
	const char *layout;
	char sent[32];

	if (stage_push_export_image(s, image, &layout, &manifest, err) < 0 ||
	    registry_push(registry, layout, &manifest, &s->reference, &report, err) < 0)
		return -1;
	log_info("  %-20s %s: %zu of %zu blobs sent, %s in %.1f s", "push",
		 reference_text(&s->reference, s->arena), report.blobs_sent, report.blobs_total,
		 format_bytes(sent, report.bytes_sent), report.seconds);
	if (push_documents(s, registry, image, layout, &manifest, err) < 0)
		return -1;
	s->reference.digest = arena_strdup(s->arena, manifest.digest);
	/* the registry has it all: a copy made for it would only take space */
	return folder_remove(cluster_state_path(&s->cluster, "image", s->arena), err);
}
