/* SPDX-License-Identifier: MIT */
#include "builder/build.h"

#include "builder/context.h"
#include "builder/machine.h"
#include "builder/native/kept.h"
#include "builder/native/store.h"
#include "builder/native/runtime/userns.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/private.h"
#include "core/proc.h"
#include "core/progress.h"
#include "core/quote.h"
#include "core/words.h"
#include "oci/archive/archive.h"
#include "oci/layout.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * The free space that a build needs in the cache folder: twice an image of the CPU stack with its
 * base.
 */
#define BUILD_DISK_BYTES (2 * GIB)
#define LOG_CEILING_BYTES (64 * MIB)
#define REASONS_BYTES 500 /* of a package tool's output in an error */

static const char *store_folder(const char *cache_folder, struct arena *arena)
{
	return arena_printf(arena, "%s/native", cache_folder);
}

/* A snapshot has its own base, because a base from the current archive has other packages. */
static const char *base_tar_path(const struct spec *spec, const char *folder, struct arena *arena)
{
	char *path = arena_printf(arena, "%s/%s%s%s.tar", folder, spec->base_name,
				  *spec->snapshot ? "-from-" : "", spec->snapshot);

	for (char *p = path + strlen(folder) + 1; *p; p++)
		if (*p == ':' || *p == '/')
			*p = '-';
	return path;
}

static const char *const *build_base_words(const struct cluster *cluster, const struct spec *spec,
					   const char *tar, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("sh", spec->base_script, spec->base_release, tar));
	if (*cluster->mirrors.apt)
		words_add(&words, cluster->mirrors.apt);
	return words.list;
}

static int check_disk(const char *folder, struct error *err)
{
	struct statvfs fs;
	char free_text[32];

	if (statvfs(folder, &fs) < 0)
		return 0;
	if ((uint64_t)fs.f_bavail * fs.f_frsize >= BUILD_DISK_BYTES)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"only %s are free under %s, and a build needs 2 GiB; free space there and run this again",
		format_bytes(free_text, (uint64_t)fs.f_bavail * fs.f_frsize), folder);
}

/*
 * Adds the lines of a package tool's output that explain its failure: errors, and failed fetches.
 */
static void add_reasons(struct str *out, const char *text)
{
	static const char *const marks[] = {"E: ", "Err:", "Could not connect", "Failed to fetch",
					    "Temporary failure"};

	for (const char *line = text; *line; line += *line == '\n') {
		int length = (int)strcspn(line, "\n");

		for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
			const char *mark = strstr(line, marks[i]);

			if (!mark || mark >= line + length || out->length > REASONS_BYTES)
				continue;
			str_addf(out, "%s%.*s", out->length ? "; " : "",
				 length > 160 ? 160 : length, line);
			break;
		}
		line += length;
	}
}

static int make_base(const struct cluster *cluster, const char *const *words,
		     const char *const *env, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str reasons = STR_INIT;
	struct proc proc = {.words = words, .env = env, .dies_with_us = true};
	const char *mirror = cluster->mirrors.apt;

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	if (result.status == 0)
		return 0;
	add_reasons(&reasons, result.err.text);
	error_set(err, ERROR_FAILED, "packages from %s: %s",
		  *mirror ? mirror : "the public archive",
		  reasons.length ? reasons.text : result.err.text);
	return error_advise(err, "check mirrors.apt in %s and that this machine reaches it",
			    cluster->path);
}

/* -1 with errno. */
static int put_base(const char *partial, const char *tar)
{
	_cleanup_(fd_close) int fd = open(partial, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fchmod(fd, 0644) < 0 ? -1 : file_put(fd, partial, tar);
}

/* Makes the root filesystem, under a temporary name first. */
static int make_base_tar(const struct cluster *cluster, const struct spec *spec, const char *tar,
			 const struct words *before, const char *const *env, struct arena *arena,
			 struct error *err)
{
	/* it must end in .tar, which selects the format */
	const char *partial = arena_printf(arena, "%s.partial.tar", tar);
	struct progress_step *step;
	uint64_t start = clock_usec();
	struct words words = *before;

	words_add_all(&words, build_base_words(cluster, spec, partial, arena));
	step = progress_begin("base",
			      arena_printf(arena, "making the root filesystem of %s", spec->os));
	if (make_base(cluster, words.list, env, err) < 0 || put_base(partial, tar) < 0) {
		unlink(partial);
		progress_end(step, false, "failed");
		if (!err->kind)
			return error_errno(err, "cannot write %s", tar);
		return error_wrap(err, "base root filesystem of %s", spec->os);
	}
	progress_end(step, true, "root filesystem of %s made in %.0f s", spec->os,
		     clock_seconds_since(start));
	return 0;
}

/*
 * Makes it as root, at least of a user namespace. The unpacked files are in the store's work
 * folder, and the namespace ends with this process. So nothing stays that the user could not
 * remove.
 */
static int make_base_as_root(const struct cluster *cluster, const struct image *image,
			     const struct spec *spec, const char *tar, struct arena *arena,
			     struct error *err)
{
	_cleanup_(store_release) struct store store;
	struct words before = WORDS_INIT(arena);

	if (store_open(&store, image->target.store, 0, arena, err) < 0)
		return -1;
	words_add_all(&before,
		      WORDS("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--"));
	return make_base_tar(cluster, spec, tar, &before,
			     WORDS(arena_printf(arena, "TMPDIR=%s", store.work)), arena, err);
}

/* Prepares the root filesystem, if the image begins with one that ringup makes. */
static int prepare_base(const struct cluster *cluster, const char *cache_folder,
			const struct image *image, struct build_job *job, struct arena *arena,
			struct error *err)
{
	const struct spec *spec = job->spec;
	const struct backend *backend = image->backend;
	const char *tar = base_tar_path(spec, cache_folder, arena);
	struct words none = WORDS_INIT(arena);
	bool found = false;
	int rc = 0;

	if (!*spec->base_script)
		return 0;
	if (backend->import_base && !*spec->snapshot &&
	    backend->has_image(backend, &image->target, spec->base_name, &found, err) < 0)
		return -1;
	if (found)
		return 0;
	if (private_check(tar, err) < 0)
		return -1;
	if (!file_exists(tar))
		rc = backend->is_roots ? make_base_as_root(cluster, image, spec, tar, arena, err)
				       : make_base_tar(cluster, spec, tar, &none, NULL, arena, err);
	if (rc < 0)
		return -1;
	job->base_tar = tar;
	if (!backend->import_base)
		return 0;
	return backend->import_base(backend, &image->target, tar, spec->base_name, err);
}

struct watcher {
	struct progress_step *step;
};

static void show_line(void *arg, const char *line)
{
	struct watcher *watcher = arg;

	log_debug("%s", line);
	if (starts_with(line, "Step ") || starts_with(line, "STEP ") || *line == '#')
		progress_state(watcher->step, "%.70s", line);
}

static int build_with_backend(const struct build_options *options, struct image *image,
			      struct build_job *job, struct arena *arena, struct error *err)
{
	struct watcher watcher = {NULL};
	uint64_t start = clock_usec();
	int rc;

	job->scratch = arena_printf(arena, "%s/build-%d", options->cache_folder, (int)getpid());
	/* a store has its own work folder, which is removed even when this process is killed */
	if (!image->backend->is_roots && folder_make(job->scratch, 0700, err) < 0)
		return -1;
	watcher.step = progress_begin(
		"build", arena_printf(arena, "%s with %s", image->name, image->backend->name));
	job->line = show_line;
	job->arg = &watcher;
	rc = image->backend->build(image->backend, job, err);
	if (rc < 0)
		progress_end(watcher.step, false, "failed");
	else
		progress_end(watcher.step, true, "%s built in %.1f s", image->name,
			     clock_seconds_since(start));
	return folder_remove(job->scratch, rc < 0 ? &(struct error){0} : err) < 0 ? -1 : rc;
}

static void name_image(const struct cluster *cluster, const struct spec *spec,
		       const struct build_options *options, struct arena *arena,
		       struct image *image)
{
	*image = (struct image){
		/* an engine's address is valid only on this machine */
		.target = {.on = options->on,
			   .docker_host = options->on ? "" : cluster->build.docker_host,
			   .userns = cluster->build.userns,
			   .store = store_folder(options->cache_folder, arena)},
		.name = arena_printf(arena, "ringup/%s:%s", cluster->image.name,
				     spec_tag(spec, arena)),
		.limits = options->limits,
	};
}

/* The requested engine: a name, or "auto". */
static const char *engine_name(const struct cluster *cluster, const struct build_options *options)
{
	return options->engine && *options->engine ? options->engine : cluster->build.engine;
}

/* Only the content counts. The engine that made it counts only when one is named. */
static bool build_is_kept(const struct cluster *cluster, const struct build_options *options,
			  struct image *image)
{
	struct descriptor manifest;

	if (!options->on && strcmp(engine_name(cluster, options), "auto") != 0)
		return false;
	image->kept = kept_find(&image->target, image->name, &manifest);
	return image->kept;
}

static int find_backend(const struct cluster *cluster, const struct spec *spec,
			const struct build_options *options, struct arena *arena,
			struct image *image, struct error *err)
{
	const char *name = engine_name(cluster, options);

	if (backend_find(name, &image->target, arena, &image->backend, err) == 0)
		return !*spec->base_place || image->backend->is_roots
			       ? 0
			       : error_set(
					 err, ERROR_USAGE,
					 "%s: image.base %s: %s takes no folder as a base; build with --engine native, or push it to a registry and name that",
					 cluster->path, spec->base_name, image->backend->name);
	return err->kind == ERROR_USAGE && name == cluster->build.engine
		       ? error_wrap(err, "%s", cluster->path)
		       : -1;
}

/* Removes what the build left on another machine, also after a failure. */
static void forget_there(const struct image *image, const struct build_job *job, bool has_base,
			 bool built)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const struct build_target *target = &image->target;
	struct error left = {0}, base = {0}, ignored = {0};
	char empty[] = "", *log = empty;

	file_read(job->log_path, LOG_CEILING_BYTES, &arena, &log, NULL, &ignored);
	image->backend->forget(image->backend, target, built ? image->name : NULL, log, &left);
	if (!has_base)
		image->backend->forget(image->backend, target, job->spec->base_name, "", &base);
	if (built && (left.kind || base.kind))
		log_warn("%s may still hold images of this build: %s", target->on->name,
			 left.kind ? left.text : base.text);
}

static int build_on_host(const struct cluster *cluster, const struct build_options *options,
			 struct image *image, struct build_job *job, struct arena *arena,
			 struct error *err)
{
	bool has_base = true, built;
	int rc;

	if (strcmp(job->spec->base_name, "scratch") != 0 &&
	    image->backend->has_image(image->backend, &image->target, job->spec->base_name,
				      &has_base, err) < 0)
		return -1;
	unlink(job->log_path); /* an older log says nothing about this build */
	rc = prepare_base(cluster, options->cache_folder, image, job, arena, err);
	if (rc == 0)
		rc = build_with_backend(options, image, job, arena, err);
	built = rc == 0;
	if (rc == 0)
		rc = image_take_home(image, err);
	forget_there(image, job, has_base && !*job->spec->snapshot, built);
	return rc;
}

struct here {
	const struct cluster *cluster;
	const struct build_options *options;
	struct image *image;
	struct build_job *job;
	struct arena *arena;
};

/*
 * All bases of an OS have the same name in an engine, so a snapshot's base is removed after the
 * build.
 */
static void forget_snapshot(const struct image *image, const struct spec *spec)
{
	const struct backend *backend = image->backend;
	struct error ignored = {0};

	if (*spec->snapshot && *spec->base_script && backend->import_base && backend->forget)
		backend->forget(backend, &image->target, spec->base_name, "", &ignored);
}

static int build_now(void *arg, struct error *err)
{
	const struct here *h = arg;
	int rc;

	if (prepare_base(h->cluster, h->options->cache_folder, h->image, h->job, h->arena, err) < 0)
		return -1;
	rc = build_with_backend(h->options, h->image, h->job, h->arena, err);
	forget_snapshot(h->image, h->job->spec);
	return rc;
}

/* A build that only copies files needs no root, so it also works without a user namespace. */
static int build_here(const struct cluster *cluster, const struct build_options *options,
		      struct image *image, struct build_job *job, struct arena *arena,
		      struct error *err)
{
	struct here here = {cluster, options, image, job, arena};
	const char *why;

	if (image->backend->is_roots && geteuid() != 0 && userns_available(arena, &why))
		return userns_run(build_now, &here, err);
	return build_now(&here, err);
}

int build_fits(const struct spec *spec, const struct build_host *on, struct arena *arena,
	       bool *fits, struct error *err)
{
	int64_t newest_s;
	bool has_steps;

	*fits = true;
	if (spec_about(spec, &newest_s, &has_steps, err) < 0)
		return -1;
	return has_steps ? machine_fits(spec->arch, on, arena, fits, err) : 0;
}

int build_image(const struct cluster *cluster, const struct spec *spec,
		const struct build_options *options, struct arena *arena, struct image *image,
		struct error *err)
{
	struct build_job job = {.spec = spec,
				.shell_on_failure = options->shell_on_failure,
				.fetch = options->fetch,
				.fetch_arg = options->fetch_arg,
				.limits = options->limits};
	struct error ignored = {0};
	bool found = false;

	name_image(cluster, spec, options, arena, image);
	if (spec_about(spec, &image->newest_s, &image->target.has_steps, err) < 0)
		return -1;
	if (private_check_above(options->cache_folder, err) < 0 ||
	    private_check(image->target.store, err) < 0)
		return -1;
	if (build_is_kept(cluster, options, image)) {
		/* the backend that would have built it, if there is one */
		if (!options->on)
			find_backend(cluster, spec, options, arena, image, &ignored);
		return 0;
	}
	/* an engine that build.docker_host names is nobody knows where */
	if ((!*image->target.docker_host && image->target.has_steps &&
	     machine_check(spec->arch, options->on, arena, err) < 0) ||
	    find_backend(cluster, spec, options, arena, image, err) < 0)
		return -1;
	image->kept = options->on || !image->backend->save;
	if (!options->on &&
	    image->backend->has_image(image->backend, &image->target, image->name, &found, err) < 0)
		return -1;
	if (found)
		return 0;
	job.target = &image->target;
	job.image = image->name;
	job.log_path = options->log_path && *options->log_path
			       ? options->log_path
			       : arena_printf(arena, "%s/build-%s.log", options->cache_folder,
					      spec_tag(spec, arena));
	if (folder_make(options->cache_folder, 0700, err) < 0 ||
	    check_disk(options->cache_folder, err) < 0 ||
	    (options->on ? build_on_host : build_here)(cluster, options, image, &job, arena, err) <
		    0)
		return -1;
	image->built = true;
	return 0;
}

static int build_clear_store(void *arg, struct error *err)
{
	return store_remove(arg, err);
}

int build_clear(const char *cache_folder, struct arena *arena, const char **folder,
		struct error *err)
{
	char *path = arena_strdup(arena, store_folder(cache_folder, arena));
	const char *why;

	*folder = path;
	if (private_check_above(cache_folder, err) < 0)
		return -1;
	if (geteuid() != 0 && userns_available(arena, &why))
		return userns_run(build_clear_store, path, err);
	return build_clear_store(path, err);
}

static void build_add_command(struct str *out, const char *const *words)
{
	quote_words(out, words);
	str_add_char(out, '\n');
}

int build_commands(const struct cluster *cluster, const struct spec *spec,
		   const struct build_options *options, struct arena *arena, struct str *out,
		   struct error *err)
{
	const char *folder = arena_printf(arena, "context-%s", spec_tag(spec, arena));
	const char *tar = base_tar_path(spec, options->cache_folder, arena);
	struct image image;

	name_image(cluster, spec, options, arena, &image);
	if (spec_about(spec, &image.newest_s, &image.target.has_steps, err) < 0 ||
	    find_backend(cluster, spec, options, arena, &image, err) < 0)
		return -1;
	if (!image.backend->build_words || options->on) {
		struct words words = WORDS_INIT(arena);

		words_add_all(&words, WORDS("ringup", "-f", cluster->path, "build", "--engine",
					    image.backend->name));
		if (options->on)
			words_add_all(&words, WORDS("--on", options->on->name));
		build_add_command(out, words.list);
		return 0;
	}
	if (*cluster->build.docker_host)
		str_addf(out, "export DOCKER_HOST=%s\n", cluster->build.docker_host);
	build_add_command(out, WORDS("ringup", "-f", cluster->path, "recipe", "-o", folder));
	if (*spec->base_script) {
		build_add_command(out, WORDS("mkdir", "-p", options->cache_folder));
		build_add_command(out, build_base_words(cluster, spec, tar, arena));
		build_add_command(out, WORDS(image.backend->name, "import", tar, spec->base_name));
	}
	build_add_command(out, image.backend->build_words(image.backend, folder, image.name,
							  spec->build_args, arena));
	return 0;
}

/* --- the finished image as a layout ---------------------------------------------------------- */

/* The engine writes the archive into a pipe while we read it. */
struct exporter {
	const struct image *image;
	int fd;
	int rc;
	struct error err;
};

static void *export_with_backend(void *arg)
{
	struct exporter *e = arg;

	e->rc = e->image->backend->save(e->image->backend, &e->image->target, e->image->name, e->fd,
					&e->err);
	fd_close(&e->fd);
	return NULL;
}

static int import_archive(const struct image *image, const char *layout, struct arena *arena,
			  struct descriptor *manifest, struct error *err)
{
	/* build arguments that hold the mirrors of this machine: not to be left in the history */
	static const char *const redact[] = {"APT_MIRROR", "YUM_MIRROR", "PIP_INDEX_URL", NULL};
	const struct archive_options options = {.history_redact = redact,
						.normalise = true,
						.newest_s = image->newest_s,
						.limits = image->limits};
	struct exporter e = {.image = image};
	int ends[2], rc;
	pthread_t thread;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	e.fd = ends[1];
	if (pthread_create(&thread, NULL, export_with_backend, &e) != 0) {
		fd_close(&ends[0]);
		fd_close(&ends[1]);
		return error_set(err, ERROR_FAILED, "cannot start a thread");
	}
	rc = archive_import(ends[0], layout, &options, arena, manifest, err);
	fd_close(&ends[0]);
	pthread_join(thread, NULL);
	if (e.rc < 0 && rc == 0) {
		*err = e.err;
		rc = -1;
	} else if (rc < 0 && image->target.on && err->kind != ERROR_INTERRUPTED) {
		error_wrap(err, "%s", image->target.on->name);
	}
	return rc;
}

int image_export(const struct image *image, const char *scratch, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err)
{
	*layout = scratch;
	if (!image->kept)
		return import_archive(image, scratch, arena, manifest, err);
	*layout = kept_layout(&image->target, arena);
	return layout_find(*layout, image->name, manifest, err);
}

int image_take_home(const struct image *image, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *layout = kept_layout(&image->target, &arena);
	struct descriptor manifest;

	if (import_archive(image, layout, &arena, &manifest, err) < 0)
		return -1;
	return layout_tag(layout, &manifest, image->name, err);
}
