/* SPDX-License-Identifier: MIT */
/* Native builds: on a base in a layout, again and again, and with bad input. */
#include "tests/unit/builder/native_support.h"

#include "core/log.h"

#include <sys/wait.h>
#include <unistd.h>

#define EPOCH "ARG SOURCE_DATE_EPOCH=1700000000\n"

typedef const char *const files[][2];

static const files small = {
	{"a", "aa"},
	{"d/lib/one.so", "1"},
	{"d/tmp/two", "22"},
	{"d/new/three", "333"},
	{"passwd", "root:x:0:0::/root:/bin/sh\napp:x:1001:1002::/home:/bin/sh\n"},
	{"group", "root:x:0:\nstaff:x:50:app\n"},
	{NULL, NULL}};

/* A layout with one image, made by tar: folders with modes, links, users. */
static const char *make_base(struct scratch *s)
{
	struct made_tar tar = tar_make(s, "base.tar");
	const char *path;
	struct error err = {0};
	struct descriptor layer;
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST, .layer_count = 1};
	struct descriptor written;
	char diff_id[DIGEST_TEXT_BYTES], *packed;
	const char *text;
	size_t length;

	tar_folder(&tar, "./");
	tar_folder(&tar, "./etc");
	tar_file(&tar, "./etc/passwd", small[4][1]);
	tar_file(&tar, "./etc/group", small[5][1]);
	tar_symlink(&tar, "./lib", "usr/lib");
	tar_put(&tar, tar_entry("./tmp", AE_IFDIR, 01777), NULL);
	tar_folder(&tar, "./usr");
	tar_folder(&tar, "./usr/lib");
	tar_file(&tar, "./usr/lib/zero.so", "");
	path = tar_end(&tar);
	assert_fine(digest_of_file(path, diff_id, &err));
	assert_fine(proc_check(WORDS("gzip", "-n", path), &err));
	assert_fine(layout_init(in(s, "base"), &err));
	assert_fine(file_read(in(s, "base.tar.gz"), MIB, &s->arena, &packed, &length, &err));
	assert_fine(layout_put(in(s, "base"), packed, length, MEDIA_OCI_LAYER_GZIP, &layer, &err));
	text = arena_printf(
		&s->arena,
		"{\"created\":\"2020-01-01T00:00:00Z\",\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{\"Env\":[\"PATH=/p\"],\"Cmd\":[\"/base\"],\"WorkingDir\":\"/usr\",\"Labels\":{\"kept\":\"1\"}},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"%s\"]},\"history\":[{\"created_by\":\"base\"}]}",
		diff_id);
	assert_fine(layout_put(in(s, "base"), text, strlen(text), MEDIA_OCI_CONFIG,
			       &manifest.config, &err));
	manifest.layers = &layer;
	text = manifest_write(&manifest, &s->arena);
	assert_fine(
		layout_put(in(s, "base"), text, strlen(text), MEDIA_OCI_MANIFEST, &written, &err));
	assert_fine(layout_tag(in(s, "base"), &written, "b", &err));
	return in(s, "base");
}

/* A spec whose Dockerfile begins on the base. */
static struct spec *on_base(struct scratch *s, const char *base, const char *dockerfile)
{
	const char *name = arena_printf(&s->arena, "oci:%s", base);
	struct spec *spec;

	dockerfile = arena_printf(&s->arena, EPOCH "FROM %s\n%s", name, dockerfile);
	spec = make_spec(s, dockerfile, small);
	spec->base_name = name;
	spec->base_place = base;
	return spec;
}

/* All layers but the first. */
static const char *above(struct scratch *s, const struct built *built)
{
	const char *all = layers_of(s, built), *second = strstr(all + 1, "--\n");

	return second ? second : "";
}

static void test_base(void **state)
{
	struct scratch *s = *state;
	const char *base = make_base(s);
	struct built built = build(s, on_base(s, base, "COPY a lib/x\nENV A=$PATH\n"));
	const char *text = config_of(s, &built);

	assert_lines(above(s, &built), "--\nd 0755 0:0 usr\nd 0755 0:0 usr/lib\n"
				       "- 0644 0:0 usr/lib/x 2\n");
	assert_has(
		text,
		"\"Env\":[\"PATH=/p\",\"A=/p\"],\"Cmd\":[\"/base\"],\"WorkingDir\":\"/usr\",\"Labels\":{\"kept\":\"1\"}");
	assert_has(text, "\"created_by\":\"base\"");
	/* the base itself, with another name */
	built = build(s, on_base(s, base, "LABEL a=b\n"));
	assert_int_equal(manifest_of(s, &built)->layer_count, 1);
}

/* What the image has as a folder, or as a link to one, stays what it is. */
static void test_links_and_modes(void **state)
{
	struct scratch *s = *state;
	const char *base = make_base(s);
	struct built built = build(s, on_base(s, base, "COPY d /\n"));

	assert_lines(above(s, &built), "--\nd 0755 0:0 new\n- 0644 0:0 new/three 3\n"
				       "d 1777 0:0 tmp\n- 0644 0:0 tmp/two 2\n"
				       "d 0755 0:0 usr\nd 0755 0:0 usr/lib\n"
				       "- 0644 0:0 usr/lib/one.so 1\n");
	built = build(s, on_base(s, base,
				 "COPY a /lib\nCOPY a /lib/\nWORKDIR /lib/../w\n"
				 "WORKDIR /lib\nCOPY a ../up\n"));
	assert_lines(above(s, &built), "--\nd 0755 0:0 usr\nd 0755 0:0 usr/lib\n"
				       "- 0644 0:0 usr/lib/a 2\n"
				       "--\nd 0755 0:0 usr\nd 0755 0:0 usr/lib\n"
				       "- 0644 0:0 usr/lib/a 2\n"
				       "--\nd 0755 0:0 w\n--\n- 0644 0:0 up 2\n");
	/* the same when the base lies on disk already, unpacked */
	built = build(s, on_base(s, base, "COPY --chown=app a /lib/x\nCOPY d /\n"));
	assert_has(above(s, &built), "d 1777 0:0 tmp\n");
}

static void test_owners(void **state)
{
	static const struct {
		const char *owner, *expected;
	} rows[] = {{"app", "1001:1002"},  {"app:staff", "1001:50"}, {"app:7", "1001:7"},
		    {"7", "7:7"},	   {"7:staff", "7:50"},	     {"1001", "1001:1001"},
		    {"$WHO", "1001:1002"}, {"root", "0:0"},	     {":staff", "0:50"}};
	struct scratch *s = *state;
	const char *base = make_base(s);
	struct built built;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		built = build(s,
			      on_base(s, base,
				      arena_printf(&s->arena, "ENV WHO=app\nCOPY --chown=%s a /x\n",
						   rows[i].owner)));
		assert_lines(above(s, &built),
			     arena_printf(&s->arena, "--\n- 0644 %s x 2\n", rows[i].expected));
	}
	/* by files that the build itself has put there */
	built = build(s, make_spec(s,
				   "FROM scratch\nCOPY passwd group /etc/\n"
				   "COPY --chown=app:staff a /x\n",
				   small));
	assert_has(layers_of(s, &built), "- 0644 1001:50 x 2\n");
}

static void test_again(void **state)
{
	static const char dockerfile[] =
		"COPY d /\nWORKDIR /w\nCOPY --chown=app a .\nCMD [\"x\"]\n";
	struct scratch *s = *state;
	const char *base = make_base(s);
	struct built first = build(s, on_base(s, base, dockerfile)), second, third;
	struct error err = {0};
	const char **names, **after;

	/* nothing new is written the second time */
	assert_fine(folder_list(in(s, "store/layers"), "", &s->arena, &names, &err));
	second = build(s, on_base(s, base, dockerfile));
	assert_string_equal(first.manifest.digest, second.manifest.digest);
	assert_fine(folder_list(in(s, "store/layers"), "", &s->arena, &after, &err));
	for (size_t i = 0; names[i] || after[i]; i++)
		assert_string_equal(names[i], after[i]);
	/* in another store, later and under another umask */
	umask(077);
	third = build_in(s, "elsewhere/store", on_base(s, base, dockerfile));
	umask(022);
	assert_int_equal(third.rc, 0);
	assert_string_equal(first.manifest.digest, third.manifest.digest);
}

/* What is written the same, and means another thing, is no cached layer. */
static void test_keys(void **state)
{
	static const char *const bodies[] = {"ENV T=/one\nCOPY a $T\n",
					     "ENV T=/two\nCOPY a $T\n",
					     "WORKDIR /etc\nCOPY a x\n",
					     "WORKDIR /tmp\nCOPY a x\n",
					     "ENV U=5\nCOPY --chown=$U a /x\n",
					     "ENV U=6\nCOPY --chown=$U a /x\n",
					     "ENV M=600\nCOPY --chmod=$M a /x\n",
					     "ENV M=644\nCOPY --chmod=$M a /x\n",
					     "ENV W=/v\nWORKDIR $W\n",
					     "ENV W=/w\nWORKDIR $W\n",
					     "ENV S=a\nCOPY $S /x\n",
					     "ENV S=d/tmp/two\nCOPY $S /x\n",
					     "COPY d/tmp /x\n",
					     "COPY d/tmp/two /x\n",
					     "COPY d/tmp /tmp\n",
					     "COPY a /a\nCOPY d/tmp /tmp\n"};
	struct scratch *s = *state;
	const char *base = make_base(s);

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct built shared = build(s, on_base(s, base, bodies[i])), alone;
		const char *store = arena_printf(&s->arena, "store-%zu", i);

		alone = build_in(s, store, on_base(s, base, bodies[i]));
		assert_int_equal(alone.rc, 0);
		if (strcmp(shared.manifest.digest, alone.manifest.digest) != 0)
			fail_msg("%s: a layer of another build was taken", bodies[i]);
	}
}

static void check_empty(struct scratch *s)
{
	struct error err = {0};
	struct descriptor found;
	const char **names;

	assert_fine(folder_list(in(s, "store/work"), "", &s->arena, &names, &err));
	assert_null(names[0]);
	assert_int_equal(layout_find(in(s, "store/layout"), NULL, &found, &err), -1);
}

static void test_refused(void **state)
{
	static const struct {
		const char *body, *place, *why;
	} rows[] = {
		{"COPY missing /x\n", ":3: COPY missing /x: ", "no such file in the context"},
		{"COPY a missing /x/\n", ":3: COPY", "or stage: missing"},
		{"COPY d/mis /x/\n", ":3: COPY", "d/mis"},
		{"COPY --from=0 a /x\n", ":3: COPY", "no earlier stage named 0"},
		{"COPY *.c /x/\n", ":3: COPY *.c /x/: ", "wildcards"},
		{"COPY --from=nobody a /x\n", ":3: COPY", "no earlier stage named nobody"},
		{"ENV X=y\nCOPY --from=$X a /x\n", ":4: COPY", "no earlier stage named $X"},
		{"COPY --chown=nobody a /x\n", ":3: COPY a /x: ", "no user 'nobody'"},
		{"COPY --chown=app:none a /x\n", ":3: COPY a /x: ", "no group 'none'"},
		{"COPY --chmod=u+x a /x\n", ":3: COPY", "octal number, not u+x"},
		{"COPY --chmod=10000 a /x\n", ":3: COPY", "octal number"},
		{"COPY --chmod=$NO a /x\n", ":3: COPY", "octal number"},
		{"COPY a\n", ":3: COPY a: ", "FROM... TO"},
		{"COPY \"a /x\n", ":3: COPY", "double quote is not closed"},
		{"ENV A\n", ":3: ENV A: ", "NAME=VALUE"},
		{"ENV A=b =c\n", ":3: ENV", "NAME=VALUE"},
		{"LABEL a=${b\n", ":3: LABEL", "not closed"},
		{"WORKDIR /a /b\n", ":3: WORKDIR", "one word"},
		{"WORKDIR /etc/passwd/x\n", ":3: WORKDIR", "a file in place of the folder"},
		{"COPY a /etc/passwd/x\n", ":3: COPY", "a file in place of the folder"},
		{"COPY d /etc/passwd\n", ":3: COPY", "a file in place of the folder"},
		{"FROM no.lan/image:1\n", ":3: FROM no.lan/image:1: ", "cannot be fetched"},
		{"RUN\n", ":3: ", "RUN needs"},
	};
	struct scratch *s = *state;
	const char *base = make_base(s);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct built built = build_in(s, "store", on_base(s, base, rows[i].body));

		if (built.rc != -1)
			fail_msg("%s: it is taken", rows[i].body);
		assert_has(built.err.text, rows[i].why);
		assert_true(starts_with(built.err.text,
					arena_printf(&s->arena, "Dockerfile%s", rows[i].place)));
		assert_null(strchr(built.err.text, '\n'));
		if (file_exists(in(s, "store")))
			check_empty(s);
	}
}

static void test_bad_base(void **state)
{
	struct scratch *s = *state;
	const char *base = make_base(s);
	struct spec *spec = on_base(s, base, "COPY a /x\n");
	struct error err = {0};
	const char **names;
	struct built built;

	/* every blob, damaged or missing */
	assert_fine(folder_list(in(s, "base/blobs/sha256"), "", &s->arena, &names, &err));
	for (size_t i = 0; names[i]; i++) {
		const char *blob = in(s, arena_printf(&s->arena, "base/blobs/sha256/%s", names[i]));
		const char *aside = in(s, "aside");

		assert_int_equal(rename(blob, aside), 0);
		for (int missing = 0; missing < 2; missing++) {
			if (missing)
				unlink(blob);
			else
				assert_fine(file_write(blob, "{}", 2, 0644, &err));
			built = build_in(s, "store", spec);
			assert_int_equal(built.rc, -1);
			assert_has(built.err.text, names[i]);
			check_empty(s);
		}
		assert_int_equal(rename(aside, blob), 0);
	}
	spec->base_place = in(s, "nothing");
	built = build_in(s, "store", spec);
	assert_int_equal(built.rc, -1);
	assert_has(built.err.text, in(s, "nothing"));
	spec->base_place = arena_printf(&s->arena, "%s:other", base);
	built = build_in(s, "store", spec);
	assert_int_equal(built.rc, -1);
	assert_has(built.err.text, "other");
	spec->base_place = arena_printf(&s->arena, "%s:b", base);
	assert_int_equal(build_in(s, "store", spec).rc, 0);
}

static size_t count_of(const char *all, const char *text)
{
	size_t count = 0;

	for (; (all = strstr(all, text)); all += strlen(text))
		count++;
	return count;
}

/* A file that cannot be read ends the build when it is met; nothing is packed a second time. */
static void test_unreadable(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = make_spec(s, EPOCH "FROM scratch\nCOPY a /a\n", small);
	int shown = dup(STDERR_FILENO), said = open(in(s, "said"), O_WRONLY | O_CREAT, 0600);
	struct built built;

	put(s, "short", "aa");
	spec->files[0].source = in(s, "short");
	spec->files[0].size_bytes = 3;
	assert_int_equal(dup2(said, STDERR_FILENO), STDERR_FILENO);
	log_setup(LOG_NORMAL, false);
	built = build_in(s, "store", spec);
	log_setup(LOG_QUIET, false);
	assert_int_equal(dup2(shown, STDERR_FILENO), STDERR_FILENO);
	close(shown);
	close(said);
	assert_int_equal(built.rc, -1);
	assert_has(built.err.text, "became shorter");
	assert_int_equal(count_of(slurp(s, in(s, "said")), "packing"), 1);
}

/* What is kept by a file's digest has that content, whoever changes the file meanwhile. */
static void test_changed(void **state)
{
	struct scratch *s = *state;
	struct spec *spec = make_spec(s, EPOCH "FROM scratch\nCOPY a /a\n", small);
	struct error err = {0};
	struct built built;

	spec->files[0].source = put(s, "source", "aa");
	assert_fine(spec_hash(spec, &err));
	usleep(20000); /* a file system's clock may tick that slowly */
	put(s, "source", "bb");
	built = build_in(s, "store", spec);
	assert_int_equal(built.rc, -1);
	assert_has(built.err.text, "source changed while it was built in");
	put(s, "source", "aa");
	assert_fine(spec_hash(spec, &err));
	built = build(s, spec);
	assert_string_equal(content_of(s, &built, "a"), "aa");
}

/* Without root: the same image. */
static void test_not_root(void **state)
{
	static const char dockerfile[] =
		EPOCH "FROM scratch AS x\nCOPY --chown=7:8 d /d\nFROM scratch\n"
		      "COPY d /e\nWORKDIR /w\nCOPY --chown=5 a .\nCOPY --from=x d f\n";
	struct scratch *s = *state;
	struct spec *spec = make_spec(s, dockerfile, small);
	struct built built = build(s, spec);
	int status;
	pid_t child;

	needs_root();
	assert_int_equal(chmod(s->folder, 0777), 0);
	child = fork();
	if (child == 0) {
		struct built other;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		unlink(in(s, "log"));
		other = build_in(s, "other", spec);
		if (other.rc < 0)
			fprintf(stderr, "%s\n", other.err.text);
		_exit(other.rc < 0 || strcmp(other.manifest.digest, built.manifest.digest) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_base),     SCRATCH_TEST(test_links_and_modes),
		SCRATCH_TEST(test_owners),   SCRATCH_TEST(test_again),
		SCRATCH_TEST(test_keys),     SCRATCH_TEST(test_refused),
		SCRATCH_TEST(test_bad_base), SCRATCH_TEST(test_unreadable),
		SCRATCH_TEST(test_changed),  SCRATCH_TEST(test_not_root),
	};

	umask(022);
	log_setup(LOG_QUIET, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
