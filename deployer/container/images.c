/* SPDX-License-Identifier: MIT */
#include "deployer/container/images.h"

#include "core/json.h"
#include "core/log.h"
#include "core/str.h"
#include "deployer/records/history.h"
#include "deployer/records/journal.h"

#include <string.h>

#define IMAGES_TIMEOUT_S 180

const char *images_repository(const struct cluster *cluster, struct arena *arena)
{
	return arena_printf(arena, "%s/%s/%s", cluster->registry.address,
			    cluster->registry.namespace, cluster->image.name);
}

bool images_come_by_ssh(const struct cluster *cluster)
{
	return strcmp(cluster->images.transfer, "ssh") == 0;
}

const char *images_name_on_hosts(const struct cluster *cluster, const char *image,
				 struct arena *arena)
{
	const char *digest = strstr(image, "@sha256:");

	if (!digest || !images_come_by_ssh(cluster))
		return image;
	return arena_printf(arena, "%.*s:sha256-%s", (int)(digest - image), image,
			    digest + strlen("@sha256:"));
}

/* Runs one of the engine's commands. Its error message is dropped. */
static int images_try(struct member *m, const char *const *pattern,
		      const struct engine_value *values, struct proc_result *result)
{
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = IMAGES_TIMEOUT_S};
	struct error ignored = {0};

	engine_expand(pattern, values, &words);
	command.words = words.list;
	return ssh_run(m->ssh, &command, result, &ignored);
}

/* "sha256:..." of an image's name; "" when it has none. */
static const char *images_digest(const char *image)
{
	const char *at = image ? strstr(image, "@sha256:") : NULL;

	return at ? at + 1 : "";
}

/*
 * Calls the engine's `remove` for every version of the image, or only for those whose digest is in `old`. Returns how many
 * went.
 */
static size_t images_remove(struct member *m, const struct words *old, const char *const *remove)
{
	_cleanup_(proc_result_release) struct proc_result list = {0};
	const struct engine_value values[] = {
		{"repository", images_repository(m->fleet->cluster, &m->arena), NULL}, {0}};
	char *lines, *line;
	size_t gone = 0;

	if (images_try(m, m->engine->images, values, &list) < 0)
		return 0;
	lines = list.out.text;
	while ((line = strsep(&lines, "\n"))) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		const char *id = strsep(&line, " "), *digest = line ? strsep(&line, " ") : "";
		const struct engine_value image[] = {{"image", id, NULL}, {0}};

		/* one that came by SSH has no digest, and its tag tells */
		if (line && starts_with(line, "sha256-"))
			digest = arena_printf(&m->arena, "sha256:%s", line + strlen("sha256-"));
		if (!*id || (old && !words_has(old, digest)))
			continue;
		if (images_try(m, remove, image, &result) == 0 && result.status == 0)
			gone++;
	}
	return gone;
}

void member_remove_images(struct member *m)
{
	images_remove(m, NULL, m->engine->remove_image);
}

/* The digests of what this cluster had before what it keeps: `count` versions, and the one that runs is the first of them. */
static void images_find_old(const struct cluster *cluster, const char *image, size_t count,
			    struct words *old)
{
	_cleanup_(json_free) cJSON *documents = NULL;
	struct words keep = WORDS_INIT(old->arena);
	struct error ignored = {0};

	words_add(&keep, images_digest(image));
	if (history_read(cluster, &documents, &ignored) < 0)
		return;
	for (int i = cJSON_GetArraySize(documents) - 1; i >= 0; i--) {
		const char *digest = images_digest(
			json_text(cJSON_GetArrayItem(documents, i), "image", old->arena));

		if (*digest && !words_has(&keep, digest) && !words_has(old, digest))
			words_add(keep.count < count ? &keep : old, digest);
	}
}

static int images_prune_one(struct member *m, void *arg, struct error *err)
{
	const struct words *old = arg;
	size_t gone;

	(void)err;
	if (!m->changed || !m->engine->has_containers)
		return 0;
	gone = images_remove(m, old, m->engine->prune_image);
	if (gone) {
		log_info("  %-20s %zu old versions of the image removed", m->host->name, gone);
		journal_add(m, "prune", images_repository(m->fleet->cluster, &m->arena));
	}
	return 0;
}

void fleet_prune_images(struct fleet *fleet, const char *image)
{
	struct words old = WORDS_INIT(fleet->arena);
	int count = fleet->cluster->images.keep;

	if (count <= 0 || !*images_digest(image))
		return;
	images_find_old(fleet->cluster, image, (size_t)count, &old);
	if (old.count)
		fleet_each(fleet, images_prune_one, &old);
}
