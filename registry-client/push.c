/* SPDX-License-Identifier: MIT */
#include "registry-client/push.h"

#include "core/clock.h"
#include "core/progress_total.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/blobs/blob.h"
#include "registry-client/blobs/journal.h"
#include "registry-client/limits.h"
#include "registry-client/manifest_http.h"
#include "registry-client/referrers.h"
#include "registry-client/http/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A manifest or an index that is pushed: the reference's own, or one that an index names. */
struct page {
	struct page *next;
	struct descriptor descriptor;
	struct reference ref;
	const char *bytes;
	struct manifest_request ask;
	bool is_there;
};

struct push {
	struct registry *registry;
	const struct push_origin *origin;
	const struct reference *ref;
	char scope[SCOPE_BYTES];
	struct page *pages, **last; /* images before the index that names them */
	size_t page_count;
	uint64_t page_bytes;
	struct blob_request **blobs;
	size_t blob_count, blob_room;
	size_t settled;	      /* the first so many blobs are there */
	uint64_t tried_bytes; /* of those that push_forget took out */
	struct transfer **list;
	struct journal journal;
	struct arena arena;
};

static struct blob_request *new_blob(struct push *push)
{
	if (push->blob_count == push->blob_room) {
		size_t room = push->blob_room * 2 + 64;
		struct blob_request **more = ARENA_ARRAY(&push->arena, room, struct blob_request *);

		if (push->blob_count)
			memcpy(more, push->blobs, push->blob_count * sizeof(*more));
		push->blobs = more;
		push->blob_room = room;
	}
	push->blobs[push->blob_count] = ARENA_NEW(&push->arena, struct blob_request);
	return push->blobs[push->blob_count++];
}

static int blob_missing(const struct descriptor *blob, const char *folder, struct error *err)
{
	return error_set(
		err, ERROR_USAGE,
		"blob %s (%llu bytes) is missing from %s or has another size; make the image again",
		blob->digest, (unsigned long long)blob->size_bytes, folder);
}

/* Blobs that the layout lacks are made when they are needed. */
static bool makes(const struct push *push)
{
	return push->origin->supply && push->origin->supply->make;
}

/* One of the image's blobs; a digest that is named twice is moved once. */
static int push_add_blob(struct push *push, const struct descriptor *descriptor, struct error *err)
{
	const char *folder = push->origin->folder;
	struct blob_request *blob;

	for (size_t i = 0; i < push->blob_count; i++) {
		const struct descriptor *other = &push->blobs[i]->descriptor;

		if (strcmp(other->digest, descriptor->digest) == 0)
			return blob_same_size(other, descriptor, err);
	}
	if (blob_check_size(descriptor, err) < 0)
		return -1;
	if (push->blob_count >= IMAGE_BLOBS_MAX)
		return error_set(err, ERROR_FAILED,
				 "more than %d blobs; name one image of it with --platform",
				 IMAGE_BLOBS_MAX);
	if (folder && !makes(push) && !layout_has(folder, descriptor))
		return blob_missing(descriptor, folder, err);
	blob = new_blob(push);
	blob_request_ask(blob, push->registry, push->ref, folder, push->scope, descriptor);
	blob->source = push->origin->source;
	/*
	 * Distribution 2.8 answers 201 to a mount of a sha512 blob, but does not have it
	 * afterwards.
	 */
	if (digest_is_like(descriptor->digest, "sha256:"))
		blob->mount_from = push->origin->mount_from;
	blob->journal = folder ? &push->journal : NULL;
	return 0;
}

static int push_add_image(struct push *push, const struct page *page, struct error *err)
{
	struct manifest manifest;

	if (manifest_parse(page->bytes, page->descriptor.size_bytes, "the manifest", &push->arena,
			   &manifest, err) < 0 ||
	    push_add_blob(push, &manifest.config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (push_add_blob(push, &manifest.layers[i], err) < 0)
			return -1;
	return 0;
}

static int push_add_page(struct push *push, const struct reference *ref,
			 const struct descriptor *descriptor, int depth, struct error *err);

static int add_index(struct push *push, const struct page *page, int depth, struct error *err)
{
	struct index index;

	if (depth >= INDEX_DEPTH_MAX)
		return error_set(err, ERROR_FAILED,
				 "%s is an index within %d others; %d is the most",
				 page->descriptor.digest, depth, INDEX_DEPTH_MAX);
	if (index_parse(page->bytes, page->descriptor.size_bytes, "the index", &push->arena, &index,
			err) < 0)
		return -1;
	for (size_t i = 0; i < index.count; i++) {
		struct reference ref = *push->ref;

		ref.tag = NULL;
		ref.digest = index.entries[i].descriptor.digest;
		if (push_add_page(push, &ref, &index.entries[i].descriptor, depth + 1, err) < 0)
			return -1;
	}
	return 0;
}

static int read_page(struct push *push, struct page *page, struct error *err)
{
	const struct blob_source *source = push->origin->source;

	if (!source)
		return layout_read(push->origin->folder, &page->descriptor, MANIFEST_BYTES_MAX,
				   &push->arena, &page->bytes, err);
	return registry_get_entry(source->registry, source->ref, &page->descriptor, &push->arena,
				  &page->descriptor, &page->bytes, err);
}

static int push_add_page(struct push *push, const struct reference *ref,
			 const struct descriptor *descriptor, int depth, struct error *err)
{
	struct page *page;

	for (page = push->pages; page; page = page->next)
		if (strcmp(page->descriptor.digest, descriptor->digest) == 0)
			return blob_same_size(&page->descriptor, descriptor, err);
	page = ARENA_NEW(&push->arena, struct page);
	page->descriptor = *descriptor;
	page->ref = *ref;
	if (read_page(push, page, err) < 0)
		return -1;
	push->page_bytes += page->descriptor.size_bytes;
	if (push->page_bytes > PAGES_BYTES_MAX || push->page_count >= IMAGE_PAGES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"the index has more than %llu MiB of manifests, or more than %d; name one image of it with --platform",
			(unsigned long long)(PAGES_BYTES_MAX / MIB), IMAGE_PAGES_MAX);
	if (media_is_index(descriptor->media_type) ? add_index(push, page, depth, err) < 0
						   : push_add_image(push, page, err) < 0)
		return -1;
	*push->last = page;
	push->last = &page->next;
	push->page_count++;
	return 0;
}

/* Asks for all blobs that are not settled, and for the pages, in flight together. */
static int push_ask(struct push *push, struct error *err)
{
	size_t count = 0;
	int rc;

	push->list = ARENA_ARRAY(&push->arena, push->blob_count + push->page_count + 1,
				 struct transfer *);
	for (size_t i = push->settled; i < push->blob_count; i++)
		push->list[count++] = &push->blobs[i]->transfer;
	for (struct page *p = push->pages; p; p = p->next) {
		manifest_request_init(&p->ask, push->registry, "HEAD", &p->ref, "pull,push");
		push->list[count++] = &p->ask.transfer;
	}
	rc = transfer_run(push->registry, push->list, count, HEADS_IN_FLIGHT_MAX, err);
	for (struct page *p = push->pages; p; p = p->next) {
		p->is_there =
			p->ask.found && strcmp(p->ask.descriptor.digest, p->descriptor.digest) == 0;
		transfer_release(&p->ask.transfer);
	}
	return rc;
}

/* Has the blobs made that neither the registry nor the layout has. */
static int make_missing(struct push *push, struct error *err)
{
	const struct push_supply *supply = push->origin->supply;
	const char *folder = push->origin->folder;
	const struct descriptor **blobs;
	size_t count = 0;

	if (!makes(push))
		return 0;
	blobs = ARENA_ARRAY(&push->arena, push->blob_count + 1, const struct descriptor *);
	for (size_t i = 0; i < push->blob_count; i++)
		if (!push->blobs[i]->is_there && !layout_has(folder, &push->blobs[i]->descriptor))
			blobs[count++] = &push->blobs[i]->descriptor;
	if (count && supply->make(supply->arg, blobs, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!layout_has(folder, blobs[i]))
			return blob_missing(blobs[i], folder, err);
	return 0;
}

static int push_larger_first(const void *a, const void *b)
{
	const struct blob_request *x = *(struct blob_request *const *)a;
	const struct blob_request *y = *(struct blob_request *const *)b;

	if (x->descriptor.size_bytes != y->descriptor.size_bytes)
		return x->descriptor.size_bytes < y->descriptor.size_bytes ? 1 : -1;
	return strcmp(x->descriptor.digest, y->descriptor.digest);
}

/* Sends those that are not there; then all are settled. */
static int push_send(struct push *push, struct error *err)
{
	size_t count = 0;

	for (size_t i = push->settled; i < push->blob_count; i++) {
		bool is_there = push->blobs[i]->is_there;

		progress_add(is_there ? PROGRESS_THERE : PROGRESS_TODO,
			     (int64_t)push->blobs[i]->descriptor.size_bytes);
		if (is_there)
			continue;
		blob_request_send(push->blobs[i]);
		push->list[count++] = &push->blobs[i]->transfer;
	}
	/* A blob_request begins with its transfer. */
	qsort(push->list, count, sizeof(*push->list), push_larger_first);
	if (transfer_run(push->registry, push->list, count, (size_t)push->registry->connections,
			 err) < 0)
		return -1;
	push->settled = push->blob_count;
	return 0;
}

/* Takes out the blobs that are not settled. */
static void push_forget(struct push *push)
{
	while (push->blob_count > push->settled) {
		struct blob_request *blob = push->blobs[--push->blob_count];

		push->tried_bytes += blob->sent_bytes;
		blob_request_release(blob);
	}
}

/*
 * Puts what is missing, images before their index. A manifest with a subject is always put: only
 * the answer says who keeps the list of referrers.
 */
static int push_put_pages(struct push *push, struct error *err)
{
	for (struct page *p = push->pages; p; p = p->next) {
		bool has_subject = strstr(p->bytes, "\"subject\"") != NULL, is_kept;

		if (p->is_there && !has_subject)
			continue;
		if (manifest_put(push->registry, &p->ref, &p->descriptor, p->bytes, &is_kept, err) <
		    0)
			return error_wrap(err, "manifest");
		if (has_subject && !is_kept &&
		    referrers_keep_tag(push->registry, &p->ref, &p->descriptor, p->bytes, err) < 0)
			return -1;
	}
	return 0;
}

static int push_all(struct push *push, const struct descriptor *manifest,
		    struct push_report *report, struct error *err)
{
	if (push->ref->digest && strcmp(push->ref->digest, manifest->digest) != 0)
		return error_set(
			err, ERROR_USAGE,
			"the reference asks for digest %s, but the image is %s; push to a tag, or to its own digest",
			push->ref->digest, manifest->digest);
	push->last = &push->pages;
	if (push_add_page(push, push->ref, manifest, 0, err) < 0)
		return -1;
	report->blobs_total = push->blob_count;
	if (registry_contact(push->registry, err) < 0 || push_ask(push, err) < 0)
		return -1;
	for (struct page *p = push->pages; p; p = p->next)
		report->tag_was_there = p->is_there; /* the last one is the reference's */
	if (make_missing(push, err) < 0 || push_send(push, err) < 0)
		return -1;
	return push_put_pages(push, err);
}

static void push_init(struct push *push, struct registry *registry,
		      const struct push_origin *origin, const struct reference *ref)
{
	*push = (struct push){
		.registry = registry, .origin = origin, .ref = ref, .arena = ARENA_INIT};
	scope_write(push->scope, ref, "pull,push");
	if (origin->mount_from && strcmp(origin->mount_from, ref->repository) != 0) {
		size_t length = strlen(push->scope);

		snprintf(push->scope + length, SCOPE_BYTES - length, " repository:%s:pull",
			 origin->mount_from);
	}
}

/* Call it once the layout is known, if there is one. */
static void push_open_journal(struct push *push)
{
	if (push->origin->folder)
		journal_open(&push->journal, push->origin->folder, &push->arena);
}

static void push_release(struct push *push)
{
	push->settled = 0;
	push_forget(push);
	journal_close(&push->journal);
	arena_release(&push->arena);
}

/*
 * --- layers on their way to the registry while those behind them are still packed
 */

struct waiting {
	struct waiting *next;
	struct descriptor blob;
};

struct push_ahead {
	struct push push;
	struct push_origin origin;
	pthread_t thread;
	bool is_started;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct waiting *first, **last;
	bool is_closed;
};

/* All waiting blobs; NULL at the end. */
static struct waiting *push_ahead_wait(struct push_ahead *ahead)
{
	struct waiting *list;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->first && !ahead->is_closed)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	/* what is left at the end is sent with the rest of the image, over all connections */
	list = ahead->is_closed ? NULL : ahead->first;
	if (list) {
		ahead->first = NULL;
		ahead->last = &ahead->first;
	}
	pthread_mutex_unlock(&ahead->lock);
	return list;
}

static void push_ahead_release(struct waiting *list)
{
	while (list) {
		struct waiting *next = list->next;

		free(list);
		list = next;
	}
}

/* A failure is not reported: the blobs are tried again with the rest of the image. */
static int send_all(struct push *push, const struct waiting *list, struct error *err)
{
	int rc = 0;

	for (; rc == 0 && list; list = list->next)
		rc = push_add_blob(push, &list->blob, err);
	if (rc == 0)
		rc = push_ask(push, err);
	if (rc == 0)
		rc = push_send(push, err);
	if (rc < 0)
		push_forget(push);
	return rc;
}

static void *push_ahead_work(void *arg)
{
	struct push_ahead *ahead = arg;
	struct error err = {0};
	struct waiting *list;
	int rc = 0;

	while (rc == 0 && (list = push_ahead_wait(ahead))) {
		rc = send_all(&ahead->push, list, &err);
		push_ahead_release(list);
	}
	return NULL;
}

struct push_ahead *push_ahead_begin(struct registry *registry, const struct reference *ref)
{
	struct push_ahead *ahead = xmalloc(sizeof(*ahead));

	memset(ahead, 0, sizeof(*ahead));
	ahead->last = &ahead->first;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	push_init(&ahead->push, registry, &ahead->origin, ref);
	return ahead;
}

void push_ahead_blob(void *arg, const char *layout_folder, const struct descriptor *blob)
{
	struct push_ahead *ahead = arg;
	struct waiting *waiting = xmalloc(sizeof(*waiting));

	*waiting = (struct waiting){.blob = *blob};
	if (!ahead->origin.folder) {
		ahead->origin.folder = arena_strdup(&ahead->push.arena, layout_folder);
		push_open_journal(&ahead->push);
		ahead->is_started =
			pthread_create(&ahead->thread, NULL, push_ahead_work, ahead) == 0;
	}
	pthread_mutex_lock(&ahead->lock);
	*ahead->last = waiting;
	ahead->last = &waiting->next;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

/* Ends the thread of a push that was begun ahead; the caller goes on with the push. */
static struct push *push_ahead_take(struct push_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->is_closed = true;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	if (ahead->is_started)
		pthread_join(ahead->thread, NULL);
	ahead->is_started = false;
	return &ahead->push;
}

void push_ahead_end(struct push_ahead **place)
{
	struct push_ahead *ahead = *place;

	if (!ahead)
		return;
	push_ahead_take(ahead);
	push_ahead_release(ahead->first);
	push_release(&ahead->push);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
	*place = NULL;
}

/* --- the whole push */

int push_from(struct registry *registry, const struct push_origin *origin,
	      const struct descriptor *manifest, const struct reference *ref,
	      struct push_report *report, struct error *err)
{
	struct push_ahead *ahead = origin->supply ? origin->supply->ahead : NULL;
	struct push own, *push = ahead ? push_ahead_take(ahead) : &own;
	uint64_t start = clock_usec();
	int rc;

	*report = (struct push_report){0};
	memcpy(report->digest, manifest->digest, sizeof(report->digest));
	if (!ahead)
		push_init(push, registry, origin, ref);
	push->origin = origin;
	if (!push->journal.path)
		push_open_journal(push);
	rc = push_all(push, manifest, report, err);
	report->bytes_sent = push->tried_bytes;
	for (size_t i = 0; i < push->blob_count; i++) {
		report->bytes_sent += push->blobs[i]->sent_bytes;
		report->blobs_sent += push->blobs[i]->was_sent;
		report->blobs_mounted += push->blobs[i]->was_mounted;
	}
	if (!ahead)
		push_release(push);
	report->seconds = clock_seconds_since(start);
	return rc;
}

int registry_push_supplied(struct registry *registry, const char *layout_folder,
			   const struct push_supply *supply, const struct descriptor *manifest,
			   const struct reference *ref, struct push_report *report,
			   struct error *err)
{
	const struct push_origin origin = {.folder = layout_folder, .supply = supply};
	int rc = push_from(registry, &origin, manifest, ref, report, err);

	return rc < 0 && err->kind != ERROR_INTERRUPTED
		       ? error_wrap(err, "push %s/%s", ref->registry, ref->repository)
		       : rc;
}

int registry_push(struct registry *registry, const char *layout_folder,
		  const struct descriptor *manifest, const struct reference *ref,
		  struct push_report *report, struct error *err)
{
	return registry_push_supplied(registry, layout_folder, NULL, manifest, ref, report, err);
}
