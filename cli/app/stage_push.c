/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_push.h"

#include "builder/evidence/attest.h"
#include "cli/app/mover.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_index.h"
#include "cli/app/stage_plan.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/progress.h"
#include "deployer/container/images.h"
#include "deployer/ssh/tcp.h"
#include "plan/lock.h"
#include "registry-client/manifest.h"
#include "registry-client/push.h"
#include "registry-client/referrers.h"

#include <string.h>

#define REACH_USEC 5000000

int stage_reference(struct stages *s, struct error *err)
{
	const struct cluster_registry *r = &s->cluster.registry;

	if (!*r->address)
		return error_set(
			err, ERROR_USAGE,
			"%s: 'registry.address' is missing: hosts pull the image from a registry; write registry: {address: \"HOST:PORT\"}",
			s->cluster.path);
	return reference_parse(arena_printf(s->arena, "%s/%s/%s:%s", r->address, r->namespace,
					    s->cluster.image.name,
					    spec_hash_tag(s->recipe, s->arena)),
			       s->arena, &s->reference, err);
}

int stage_registry(struct stages *s, const struct access_options *options,
		   struct registry **registry, struct error *err)
{
	return access_open(s->ctx, options, &s->reference, registry, err);
}

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
	if (stage_state(s, err) < 0)
		return -1;
	step = progress_begin("image",
			      arena_printf(s->arena, "exports and compresses %s", image->name));
	if (image_export(image, scratch, s->arena, layout, manifest, err) < 0) {
		progress_end(step, false, "failed");
		return error_wrap(err, "export of %s", image->name);
	}
	progress_end(step, true, "compressed in %.1f s", clock_seconds_since(begin));
	return 0;
}

int stage_push_documents(struct stages *s, struct registry *registry, const struct pushed *pushed,
			 struct error *err)
{
	const struct descriptor *manifest = &pushed->manifest;
	const char *layout = pushed->layout;
	const struct attest_input input = {
		.name = arena_printf(s->arena, "%s/%s", s->reference.registry,
				     s->reference.repository),
		.layout = layout,
		.manifest = manifest,
		.spec = pushed->spec,
		.plan = pushed->plan,
		.created_s = pushed->image.newest_s,
		.cache_folder = arena_printf(s->arena, "%s/inventory", stage_cache_folder(s)),
		.limits = &s->limits,
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

int stage_push_send(struct stages *s, struct registry *registry, const char *layout,
		    const struct descriptor *manifest, struct error *err)
{
	struct push_report report;
	char sent[32];

	if (registry_push(registry, layout, manifest, &s->reference, &report, err) < 0)
		return -1;
	log_info("  %-20s %s: %zu of %zu blobs sent, %s in %.1f s", "push",
		 reference_text(&s->reference, s->arena), report.blobs_sent, report.blobs_total,
		 format_bytes(sent, report.bytes_sent), report.seconds);
	return 0;
}

/* Builds the one image and pushes it. */
static int stage_push_one(struct stages *s, struct registry *registry, struct error *err)
{
	struct pushed one = {.spec = s->spec, .plan = &s->plan};

	if (stage_build(s, one.spec, NULL, &one.image, err) < 0 ||
	    stage_push_export_image(s, &one.image, &one.layout, &one.manifest, err) < 0 ||
	    stage_push_send(s, registry, one.layout, &one.manifest, err) < 0 ||
	    stage_push_documents(s, registry, &one, err) < 0)
		return -1;
	s->reference.digest = arena_strdup(s->arena, one.manifest.digest);
	/* the registry has it all: a copy made for it would only take space */
	return folder_remove(cluster_state_path(&s->cluster, "image", s->arena), err);
}

static int stage_push_ask(struct stages *s, const struct access_options *options,
			  struct registry **registry, bool *found, struct error *err)
{
	if (stage_recipe(s, err) < 0 || stage_reference(s, err) < 0)
		return -1;
	return stage_registry(s, options, registry, err) < 0
		       ? -1
		       : stage_find_image(s, *registry, found, err);
}

static int stage_push_build(struct stages *s, struct registry *registry, struct error *err)
{
	return (s->other_spec ? stage_index_push : stage_push_one)(s, registry, err);
}

bool stage_image_is_there(struct stages *s)
{
	const char *wanted = images_name_on_hosts(
		&s->cluster, reference_text(&s->reference, s->arena), s->arena);

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (member_is_active(m) && (!m->state.image || strcmp(m->state.image, wanted) != 0))
			return false;
	}
	return true;
}

int stage_image_file(struct stages *s, const char **path, struct error *err)
{
	_cleanup_(crew_release) struct crew crew;
	const struct move_options options = {0};
	struct mover mover = {.ctx = *s->ctx, .options = &options, .crew = &crew};
	struct place from, to;
	struct moved moved;
	const char *image;

	crew_init(&crew, s->arena);
	*path = NULL;
	if (!images_come_by_ssh(&s->cluster) || !s->reference.digest || stage_image_is_there(s))
		return 0;
	image = reference_text(&s->reference, s->arena);
	*path = cluster_state_path(&s->cluster, "image.tar", s->arena);
	mover.ctx.arena = s->arena;
	if (place_parse(image, s->arena, &from, err) < 0)
		return -1;
	to = (struct place){.kind = PLACE_ARCHIVE,
			    .text = *path,
			    .path = *path,
			    .name = images_name_on_hosts(&s->cluster, image, s->arena)};
	if (mover_move(&mover, &from, &to, &moved, err) < 0)
		return error_wrap(err, "cannot bring the image here, to send it to the hosts");
	return 0;
}

/* How much a host will pull, when one of them has to. An index says nothing of it, and an error is none of the pull's. */
static void stage_push_measure(struct stages *s, struct registry *registry)
{
	struct descriptor descriptor;
	struct manifest manifest;
	struct error ignored = {0};
	const char *bytes;

	if (!registry || !s->reference.digest || stage_image_is_there(s) ||
	    registry_get_manifest(registry, &s->reference, s->arena, &descriptor, &bytes,
				  &ignored) < 0 ||
	    manifest_parse(bytes, descriptor.size_bytes, "the image's manifest", s->arena,
			   &manifest, &ignored) < 0)
		return;
	s->image_bytes = manifest.config.size_bytes;
	for (size_t i = 0; i < manifest.layer_count; i++)
		s->image_bytes += manifest.layers[i].size_bytes;
}

int stage_provide(struct stages *s, const struct access_options *options, bool *is_new,
		  struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	bool found = false;

	if (stage_push_ask(s, options, &registry, &found, err) < 0)
		return -1;
	*is_new = !found;
	return found ? 0 : stage_push_build(s, registry, err);
}

/* The digest that ringup.lock has for this very recipe and name; NULL when it has none. */
static const char *stage_push_locked_digest(struct stages *s)
{
	struct error ignored = {0};
	struct reference locked;
	struct lock lock;
	bool found;

	if (!s->spec || lock_read(stage_lock_path(s), s->arena, &lock, &found, &ignored) < 0 ||
	    !found || strcmp(lock.recipe, s->recipe) != 0 ||
	    reference_parse(lock.image, s->arena, &locked, &ignored) < 0)
		return NULL;
	if (strcmp(locked.registry, s->reference.registry) != 0 ||
	    strcmp(locked.repository, s->reference.repository) != 0)
		return NULL;
	return locked.digest;
}

/* Whether something listens at the registry's address, HOST:PORT or [IPV6]:PORT. */
static bool stage_push_reaches(const struct stages *s)
{
	_cleanup_(fd_close) int fd = -1;
	struct error ignored = {0};
	struct host host;

	if (cluster_host_named(&s->cluster, s->reference.registry, s->arena, &host, &ignored) == 0)
		fd = tcp_connect(host.address, host.port, clock_usec() + REACH_USEC, &ignored);
	return fd >= 0;
}

int stage_find_or_recall(struct stages *s, struct registry **registry, bool *found,
			 struct error *err)
{
	const char *digest;

	if (stage_push_ask(s, NULL, registry, found, err) == 0) {
		if (*found)
			log_info("  %-20s %s is in the registry", "image",
				 reference_text(&s->reference, s->arena));
		return 0;
	}
	digest = s->reference.registry && err->kind == ERROR_FAILED ? stage_push_locked_digest(s)
								    : NULL;
	/* one that answers has another reason, such as a wrong password */
	if (!digest || stage_push_reaches(s))
		return -1;
	log_warn("%s; hosts that have the image of ringup.lock go on without the registry",
		 err->text);
	*err = (struct error){0};
	registry_closep(registry);
	*registry = NULL;
	s->reference.digest = digest;
	*found = true;
	return 0;
}

int stage_provide_or_recall(struct stages *s, bool *is_new, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	bool found = false;

	if (stage_find_or_recall(s, &registry, &found, err) < 0)
		return -1;
	*is_new = !found;
	if (!found && stage_push_build(s, registry, err) < 0)
		return -1;
	stage_push_measure(s, registry);
	return 0;
}
