/* SPDX-License-Identifier: MIT */
#include "oci/archive/export.h"

#include "core/clock.h"
#include "core/file.h"
#include "oci/layout.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPY_BYTES (1024 * 1024)

struct export
{
	const char *folder;
	struct archive *tar;
	char *buffer; /* COPY_BYTES */
	struct arena arena;
};

static int write_failed(struct export *export, struct error *err)
{
	const char *why = archive_error_string(export->tar);

	return error_set(
		err, ERROR_FAILED,
		"cannot write the archive: %s; free space there, or look why the reader ended",
		why ? why : "unknown");
}

static int begin_entry(struct export *export, const char *name, uint64_t size_bytes,
		       struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		oom();
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)size_bytes);
	archive_entry_set_mtime(entry, 0, 0);
	rc = archive_write_header(export->tar, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : write_failed(export, err);
}

static int archive_export_write_bytes(struct export *export, const void *bytes, size_t length,
				      struct error *err)
{
	if (interrupt_check(err) < 0)
		return -1;
	return archive_write_data(export->tar, bytes, length) == (la_ssize_t)length
		       ? 0
		       : write_failed(export, err);
}

static int write_text(struct export *export, const char *name, const char *text, struct error *err)
{
	size_t length = strlen(text);

	return begin_entry(export, name, length, err) < 0
		       ? -1
		       : archive_export_write_bytes(export, text, length, err);
}

static const char *blob_name(struct export *export, const struct descriptor *blob)
{
	return arena_printf(&export->arena, "blobs/%.6s/%s", blob->digest,
			    blob->digest + DIGEST_PREFIX_BYTES);
}

/* Copies a blob whose size was checked, and checks its digest meanwhile. */
static int write_blob(struct export *export, const struct descriptor *blob, struct error *err)
{
	_cleanup_(digest_release) struct digest digest = {NULL};
	char path[LAYOUT_PATH_BYTES], text[DIGEST_TEXT_BYTES];
	_cleanup_(fd_close) int fd = -1;
	uint64_t left = blob->size_bytes;

	if (!layout_has(export->folder, blob))
		return error_set(err, ERROR_USAGE, "blob %s is missing from %s; pull it again",
				 blob->digest, export->folder);
	if (layout_blob_path(export->folder, blob->digest, path, err) < 0 ||
	    begin_entry(export, blob_name(export, blob), left, err) < 0)
		return -1;
	if (file_open(path, &fd, err) < 0)
		return -1;
	digest_init_as(&digest, blob->digest);
	while (left) {
		ssize_t got = read(fd, export->buffer, left < COPY_BYTES ? left : COPY_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set(err, ERROR_FAILED, "%s became shorter", path);
		if (archive_export_write_bytes(export, export->buffer, (size_t)got, err) < 0)
			return -1;
		digest_add(&digest, export->buffer, (size_t)got);
		left -= (uint64_t)got;
	}
	digest_finish(&digest, text);
	if (strcmp(text, blob->digest) != 0)
		return error_set(err, ERROR_FAILED,
				 "%s is damaged: its bytes have the digest %s; pull it again", path,
				 text);
	return 0;
}

/* Each blob once: an archive with two entries of one name would be read differently by tools. */
static int write_blobs(struct export *export, const struct manifest *manifest, struct error *err)
{
	if (write_blob(export, &manifest->config, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest->layer_count; i++) {
		bool is_new = strcmp(manifest->layers[i].digest, manifest->config.digest) != 0;

		for (size_t k = 0; k < i && is_new; k++)
			is_new =
				strcmp(manifest->layers[i].digest, manifest->layers[k].digest) != 0;
		if (is_new && write_blob(export, &manifest->layers[i], err) < 0)
			return -1;
	}
	return 0;
}

static const char *manifest_json(struct export *export, const struct manifest *manifest,
				 const char *name)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateArray();
	_cleanup_(free_pointer) char *text = NULL;
	cJSON *image = cJSON_CreateObject(), *layers;

	cJSON_AddItemToArray(json, image);
	cJSON_AddStringToObject(image, "Config", blob_name(export, &manifest->config));
	if (name)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(image, "RepoTags"),
				     cJSON_CreateString(name));
	else
		cJSON_AddNullToObject(image, "RepoTags");
	layers = cJSON_AddArrayToObject(image, "Layers");
	for (size_t i = 0; i < manifest->layer_count; i++)
		cJSON_AddItemToArray(layers,
				     cJSON_CreateString(blob_name(export, &manifest->layers[i])));
	text = cJSON_PrintUnformatted(json);
	if (!text)
		oom();
	return arena_strdup(&export->arena, text);
}

static const char *index_json(struct export *export, const struct descriptor *manifest,
			      const char *name)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	_cleanup_(free_pointer) char *text = NULL;
	cJSON *entry = descriptor_json(manifest);

	cJSON_AddNumberToObject(json, "schemaVersion", 2);
	cJSON_AddStringToObject(json, "mediaType", MEDIA_OCI_INDEX);
	if (name)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(entry, "annotations"),
					LAYOUT_REF_NAME, name);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "manifests"), entry);
	text = cJSON_PrintUnformatted(json);
	if (!text)
		oom();
	return arena_strdup(&export->arena, text);
}

static int archive_export_write_all(struct export *export, const struct descriptor *descriptor,
				    const char *name, struct error *err)
{
	struct manifest manifest;
	const char *bytes;

	if (layout_read(export->folder, descriptor, MANIFEST_BYTES_MAX, &export->arena, &bytes,
			err) < 0 ||
	    manifest_parse(bytes, descriptor->size_bytes, "the image", &export->arena, &manifest,
			   err) < 0 ||
	    write_text(export, "oci-layout", LAYOUT_VERSION_JSON, err) < 0 ||
	    write_text(export, "index.json", index_json(export, descriptor, name), err) < 0 ||
	    write_blobs(export, &manifest, err) < 0 ||
	    write_text(export, blob_name(export, descriptor), bytes, err) < 0 ||
	    write_text(export, "manifest.json", manifest_json(export, &manifest, name), err) < 0)
		return -1;
	return archive_write_close(export->tar) == ARCHIVE_OK ? 0 : write_failed(export, err);
}

int archive_export(const char *layout_folder, const struct descriptor *manifest, const char *name,
		   int fd, struct error *err)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	struct export export = {.folder = layout_folder, .buffer = buffer, .arena = ARENA_INIT};
	int rc;

	export.tar = archive_write_new();
	if (!export.tar)
		oom();
	archive_write_set_format_pax_restricted(export.tar);
	archive_write_set_bytes_per_block(export.tar, COPY_BYTES);
	archive_write_set_bytes_in_last_block(export.tar, 512);
	rc = archive_write_open_fd(export.tar, fd) == ARCHIVE_OK ? 0 : write_failed(&export, err);
	if (rc == 0)
		rc = archive_export_write_all(&export, manifest, name, err);
	archive_write_free(export.tar);
	arena_release(&export.arena);
	return rc;
}
