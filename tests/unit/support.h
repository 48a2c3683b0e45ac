/* SPDX-License-Identifier: MIT */
/*
 * support.h - what every unit test needs: cmocka, a folder of its own, and errors that are shown.
 */
#ifndef TESTS_UNIT_SUPPORT_H
#define TESTS_UNIT_SUPPORT_H

#include "core/arena.h"
#include "core/error.h"
#include "core/file.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* One test's own memory and folder. */
struct scratch {
	struct arena arena;
	const char *folder;
};

static inline int scratch_setup(void **state)
{
	struct scratch *s = xmalloc(sizeof(*s));
	char folder[] = "/tmp/ringup-unit-XXXXXX";

	*s = (struct scratch){ARENA_INIT, NULL};
	if (!mkdtemp(folder))
		return -1;
	s->folder = arena_strdup(&s->arena, folder);
	*state = s;
	return 0;
}

static inline int scratch_teardown(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	int rc = folder_remove(s->folder, &err);

	arena_release(&s->arena);
	free(s);
	return rc;
}

/* A test with a scratch in *state. */
#define SCRATCH_TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

/* A path in the test's folder. */
static inline const char *in(struct scratch *s, const char *name)
{
	return arena_printf(&s->arena, "%s/%s", s->folder, name);
}

/* Shows the error's text when something that should work did not. */
#define assert_fine(call)                                           \
	do {                                                        \
		if ((call) != 0)                                    \
			fail_msg("%s failed: %s", #call, err.text); \
	} while (0)

#define assert_has(text, part)                                               \
	do {                                                                 \
		if (!strstr((text), (part)))                                 \
			fail_msg("\"%s\" does not hold \"%s\"", text, part); \
	} while (0)

#define assert_lacks(text, part)                                     \
	do {                                                         \
		if (strstr((text), (part)))                          \
			fail_msg("\"%s\" holds \"%s\"", text, part); \
	} while (0)

/* The call fails with this kind, and its error holds the part. */
#define assert_fails(call, wanted, part)                    \
	do {                                                \
		err = (struct error){0};                    \
		if ((call) != -1)                           \
			fail_msg("%s did not fail", #call); \
		assert_int_equal(err.kind, wanted);         \
		assert_has(err.text, part);                 \
	} while (0)

/* Writes a file of the test; returns its path. */
static inline const char *put(struct scratch *s, const char *name, const char *text)
{
	struct error err = {0};
	const char *path = in(s, name);

	assert_fine(folder_make(path_folder(&s->arena, path), 0755, &err));
	assert_fine(file_write(path, text, strlen(text), 0644, &err));
	return path;
}

static inline char *slurp(struct scratch *s, const char *path)
{
	struct error err = {0};
	char *text = NULL;

	assert_fine(file_read(path, FILE_CEILING_BYTES, &s->arena, &text, NULL, &err));
	return text;
}

/* The mode bits of what stands there, a link itself included. */
static inline mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* The source tree: where the tests are run from, else two above the program (build/tests/). */
static inline const char *source_root(struct scratch *s)
{
	char here[PATH_MAX];
	const char *root;

	if (getcwd(here, sizeof(here)) && file_exists(arena_printf(&s->arena, "%s/recipes", here)))
		root = arena_strdup(&s->arena, here);
	else
		root = path_folder(&s->arena,
				   path_folder(&s->arena, path_program_folder(&s->arena)));
	setenv("RINGUP_SHARE", root, 1);
	return root;
}

/*
 * Around a write that libarchive 3.6 fails at: archive_write_free then frees the archive, but not
 * the 33 bytes of its client filter (archive_write_client_close is not called in the fatal state).
 * The leak is its own; everything else stays watched. Present in sanitizer builds only.
 */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static inline void leaks_of_libarchive(bool expected)
{
	if (expected && __lsan_disable)
		__lsan_disable();
	if (!expected && __lsan_enable)
		__lsan_enable();
}

#endif
