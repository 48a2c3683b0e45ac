/* SPDX-License-Identifier: MIT */
/* An archive's image without its layers, when all of them are known; and then some of them. */
#include "core/log.h"
#include "oci/archive/archive_parts.h"
#include "oci/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, and not compressed as a whole: what is passed over costs nothing. */
static bool can_seek(int fd)
{
	char head[8];
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       packing_of(head, sizeof(head)) == PACKING_NONE;
}

int archive_name(int fd, const char *label, struct arena *arena, const char **name,
		 struct error *err)
{
	_cleanup_(arena_release) struct arena scratch = ARENA_INIT;
	_cleanup_(json_free) cJSON *list = NULL;
	const struct archive_options options = {.label = label};
	const struct archive_walk walk = {.kind = WALK_LOOK, .fd = fd, .options = &options};
	const cJSON *image, *tag;
	struct part *parts;

	if (archive_walk(&walk, &scratch, &parts, err) < 0 ||
	    archive_choose(parts, NULL, &list, &image, err) < 0)
		return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", label);
	tag = cJSON_GetArrayItem(json_member(image, "RepoTags"), 0);
	*name = cJSON_IsString(tag) ? arena_strdup(arena, tag->valuestring) : "";
	return 0;
}

bool archive_recall(int fd, const char *layout_folder, const struct archive_options *options,
		    struct arena *arena, const struct part **layers, struct descriptor *manifest)
{
	const struct archive_walk walk = {
		.kind = WALK_LOOK, .fd = fd, .folder = layout_folder, .options = options};
	struct part *parts;
	struct error why = {0};

	if (!options->known_folder || options->normalise || !can_seek(fd) ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return false;
	if (layout_init(layout_folder, &why) < 0 || archive_walk(&walk, arena, &parts, &why) < 0 ||
	    archive_image(parts, layout_folder, options, arena, manifest, &why) < 0) {
		log_debug("%s is read whole: %s", options->label, why.text);
		lseek(fd, 0, SEEK_SET);
		return false;
	}
	log_debug("%s: all layers are known; none is read", options->label);
	*layers = parts;
	return true;
}

/* The member that holds the blob; NULL: none does. */
static const char *archive_recall_member_of(const struct part *layers,
					    const struct descriptor *blob)
{
	for (; layers; layers = layers->next)
		if (layers->kind == PART_LAYER && strcmp(layers->blob.digest, blob->digest) == 0)
			return layers->name;
	return NULL;
}

/* What came out of the archive, against what was known of it. */
static int archive_recall_compare(const struct part *layers, const struct part *packed,
				  const char *label, bool *same, struct error *err)
{
	*same = true;
	for (; packed; packed = packed->next) {
		const struct part *known = layers;

		if (packed->kind != PART_LAYER || packed->is_unread)
			continue;
		while (known &&
		       (known->kind != PART_LAYER || strcmp(known->name, packed->name) != 0))
			known = known->next;
		if (!known || strcmp(known->diff_id, packed->diff_id) != 0)
			return error_set(
				err, ERROR_FAILED,
				"%s: layer %s is %s, but the config says %s: the archive is damaged; save it again",
				label, packed->name, packed->diff_id,
				known ? known->diff_id : "nothing");
		*same = *same && strcmp(known->blob.digest, packed->blob.digest) == 0;
	}
	return 0;
}

int archive_pack(int fd, const char *layout_folder, const struct archive_options *options,
		 const struct part *layers, const struct descriptor *const *blobs, size_t count,
		 bool *same, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char **names = ARENA_ARRAY(&arena, count + 1, const char *);
	const struct archive_walk walk = {.kind = WALK_SOME,
					  .names = names,
					  .fd = fd,
					  .folder = layout_folder,
					  .options = options};
	struct part *packed;

	for (size_t i = 0; i < count; i++) {
		names[i] = archive_recall_member_of(layers, blobs[i]);
		if (!names[i])
			return error_set(err, ERROR_FAILED, "%s holds no layer that is %s",
					 options->label, blobs[i]->digest);
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, "cannot read %s", options->label);
	if (archive_walk(&walk, &arena, &packed, err) < 0)
		return err->kind == ERROR_INTERRUPTED ? -1 : error_wrap(err, "%s", options->label);
	return archive_recall_compare(layers, packed, options->label, same, err);
}
