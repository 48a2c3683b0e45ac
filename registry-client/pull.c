/* SPDX-License-Identifier: MIT */
#include "registry-client/pull.h"

#include "core/clock.h"
#include "core/pool.h"
#include "core/progress_total.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/blobs/blob_get.h"
#include "registry-client/blobs/fetch.h"
#include "registry-client/limits.h"
#include "registry-client/manifest_http.h"
#include "registry-client/http/session.h"

#include <stdlib.h>
#include <string.h>

/* A manifest or an index that is put into the layout when all blobs are there. */
struct page {
	struct page *next;
	struct descriptor descriptor;
	const char *bytes;
};

/* A blob that is wanted. */
struct want {
	struct want *next;
	struct descriptor descriptor;
};

struct pull {
	struct registry *registry;
	const struct reference *ref;
	const char *folder, *platform;
	char scope[SCOPE_BYTES];
	struct page *pages, **last; /* images before the index that names them */
	uint64_t page_bytes;
	size_t page_count;
	struct want *wants;
	size_t want_count, part_count;
	struct fetch **fetches;
	size_t fetch_count;
	struct verify *verify;
	const struct pull_watch *watch; /* or NULL */
	struct arena arena;
	struct pull_report *report;
};

static int want(struct pull *pull, const struct descriptor *descriptor, struct error *err)
{
	struct want *w;

	for (w = pull->wants; w; w = w->next)
		if (strcmp(w->descriptor.digest, descriptor->digest) == 0)
			return blob_same_size(&w->descriptor, descriptor, err);
	if (blob_check_size(descriptor, err) < 0)
		return -1;
	if (pull->report->blobs_total >= IMAGE_BLOBS_MAX)
		return error_set(err, ERROR_FAILED, "more than %d blobs; leave out --all",
				 IMAGE_BLOBS_MAX);
	pull->report->blobs_total++;
	if (layout_verify(pull->folder, descriptor)) {
		pull->report->bytes_there += descriptor->size_bytes;
		progress_add(PROGRESS_THERE, (int64_t)descriptor->size_bytes);
		return pull->watch ? pull->watch->arrived(pull->watch->arg, descriptor->digest, err)
				   : 0;
	}
	w = ARENA_NEW(&pull->arena, struct want);
	w->descriptor = *descriptor;
	w->next = pull->wants;
	pull->wants = w;
	pull->want_count++;
	progress_add(PROGRESS_TODO, (int64_t)descriptor->size_bytes);
	pull->part_count += fetch_part_count(pull->registry, descriptor);
	return 0;
}

/*
 * The manifest's bytes: from the layout when they are there, else from the registry. `known`: what
 * an index, or the layout, says of it; or NULL.
 */
static int get_page(struct pull *pull, const struct reference *ref, const struct descriptor *known,
		    struct page **page, struct error *err)
{
	struct page *p = ARENA_NEW(&pull->arena, struct page);
	struct error ignored;

	*page = p;
	if (known && layout_has(pull->folder, known) &&
	    layout_read(pull->folder, known, MANIFEST_BYTES_MAX, &pull->arena, &p->bytes,
			&ignored) == 0) {
		p->descriptor = *known;
		return 0;
	}
	return known ? registry_get_entry(pull->registry, ref, known, &pull->arena, &p->descriptor,
					  &p->bytes, err)
		     : registry_get_manifest(pull->registry, ref, &pull->arena, &p->descriptor,
					     &p->bytes, err);
}

static int take_image(struct pull *pull, const struct page *page, struct error *err)
{
	struct manifest manifest;

	if (manifest_parse(page->bytes, page->descriptor.size_bytes, "the manifest", &pull->arena,
			   &manifest, err) < 0)
		return -1;
	if (pull->watch && pull->watch->started(pull->watch->arg, &manifest, err) < 0)
		return -1;
	if (want(pull, &manifest.config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (want(pull, &manifest.layers[i], err) < 0)
			return -1;
	return 0;
}

static int take_page(struct pull *pull, struct page *page, int depth, struct page **image,
		     struct error *err);

static int take_entry(struct pull *pull, const struct descriptor *entry, int depth,
		      struct page **image, struct error *err)
{
	for (*image = pull->pages; *image; *image = (*image)->next)
		if (strcmp((*image)->descriptor.digest, entry->digest) == 0)
			return blob_same_size(&(*image)->descriptor, entry, err);
	if (get_page(pull, pull->ref, entry, image, err) < 0)
		return -1;
	return take_page(pull, *image, depth + 1, image, err);
}

/* Its own images are there already. */
static int pull_add_page(struct pull *pull, struct page *page, struct error *err)
{
	pull->page_bytes += page->descriptor.size_bytes;
	if (pull->page_bytes > PAGES_BYTES_MAX || ++pull->page_count > IMAGE_PAGES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"%s has more than %llu MiB of manifests, or more than %d; leave out --all",
			reference_text(pull->ref, &pull->arena),
			(unsigned long long)(PAGES_BYTES_MAX / MIB), IMAGE_PAGES_MAX);
	*pull->last = page;
	pull->last = &page->next;
	return 0;
}

static int take_index(struct pull *pull, struct page *page, int depth, struct page **image,
		      struct error *err)
{
	const char *what = reference_text(pull->ref, &pull->arena);
	const struct index_entry *entry;
	struct page *ignored;
	struct index index;

	if (index_parse(page->bytes, page->descriptor.size_bytes, what, &pull->arena, &index, err) <
	    0)
		return -1;
	if (depth >= INDEX_DEPTH_MAX)
		return error_set(err, ERROR_FAILED,
				 "%s is an index within %d others; %d is the most", what, depth,
				 INDEX_DEPTH_MAX);
	if (pull->platform && strcmp(pull->platform, PLATFORM_ALL) == 0) {
		for (size_t i = 0; i < index.count; i++)
			if (take_entry(pull, &index.entries[i].descriptor, depth, &ignored, err) <
			    0)
				return -1;
		return pull_add_page(pull, page, err);
	}
	if (index_choose(&index, pull->platform, what, &entry, err) < 0)
		return -1;
	return take_entry(pull, &entry->descriptor, depth, image, err);
}

/* *image stays the page itself, or becomes the page of the platform's image. */
static int take_page(struct pull *pull, struct page *page, int depth, struct page **image,
		     struct error *err)
{
	if (media_is_index(page->descriptor.media_type))
		return take_index(pull, page, depth, image, err);
	return take_image(pull, page, err) < 0 ? -1 : pull_add_page(pull, page, err);
}

static int pull_larger_first(const void *a, const void *b)
{
	const struct descriptor *x = &(*(struct fetch *const *)a)->partial.descriptor;
	const struct descriptor *y = &(*(struct fetch *const *)b)->partial.descriptor;

	if (x->size_bytes != y->size_bytes)
		return x->size_bytes < y->size_bytes ? 1 : -1;
	return strcmp(x->digest, y->digest);
}

static struct transfer **list_transfers(struct pull *pull)
{
	struct transfer **list = ARENA_ARRAY(&pull->arena, pull->part_count + 1, struct transfer *);
	size_t count = 0;

	pull->fetches = ARENA_ARRAY(&pull->arena, pull->want_count + 1, struct fetch *);
	for (struct want *w = pull->wants; w; w = w->next) {
		struct fetch *fetch = ARENA_NEW(&pull->arena, struct fetch);

		fetch_init(fetch, pull->registry, pull->verify, pull->ref, pull->scope,
			   pull->folder, &w->descriptor);
		fetch->watch = pull->watch;
		/* the newest want comes first: this is the manifest's order */
		pull->fetches[pull->want_count - ++pull->fetch_count] = fetch;
	}
	if (!pull->watch)
		qsort(pull->fetches, pull->fetch_count, sizeof(*pull->fetches), pull_larger_first);
	for (size_t i = 0; i < pull->fetch_count; i++)
		for (size_t k = 0; k < pull->fetches[i]->part_count; k++)
			list[count++] = &pull->fetches[i]->parts[k].transfer;
	return list;
}

static int fetch_all(struct pull *pull, struct error *err)
{
	struct transfer **list;
	int rc;

	if (!pull->want_count)
		return 0;
	if (registry_contact(pull->registry, err) < 0)
		return -1;
	pull->verify = verify_start(pull->registry, pool_cores());
	list = list_transfers(pull);
	rc = transfer_run(pull->registry, list, pull->part_count,
			  (size_t)pull->registry->connections, err);
	for (size_t i = 0; i < pull->fetch_count; i++) {
		struct fetch *fetch = pull->fetches[i];

		pull->report->bytes_received += fetch->received_bytes;
		pull->report->bytes_resumed += fetch->resumed_bytes;
		pull->report->blobs_received += fetch->is_done;
		fetch_release(fetch);
	}
	verify_stop(pull->verify);
	return rc;
}

/* The config names the platform of a single image: it is checked before layers are fetched. */
static int pull_check_platform(struct pull *pull, const struct page *image, struct error *err)
{
	struct manifest manifest;
	const char *bytes;
	size_t length;

	if (!pull->platform || strcmp(pull->platform, PLATFORM_ALL) == 0 ||
	    media_is_index(image->descriptor.media_type))
		return 0;
	if (manifest_parse(image->bytes, image->descriptor.size_bytes, "the manifest", &pull->arena,
			   &manifest, err) < 0)
		return -1;
	length = manifest.config.size_bytes; /* layout_read sees to that */
	if (layout_verify(pull->folder, &manifest.config)
		    ? layout_read(pull->folder, &manifest.config, MANIFEST_BYTES_MAX, &pull->arena,
				  &bytes, err) < 0
		    : registry_get_blob(pull->registry, pull->ref, &manifest.config, &pull->arena,
					&bytes, &length, err) < 0)
		return -1;
	return platform_check_config(pull->platform, bytes, length, err);
}

static int pull_put_pages(struct pull *pull, struct error *err)
{
	for (struct page *p = pull->pages; p; p = p->next)
		if (!layout_verify(pull->folder, &p->descriptor) &&
		    layout_put_as(pull->folder, p->bytes, &p->descriptor, err) < 0)
			return -1;
	return 0;
}

static int pull_all(struct pull *pull, struct descriptor *manifest, struct error *err)
{
	const struct descriptor *there = NULL;
	struct descriptor known;
	struct error ignored;
	struct page *top, *image;

	pull->last = &pull->pages;
	if (pull->platform && strcmp(pull->platform, PLATFORM_ALL) != 0 &&
	    platform_check(pull->platform, err) < 0)
		return -1;
	if (layout_init(pull->folder, err) < 0)
		return -1;
	if (pull->ref->digest &&
	    layout_manifest(pull->folder, pull->ref->digest, &known, &ignored) == 0)
		there = &known;
	if (get_page(pull, pull->ref, there, &top, err) < 0)
		return -1;
	image = top;
	if (take_page(pull, top, 0, &image, err) < 0 ||
	    (image == top && pull_check_platform(pull, image, err) < 0) ||
	    fetch_all(pull, err) < 0 || pull_put_pages(pull, err) < 0)
		return -1;
	*manifest = image->descriptor;
	return 0;
}

int registry_pull(struct registry *registry, const struct reference *ref, const char *layout_folder,
		  const char *platform, struct pull_report *report, struct descriptor *manifest,
		  struct error *err)
{
	return registry_pull_watched(registry, ref, layout_folder, platform, NULL, report, manifest,
				     err);
}

int registry_pull_watched(struct registry *registry, const struct reference *ref,
			  const char *layout_folder, const char *platform,
			  const struct pull_watch *watch, struct pull_report *report,
			  struct descriptor *manifest, struct error *err)
{
	struct pull pull = {.registry = registry,
			    .ref = ref,
			    .folder = layout_folder,
			    .platform = platform,
			    .watch = watch,
			    .report = report,
			    .arena = ARENA_INIT};
	uint64_t start = clock_usec();
	int rc;

	*report = (struct pull_report){0};
	scope_write(pull.scope, ref, "pull");
	rc = pull_all(&pull, manifest, err);
	arena_release(&pull.arena);
	report->seconds = clock_seconds_since(start);
	return rc < 0 && err->kind != ERROR_INTERRUPTED
		       ? error_wrap(err, "pull %s/%s", ref->registry, ref->repository)
		       : rc;
}
