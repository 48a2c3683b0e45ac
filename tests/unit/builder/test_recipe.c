/* SPDX-License-Identifier: MIT */
/* From a cluster and a plan to a Dockerfile and its context. */
#include "tests/unit/support.h"

#include "builder/context.h"
#include "builder/recipe/recipe.h"
#include "core/proc.h"
#include "core/str.h"

#include <sys/stat.h>

struct rendered {
	struct cluster cluster;
	struct catalog catalog;
	struct plan plan;
	struct spec *spec;
	struct error err;
	int rc;
};

static void render_with(struct scratch *s, const char *folder, const char *yaml, struct rendered *r)
{
	struct unsatisfied why;
	struct error err = {0};
	struct resolve_input input = {.accelerator = "cpu"};

	*r = (struct rendered){.spec = ARENA_NEW(&s->arena, struct spec)};
	assert_fine(cluster_load(put(s, "cluster.yaml", yaml), &s->arena, &r->cluster, &err));
	assert_fine(catalog_load(folder, &s->arena, &r->catalog, &err));
	input.requests = r->cluster.stack;
	assert_fine(resolve(&r->catalog, &input, &s->arena, &r->plan, &why, &err));
	r->rc = recipe_render(&r->cluster, &r->plan, &r->catalog, &s->arena, r->spec, &r->err);
}

/* With tests/golden/catalog, so that a new version in the real one changes nothing here. */
static void render(struct scratch *s, const char *yaml, struct rendered *r)
{
	render_with(s, arena_printf(&s->arena, "%s/tests/golden/catalog", source_root(s)), yaml, r);
}

static void render_fine(struct scratch *s, const char *yaml, struct rendered *r)
{
	render(s, yaml, r);
	if (r->rc < 0)
		fail_msg("recipe_render failed: %s", r->err.text);
}

static const char SAMPLE[] =
	"name: lab\nhosts: [a, b]\nstack: [\"openmpi==4.1.*\", \"python>=3.11\"]\n"
	"mirrors: {apt: \"http://mirror.lan/debian\", pip: \"http://pypi.lan/simple\", yum: \"http://mirror.lan/rocky\", downloads: \"http://mirror.lan/files\"}\n"
	"image:\n  base: \"registry.lan:5000/base/debian:12\"\n  apt: [git, \"vim=2:9.0\"]\n"
	"  pip: [numpy, \"torch>=2,<3\"]\n"
	"  files: [{from: train.py, to: /workspace/train.py}]\n"
	"  env: {PLAIN: b, SPACES: \"a b\", QUOTES: \"say \\\"hi\\\"\", DOLLAR: \"$HOME \\\\ x\"}\n";

/* UPDATE_GOLDEN=1 writes the expected file anew. */
static void assert_golden(struct scratch *s, const char *name, const char *text)
{
	const char *path = arena_printf(&s->arena, "%s/tests/golden/%s", source_root(s), name);
	struct error err = {0};

	if (getenv("UPDATE_GOLDEN"))
		assert_fine(file_write(path, text, strlen(text), 0644, &err));
	if (strcmp(text, slurp(s, path)) != 0) {
		put(s, "got", text);
		proc_check(WORDS("diff", "-u", path, in(s, "got")), &err);
		fail_msg("%s differs:\n%s", name, err.text);
	}
}

static void test_golden(void **state)
{
	struct scratch *s = *state;
	struct rendered r;

	put(s, "train.py", "print(1)\n");
	render_fine(s, SAMPLE, &r);
	assert_golden(s, "recipe/debian12.Dockerfile", r.spec->dockerfile);
	assert_string_equal(r.spec->os, "debian12");
	assert_string_equal(r.spec->base_name, "registry.lan:5000/base/debian:12");
	assert_string_equal(r.spec->base_script, "");
	assert_true(digest_is_valid(r.spec->hash));
}

/* Nothing of where packages were taken from stays in the image or its hash. */
static void test_mirrors_are_build_arguments(void **state)
{
	struct scratch *s = *state;
	struct rendered with, without;

	put(s, "train.py", "print(1)\n");
	render_fine(s, SAMPLE, &with);
	assert_lacks(with.spec->dockerfile, "mirror.lan");
	assert_lacks(with.spec->dockerfile, "pypi.lan");
	assert_string_equal(with.spec->build_args[0], "APT_MIRROR=http://mirror.lan/debian");
	assert_string_equal(with.spec->build_args[1], "YUM_MIRROR=http://mirror.lan/rocky");
	assert_string_equal(with.spec->build_args[2], "PIP_INDEX_URL=http://pypi.lan/simple");
	assert_string_equal(with.spec->build_args[3], "DOWNLOADS_MIRROR=http://mirror.lan/files");
	assert_null(with.spec->build_args[4]);
	render_fine(s, "name: lab\nhosts: [a]\n", &without);
	render_fine(s, "name: lab\nhosts: [a]\nmirrors: {apt: \"http://x/debian\"}\n", &with);
	assert_string_equal(with.spec->hash, without.spec->hash);
}

static size_t count_path(const struct spec *spec, const char *path, mode_t mode)
{
	size_t found = 0;

	for (size_t i = 0; i < spec->file_count; i++)
		found += strcmp(spec->files[i].path, path) == 0 && spec->files[i].mode == mode;
	return found;
}

/* Every file of the folder, and of those in it, stands in the context exactly once. Returns how many
 * there are. */
static size_t check_folder(struct scratch *s, const struct spec *spec, const char *folder,
			   const char *suffix, const char *context, mode_t mode)
{
	const char *path = arena_printf(&s->arena, "%s/%s", source_root(s), folder), **names;
	struct error err = {0};
	size_t count = 0;

	assert_fine(folder_list(path, "", &s->arena, &names, &err));
	for (; *names; names++) {
		const char *from = arena_printf(&s->arena, "%s/%s", folder, *names);
		const char *wanted = arena_printf(&s->arena, "%s/%s", context, *names);
		struct stat st;

		assert_int_equal(stat(arena_printf(&s->arena, "%s/%s", path, *names), &st), 0);
		if (S_ISDIR(st.st_mode)) {
			count += check_folder(s, spec, from, suffix, wanted, mode);
			continue;
		}
		if (!ends_with(*names, suffix))
			continue;
		if (count_path(spec, wanted, mode) != 1)
			fail_msg("%s is not in the context once with mode %o", wanted, mode);
		count++;
	}
	return count;
}

static void test_context_files(void **state)
{
	struct scratch *s = *state;
	struct rendered r;
	size_t count;

	render_fine(s, "hosts: [a]\n", &r);
	count = check_folder(s, r.spec, "images/worker", ".c", "worker", 0644);
	count += check_folder(s, r.spec, "images/worker", ".h", "worker", 0644);
	count += check_folder(s, r.spec, "images/worker", ".sh", "worker", 0755);
	count += check_folder(s, r.spec, "images/entry", "", "entry", 0755);
	assert_int_equal(r.spec->file_count, count + 1); /* and what the RUNs call */
	assert_int_equal(count_path(r.spec, "step", 0755), 1);
	assert_int_equal(count_path(r.spec, "worker/main.c", 0644), 1);
	assert_int_equal(count_path(r.spec, "worker/backend/mpi/plugin.h", 0644), 1);
	assert_int_equal(count_path(r.spec, "worker/build.sh", 0755), 1);
	assert_int_equal(count_path(r.spec, "entry/with-secret", 0755), 1);
}

static void test_auto_base(void **state)
{
	struct scratch *s = *state;
	struct rendered r;

	render_fine(s, "hosts: [a]\n", &r);
	assert_has(r.spec->base_name, "ringup-base:debian12-");
	assert_has(r.spec->base_script, "images/base/debian.sh");
	assert_has(r.spec->dockerfile,
		   arena_printf(&s->arena, "FROM %s AS stack\n", r.spec->base_name));
}

/* What a recipe's OS is called by package-url and by the base's script: facts of os.csv. */
static void test_names_of_the_os(void **state)
{
	static const struct {
		const char *os, *vendor, *release;
	} cases[] = {
		{"debian12", "debian", "bookworm"}, {"debian11", "debian", "bullseye"},
		{"ubuntu22.04", "ubuntu", ""},	    {"rockylinux9", "rocky", ""},
		{"almalinux9", "almalinux", ""},    {"centos7", "centos", ""},
		{"oraclelinux8", "ol", ""},	    {"ubi9", "redhat", ""},
	};
	struct scratch *s = *state;
	const char *folder = arena_printf(&s->arena, "%s/recipes/catalog", source_root(s));

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rendered r;

		render_with(s, folder,
			    arena_printf(&s->arena,
					 "name: x\nhosts: [a]\nstack: [python, openmpi, os==%s]\n",
					 cases[i].os),
			    &r);
		if (r.rc < 0)
			fail_msg("%s: %s", cases[i].os, r.err.text);
		assert_string_equal(r.spec->os, cases[i].os);
		assert_string_equal(r.spec->os_vendor, cases[i].vendor);
		assert_string_equal(r.spec->base_release, cases[i].release);
	}
}

static void test_user_files(void **state)
{
	struct scratch *s = *state;
	static const char yaml[] =
		"hosts: [a]\nimage: {files: [{from: src, to: /workspace}, {from: run.sh, to: /run.sh}]}\n";
	struct rendered r;
	const char *first;

	put(s, "src/train.py", "1");
	put(s, "src/deep/er/x", "2");
	put(s, "run.sh", "#!/bin/sh\n");
	assert_int_equal(chmod(in(s, "run.sh"), 0755), 0);
	render_fine(s, yaml, &r);
	assert_int_equal(count_path(r.spec, "files/0/train.py", 0644), 1);
	assert_int_equal(count_path(r.spec, "files/0/deep/er/x", 0644), 1);
	assert_has(r.spec->dockerfile, "COPY files/0 /workspace\n");
	assert_int_equal(count_path(r.spec, "files/1", 0755), 1);
	first = arena_strdup(&s->arena, r.spec->hash);
	put(s, "src/deep/er/x", "3");
	render_fine(s, yaml, &r);
	assert_string_not_equal(r.spec->hash, first);
}

/* COPY FILE FOLDER/ keeps the name that the file had. */
static void test_file_into_a_folder(void **state)
{
	struct scratch *s = *state;
	struct rendered r;

	put(s, "train.py", "1");
	render_fine(s, "hosts: [a]\nimage: {files: [{from: train.py, to: /workspace/}]}\n", &r);
	if (!strstr(r.spec->dockerfile, "train.py /workspace/\n") &&
	    !strstr(r.spec->dockerfile, " /workspace/train.py\n"))
		fail_msg("the file would get another name: %s",
			 strstr(r.spec->dockerfile, "COPY files"));
}

static const struct {
	const char *image, *says;
} refused[] = {
	{"files: [{from: none.py, to: /x}]", "none.py"},
	{"files: [{from: /dev/null, to: /x}]", "/dev/null"},
	{"files: [{from: cluster.yaml, to: \"/a b\"}]", "/a b"},
	{"files: [{from: cluster.yaml, to: \"/a\\nRUN evil\"}]", "image.files"},
	{"env: {A: \"x\\nRUN evil\"}", "image.env"},
	{"env: {\"A B\": c}", "A B"},
	{"env: {\"\": c}", "image.env"},
	{"apt: [\"$(id)\"]", "$(id)"},
	{"apt: [\"git;id\"]", "git;id"},
	{"apt: [\"git vim\"]", "git vim"},
	{"apt: [\"git\\nvim\"]", "image.apt"},
	{"apt: [\"\"]", "image.apt"},
	{"apt: [\"-oX=y\"]", "-oX=y"},
	{"yum: [\"git;id\"]", "git;id"},
	{"yum: [\"-oX=y\"]", "-oX=y"},
	{"yum: [\"git\\nvim\"]", "image.yum"},
	{"pip: [\"numpy\\nUSER x\"]", "image.pip"},
	{"base: \"x\\nRUN evil\"", "image.base"},
	{"base: \"\"", "image.base"},
};

/* What a person writes never becomes another instruction or another word for a shell. */
static void test_refused(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct rendered r;

		render(s, arena_printf(&s->arena, "hosts: [a]\nimage: {%s}\n", refused[i].image),
		       &r);
		if (r.rc == 0)
			fail_msg("accepted: %s", refused[i].image);
		assert_int_equal(r.err.kind, ERROR_USAGE);
		assert_has(r.err.text, "cluster.yaml");
		assert_has(r.err.text, refused[i].says);
	}
}

/* The words of image.pip reach pip as they are, whatever is in them. */
static void test_pip_words_are_quoted(void **state)
{
	struct rendered r;

	render_fine(*state, "hosts: [a]\nimage: {pip: [\"torch>=2\", \"x;y\", \"$(id)\"]}\n", &r);
	assert_has(r.spec->dockerfile, "'torch>=2' 'x;y' '$(id)'");
	assert_has(r.spec->dockerfile, "python3-pip");
}

static void test_tar_is_reproducible(void **state)
{
	struct scratch *s = *state;
	char first[DIGEST_TEXT_BYTES], second[DIGEST_TEXT_BYTES];
	struct rendered r;
	struct error err = {0};

	render_fine(s, "hosts: [a]\n", &r);
	assert_fine(context_write_tar(r.spec, in(s, "1.tar"), &err));
	render_fine(s, "hosts: [a]\n", &r);
	assert_fine(context_write_tar(r.spec, in(s, "2.tar"), &err));
	assert_fine(digest_of_file(in(s, "1.tar"), first, &err));
	assert_fine(digest_of_file(in(s, "2.tar"), second, &err));
	assert_string_equal(first, second);
}

/* What fails halfway is an error with its place, and nothing worse (see main). */
static void test_tar_errors(void **state)
{
	struct scratch *s = *state;
	struct rendered r;
	struct error err = {0};

	render_fine(s, "hosts: [a]\n", &r);
	leaks_of_libarchive(true);
	for (int i = 0; i < 20; i++) {
		assert_fails(context_write_tar(r.spec, "/dev/full", &err), ERROR_FAILED,
			     "No space left");
		assert_has(err.text, "/dev/full");
	}
	leaks_of_libarchive(false);
	assert_fails(context_write_tar(r.spec, in(s, "none/x.tar"), &err), ERROR_FAILED,
		     in(s, "none/x.tar"));
	r.spec->files[2].source = in(s, "gone.c");
	for (int i = 0; i < 20; i++)
		assert_fails(context_write_tar(r.spec, in(s, "x.tar"), &err), ERROR_FAILED,
			     in(s, "gone.c"));
}

/* The folder and the tar hold the same. */
static void test_folder_is_the_tar(void **state)
{
	struct scratch *s = *state;
	struct rendered r;
	struct error err = {0};
	struct stat st;

	render_fine(s, "hosts: [a]\n", &r);
	assert_fine(context_write_folder(r.spec, in(s, "context"), &err));
	assert_fine(context_write_tar(r.spec, in(s, "c.tar"), &err));
	assert_fine(folder_make(in(s, "out"), 0755, &err));
	assert_fine(proc_check(WORDS("tar", "-C", in(s, "out"), "-xf", in(s, "c.tar")), &err));
	assert_fine(proc_check(WORDS("diff", "-r", in(s, "context"), in(s, "out")), &err));
	assert_string_equal(slurp(s, in(s, "context/Dockerfile")), r.spec->dockerfile);
	assert_int_equal(stat(in(s, "context/entry/ringup-entry"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_golden),
		SCRATCH_TEST(test_mirrors_are_build_arguments),
		SCRATCH_TEST(test_context_files),
		SCRATCH_TEST(test_auto_base),
		SCRATCH_TEST(test_names_of_the_os),
		SCRATCH_TEST(test_user_files),
		SCRATCH_TEST(test_file_into_a_folder),
		SCRATCH_TEST(test_refused),
		SCRATCH_TEST(test_pip_words_are_quoted),
		SCRATCH_TEST(test_tar_is_reproducible),
		SCRATCH_TEST(test_tar_errors),
		SCRATCH_TEST(test_folder_is_the_tar),
	};

	/* What is used after it was freed shall be garbage, at once: read when a program starts. */
	(void)argc;
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
