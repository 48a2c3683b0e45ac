/* SPDX-License-Identifier: MIT */
/*
 * engine_build ENGINE CONTEXT CACHE LAYOUT [DOCKER_HOST [WORD...]]: builds the Dockerfile of a folder as
 * `ringup build --engine` would build a recipe, and writes the image to LAYOUT. With WORDs, such as
 * ssh's, it is built on the machine that they reach, as with --on. DOCKER_HOST "" is the default. The base, whose name the
 * Dockerfile's FROM has, must lie in CACHE as a tar (ringup-base-tiny-1.tar for ringup-base-tiny:1).
 * $USERNS is build.userns.
 */
#include "builder/build.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"
#include "oci/layout.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_one(FTSENT *entry, const char *root, struct spec *spec, struct arena *arena)
{
	struct spec_file *file;
	char link[4096];
	ssize_t length;

	if (entry->fts_info == FTS_DP || strcmp(entry->fts_path, root) == 0)
		return 0;
	file = spec_add_file(spec, arena);
	file->path = arena_strdup(arena, entry->fts_path + strlen(root) + 1);
	file->mode = entry->fts_statp->st_mode & 0111 ? 0755 : 0644;
	if (entry->fts_info == FTS_D) {
		file->kind = SPEC_FOLDER;
	} else if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE) {
		length = readlink(entry->fts_accpath, link, sizeof(link));
		if (length < 0)
			return -1;
		file->kind = SPEC_SYMLINK;
		file->mode = 0777;
		file->link = arena_strndup(arena, link, (size_t)length);
	} else {
		file->source = arena_strdup(arena, entry->fts_path);
		file->size_bytes = (uint64_t)entry->fts_statp->st_size;
	}
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int read_context(const char *folder, struct arena *arena, struct spec *spec,
			struct error *err)
{
	char *roots[] = {arena_strdup(arena, folder), NULL}, *text;
	FTS *walk;
	FTSENT *entry;
	int rc = 0;

	*spec = (struct spec){.base_name = "ringup-base-tiny:1",
			      .base_place = "",
			      .base_digest = "",
			      .base_script = "/bin/true", /* the tar is there already */
			      .base_release = "",
			      .os = "tiny",
			      .arch = "",
			      .os_vendor = "",
			      .unpinned = "",
			      .snapshot = ""};
	if (file_read(arena_printf(arena, "%s/Dockerfile", folder), MIB, arena, &text, NULL, err) <
	    0)
		return -1;
	spec->dockerfile = text;
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	while (rc == 0 && walk && (entry = fts_read(walk)))
		rc = add_one(entry, folder, spec, arena);
	if (!walk || rc < 0)
		return error_errno(err, "cannot read %s", folder);
	fts_close(walk);
	return spec_hash(spec, err);
}

static int build(char **words, struct arena *arena, struct error *err)
{
	const struct build_host there = {
		.name = "there", .reach = (const char *const *)(words[5] ? words + 6 : words + 5)};
	struct build_options options = {
		.cache_folder = words[3],
		.engine = words[1],
		.on = *there.reach ? &there : NULL,
	};
	struct descriptor manifest;
	struct cluster cluster;
	struct image image;
	struct spec spec;
	const char *layout;

	cluster_init("cluster.yaml", arena, &cluster);
	if (getenv("USERNS"))
		cluster.build.userns = getenv("USERNS");
	if (words[5])
		cluster.build.docker_host = words[5];
	if (read_context(words[2], arena, &spec, err) < 0 ||
	    build_image(&cluster, &spec, &options, arena, &image, err) < 0 ||
	    image_export(&image, words[4], arena, &layout, &manifest, err) < 0)
		return -1;
	/* a layout of the backend's own holds other images too: this one is copied out */
	if (strcmp(layout, words[4]) != 0 &&
	    (layout_init(words[4], err) < 0 || layout_copy(layout, words[4], &manifest, err) < 0))
		return -1;
	return layout_tag(words[4], &manifest, NULL, err);
}

int main(int argc, char **argv)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error err = {0};

	if (argc < 5) {
		fputs("usage: engine_build ENGINE CONTEXT CACHE LAYOUT [DOCKER_HOST]\n", stderr);
		return 2;
	}
	interrupt_setup();
	if (build(argv, &arena, &err) == 0)
		return 0;
	fprintf(stderr, "engine_build: %s\n", err.text);
	return 1;
}
