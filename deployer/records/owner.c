/* SPDX-License-Identifier: MIT */
#include "deployer/records/owner.h"

#include "core/clock.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/private.h"
#include "core/foreign.h"
#include "deployer/remote.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWNER_FILE_BYTES_MAX KIB
#define OWNER_TEXT_BYTES_MAX 300

const struct owner owner_nobody = {"", "", "", "", ""};

/* The members, their keys in the file on a host, and their labels. */
static const struct {
	const char *key, *label;
	size_t offset;
} owner_members[] = {
	{"id", "org.ringup.cluster-id", offsetof(struct owner, id)},
	{"user", "org.ringup.user", offsetof(struct owner, user)},
	{"machine", "org.ringup.machine", offsetof(struct owner, machine)},
	{"folder", "org.ringup.folder", offsetof(struct owner, folder)},
	{"time", "org.ringup.time", offsetof(struct owner, time)},
};

static const char **owner_member(struct owner *owner, size_t index)
{
	return (const char **)(void *)((char *)owner + owner_members[index].offset);
}

static const char *owner_value(const struct owner *owner, size_t index)
{
	return *(const char *const *)(const void *)((const char *)owner +
						    owner_members[index].offset);
}

/* One line of bounded length, without characters that a terminal obeys. */
static const char *owner_plain(const char *text, size_t length, struct arena *arena)
{
	return foreign_clean_line(arena_strndup(
		arena, text, length < OWNER_TEXT_BYTES_MAX ? length : OWNER_TEXT_BYTES_MAX));
}

/* The person: sudo hides the name behind root's. */
static const char *owner_user(struct arena *arena)
{
	const struct passwd *me = getpwuid(geteuid());
	const char *name = geteuid() == 0 ? getenv("SUDO_USER") : NULL;

	if (!name || !*name)
		name = me ? me->pw_name : NULL;
	return name ? owner_plain(name, strlen(name), arena)
		    : arena_printf(arena, "%u", (unsigned int)geteuid());
}

static void owner_describe(const struct cluster *cluster, struct arena *arena, struct owner *owner)
{
	char machine[HOST_NAME_MAX + 1] = "", folder[PATH_MAX], now[24];

	gethostname(machine, sizeof(machine) - 1);
	if (!realpath(cluster->folder, folder))
		snprintf(folder, sizeof(folder), "%s", cluster->folder);
	clock_iso8601(now);
	owner->user = owner_user(arena);
	owner->machine = owner_plain(machine, strlen(machine), arena);
	owner->folder = owner_plain(folder, strlen(folder), arena);
	owner->time = arena_strdup(arena, now);
}

static bool is_owner_id(const char *text)
{
	return strlen(text) == OWNER_ID_LENGTH && strspn(text, "0123456789abcdef") == strlen(text);
}

int owner_load(const struct cluster *cluster, bool makes, struct arena *arena, struct owner *owner,
	       struct error *err)
{
	const char *path = cluster_state_path(cluster, "cluster-id", arena);
	char hex[OWNER_ID_LENGTH + 1], *text;

	*owner = owner_nobody;
	owner_describe(cluster, arena, owner);
	if (private_file(path, err) < 0)
		return -1;
	if (!file_exists(path)) {
		if (!makes)
			return 0;
		if (random_hex(hex, OWNER_ID_LENGTH / 2, err) < 0 ||
		    file_write(path, hex, OWNER_ID_LENGTH, 0600, err) < 0)
			return -1;
	}
	if (file_read(path, OWNER_FILE_BYTES_MAX, arena, &text, NULL, err) < 0)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	if (!is_owner_id(text))
		return error_set(
			err, ERROR_FAILED,
			"%s is damaged: it must hold %d hex digits; remove it, and take your cluster again with 'ringup up --take-over'",
			path, OWNER_ID_LENGTH);
	owner->id = text;
	return 0;
}

struct owner owner_of_registries(const struct owner *owner, struct arena *arena)
{
	const char *text = arena_printf(arena, "registry %s", owner->id);
	struct owner other = *owner;
	char digest[DIGEST_TEXT_BYTES];

	if (!*owner->id)
		return other;
	digest_of(text, strlen(text), digest);
	other.id = arena_strndup(arena, digest + strlen("sha256:"), OWNER_ID_LENGTH);
	return other;
}

bool owner_is(const struct owner *a, const struct owner *b)
{
	return *a->id && strcmp(a->id, b->id) == 0;
}

const char *owner_text(const struct owner *owner, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(owner_members); i++)
		str_addf(&text, "%s=%s\n", owner_members[i].key, owner_value(owner, i));
	return arena_strdup(arena, text.text);
}

void owner_parse(const char *text, const char *prefix, struct arena *arena, struct owner *owner)
{
	*owner = owner_nobody;
	for (size_t i = 0; i < ARRAY_LEN(owner_members); i++) {
		const char *key = arena_printf(arena, "%s%s", prefix, owner_members[i].key);
		const char *value = remote_value(text, key, arena);

		*owner_member(owner, i) = owner_plain(value, strlen(value), arena);
	}
	if (!is_owner_id(owner->id))
		owner->id = "";
}

void owner_add_id_label(const struct owner *owner, struct words *labels)
{
	if (*owner->id)
		words_addf(labels, "%s=%s", owner_members[0].label, owner->id);
}

void owner_add_labels(const struct owner *owner, struct words *labels)
{
	owner_add_id_label(owner, labels);
	for (size_t i = 1; *owner->id && i < ARRAY_LEN(owner_members); i++)
		words_addf(labels, "%s=%s", owner_members[i].label, owner_value(owner, i));
}

const char *owner_story(const struct owner *owner, struct arena *arena)
{
	return arena_printf(arena, "%s@%s started it at %s from %s",
			    *owner->user ? owner->user : "somebody",
			    *owner->machine ? owner->machine : "an unknown machine",
			    *owner->time ? owner->time : "an unknown time",
			    *owner->folder ? owner->folder : "an unknown folder");
}

int owner_refuse(const char *place, const char *thing, const struct owner *owner,
		 const char *command, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	if (*owner->id)
		error_set(err, ERROR_FAILED, "%s: %s there belongs to somebody else: %s", place,
			  thing, owner_story(owner, &arena));
	else
		error_set(
			err, ERROR_FAILED,
			"%s: %s there names no owner: somebody else made it, or a ringup that noted none",
			place, thing);
	return error_advise(
		err,
		"ask that person, or choose another name; if it is yours (this folder is a new clone, or its .ringup was lost) or you may take it: %s",
		command);
}
