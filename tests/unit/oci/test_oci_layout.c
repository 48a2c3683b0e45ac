/* SPDX-License-Identifier: MIT */
/* Blobs of a layout: hashed before they count as there, and linked only where nobody else writes. */
#include "tests/unit/support.h"

#include "core/private.h"
#include "oci/layout.h"
#include "oci/verified.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *blob_of(struct scratch *s, const char *folder, const struct descriptor *blob)
{
	char *path = arena_alloc(&s->arena, LAYOUT_PATH_BYTES);
	struct error err = {0};

	assert_fine(layout_blob_path(in(s, folder), blob->digest, path, &err));
	return path;
}

/* An image of one layer; its manifest and, in *layer, its layer. */
static struct descriptor make_image(struct scratch *s, const char *folder, struct descriptor *layer)
{
	static const char config[] = "{\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]}}";
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST, .layer_count = 1};
	struct error err = {0};
	struct descriptor made;
	const char *text;

	assert_fine(layout_init(in(s, folder), &err));
	assert_fine(layout_put(in(s, folder), "the layer", 9, MEDIA_OCI_LAYER, layer, &err));
	assert_fine(layout_put(in(s, folder), config, strlen(config), MEDIA_OCI_CONFIG,
			       &manifest.config, &err));
	manifest.layers = layer;
	text = manifest_write(&manifest, &s->arena);
	assert_fine(layout_put(in(s, folder), text, strlen(text), MEDIA_OCI_MANIFEST, &made, &err));
	return made;
}

#define TICK_USEC \
	20000 /* longer than the kernel's clock for the times of files takes for one step */

/* Writes other bytes of the same length into the file, as it stands. */
static void damage(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	usleep(TICK_USEC);
	assert_int_equal(pwrite(fd, "X", 1, 0), 1);
	close(fd);
}

static bool is_linked(struct scratch *s, const struct descriptor *blob)
{
	struct stat from, to;

	assert_int_equal(stat(blob_of(s, "from", blob), &from), 0);
	assert_int_equal(stat(blob_of(s, "to", blob), &to), 0);
	return from.st_ino == to.st_ino;
}

static void test_verify(void **state)
{
	struct scratch *s = *state;
	struct descriptor layer;
	struct error err = {0};

	make_image(s, "from", &layer);
	assert_true(layout_verify(in(s, "from"), &layer));
	damage(blob_of(s, "from", &layer));
	assert_true(layout_has(in(s, "from"), &layer));
	assert_false(layout_verify(in(s, "from"), &layer));
	/* put there once more, it is as good as new */
	assert_fine(layout_put(in(s, "from"), "the layer", 9, MEDIA_OCI_LAYER, &layer, &err));
	assert_true(layout_verify(in(s, "from"), &layer));
	unlink(blob_of(s, "from", &layer));
	assert_false(layout_verify(in(s, "from"), &layer));
	assert_int_equal(mkfifo(blob_of(s, "from", &layer), 0644), 0);
	assert_false(layout_verify(in(s, "from"), &layer));
}

/* A blob is hashed once; what was noted counts only for the file as it was. */
static void test_remembers(void **state)
{
	struct scratch *s = *state;
	struct descriptor layer;
	struct timespec times[2];
	struct stat st;

	make_image(s, "from", &layer);
	unlink(in(s, "from/.verified"));
	assert_int_equal(stat(blob_of(s, "from", &layer), &st), 0);
	assert_false(verified_recall(in(s, "from"), layer.digest, &st));
	assert_true(layout_verify(in(s, "from"), &layer));
	assert_true(verified_recall(in(s, "from"), layer.digest, &st));
	/* the same size and time of modification */
	damage(blob_of(s, "from", &layer));
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, blob_of(s, "from", &layer), times, 0), 0);
	assert_false(layout_verify(in(s, "from"), &layer));
}

/* A note that others may have written is none. */
static void test_false_notes(void **state)
{
	struct scratch *s = *state;
	struct descriptor layer;
	struct stat st;

	make_image(s, "from", &layer);
	damage(blob_of(s, "from", &layer));
	assert_int_equal(stat(blob_of(s, "from", &layer), &st), 0);
	verified_note(in(s, "from"), layer.digest, &st);
	assert_true(layout_verify(in(s, "from"), &layer)); /* this user deceives this user */
	assert_int_equal(chmod(in(s, "from/.verified"), 0666), 0);
	assert_false(layout_verify(in(s, "from"), &layer));
	unlink(in(s, "from/.verified"));
	assert_int_equal(symlink("/dev/zero", in(s, "from/.verified")), 0);
	assert_false(layout_verify(in(s, "from"), &layer));
}

/* Many blobs of one group of notes: the last ones are remembered, and none is taken for another. */
static void test_many_notes(void **state)
{
	struct scratch *s = *state;
	char digest[DIGEST_TEXT_BYTES];
	size_t found = 0;
	struct stat st;

	make_image(s, "from", &(struct descriptor){.size_bytes = 0});
	assert_int_equal(stat(in(s, "from/index.json"), &st), 0);
	for (int i = 0; i < 4000; i++) {
		digest_of(&i, sizeof(i), digest);
		verified_note(in(s, "from"), digest, &st);
		found += verified_recall(in(s, "from"), digest, &st);
	}
	assert_int_equal(found, 4000);
	digest_of("other", 5, digest);
	assert_false(verified_recall(in(s, "from"), digest, &st));
	assert_int_equal(stat(in(s, "from/.verified"), &st), 0);
	assert_true(st.st_size < (off_t)(4 * MIB));
}

static void test_copy_links(void **state)
{
	struct scratch *s = *state;
	struct descriptor layer, manifest = make_image(s, "from", &layer);
	struct error err = {0};

	assert_fine(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err));
	assert_true(is_linked(s, &layer) && is_linked(s, &manifest));
	/* damaged in both: put right from a good source */
	damage(blob_of(s, "to", &layer));
	assert_fails(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err), ERROR_FAILED,
		     "is damaged");
	err = (struct error){0};
	assert_fine(layout_put(in(s, "from"), "the layer", 9, MEDIA_OCI_LAYER, &layer, &err));
	assert_fine(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err));
	assert_true(layout_verify(in(s, "to"), &layer));
}

/* What another user can write is copied, never linked. */
static void copies_with(struct scratch *s, const char *what, mode_t mode, uid_t owner)
{
	struct descriptor layer, manifest = make_image(s, "from", &layer);
	const char *path = *what ? in(s, what) : blob_of(s, "from", &layer);
	struct error err = {0};

	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
	assert_int_equal(chmod(path, mode), 0);
	assert_fine(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err));
	assert_false(is_linked(s, &layer));
	assert_true(layout_verify(in(s, "to"), &layer));
	/* and what they write there does not come along, neither now nor later */
	damage(blob_of(s, "from", &layer));
	assert_true(layout_verify(in(s, "to"), &layer));
	assert_fine(folder_remove(in(s, "to"), &err));
	assert_fails(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err), ERROR_FAILED,
		     "is damaged: its bytes have the digest sha256:");
	assert_false(file_exists(blob_of(s, "to", &layer)));
	err = (struct error){0};
	assert_fine(folder_remove(in(s, "from"), &err));
	assert_fine(folder_remove(in(s, "to"), &err));
}

static void test_copy_of_others(void **state)
{
	struct scratch *s = *state;
	uid_t me = geteuid(), other = 65534;

	copies_with(s, "", 0664, me);
	copies_with(s, "", 0646, me);
	copies_with(s, "from", 0775, me);
	copies_with(s, "from/blobs", 0777, me);
	copies_with(s, "from/blobs/sha256", 01777, me);
	if (me != 0)
		fail_msg("the rest changes owners: run it as root");
	copies_with(s, "", 0644, other);
	copies_with(s, "from", 0755, other);
	copies_with(s, "from/blobs", 0755, other);
	copies_with(s, "from/blobs/sha256", 0755, other);
}

/* Another user's file that an older version linked into a folder of ours is put right. */
static void test_linked_before(void **state)
{
	struct scratch *s = *state;
	struct descriptor layer, manifest = make_image(s, "from", &layer);
	struct error err = {0};
	struct stat st;

	if (geteuid() != 0)
		fail_msg("this test changes owners: run it as root");
	assert_fine(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err));
	assert_int_equal(chown(blob_of(s, "to", &layer), 65534, 65534), 0);
	assert_false(layout_verify(in(s, "to"), &layer));
	assert_fine(layout_copy(in(s, "from"), in(s, "to"), &manifest, &err));
	assert_int_equal(stat(blob_of(s, "to", &layer), &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_true(layout_verify(in(s, "to"), &layer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_verify),	  SCRATCH_TEST(test_remembers),
		SCRATCH_TEST(test_false_notes),	  SCRATCH_TEST(test_many_notes),
		SCRATCH_TEST(test_copy_links),	  SCRATCH_TEST(test_copy_of_others),
		SCRATCH_TEST(test_linked_before),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
