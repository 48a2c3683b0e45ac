/* SPDX-License-Identifier: MIT */
/* What an image may unpack to: bytes, entries, the memory of its entries. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "oci/budget.h"
#include "oci/layer/extract.h"
#include "oci/layer/reader.h"
#include "oci/layer/unpack.h"
#include "oci/layout.h"
#include "oci/normalise.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void test_ratio(void **state)
{
	struct error err = {0};
	struct budget budget;

	(void)state;
	budget_init(&budget, NULL, NULL);
	/* any ratio up to the first GiB, and 200 beyond; the bytes may come in any pieces */
	assert_fine(budget_take(&budget, 1, GIB, GIB, &err));
	assert_fine(budget_take(&budget, 10 * MIB, 2000 * MIB, MIB, &err));
	assert_fails(budget_take(&budget, 10 * MIB, 2020 * MIB, MIB, &err), ERROR_FAILED,
		     "10 MiB packed became more than 2.0 GiB, over 200 times");
	assert_has(err.text, "--max-unpacked SIZE, or image.limits.unpacked in cluster.yaml");
	err = (struct error){0};
	assert_fails(budget_take(&budget, 1, GIB + MIB, 1, &err), ERROR_FAILED, "than 1.0 GiB");
	/* real ones: 25 GiB in layers of 8 GiB, packed 2 to 20 times */
	err = (struct error){0};
	budget_init(&budget, NULL, NULL);
	for (uint64_t done = MIB; done <= 8 * GIB; done += 512 * MIB)
		assert_fine(budget_take(&budget, 400 * MIB, done, 512 * MIB, &err));
	/* what is not packed has no ratio */
	assert_fine(budget_take(&budget, 0, 100 * GIB, 100 * GIB, &err));
}

static void test_given(void **state)
{
	const struct budget_limits limits = {.unpacked_bytes = 5 * GIB};
	struct error err = {0};
	struct budget budget;

	(void)state;
	/* a limit that a person gives stands for the ratio, too */
	budget_init(&budget, &limits, "/");
	assert_fine(budget_take(&budget, 1, 5 * GIB, 5 * GIB, &err));
	assert_fails(budget_take(&budget, 1, 1, 1, &err), ERROR_FAILED,
		     "more than 5.0 GiB, its limit; a larger SIZE of --max-unpacked");
	err = (struct error){0};
	budget_init(&budget, &limits, NULL);
	assert_fails(budget_take(&budget, 0, 1, UINT64_MAX, &err), ERROR_FAILED, "its limit");
}

static void test_disk(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct budget budget;

	budget_init(&budget, NULL, in(s, "not/there/yet"));
	assert_true(budget.unpacked_max < UINT64_MAX);
	budget.unpacked_max = 3 * GIB;
	assert_fine(budget_take(&budget, 0, 3 * GIB, 3 * GIB, &err));
	assert_fails(budget_take(&budget, 0, 1, 1, &err), ERROR_FAILED,
		     "more than 3.0 GiB, which is what the disk of ");
	assert_has(err.text, in(s, "not/there/yet"));
	assert_has(err.text, "less a reserve of ");
	assert_in_range(budget.reserve_bytes, 1, GIB);
	budget_init(&budget, NULL, "relative");
	assert_true(budget.unpacked_max < UINT64_MAX);
}

/* Of a small disk, the reserve takes a small part: a small image still goes there. */
static void test_small_disk(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct budget budget;

	if (geteuid() != 0)
		fail_msg("this test mounts a small disk: run it as root");
	assert_fine(folder_make(in(s, "disk"), 0755, &err));
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("none", in(s, "disk"), "tmpfs", 0, "size=20m"), 0);
	budget_init(&budget, NULL, in(s, "disk/tree"));
	assert_int_equal(umount(in(s, "disk")), 0);
	assert_in_range(budget.unpacked_max, 18 * MIB, 19 * MIB);
	assert_int_equal(budget.reserve_bytes, MIB);
	assert_fine(budget_take(&budget, 0, 18 * MIB, 18 * MIB, &err));
	assert_fails(budget_take(&budget, 0, 20 * MIB, 2 * MIB, &err), ERROR_FAILED,
		     "less a reserve of 1.0 MiB; free space there");
}

static struct archive_entry *entry_of(const char *path, unsigned int type)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, 0);
	return entry;
}

/* A tar of `count` empty files, each with an attribute of so many bytes. */
static const char *make_tar(struct scratch *s, size_t count, size_t attribute_bytes)
{
	const char *path = in(s, "layer.tar");
	struct archive *out = archive_write_new();
	char *value = arena_alloc(&s->arena, attribute_bytes + 1);

	memset(value, 'v', attribute_bytes + 1);
	archive_write_set_format_pax(out);
	assert_int_equal(archive_write_open_filename(out, path), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++) {
		struct archive_entry *entry =
			entry_of(arena_printf(&s->arena, "folder/%zu", i), AE_IFREG);

		if (attribute_bytes)
			archive_entry_xattr_add_entry(entry, "user.x", value, attribute_bytes);
		assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
		archive_entry_free(entry);
	}
	archive_write_close(out);
	archive_write_free(out);
	return path;
}

static int extract(struct scratch *s, const char *tar, const struct budget_limits *limits,
		   struct error *err)
{
	struct budget budget;
	const struct extract_options options = {.form = EXTRACT_TREE, .budget = &budget};
	_cleanup_(fd_close) int fd = -1;
	struct extract_result result;

	*err = (struct error){0};
	budget_init(&budget, limits, NULL);
	assert_int_equal(folder_make(in(s, "out"), 0755, err), 0);
	fd = open(in(s, "out"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return layer_extract(tar, NULL, fd, &options, NULL, &result, err);
}

static void test_entries(void **state)
{
	struct budget_limits limits = {.entries = 10};
	struct scratch *s = *state;
	struct error err;

	assert_fine(extract(s, make_tar(s, 10, 0), &limits, &err));
	assert_fails(extract(s, make_tar(s, 11, 0), &limits, &err), ERROR_FAILED,
		     "more than 10 files, its limit; --max-entries N, or image.limits.entries");
	/* few entries that take much memory */
	assert_fails(extract(s, make_tar(s, 9, 2000), &limits, &err), ERROR_FAILED,
		     "names, links and attributes of the image's files take more than 1.2 KiB");
	limits.entries = 400; /* libarchive writes an attribute in two forms */
	assert_fine(extract(s, make_tar(s, 9, 2000), &limits, &err));
	limits = (struct budget_limits){.unpacked_bytes = 4000};
	assert_fails(extract(s, make_tar(s, 9, 2000), &limits, &err), ERROR_FAILED,
		     "more than 3.9 KiB, its limit");
}

/* Without end: a pax record of a size that libarchive would read into memory. */
static void test_header(void **state)
{
	struct scratch *s = *state;
	struct layer_reader *reader;
	struct archive_entry *entry;
	struct error err = {0};
	const char *tar = make_tar(s, 1, 300000);
	int rc = 0;

	assert_fine(layer_reader_open(tar, NULL, NULL, NULL, &reader, &err));
	assert_fine(layer_reader_next(reader, &entry, &err));
	layer_reader_close(&reader);
	/* the map of a sparse file, 64 MiB of it: GNU tar, "PAX Format, Version 1.0" */
	{
		struct archive *out = archive_write_new();
		char *map = xmalloc(64 * MIB);

		memset(map, '\n', 64 * MIB);
		for (size_t i = 0; i + 1 < 64 * MIB; i += 2)
			map[i] = '0';
		memcpy(map, "33554430\n", 9);
		archive_write_set_format_ustar(out);
		assert_int_equal(archive_write_open_filename(out, in(s, "sparse.tar")), ARCHIVE_OK);
		entry = entry_of("PaxHeader", AE_IFREG);
		archive_entry_set_size(entry, 66);
		assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
		assert_int_equal(
			archive_write_data(
				out,
				"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n22 GNU.sparse.name=xxxx\n",
				66),
			66);
		archive_entry_free(entry);
		entry = entry_of("sparse", AE_IFREG);
		archive_entry_set_size(entry, (la_int64_t)(64 * MIB));
		assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
		assert_int_equal(archive_write_data(out, map, 64 * MIB), (la_ssize_t)(64 * MIB));
		archive_entry_free(entry);
		archive_write_close(out);
		archive_write_free(out);
		free(map);
	}
	{ /* the first header becomes that of pax records, with its checksum */
		int fd = open(in(s, "sparse.tar"), O_RDWR | O_CLOEXEC);
		unsigned char block[512];
		unsigned sum = 0;

		assert_int_equal(pread(fd, block, 512, 0), 512);
		block[156] = 'x';
		memset(block + 148, ' ', 8);
		for (size_t i = 0; i < 512; i++)
			sum += block[i];
		snprintf((char *)block + 148, 8, "%06o", sum);
		assert_int_equal(pwrite(fd, block, 512, 0), 512);
		close(fd);
	}
	assert_fine(layer_reader_open(in(s, "sparse.tar"), NULL, NULL, NULL, &reader, &err));
	rc = layer_reader_next(reader, &entry, &err);
	assert_int_equal(rc, -1);
	assert_has(err.text, "the header of an entry is larger than 16 MiB");
	layer_reader_close(&reader);
}

/* gzip, which can do 1032:1; for zstd see test_oci_unpack.c. */
static void test_gzip(void **state)
{
	_cleanup_(unpack_free) struct unpack *unpack = unpack_new(PACKING_GZIP);
	struct scratch *s = *state;
	struct error err = {0};
	size_t length, members = 0;
	char *packed;

	put(s, "zeros", "");
	assert_int_equal(truncate(in(s, "zeros"), (off_t)(32 * MIB)), 0);
	assert_fine(proc_check(WORDS("gzip", "-9", in(s, "zeros")), &err));
	assert_fine(file_read(in(s, "zeros.gz"), MIB, &s->arena, &packed, &length, &err));
	assert_true(32 * MIB / length > 1000);
	while (members < 100 && unpack_add(unpack, packed, length, &err) == 0)
		members++;
	assert_int_equal(members, GIB / (32 * MIB));
	assert_has(err.text, "is it a decompression bomb?");
}

struct hole {
	const char *layout;
	char *tar;
	size_t length;
	bool was_given;
};

static int next_of_hole(void *arg, const void **bytes, size_t *length, struct error *err)
{
	struct hole *hole = arg;

	(void)err;
	*bytes = hole->tar;
	*length = hole->was_given ? 0 : hole->length;
	hole->was_given = true;
	return 0;
}

static int normalise_hole(void *arg, struct packer *packer, struct error *err)
{
	char plain[DIGEST_TEXT_BYTES];
	struct hole *hole = arg;

	return packer_begin(packer, hole->layout, err) < 0
		       ? -1
		       : layer_normalise(next_of_hole, hole, 0, packer, NULL, plain, err);
}

/* A sparse file of 1 TiB in 1 KiB: its hole is as many zeros for the layer that is written. */
static void test_hole(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct hole hole = {0};
	int fd;

	put(s, "sparse", "");
	fd = open(in(s, "sparse"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "1", 1, (off_t)(1024 * GIB)), 1);
	close(fd);
	assert_fine(proc_check(WORDS("tar", "--sparse", "--format=posix", "-C", s->folder, "-cf",
				     in(s, "hole.tar"), "sparse"),
			       &err));
	hole.layout = in(s, "layout");
	assert_fine(layout_init(hole.layout, &err));
	assert_fine(file_read(in(s, "hole.tar"), MIB, &s->arena, &hole.tar, &hole.length, &err));
	assert_int_equal(packer_run(normalise_hole, &hole, &err), -1);
	assert_has(err.text, "is it a decompression bomb?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ratio), cmocka_unit_test(test_given),
		SCRATCH_TEST(test_disk),      SCRATCH_TEST(test_entries),
		SCRATCH_TEST(test_header),    SCRATCH_TEST(test_gzip),
		SCRATCH_TEST(test_hole),      SCRATCH_TEST(test_small_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
