/* SPDX-License-Identifier: MIT */
#include "builder/recipe.h"

#include "core/file.h"
#include "core/quote.h"
#include "core/template.h"
#include "core/words.h"

#include <string.h>
#include <sys/stat.h>

/*
 * Inside a RUN: takes packages from the mirror of the build argument, if there is one, without
 * leaving its name behind. A mirror that ends in /debian has its security suite beside it; one may
 * lag, so the release file's end date is not checked there (signatures are).
 */
static const char APT_BEGIN[] =
	"set -eu; export DEBIAN_FRONTEND=noninteractive; opts='-o Acquire::Retries=3'; \\\n"
	"    if [ -n \"$APT_MIRROR\" ]; then \\\n"
	"      for suite in ${codename} ${codename}-updates; do echo \"deb $APT_MIRROR $suite "
	"main\"; "
	"done >/tmp/apt.list; \\\n"
	"      case $APT_MIRROR in */debian) \\\n"
	"        echo \"deb $APT_MIRROR-security ${codename}-security main\" >>/tmp/apt.list;; "
	"esac; "
	"\\\n"
	"      opts=\"$opts -o Dir::Etc::SourceList=/tmp/apt.list -o "
	"Dir::Etc::SourceParts=/dev/null "
	"-o Acquire::Check-Valid-Until=false\"; \\\n"
	"    fi; \\\n"
	"    apt-get $opts update;";
static const char APT_END[] =
	"rm -rf /tmp/apt.list /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old "
	"/var/log/*";

#define VALUES_MAX 24
#define ENV_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct renderer {
	const struct cluster *cluster;
	const struct plan *plan;
	const struct table *os_table;
	size_t os_row;
	struct arena *arena;
	struct spec *spec;
	size_t value_count;
	struct template_value values[VALUES_MAX];
	struct error *err;
};

static void set(struct renderer *r, const char *name, const char *value)
{
	r->values[r->value_count++] = (struct template_value){name, value};
}

static void set_str(struct renderer *r, const char *name, struct str *value)
{
	set(r, name, arena_strdup(r->arena, value->text));
	str_release(value);
}

/* One package word per line, with a continuation, sorted as the plan lists them. */
static void add_packages(struct str *out, const char *packages)
{
	while (*packages) {
		size_t length = strcspn(packages, ";");

		if (length)
			str_addf(out, "%s      %.*s", out->length ? " \\\n" : "", (int)length,
				 packages);
		packages += length + (packages[length] == ';');
	}
}

static void set_packages(struct renderer *r)
{
	struct str build, run;

	str_init(&build);
	str_init(&run);
	for (size_t i = 0; i < r->plan->count; i++) {
		add_packages(&build, r->plan->choices[i].build_packages);
		add_packages(&run, r->plan->choices[i].run_packages);
	}
	for (const char *const *word = r->cluster->image.apt; *word; word++)
		add_packages(&run, *word);
	if (r->cluster->image.pip[0])
		add_packages(&run, "python3-pip");
	set_str(r, "build_packages", &build);
	set_str(r, "run_packages", &run);
}

static void set_choices(struct renderer *r)
{
	struct str comments, labels;

	str_init(&comments);
	str_init(&labels);
	str_add(&labels, "LABEL org.ringup.cluster-image=1");
	for (size_t i = 0; i < r->plan->count; i++) {
		const struct choice *c = &r->plan->choices[i];

		str_addf(&comments, "# %s %s - %s [%s]\n", c->name, c->version, c->reason,
			 c->source);
		str_addf(&labels, " \\\n      org.ringup.stack.%s=%s", c->name, c->version);
		set(r, c->name, c->version);
	}
	str_trim(&comments);
	set_str(r, "choices", &comments);
	set_str(r, "labels", &labels);
}

static void set_env(struct renderer *r)
{
	struct str env;

	str_init(&env);
	for (const char *const *pair = r->cluster->image.env; *pair; pair++) {
		const char *equals = strchr(*pair, '=');

		str_addf(&env, "ENV %.*s=\"", (int)(equals - *pair), *pair);
		for (const char *p = equals + 1; *p; p++) {
			if (strchr("\"\\$", *p))
				str_add_char(&env, '\\');
			str_add_char(&env, *p);
		}
		str_add(&env, "\"\n");
	}
	set_str(r, "env", &env);
}

static void set_pip(struct renderer *r)
{
	struct str layer;

	str_init(&layer);
	if (r->cluster->image.pip[0]) {
		str_add(&layer,
			"RUN export PIP_INDEX_URL=\"${PIP_INDEX_URL:-https://pypi.org/simple}\"; "
			"\\\n    python3 -m pip install --no-cache-dir --break-system-packages ");
		quote_words(&layer, r->cluster->image.pip);
		str_add_char(&layer, '\n');
	}
	set_str(r, "pip_layer", &layer);
}

static int add_file(struct renderer *r, const char *path, const char *source, mode_t mode)
{
	if (r->spec->file_count == SPEC_FILES_MAX)
		return error_set(r->err, ERROR_FAILED, "more than %d files in one build context",
				 SPEC_FILES_MAX);
	r->spec->files[r->spec->file_count++] =
		(struct spec_file){.path = path, .source = source, .mode = mode};
	return 0;
}

/* Adds the files of `folder` whose names end in `suffix`, under `context`. */
static int add_folder(struct renderer *r, const char *folder, const char *suffix,
		      const char *context, mode_t mode)
{
	const char **names, *path;

	if (share_path(r->arena, folder, &path, r->err) < 0 ||
	    folder_list(path, suffix, r->arena, &names, r->err) < 0)
		return -1;
	for (; *names; names++)
		if ((*names)[0] != '.' && /* an editor's */
		    add_file(r, arena_printf(r->arena, "%s/%s", context, *names),
			     arena_printf(r->arena, "%s/%s", path, *names), mode) < 0)
			return -1;
	return 0;
}

/* The person's words go into a Dockerfile: no line may end early, no word may become two. */
static bool is_plain(const char *text)
{
	return *text && !strpbrk(text, " \t\r\n\"'\\$`");
}

static int refuse(struct renderer *r, const char *key, const char *word, const char *why)
{
	return error_set(r->err, ERROR_USAGE, "%s: image.%s: '%.60s' %s", r->cluster->path, key,
			 word, why);
}

static bool is_package(const char *word)
{
	return *word && *word != '-' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789.+-:=~*")];
}

static bool is_assignment(const char *pair)
{
	size_t name = strspn(pair, ENV_NAME);

	return name && pair[name] == '=' && !strpbrk(pair, "\r\n");
}

static int check_words(struct renderer *r)
{
	const struct cluster_image *image = &r->cluster->image;

	if (!is_plain(image->base))
		return refuse(r, "base", image->base, "is no image name");
	for (const char *const *word = image->apt; *word; word++)
		if (!is_package(*word))
			return refuse(r, "apt", *word, "is no package; write NAME or NAME=VERSION");
	for (const char *const *word = image->pip; *word; word++)
		if (!**word || **word == '-' || strpbrk(*word, "\r\n"))
			return refuse(r, "pip", *word,
				      "is no package; write NAME or NAME==VERSION");
	for (const char *const *pair = image->env; *pair; pair++)
		if (!is_assignment(*pair))
			return refuse(r, "env", *pair, "is no NAME: VALUE on one line");
	for (size_t i = 0; i < image->file_count; i++)
		if (!is_plain(image->files[i].to))
			return refuse(r, "files", image->files[i].to,
				      "takes no blanks and no quotes");
	return 0;
}

/* One file, or a folder with all that is in it; other kinds of file are refused. */
static int add_tree(struct renderer *r, const char *source, const char *path)
{
	const char **names;
	struct stat st;

	if (stat(source, &st) < 0)
		return error_set(r->err, ERROR_USAGE,
				 "%s: image.files: there is no %s to put into the image",
				 r->cluster->path, source);
	if (S_ISREG(st.st_mode))
		return add_file(r, path, source, st.st_mode & 0111 ? 0755 : 0644);
	if (!S_ISDIR(st.st_mode))
		return error_set(r->err, ERROR_USAGE,
				 "%s: image.files: %s is no file and no folder", r->cluster->path,
				 source);
	if (folder_list(source, "", r->arena, &names, r->err) < 0)
		return -1;
	for (; *names; names++)
		if (add_tree(r, arena_printf(r->arena, "%s/%s", source, *names),
			     arena_printf(r->arena, "%s/%s", path, *names)) < 0)
			return -1;
	return 0;
}

static int add_user_files(struct renderer *r)
{
	const struct cluster_image *image = &r->cluster->image;
	_cleanup_(str_release) struct str layers = {0};

	str_init(&layers);
	for (size_t i = 0; i < image->file_count; i++) {
		const char *source = cluster_path(r->cluster, image->files[i].from, r->arena);
		const char *path = arena_printf(r->arena, "files/%zu", i);
		const char *to = image->files[i].to, *slash = strrchr(source, '/');
		size_t before = r->spec->file_count;

		if (add_tree(r, source, path) < 0)
			return -1;
		if (r->spec->file_count == before)
			return error_set(r->err, ERROR_USAGE,
					 "%s: image.files: the folder %s is empty",
					 r->cluster->path, source);
		/* a single file into a folder keeps its name */
		if (ends_with(to, "/") && strcmp(r->spec->files[before].path, path) == 0)
			to = arena_printf(r->arena, "%s%s", to, slash ? slash + 1 : source);
		str_addf(&layers, "COPY %s %s\n", path, to);
	}
	set(r, "user_layers", arena_strdup(r->arena, layers.text));
	return 0;
}

static int add_context(struct renderer *r)
{
	return add_folder(r, "images/worker", ".c", "worker", 0644) < 0 ||
			       add_folder(r, "images/worker", ".h", "worker", 0644) < 0 ||
			       add_folder(r, "images/worker", ".sh", "worker", 0755) < 0 ||
			       add_folder(r, "images/worker/mpi", ".c", "worker/mpi", 0644) < 0 ||
			       add_folder(r, "images/worker/mpi", ".h", "worker/mpi", 0644) < 0 ||
			       add_folder(r, "images/entry", "", "entry", 0755) < 0
		       ? -1
		       : add_user_files(r);
}

static int find_os(struct renderer *r, const struct catalog *catalog)
{
	const struct choice *os = plan_choice(r->plan, "os");

	r->os_table = catalog_table(catalog, "os");
	for (size_t row = 0; os && r->os_table && row < r->os_table->row_count; row++) {
		if (strcmp(table_cell(r->os_table, row, "version"), os->version) == 0) {
			r->os_row = row;
			return 0;
		}
	}
	return error_set(r->err, ERROR_FAILED, "the catalog has no row for the OS %s",
			 os ? os->version : "(none)");
}

static int set_base(struct renderer *r)
{
	const char *os = table_cell(r->os_table, r->os_row, "version");
	const char *base = table_cell(r->os_table, r->os_row, "base"), *script;
	char digest[DIGEST_TEXT_BYTES];

	r->spec->os = os;
	r->spec->base_script = "";
	if (strcmp(r->cluster->image.base, "auto") != 0) {
		r->spec->base_name = r->cluster->image.base;
		return 0;
	}
	if (share_path(r->arena, arena_printf(r->arena, "images/base/%s.sh", base), &script,
		       r->err) < 0 ||
	    digest_of_file(script, digest, r->err) < 0)
		return -1;
	r->spec->base_script = script;
	r->spec->base_name =
		arena_printf(r->arena, "ringup-base:%s-%.12s", os, digest + strlen("sha256:"));
	return 0;
}

static void set_mirrors(struct renderer *r)
{
	struct words args = WORDS_INIT(r->arena);
	const struct cluster_mirrors *mirrors = &r->cluster->mirrors;

	words_addf(&args, "APT_MIRROR=%s", mirrors->apt);
	words_addf(&args, "PIP_INDEX_URL=%s", mirrors->pip);
	r->spec->build_args = args.list;
}

/* Splits the recipe at its "---" line; *line is where the Dockerfile begins. */
static int recipe_body(const char *path, char *text, const char **body, int *line,
		       struct error *err)
{
	*line = 1;
	for (char *p = text; p && *p; (*line)++) {
		char *next = strchr(p, '\n');

		if (starts_with(p, "---\n")) {
			*body = p + 4;
			(*line)++;
			return 0;
		}
		p = next ? next + 1 : NULL;
	}
	return error_set(err, ERROR_USAGE, "%s: no '---' line before the Dockerfile", path);
}

static int expand(struct renderer *r)
{
	const char *family = table_cell(r->os_table, r->os_row, "family");
	_cleanup_(str_release) struct str text = {0};
	const char *path, *body = "";
	char *recipe;
	int line;

	str_init(&text);
	if (share_path(r->arena, arena_printf(r->arena, "recipes/%s.recipe", family), &path,
		       r->err) < 0 ||
	    file_read(path, FILE_CEILING_BYTES, r->arena, &recipe, NULL, r->err) < 0 ||
	    recipe_body(path, recipe, &body, &line, r->err) < 0 ||
	    template_expand("recipe.c", 0, APT_BEGIN, r->values, &text, r->err) < 0)
		return -1;
	set(r, "apt_begin", arena_strdup(r->arena, text.text));
	str_clear(&text);
	if (template_expand(path, line, body, r->values, &text, r->err) < 0)
		return -1;
	r->spec->dockerfile = arena_strdup(r->arena, text.text);
	return 0;
}

int recipe_render(const struct cluster *cluster, const struct plan *plan,
		  const struct catalog *catalog, struct arena *arena, struct spec *spec,
		  struct error *err)
{
	struct renderer r = {
		.cluster = cluster, .plan = plan, .arena = arena, .spec = spec, .err = err};

	*spec = (struct spec){0};
	if (check_words(&r) < 0 || find_os(&r, catalog) < 0 || set_base(&r) < 0)
		return -1;
	set(&r, "title",
	    arena_printf(arena, "Cluster image for %s, %s", spec->os, plan->accelerator));
	set(&r, "base", spec->base_name);
	set(&r, "codename", table_cell(r.os_table, r.os_row, "codename"));
	set(&r, "apt_end", APT_END);
	set_packages(&r);
	set_choices(&r);
	set_env(&r);
	set_pip(&r);
	set_mirrors(&r);
	if (add_context(&r) < 0 || expand(&r) < 0)
		return -1;
	return spec_hash(spec, err);
}
