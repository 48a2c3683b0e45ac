/* SPDX-License-Identifier: MIT */
#include "registry-client/blobs/journal.h"

#include "core/file.h"
#include "core/log.h"

#include <string.h>
#include <unistd.h>

static void load(struct journal *journal)
{
	struct error ignored = {0};

	json_free(&journal->json);
	if (file_exists(journal->path) && json_read(journal->path, &journal->json, &ignored) < 0)
		log_debug("%s", ignored.text);
	if (!cJSON_IsObject(journal->json)) {
		json_free(&journal->json);
		journal->json = cJSON_CreateObject();
	}
}

void journal_open(struct journal *journal, const char *layout_folder, struct arena *arena)
{
	*journal = (struct journal){
		.folder = arena_strdup(arena, layout_folder),
		.path = arena_printf(arena, "%s/uploads.json", layout_folder),
	};
	load(journal);
}

void journal_close(struct journal *journal)
{
	json_free(&journal->json);
	journal->path = NULL;
}

static const char *journal_key_of(const struct reference *ref, const char *digest,
				  struct arena *arena)
{
	return arena_printf(arena, "%s/%s@%s", ref->registry, ref->repository, digest);
}

const char *journal_find(const struct journal *journal, const struct reference *ref,
			 const char *digest)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const cJSON *location = json_member(journal->json, journal_key_of(ref, digest, &arena));

	return cJSON_IsString(location) ? location->valuestring : NULL;
}

static void journal_save(struct journal *journal)
{
	struct error ignored = {0};

	if (!journal->json->child)
		unlink(journal->path);
	else if (json_write(journal->path, journal->json, 0600, &ignored) < 0)
		log_debug("%s", ignored.text);
}

void journal_note(struct journal *journal, const struct reference *ref, const char *digest,
		  const char *location)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *key = journal_key_of(ref, digest, &arena);
	_cleanup_(fd_close) int lock = -1;

	if (!location && !json_member(journal->json, key))
		return;
	lock = folder_lock(journal->folder);
	load(journal);
	cJSON_DeleteItemFromObjectCaseSensitive(journal->json, key);
	if (location)
		cJSON_AddStringToObject(journal->json, key, location);
	journal_save(journal);
}
