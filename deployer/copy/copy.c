/* SPDX-License-Identifier: MIT */
#include "deployer/copy/copy.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/foreign.h"
#include "deployer/copy/follow.h"
#include "deployer/remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOOK_TIMEOUT_S 3600 /* a sum of a large file */
#define PART ".ringup-part"
/* From here on the system's ssh is faster: it has ciphers that libssh2 before 1.11 does not have. */
#define LARGE_BYTES (16 * MIB)

void copy_choose_transport(struct member *m, uint64_t bytes)
{
	if (bytes < LARGE_BYTES || strcmp(m->target.transport, "auto") != 0)
		return;
	member_disconnect(m);
	m->target.transport = "openssh";
}

/* Runs one of the scripts; its output is in the member's arena. */
static int copy_script(struct member *m, const char *name, const char *const *arguments,
		       const char *what, const char **out, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = LOOK_TIMEOUT_S};

	if (remote_script(name, arguments, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, what, &result, err) < 0)
		return -1;
	*out = arena_strdup(&m->arena, result.out.text);
	return 0;
}

static uint64_t copy_number(const char *text, const char *key, struct arena *arena)
{
	return strtoull(remote_value(text, key, arena), NULL, 10);
}

static const char *copy_bytes(struct member *m, uint64_t bytes)
{
	return arena_printf(&m->arena, "%llu", (unsigned long long)bytes);
}

/* Whether the first bytes of a file here have this sum. */
static bool copy_begins(int fd, uint64_t bytes, const char *sum)
{
	char text[DIGEST_TEXT_BYTES];

	return bytes && *sum && follow_sum(fd, 0, bytes, text) == 0 &&
	       strcmp(text + DIGEST_PREFIX_BYTES, sum) == 0;
}

static int copy_differs(struct member *m, const char *path, struct error *err)
{
	return error_set(err, ERROR_FAILED,
			 "%s: what came of %s has another sum than what was sent; copy it again",
			 m->host->name, path);
}

/* --- to a host ------------------------------------------------------------------------------ */

struct send {
	const struct copy *copy;
	struct copy_done *done;
	const char *name; /* the last part of the path here */
	uint64_t bytes;
	mode_t mode;
};

/* Sends what is behind `offset`, and compares the sums. */
static int copy_send_rest(struct member *m, const struct send *send, int fd, const char *path,
			  uint64_t offset, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.input_fd = fd, .timeout_s = send->copy->limit_s};
	char sum[DIGEST_TEXT_BYTES];
	struct follow follow;
	const char *ignored;
	int rc;

	if (remote_script("copy_in", WORDS(path, copy_bytes(m, offset), m->host->name), &words,
			  err) < 0)
		return -1;
	if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
		return error_errno(err, "cannot read %s", send->copy->here);
	command.words = words.list;
	follow_begin(&follow, fd, offset, send->bytes);
	rc = ssh_check(m->ssh, &command, "cannot copy", &result, err);
	follow_end(&follow, rc < 0, sum);
	if (rc < 0)
		return -1;
	if (strstr(result.out.text, "failed")) {
		str_one_line(&result.err, 300);
		return error_set(err, ERROR_FAILED, "cannot copy: %s", result.err.text);
	}
	if (strcmp(remote_value(result.out.text, "sum", &m->arena), sum + DIGEST_PREFIX_BYTES) == 0)
		return 0;
	copy_script(m, "copy_end", WORDS(path, "wrong", m->host->name, ""), "cannot clean up",
		    &ignored, &(struct error){0});
	return copy_differs(m, path, err);
}

const char *copy_place(const char *there, const char *name, const char *ends, struct arena *arena)
{
	if (strcmp(ends, "name") == 0)
		return arena_printf(arena, "%s%s", there, name);
	if (strcmp(ends, "slash") == 0)
		return arena_printf(arena, "%s/%s", there, name);
	return there;
}

static int copy_send(struct member *m, void *arg, struct error *err)
{
	const struct send *send = arg;
	struct copy_done *done = &send->done[m->index];
	const char *said, *path;
	uint64_t offset;
	_cleanup_(fd_close) int fd = open(send->copy->here, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "cannot read %s", send->copy->here);
	copy_choose_transport(m, send->bytes);
	if (copy_script(
		    m, "copy_ask",
		    WORDS(send->copy->there, send->name, copy_bytes(m, send->bytes), m->host->name),
		    "cannot copy", &said, err) < 0)
		return -1;
	path = copy_place(send->copy->there, send->name, remote_value(said, "path_ends", &m->arena),
			  &m->arena);
	*done = (struct copy_done){.path = path, .bytes_total = send->bytes};
	done->was_there = copy_begins(fd, send->bytes, remote_value(said, "sum", &m->arena));
	if (done->was_there)
		return 0;
	offset = copy_number(said, "part", &m->arena);
	if (offset > send->bytes ||
	    !copy_begins(fd, offset, remote_value(said, "part_sum", &m->arena)))
		offset = 0;
	done->bytes_moved = send->bytes - offset;
	if (copy_send_rest(m, send, fd, path, offset, err) < 0)
		return -1;
	return copy_script(m, "copy_end",
			   WORDS(path, arena_printf(&m->arena, "%o", send->mode & 0777),
				 m->host->name, copy_bytes(m, send->bytes)),
			   "cannot give the file its name", &said, err);
}

void copy_to_hosts(struct fleet *fleet, const struct copy *copy, struct copy_done *done)
{
	const char *slash = strrchr(copy->here, '/');
	struct send send = {.copy = copy, .done = done, .name = slash ? slash + 1 : copy->here};
	struct stat st;

	if (stat(copy->here, &st) == 0) {
		send.bytes = (uint64_t)st.st_size;
		send.mode = st.st_mode;
	}
	fleet_each(fleet, copy_send, &send);
}

/* --- from a host ---------------------------------------------------------------------------- */

struct fetch {
	const struct copy *copy;
	struct copy_done *done;
	bool apart;
};

/* Fetches what is behind `offset` into `fd`, and compares the sums. */
static int copy_fetch_rest(struct member *m, const struct copy *copy, int fd, uint64_t offset,
			   uint64_t bytes, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.output_fd = fd, .timeout_s = copy->limit_s};
	char sum[DIGEST_TEXT_BYTES];
	struct follow follow;
	int rc;

	if (remote_script("copy_out", WORDS(copy->there, copy_bytes(m, offset)), &words, err) < 0)
		return -1;
	if (member_connect(m, err) < 0)
		return -1;
	if (ftruncate(fd, (off_t)offset) < 0 || lseek(fd, (off_t)offset, SEEK_SET) < 0)
		return error_errno(err, "cannot write %s", copy->here);
	command.words = words.list;
	follow_begin(&follow, fd, offset, bytes);
	rc = ssh_check(m->ssh, &command, "cannot copy", &result, err);
	follow_end(&follow, rc < 0, sum);
	if (rc < 0)
		return -1;
	if (strcmp(remote_value(result.err.text, "sum", &m->arena), sum + DIGEST_PREFIX_BYTES) != 0)
		return copy_differs(m, copy->there, err);
	/* both sums are of what came, however little that is */
	if (lseek(fd, 0, SEEK_END) == (off_t)bytes)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "%s: %s became shorter while it was copied; copy it again", m->host->name,
			 copy->there);
}

/* How much of an earlier copy can stay: the bytes before the end of what is there, if they are the same. */
static int copy_look(struct member *m, const struct copy *copy, int fd, uint64_t *offset,
		     uint64_t *bytes, mode_t *mode, struct error *err)
{
	struct stat st;
	const char *said, *prefix;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot read %s", copy->here);
	prefix = copy_bytes(m, (uint64_t)st.st_size);
	if (copy_script(m, "copy_look", WORDS(copy->there, prefix), "cannot copy", &said, err) < 0)
		return -1;
	if (!starts_with(said, "size="))
		return error_set(
			err, ERROR_FAILED,
			"%s: its shell prints text of its own before it runs a command (%.*s), which would be in the file; have .bashrc print it to terminals only",
			m->host->name, (int)strcspn(said, "\n"),
			foreign_clean_line(arena_strdup(&m->arena, said)));
	*bytes = copy_number(said, "size", &m->arena);
	*mode = (mode_t)strtoul(remote_value(said, "mode", &m->arena), NULL, 8) & 0777;
	*offset = (uint64_t)st.st_size;
	if (*offset > *bytes ||
	    !copy_begins(fd, *offset, remote_value(said, "prefix_sum", &m->arena)))
		*offset = 0;
	return 0;
}

/* Whether the disk here has room for so many bytes more. */
static int copy_check_room(int fd, const char *path, uint64_t bytes, struct error *err)
{
	char wanted[32], free[32];
	struct statvfs disk;
	uint64_t room;

	if (fstatvfs(fd, &disk) < 0)
		return 0; /* writing will tell */
	room = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (room >= bytes)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "%s: no space left on this machine's disk: %s are to come and %s are free",
			 path, format_bytes(wanted, bytes), format_bytes(free, room));
}

static int copy_fetch(struct member *m, void *arg, struct error *err)
{
	const struct fetch *fetch = arg;
	const struct copy *copy = fetch->copy;
	struct copy_done *done = &fetch->done[m->index];
	const char *path = fetch->apart
				   ? arena_printf(&m->arena, "%s.%s", copy->here, m->host->name)
				   : copy->here;
	const char *part = arena_printf(&m->arena, "%s" PART, path);
	_cleanup_(fd_close) int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t offset = 0, bytes = 0;
	mode_t mode = 0;

	if (fd < 0)
		return error_errno(err, "cannot write %s", part);
	if (copy_look(m, copy, fd, &offset, &bytes, &mode, err) < 0 ||
	    copy_check_room(fd, part, bytes - offset, err) < 0) {
		struct stat st;

		if (fstat(fd, &st) == 0 && !st.st_size)
			unlink(part);
		return -1;
	}
	*done = (struct copy_done){path, bytes, bytes - offset, false};
	copy_choose_transport(m, bytes - offset);
	if (copy_fetch_rest(m, copy, fd, offset, bytes, err) < 0)
		return -1;
	if (fchmod(fd, mode) < 0 || rename(part, path) < 0)
		return error_errno(err, "cannot write %s", path);
	return 0;
}

void copy_from_hosts(struct fleet *fleet, const struct copy *copy, bool apart,
		     struct copy_done *done)
{
	struct fetch fetch = {copy, done, apart};

	fleet_each(fleet, copy_fetch, &fetch);
}
