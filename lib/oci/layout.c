/* SPDX-License-Identifier: MIT */
#include "oci/layout.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/private.h"
#include "oci/index.h"
#include "oci/verified.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1024 * 1024)

static int layout_join(const char *folder, const char *name, char path[static LAYOUT_PATH_BYTES],
		       struct error *err)
{
	if (snprintf(path, LAYOUT_PATH_BYTES, "%s/%s", folder, name) >= LAYOUT_PATH_BYTES)
		return error_set(err, ERROR_FAILED, "the path %.60s... is too long", folder);
	return 0;
}

int layout_blob_path(const char *folder, const char *digest, char path[static LAYOUT_PATH_BYTES],
		     struct error *err)
{
	char name[DIGEST_TEXT_BYTES + 16];

	if (!digest_is_valid(digest))
		return error_set(err, ERROR_FAILED, "'%.150s' is not a digest", digest);
	snprintf(name, sizeof(name), "blobs/%.6s/%s", digest, digest + DIGEST_PREFIX_BYTES);
	return layout_join(folder, name, path, err);
}

int layout_blob_place(const char *folder, const char *digest, char path[static LAYOUT_PATH_BYTES],
		      struct error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "blobs/%.6s", digest);
	if (layout_join(folder, name, path, err) < 0 || folder_make(path, 0755, err) < 0)
		return -1;
	return layout_blob_path(folder, digest, path, err);
}

int layout_init(const char *folder, struct error *err)
{
	static const char version[] = LAYOUT_VERSION_JSON;
	static const char index[] =
		"{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_OCI_INDEX "\",\"manifests\":[]}";
	_cleanup_(fd_close) int lock = -1;
	char path[LAYOUT_PATH_BYTES];

	if (layout_join(folder, "blobs/sha256", path, err) < 0 ||
	    folder_make(path, 0755, err) < 0 || layout_join(folder, "oci-layout", path, err) < 0)
		return -1;
	lock = folder_lock(folder);
	if (!file_exists(path) && file_write(path, version, strlen(version), 0644, err) < 0)
		return -1;
	if (layout_join(folder, "index.json", path, err) < 0)
		return -1;
	return file_exists(path) ? 0 : file_write(path, index, strlen(index), 0644, err);
}

bool layout_has(const char *folder, const struct descriptor *descriptor)
{
	char path[LAYOUT_PATH_BYTES];
	struct error ignored;
	struct stat st;

	return layout_blob_path(folder, descriptor->digest, path, &ignored) == 0 &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == descriptor->size_bytes;
}

/* The digest of what is open; false: it cannot be read, or the person wants to stop. */
static bool layout_hash(int fd, const char *like, char text[static DIGEST_TEXT_BYTES])
{
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	_cleanup_(digest_release) struct digest digest;
	off_t at = 0;
	ssize_t got;

	digest_init_as(&digest, like);
	while ((got = pread(fd, buffer, COPY_BYTES, at)) != 0) {
		if (interrupted() || (got < 0 && errno != EINTR))
			return false;
		if (got < 0)
			continue;
		digest_add(&digest, buffer, (size_t)got);
		at += got;
	}
	digest_finish(&digest, text);
	return true;
}

static bool layout_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && file_changed_ns(a) == file_changed_ns(b);
}

/* Whether the open file has the blob's bytes: it was hashed before and is as it was, or is now. */
static bool layout_verify_open(const char *folder, const struct descriptor *descriptor, int fd)
{
	char digest[DIGEST_TEXT_BYTES];
	struct stat st, after;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size != descriptor->size_bytes)
		return false;
	if (private_is_own(&st) && verified_recall(folder, descriptor->digest, &st))
		return true;
	if (!layout_hash(fd, descriptor->digest, digest) || strcmp(digest, descriptor->digest) != 0)
		return false;
	/* what is noted must be on the disk: a power cut could leave zeros of the same size and time */
	if (private_is_own(&st) && fsync(fd) == 0 && fstat(fd, &after) == 0 &&
	    layout_is_same(&st, &after))
		verified_note(folder, descriptor->digest, &after);
	return true;
}

/* Whether only this user puts blobs of that algorithm there. */
static bool layout_is_own(const char *folder, const char *digest)
{
	char name[32], path[LAYOUT_PATH_BYTES];
	const char *const above[] = {"", "blobs", name};
	struct error ignored;

	snprintf(name, sizeof(name), "blobs/%.6s", digest);
	for (size_t i = 0; i < ARRAY_LEN(above); i++) {
		struct stat st;

		if (layout_join(folder, above[i], path, &ignored) < 0 || stat(path, &st) < 0 ||
		    !private_is_own(&st))
			return false;
	}
	return true;
}

/* -1: it is not there. A FIFO of that name does not hold us. */
static int layout_open(const char *folder, const char *digest)
{
	char path[LAYOUT_PATH_BYTES];
	struct error ignored;

	return layout_blob_path(folder, digest, path, &ignored) < 0
		       ? -1
		       : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

bool layout_verify(const char *folder, const struct descriptor *descriptor)
{
	_cleanup_(fd_close) int fd = layout_open(folder, descriptor->digest);

	if (fd < 0)
		return false;
	/* another user's file in a folder of ours was linked there: it may change after this */
	if (!private_has_own(fd) && layout_is_own(folder, descriptor->digest))
		return false;
	return layout_verify_open(folder, descriptor, fd);
}

int layout_writer_init(struct layout_writer *writer, const char *folder, struct error *err)
{
	return layout_writer_init_as(writer, folder, "sha256:", err);
}

int layout_writer_init_as(struct layout_writer *writer, const char *folder, const char *like,
			  struct error *err)
{
	*writer = (struct layout_writer){.fd = -1, .folder = folder};
	if (layout_join(folder, "blobs/.unfinished-XXXXXX", writer->temporary, err) < 0)
		return -1;
	writer->fd = mkostemp(writer->temporary, O_CLOEXEC);
	if (writer->fd < 0)
		return error_errno(err, "cannot write %s", writer->temporary);
	digest_init_as(&writer->digest, like);
	return 0;
}

int layout_writer_add(struct layout_writer *writer, const void *bytes, size_t length,
		      struct error *err)
{
	const char *p = bytes;
	size_t added = length;

	digest_add(&writer->digest, bytes, length);
	writer->size_bytes += length;
	while (length) {
		ssize_t done = write(writer->fd, p, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			error_errno(err, "cannot write %s", writer->temporary);
			return error_advise(err, "free space in %s and run the same command again",
					    writer->folder);
		}
		p += done;
		length -= (size_t)done;
	}
	file_write_behind(writer->fd, writer->size_bytes, added);
	return 0;
}

int layout_put_blob(const char *folder, const char *digest, int fd, const char *temporary,
		    struct error *err)
{
	char path[LAYOUT_PATH_BYTES];
	struct stat st;

	if (layout_blob_place(folder, digest, path, err) < 0)
		return -1;
	if (fchmod(fd, 0644) < 0 || file_put(fd, temporary, path) < 0) {
		error_errno(err, "cannot write %s", path);
		return error_advise(err, "free space in %s and run the same command again", folder);
	}
	if (fstat(fd, &st) == 0)
		verified_note(folder, digest, &st);
	return 0;
}

int layout_writer_finish(struct layout_writer *writer, const char *media_type,
			 struct descriptor *descriptor, struct error *err)
{
	*descriptor = (struct descriptor){.size_bytes = writer->size_bytes};
	snprintf(descriptor->media_type, sizeof(descriptor->media_type), "%s", media_type);
	digest_finish(&writer->digest, descriptor->digest);
	if (layout_put_blob(writer->folder, descriptor->digest, writer->fd, writer->temporary,
			    err) < 0)
		return -1;
	fd_close(&writer->fd);
	return 0;
}

/* The same for a blob that must become the one that is described; `from`: what it was read from. */
static int layout_writer_finish_as(struct layout_writer *writer, const struct descriptor *blob,
				   const char *from, struct error *err)
{
	char digest[DIGEST_TEXT_BYTES];

	digest_finish(&writer->digest, digest);
	if (strcmp(digest, blob->digest) != 0)
		return error_set(
			err, ERROR_FAILED,
			"blob %s of %s is damaged: its bytes have the digest %s; make the image again",
			blob->digest, from, digest);
	if (layout_put_blob(writer->folder, digest, writer->fd, writer->temporary, err) < 0)
		return -1;
	fd_close(&writer->fd);
	return 0;
}

void layout_writer_release(struct layout_writer *writer)
{
	digest_release(&writer->digest);
	if (writer->fd >= 0)
		unlink(writer->temporary);
	fd_close(&writer->fd);
}

int layout_put(const char *folder, const void *bytes, size_t length, const char *media_type,
	       struct descriptor *descriptor, struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};

	if (layout_writer_init(&writer, folder, err) < 0 ||
	    layout_writer_add(&writer, bytes, length, err) < 0)
		return -1;
	return layout_writer_finish(&writer, media_type, descriptor, err);
}

int layout_put_as(const char *folder, const void *bytes, const struct descriptor *descriptor,
		  struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};
	char digest[DIGEST_TEXT_BYTES];
	struct descriptor became;

	digest_of_as(bytes, descriptor->size_bytes, descriptor->digest, digest);
	if (strcmp(digest, descriptor->digest) != 0)
		return error_set(err, ERROR_FAILED, "%s has the digest %s", descriptor->digest,
				 digest);
	if (layout_writer_init_as(&writer, folder, digest, err) < 0 ||
	    layout_writer_add(&writer, bytes, descriptor->size_bytes, err) < 0)
		return -1;
	return layout_writer_finish(&writer, descriptor->media_type, &became, err);
}

int layout_read(const char *folder, const struct descriptor *descriptor, size_t bytes_max,
		struct arena *arena, const char **bytes, struct error *err)
{
	char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];
	char *text;
	size_t length;

	if (layout_blob_path(folder, descriptor->digest, path, err) < 0 ||
	    file_read(path, bytes_max, arena, &text, &length, err) < 0)
		return -1;
	digest_of_as(text, length, descriptor->digest, digest);
	if (length != descriptor->size_bytes || strcmp(digest, descriptor->digest) != 0)
		return error_set(
			err, ERROR_FAILED,
			"%s is damaged: it should be %llu bytes with that digest, and is %zu bytes with %s; make the image again",
			path, (unsigned long long)descriptor->size_bytes, length, digest);
	*bytes = text;
	return 0;
}

int layout_manifest(const char *folder, const char *digest, struct descriptor *manifest,
		    struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	char path[LAYOUT_PATH_BYTES];
	const char *bytes, *type;
	struct stat st;

	*manifest = (struct descriptor){.size_bytes = 0};
	if (layout_blob_path(folder, digest, path, err) < 0)
		return -1;
	if (stat(path, &st) < 0)
		return error_errno(err, "cannot read %s", path);
	snprintf(manifest->digest, sizeof(manifest->digest), "%s", digest);
	manifest->size_bytes = (uint64_t)st.st_size;
	if (layout_read(folder, manifest, MANIFEST_BYTES_MAX, &arena, &bytes, err) < 0 ||
	    json_parse(bytes, manifest->size_bytes, path, &json, err) < 0)
		return -1;
	type = manifest_media_type(json);
	if (!type)
		return error_set(err, ERROR_FAILED, "%s is neither a manifest nor an index", path);
	snprintf(manifest->media_type, sizeof(manifest->media_type), "%s", type);
	return 0;
}

static int read_index(const char *folder, char path[static LAYOUT_PATH_BYTES], cJSON **json,
		      cJSON **list, struct error *err)
{
	if (layout_join(folder, "index.json", path, err) < 0 || json_read(path, json, err) < 0)
		return -1;
	*list = cJSON_GetObjectItemCaseSensitive(*json, "manifests");
	if (!cJSON_IsArray(*list))
		return error_set(err, ERROR_FAILED,
				 "%s has no list of manifests; is %s an OCI image layout?", path,
				 folder);
	return 0;
}

static const char *name_of(const cJSON *entry)
{
	const cJSON *name = json_member(json_member(entry, "annotations"), LAYOUT_REF_NAME);

	return cJSON_IsString(name) ? name->valuestring : "";
}

/* Whether the entry must go when the manifest gets that name. */
static bool is_replaced(const cJSON *entry, const struct descriptor *manifest, const char *name)
{
	const cJSON *digest = json_member(entry, "digest");

	if (name)
		return strcmp(name_of(entry), name) == 0;
	return !*name_of(entry) && cJSON_IsString(digest) &&
	       strcmp(digest->valuestring, manifest->digest) == 0;
}

int layout_tag(const char *folder, const struct descriptor *manifest, const char *name,
	       struct error *err)
{
	_cleanup_(fd_close) int lock = folder_lock(folder);
	_cleanup_(json_free) cJSON *json = NULL;
	char path[LAYOUT_PATH_BYTES];
	cJSON *list, *entry;

	(void)lock; /* until the end */
	if (read_index(folder, path, &json, &list, err) < 0)
		return -1;
	for (int i = cJSON_GetArraySize(list) - 1; i >= 0; i--)
		if (is_replaced(cJSON_GetArrayItem(list, i), manifest, name))
			cJSON_DeleteItemFromArray(list, i);
	entry = descriptor_json(manifest);
	if (name)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(entry, "annotations"),
					LAYOUT_REF_NAME, name);
	cJSON_AddItemToArray(list, entry);
	return json_write(path, json, 0644, err);
}

static int layout_find_entry(const char *folder, const cJSON *list, const char *name,
			     const cJSON **found, struct error *err)
{
	const cJSON *entry;
	size_t count = 0;

	cJSON_ArrayForEach (entry, list) {
		if (name && strcmp(name_of(entry), name) != 0)
			continue;
		*found = entry;
		count++;
	}
	if (!count)
		return error_set(err, ERROR_USAGE,
				 "%s holds no image%s%s; name one of those in its index.json",
				 folder, name ? " named " : "", name ? name : "");
	if (count > 1)
		return error_set(err, ERROR_USAGE, "%s holds %zu images%s%s; say which one", folder,
				 count, name ? " named " : "", name ? name : "");
	return 0;
}

int layout_find(const char *folder, const char *name, struct descriptor *manifest,
		struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	char path[LAYOUT_PATH_BYTES];
	const cJSON *found = NULL;
	cJSON *list;

	if (read_index(folder, path, &json, &list, err) < 0 ||
	    layout_find_entry(folder, list, name, &found, err) < 0)
		return -1;
	return descriptor_parse(found, path, manifest, err);
}

int layout_name(const char *folder, struct arena *arena, const char **name, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	char path[LAYOUT_PATH_BYTES];
	const cJSON *found = NULL;
	cJSON *list;

	if (read_index(folder, path, &json, &list, err) < 0 ||
	    layout_find_entry(folder, list, NULL, &found, err) < 0)
		return -1;
	*name = arena_strdup(arena, name_of(found));
	return 0;
}

/* --- from one layout to another --------------------------------------------------------------- */

struct copying {
	const char *from, *to;
	struct arena arena;
};

/* Byte by byte, hashed on the way: nobody can change what is hashed here. */
static int layout_copy_bytes(const struct copying *copying, int fd, const struct descriptor *blob,
			     struct error *err)
{
	_cleanup_(layout_writer_release) struct layout_writer writer = {.fd = -1};
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	uint64_t left = blob->size_bytes;

	if (layout_writer_init_as(&writer, copying->to, blob->digest, err) < 0)
		return -1;
	while (left) {
		off_t at = (off_t)writer.size_bytes;
		ssize_t got = pread(fd, buffer, left < COPY_BYTES ? left : COPY_BYTES, at);

		if (interrupt_check(err) < 0)
			return -1;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, "cannot read blob %s of %s", blob->digest,
					   copying->from);
		if (!got) /* it became shorter: its digest says so */
			break;
		if (layout_writer_add(&writer, buffer, (size_t)got, err) < 0)
			return -1;
		left -= (uint64_t)got;
	}
	return layout_writer_finish_as(&writer, blob, copying->from, err);
}

/*
 * A hard link costs nothing, but who can write the file can change it after this. So only a file that
 * this user alone can write is linked, out of folders that are this user's alone, and by its descriptor:
 * the file that was checked is the one that is linked. Without /proc, and across file systems, it fails.
 */
static bool layout_link(const struct copying *copying, int fd, const struct descriptor *blob)
{
	char from[64], to[LAYOUT_PATH_BYTES];
	struct error ignored;
	struct stat st;

	if (!private_has_own(fd) || !layout_is_own(copying->from, blob->digest) ||
	    layout_blob_place(copying->to, blob->digest, to, &ignored) < 0 ||
	    !layout_verify_open(copying->from, blob, fd))
		return false;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) < 0)
		return false;
	/* the link has changed its ctime */
	if (fstat(fd, &st) == 0) {
		verified_note(copying->from, blob->digest, &st);
		verified_note(copying->to, blob->digest, &st);
	}
	return true;
}

static int copy_blob(const struct copying *copying, const struct descriptor *blob,
		     struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	if (layout_verify(copying->to, blob))
		return 0;
	if (!layout_has(copying->from, blob))
		return error_set(err, ERROR_FAILED,
				 "blob %s is missing from %s; make the image again", blob->digest,
				 copying->from);
	fd = layout_open(copying->from, blob->digest);
	if (fd < 0)
		return error_errno(err, "cannot read blob %s of %s", blob->digest, copying->from);
	if (layout_link(copying, fd, blob))
		return 0;
	return interrupt_check(err) < 0 ? -1 : layout_copy_bytes(copying, fd, blob, err);
}

static int copy_page(struct copying *copying, const struct descriptor *page, int depth,
		     struct error *err)
{
	struct manifest manifest;
	struct index index;
	const char *bytes;

	if (layout_read(copying->from, page, MANIFEST_BYTES_MAX, &copying->arena, &bytes, err) < 0)
		return -1;
	if (depth > INDEX_DEPTH_MAX)
		return error_set(err, ERROR_FAILED, "%s: indexes within indexes", page->digest);
	if (media_is_index(page->media_type)) {
		if (index_parse(bytes, page->size_bytes, "the index", &copying->arena, &index,
				err) < 0)
			return -1;
		for (size_t i = 0; i < index.count; i++)
			if (copy_page(copying, &index.entries[i].descriptor, depth + 1, err) < 0)
				return -1;
		return copy_blob(copying, page, err);
	}
	if (manifest_parse(bytes, page->size_bytes, "the manifest", &copying->arena, &manifest,
			   err) < 0 ||
	    copy_blob(copying, &manifest.config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (copy_blob(copying, &manifest.layers[i], err) < 0)
			return -1;
	return copy_blob(copying, page, err);
}

int layout_copy(const char *from, const char *to, const struct descriptor *manifest,
		struct error *err)
{
	struct copying copying = {.from = from, .to = to, .arena = ARENA_INIT};
	int rc = layout_init(to, err);

	if (rc == 0)
		rc = copy_page(&copying, manifest, 0, err);
	arena_release(&copying.arena);
	return rc;
}
