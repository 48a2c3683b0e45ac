/* SPDX-License-Identifier: MIT */
/*
 * Layers as they come from anywhere: listed, and unpacked into a folder, beside which nothing may
 * appear or change. What was unpacked is read again. Checksums of headers are put right, or few
 * changes would come further than to them.
 *
 * Owners, devices and marks need root; without it the rest is tried.
 */
#include "tests/fuzz/fuzz.h"

#include "builder/native/layer/layer_disk.h"
#include "builder/native/layer/layer_list.h"
#include "core/file.h"
#include "oci/layout.h"

#include <fcntl.h>
#include <sys/stat.h>

static char home[64];

static void remove_home(void)
{
	struct error ignored = {0};

	folder_remove(home, &ignored);
}

/* HOME/{out,beside/file}: in memory where there is a place for it. */
static const char *scratch(struct arena *arena, const char *name)
{
	struct error err = {0};

	if (!*home) {
		snprintf(home, sizeof(home), "%s/ringup-fuzz-XXXXXX",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		fuzz_check(mkdtemp(home));
		atexit(remove_home);
		fuzz_check(folder_make(arena_printf(arena, "%s/beside", home), 0755, &err) == 0);
		fuzz_check(file_write(arena_printf(arena, "%s/beside/file", home), "kept", 4, 0644,
				      &err) == 0);
	}
	return arena_printf(arena, "%s/%s", home, name);
}

static size_t count(const char *folder, struct arena *arena)
{
	struct error err = {0};
	const char **names;
	size_t found = 0;

	fuzz_check(folder_list(folder, "", arena, &names, &err) == 0);
	while (names[found])
		found++;
	return found;
}

/* Nothing else came to be, and what was there is as it was. */
static void check_beside(bool unpacked, struct arena *arena)
{
	struct error err = {0};
	struct stat st;
	char *text;

	fuzz_check(count(home, arena) == (unpacked ? 2 : 1));
	fuzz_check(count(scratch(arena, "beside"), arena) == 1);
	fuzz_check(file_read(scratch(arena, "beside/file"), 100, arena, &text, NULL, &err) == 0);
	fuzz_check(strcmp(text, "kept") == 0);
	fuzz_check(lstat(scratch(arena, "beside/file"), &st) == 0);
	fuzz_check(S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0644 && st.st_nlink == 1);
	fuzz_check(lstat(scratch(arena, "beside"), &st) == 0 && (st.st_mode & 07777) == 0755);
}

static void check_sorted(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->list[i];

		fuzz_check(entry->path && *entry->path != '/');
		fuzz_check(i == 0 || tree_path_compare(entry[-1].path, entry->path) < 0);
		fuzz_check(tree_find(tree, entry->path) == entry);
		fuzz_check((entry->type == TREE_SYMLINK || entry->type == TREE_HARDLINK) ==
			   (entry->link != NULL));
		fuzz_check(!entry->opaque || entry->type == TREE_FOLDER);
	}
}

static void check_list(const char *path)
{
	struct error err = {0};
	struct tree tree;
	int rc;

	tree_init(&tree);
	rc = layer_list(path, NULL, NULL, &tree, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0)
		check_sorted(&tree);
	tree_release(&tree);
}

static void check_unpacked(const char *folder)
{
	const struct tree_read_options options = {.is_overlay = true, .newest_s = 1000};
	struct error err = {0};
	struct tree tree;

	tree_init(&tree);
	fuzz_check(tree_read(&tree, folder, &options, &err) == 0);
	check_sorted(&tree);
	tree_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *tar = fuzz_text(data, size);
	const char *path, *out = scratch(&arena, "out");
	struct error err = {0};
	int rc;

	fuzz_mend_tar(tar, size);
	path = fuzz_file((const uint8_t *)tar, size);
	check_list(path);
	rc = layer_unpack(path, out, NULL, NULL, &err);
	fuzz_check_error(rc, &err);
	fuzz_check(rc == 0 || !file_exists(out));
	check_beside(rc == 0, &arena);
	if (rc == 0)
		check_unpacked(out);
	fuzz_check(folder_remove(out, &err) == 0);
	return 0;
}
