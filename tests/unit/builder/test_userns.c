/* SPDX-License-Identifier: MIT */
/*
 * Work as root for who is not. The tests run as root: a person with ids of their own is made of a
 * child that sees another /etc/subuid and lays root down.
 */
#include "tests/unit/builder/layer_support.h"

#include "builder/native/runtime/subids.h"
#include "builder/native/runtime/userns.h"
#include "core/clock.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PERSON 65534
#define FIRST 100000

static void test_ranges(void **state)
{
	static const struct {
		const char *text, *map; /* NULL: too few */
	} rows[] = {
		{"", NULL},
		{"ann:100000:65536\n", "0 7 1 1 100000 65536"},
		{"7:100000:65536", "0 7 1 1 100000 65536"},
		{"bob:100000:65536\nannie:1:65536\n", NULL},
		{"ann:100000:1000\n", NULL},
		{"ann:100000:1000\nbob:5:5\nann:200000:70000\n",
		 "0 7 1 1 100000 1000 1001 200000 70000"},
		{"ann\nann:\nann:x:65536\nann:1:\nann:1:65536x\nann:0:65536\nann:1:0\n", NULL},
		{"ann:4294967295:65536\nann:1:4294967295\nann:1:99999999999999999999\n", NULL},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct words words = WORDS_INIT(&s->arena);
		const char *map = "";
		struct subids ids;

		put(s, "subuid", rows[i].text);
		assert_int_equal(subids_read(in(s, "subuid"), "ann", 7, &ids), rows[i].map != NULL);
		if (!rows[i].map)
			continue;
		subids_map(&ids, 7, &words);
		for (size_t k = 0; words.list[k]; k++)
			map = arena_printf(&s->arena, "%s%s%s", map, k ? " " : "", words.list[k]);
		assert_string_equal(map, rows[i].map);
	}
	assert_false(subids_read(in(s, "none"), "ann", 7, &(struct subids){0}));
}

/* Becomes the person; a step that fails ends the child. */
static void become_person(struct scratch *s, const char *subids)
{
	const char *file = in(s, "subids");
	struct error err = {0};

	if (file_write(file, subids, strlen(subids), 0644, &err) < 0 ||
	    chown(s->folder, PERSON, PERSON) < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(file, "/etc/subuid", NULL, MS_BIND, NULL) < 0 ||
	    mount(file, "/etc/subgid", NULL, MS_BIND, NULL) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(PERSON, PERSON, PERSON) < 0 || setresuid(PERSON, PERSON, PERSON) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1) < 0)
		_exit(100);
}

/* Runs `fn` as the person and gives its text, which it leaves in the file "said". */
static const char *as_person(struct scratch *s, const char *subids,
			     void (*fn)(struct scratch *s, struct error *err))
{
	struct error err = {0};
	int status = 0;
	pid_t pid;

	needs_root();
	pid = fork();
	if (pid == 0) {
		become_person(s, subids);
		fn(s, &err);
		put(s, "said", err.kind ? err.text : "fine");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return slurp(s, in(s, "said"));
}

static const char *enough(struct scratch *s)
{
	return arena_printf(&s->arena, "%d:%d:65536\n", PERSON, FIRST);
}

static void ask(struct scratch *s, struct error *err)
{
	const char *why;

	if (!userns_available(&s->arena, &why))
		error_set(err, ERROR_FAILED, "%s", why);
}

static void test_available(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(as_person(s, enough(s), ask), "fine");
	assert_string_equal(
		as_person(s, "somebody:100000:65536\n", ask),
		"it needs root, or 65536 ids for nobody in /etc/subuid (usermod --add-subuids 100000-165535 nobody)");
}

/* What only root can do, and a tree with all that a layer may hold. */
static int unpack(void *arg, struct error *err)
{
	struct scratch *s = arg;

	if (!userns_inside() || geteuid() != 0)
		return error_set(err, ERROR_FAILED, "it is not in a user namespace");
	return layer_unpack(in(s, "layer.tar"), in(s, "layer"), NULL, NULL, err);
}

static int look(void *arg, struct error *err)
{
	struct scratch *s = arg;

	put(s, "seen", describe_folder(s, in(s, "layer")));
	return folder_remove(in(s, "layer"), err);
}

static void unpack_and_look(struct scratch *s, struct error *err)
{
	if (userns_run(unpack, s, err) == 0)
		userns_run(look, s, err);
}

static void test_layer(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "layer.tar");
	struct archive_entry *entry;

	tar_folder(&tar, "a");
	tar_file(&tar, "a/.wh..wh..opq", "");
	tar_file(&tar, "a/.wh.gone", "");
	entry = tar_entry("a/theirs", AE_IFREG, 04755);
	archive_entry_set_uid(entry, 42);
	archive_entry_set_gid(entry, PERSON);
	tar_put(&tar, entry, "x");
	entry = tar_entry("null", AE_IFCHR, 0666);
	archive_entry_set_rdevmajor(entry, 1);
	archive_entry_set_rdevminor(entry, 3);
	tar_put(&tar, entry, NULL);
	tar_end(&tar);
	assert_string_equal(as_person(s, enough(s), unpack_and_look), "fine");
	/* the device cannot be made */
	assert_lines(slurp(s, in(s, "seen")), "d 0755 0:0 .\n"
					      "d 0755 0:0 a opaque\n"
					      "w 0000 0:0 a/gone\n"
					      "- 4755 42:65534 a/theirs 1\n");
	assert_false(file_exists(in(s, "layer")));
}

static int change(void *arg, struct error *err)
{
	struct scratch *s = arg;
	const char *options =
		arena_printf(&s->arena, "lowerdir=%s,upperdir=%s,workdir=%s,userxattr",
			     in(s, "low"), in(s, "up"), in(s, "work"));

	folder_make(in(s, "low/again"), 0755, err);
	folder_make(in(s, "up"), 0755, err);
	folder_make(in(s, "work"), 0755, err);
	folder_make(in(s, "merged"), 0755, err);
	put(s, "low/again/below", "");
	put(s, "low/gone", "");
	if (mount("overlay", in(s, "merged"), "overlay", 0, options) < 0)
		return error_errno(err, "cannot mount");
	if (folder_remove(in(s, "merged/again"), err) < 0 ||
	    folder_make(in(s, "merged/again"), 0755, err) < 0 || unlink(in(s, "merged/gone")) < 0 ||
	    umount(in(s, "merged")) < 0)
		return error_errno(err, "cannot change");
	put(s, "seen", describe_folder(s, in(s, "up")));
	return 0;
}

static void run_change(struct scratch *s, struct error *err)
{
	userns_run(change, s, err);
}

static void test_overlay(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(as_person(s, enough(s), run_change), "fine");
	assert_lines(slurp(s, in(s, "seen")), "d 0755 0:0 .\n"
					      "d 0755 0:0 again opaque\n"
					      "w 0000 0:0 gone\n");
}

static int wait_forever(void *arg, struct error *err)
{
	(void)arg;
	kill(getppid(), SIGINT);
	for (int i = 0; i < 100; i++) {
		if (interrupt_check(err) < 0)
			return -1;
		usleep(100000);
	}
	return error_set(err, ERROR_FAILED, "nobody said a word");
}

static void interrupt_it(struct scratch *s, struct error *err)
{
	(void)s;
	interrupt_setup();
	userns_run(wait_forever, NULL, err);
	if (err->kind == ERROR_INTERRUPTED)
		err->kind = ERROR_NONE;
}

static int die(void *arg, struct error *err)
{
	(void)arg;
	(void)err;
	raise(SIGKILL);
	return 0;
}

static void kill_it(struct scratch *s, struct error *err)
{
	(void)s;
	userns_run(die, NULL, err);
}

static void test_ends(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(as_person(s, enough(s), interrupt_it), "fine");
	assert_string_equal(
		as_person(s, enough(s), kill_it),
		"the part of ringup that builds was ended; run the same command to go on");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_ranges),  SCRATCH_TEST(test_available), SCRATCH_TEST(test_layer),
		SCRATCH_TEST(test_overlay), SCRATCH_TEST(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
