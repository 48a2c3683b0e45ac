/* SPDX-License-Identifier: MIT */
/* Folders to hosts and from them; see copy.h. */
#include "deployer/copy/copy.h"

#include "core/file.h"
#include "deployer/copy/copied.h"
#include "deployer/remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMS_TIMEOUT_S 3600

/* Runs one of the scripts, with `names` as its input. */
static int copy_tree_script(struct member *m, const char *name, const char *const *arguments,
			    const struct str *names, struct proc_result *result, struct error *err)
{
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = SUMS_TIMEOUT_S};

	if (remote_script(name, arguments, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (names) {
		command.input = names->text;
		command.input_bytes = names->length;
	}
	return ssh_check(m->ssh, &command, "cannot copy", result, err);
}

/* "./PATH" and NUL. */
static void copy_tree_add_name(struct str *names, const struct copied_file *file)
{
	str_addf(names, "./%s", file->path);
	str_add_char(names, '\0');
}

/*
 * Asks for the sums of these files there; sums[i] is 64 digits, or "-". `name` is the folder's, where *path is still to be found.
 */
static int copy_tree_sums(struct member *m, const char **path, const char *name,
			  struct copied_file *const *files, size_t count, const char **sums,
			  struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str names = STR_INIT;
	char *text, *line;
	size_t got = 0;

	for (size_t i = 0; i < count; i++)
		copy_tree_add_name(&names, files[i]);
	if (copy_tree_script(m, "copy_tree_sums", WORDS(*path, name, m->host->name), &names,
			     &result, err) < 0)
		return -1;
	text = arena_strdup(&m->arena, result.out.text);
	do { /* a shell that greets does so before */
		line = strsep(&text, "\n");
	} while (line && !starts_with(line, "path_ends="));
	if (!line)
		return error_set(err, ERROR_FAILED, "%s: the host did not say where %s is",
				 m->host->name, *path);
	*path = copy_place(*path, name, line + strlen("path_ends="), &m->arena);
	while (text && *text && (line = strsep(&text, "\n")))
		if (got++ < count)
			sums[got - 1] = line;
	return got == count ? 0
			    : error_set(err, ERROR_FAILED,
					"%s: the host gave %zu sums of %zu files of %s",
					m->host->name, got, count, *path);
}

static bool copy_tree_is_same(const struct copied_file *file, const char *sum)
{
	return *file->sum && strcmp(file->sum + DIGEST_PREFIX_BYTES, sum) == 0;
}

/* The regular files of the tree: those that are left out, or those that are not. */
static size_t copy_tree_pick(struct copied *tree, bool left_out, struct arena *arena,
			     struct copied_file ***files)
{
	size_t count = 0;

	*files = ARENA_ARRAY(arena, tree->count + 1, struct copied_file *);
	for (size_t i = 0; i < tree->count; i++)
		if (S_ISREG(tree->files[i].mode) && tree->files[i].left_out == left_out)
			(*files)[count++] = &tree->files[i];
	return count;
}

/* After the copy: the sums on both sides. */
static int copy_tree_compare(struct member *m, const char *path, struct copied *tree,
			     struct error *err)
{
	struct copied_file **files;
	size_t count = copy_tree_pick(tree, false, &m->arena, &files);
	const char **sums = ARENA_ARRAY(&m->arena, count + 1, const char *);

	if (!count)
		return 0;
	if (copy_tree_sums(m, &path, "", files, count, sums, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!copy_tree_is_same(files[i], sums[i]))
			return error_set(
				err, ERROR_FAILED,
				"%s: %s of %s has another sum there than here; copy it again",
				m->host->name, files[i]->path, path);
	return 0;
}

/* --- to a host ------------------------------------------------------------------------------ */

struct copy_tree_send {
	const struct copy *copy;
	struct copy_done *done;
	const struct copied *tree;
	const char *name; /* the folder's own */
};

/* Streams what is not left out. */
static int copy_tree_stream(struct member *m, struct copied *tree, const char *path, int limit_s,
			    struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = limit_s};
	struct copied_stream stream;
	struct error why = {0};
	int rc;

	if (remote_script("copy_tree_in", WORDS(path, m->host->name), &words, err) < 0 ||
	    copied_send_begin(&stream, tree, &command.input_fd, err) < 0)
		return -1;
	command.words = words.list;
	rc = ssh_check(m->ssh, &command, "cannot copy", &result, err);
	if (copied_end(&stream, &command.input_fd, &why) < 0 && rc == 0) {
		*err = why;
		return -1;
	}
	return rc;
}

static int copy_tree_send(struct member *m, void *arg, struct error *err)
{
	const struct copy_tree_send *send = arg;
	struct copy_done *done = &send->done[m->index];
	struct copied tree = *send->tree;
	struct copied_file **files;
	const char *path = send->copy->there, **sums;
	size_t count;

	/* which files a host has is its own */
	tree.files = ARENA_ARRAY(&m->arena, tree.count + 1, struct copied_file);
	if (tree.count)
		memcpy(tree.files, send->tree->files, tree.count * sizeof(*tree.files));
	count = copy_tree_pick(&tree, false, &m->arena, &files);
	sums = ARENA_ARRAY(&m->arena, count + 1, const char *);
	if (copy_tree_sums(m, &path, send->name, files, count, sums, err) < 0)
		return -1;
	*done = (struct copy_done){.path = path, .was_there = count > 0};
	for (size_t i = 0; i < count; i++) {
		files[i]->left_out = copy_tree_is_same(files[i], sums[i]);
		done->bytes_total += files[i]->bytes;
		done->bytes_moved += files[i]->left_out ? 0 : files[i]->bytes;
		done->was_there &= files[i]->left_out;
	}
	copy_choose_transport(m, done->bytes_moved);
	if (member_connect(m, err) < 0 ||
	    copy_tree_stream(m, &tree, path, send->copy->limit_s, err) < 0)
		return -1;
	return copy_tree_compare(m, path, &tree, err);
}

int copy_tree_to_hosts(struct fleet *fleet, const struct copy *copy, struct copy_done *done,
		       struct error *err)
{
	_cleanup_(free_pointer) char *real = realpath(copy->here, NULL);
	struct copy_tree_send send = {.copy = copy, .done = done};
	struct copied tree;

	if (!real)
		return error_errno(err, "cannot read %s", copy->here);
	if (strcmp(real, "/") == 0)
		return error_set(err, ERROR_USAGE, "cp: / has no name that it could have there");
	if (copied_read(copy->here, fleet->arena, &tree, err) < 0)
		return -1;
	send.tree = &tree;
	send.name = strrchr(real, '/') + 1;
	fleet_each(fleet, copy_tree_send, &send);
	return 0;
}

/* --- from a host ---------------------------------------------------------------------------- */

struct copy_tree_fetch {
	const struct copy *copy;
	struct copy_done *done;
	bool apart;
};

/* What the host has there. Every name is checked; which of them are files is known when they come. */
static int copy_tree_list(struct member *m, const char *path, struct copied *tree,
			  struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	char plain[PATH_PLAIN_BYTES];
	const char *at, *end;

	if (copy_tree_script(m, "copy_tree_list", WORDS(path), NULL, &result, err) < 0)
		return -1;
	at = result.out.text;
	end = at + result.out.length;
	if (result.out.length && strcmp(at, "others=0") != 0)
		return error_set(
			err, ERROR_FAILED,
			"%s: %s has things that are neither file, folder nor symbolic link, which cannot be copied: %.100s",
			m->host->name, path, at);
	for (at += strlen(at) + 1; at < end; at += strlen(at) + 1) {
		if (!path_plain(at, plain))
			return error_set(err, ERROR_FAILED,
					 "%s: the host names '%.200s' in %s, which leaves it",
					 m->host->name, at, path);
		if (*plain)
			copied_add(tree, plain, &m->arena);
	}
	copied_sort(tree);
	return 0;
}

/* Leaves out what is here with the sum that it has there. */
static int copy_tree_skip(struct member *m, const char *path, int folder, struct copied *tree,
			  struct copy_done *done, struct error *err)
{
	struct copied_file **files = ARENA_ARRAY(&m->arena, tree->count + 1, struct copied_file *);
	const char **sums;
	size_t count = 0;

	for (size_t i = 0; i < tree->count; i++) {
		struct copied_file *file = &tree->files[i];
		const char *here =
			arena_printf(&m->arena, "/proc/self/fd/%d/%s", folder, file->path);
		struct stat st;
		struct error why = {0};

		if (fstatat(folder, file->path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || digest_of_file(here, file->sum, &why) < 0)
			continue;
		file->bytes = (uint64_t)st.st_size;
		files[count++] = file;
	}
	sums = ARENA_ARRAY(&m->arena, count + 1, const char *);
	if (!count)
		return 0;
	if (copy_tree_sums(m, &path, "", files, count, sums, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		files[i]->left_out = copy_tree_is_same(files[i], sums[i]);
		done->bytes_total += files[i]->left_out ? files[i]->bytes : 0;
	}
	return 0;
}

/* Takes what is not left out into `folder`. */
static int copy_tree_take(struct member *m, const struct copy *copy, int folder,
			  struct copied *tree, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str names = STR_INIT;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = copy->limit_s};
	struct copied_stream stream;
	struct error why = {0};
	int rc;

	for (size_t i = 0; i < tree->count; i++)
		if (!tree->files[i].left_out)
			copy_tree_add_name(&names, &tree->files[i]);
	if (!names.length)
		return 0;
	if (remote_script("copy_tree_out", WORDS(copy->there), &words, err) < 0 ||
	    copied_take_begin(&stream, tree, folder, &command.output_fd, err) < 0)
		return -1;
	command.words = words.list;
	command.input = names.text;
	command.input_bytes = names.length;
	rc = ssh_check(m->ssh, &command, "cannot copy", &result, err);
	if (copied_end(&stream, &command.output_fd, &why) < 0 && rc == 0) {
		*err = why;
		return -1;
	}
	return rc;
}

static int copy_tree_fetch(struct member *m, void *arg, struct error *err)
{
	const struct copy_tree_fetch *fetch = arg;
	const struct copy *copy = fetch->copy;
	struct copy_done *done = &fetch->done[m->index];
	const char *path = fetch->apart
				   ? arena_printf(&m->arena, "%s.%s", copy->here, m->host->name)
				   : copy->here;
	_cleanup_(fd_close) int folder = -1;
	struct copied tree = {.folder = path};

	*done = (struct copy_done){.path = path};
	if (copy_tree_list(m, copy->there, &tree, err) < 0 || folder_make(path, 0755, err) < 0)
		return -1;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_errno(err, "cannot write %s", path);
	if (copy_tree_skip(m, copy->there, folder, &tree, done, err) < 0 ||
	    copy_tree_take(m, copy, folder, &tree, err) < 0 ||
	    copy_tree_compare(m, copy->there, &tree, err) < 0)
		return -1;
	for (size_t i = 0; i < tree.count; i++)
		if (!tree.files[i].left_out && S_ISREG(tree.files[i].mode))
			done->bytes_moved += tree.files[i].bytes;
		else if (!tree.files[i].left_out && !tree.files[i].mode)
			return error_set(err, ERROR_FAILED, "%s: %s of %s did not come",
					 m->host->name, tree.files[i].path, copy->there);
	done->bytes_total += done->bytes_moved;
	done->was_there = done->bytes_total && !done->bytes_moved;
	return 0;
}

void copy_tree_from_hosts(struct fleet *fleet, const struct copy *copy, bool apart,
			  struct copy_done *done)
{
	struct copy_tree_fetch fetch = {copy, done, apart};

	fleet_each(fleet, copy_tree_fetch, &fetch);
}
