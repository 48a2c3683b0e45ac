/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/pull.h"

#include "core/file.h"
#include "core/quote.h"
#include "core/secret.h"
#include "deployer/bringup/bringup.h"
#include "deployer/container/images.h"
#include "deployer/records/journal.h"
#include "deployer/remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define PULL_TIMEOUT_S 3600
#define PULL_STALL_S "60" /* without a byte */

static const char *const *pull_words(struct visit *v, const char *const *pattern)
{
	return container_words(v->m, &v->container, pattern);
}

static const char *pull_quoted(struct visit *v, const char *const *pattern)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	quote_words(&line, pull_words(v, pattern));
	return arena_strdup(&v->m->arena, line.text);
}

/* The script's stdin: the login in a line of its own. The caller wipes it. */
static struct secret pull_login_line(const struct visit *v)
{
	struct arena *arena = &v->m->arena;
	struct secret login =
		credentials_text(&v->bringup->credentials, v->bringup->registry, arena);
	struct secret line = {arena_printf(arena, "%s\n", secret_reveal(login))};

	secret_wipe(&login);
	return line;
}

/* "bytes=N": what the host has received since the pull began. */
static void pull_take_line(void *arg, const char *line)
{
	const struct visit *v = arg;
	uint64_t bytes, all = v->bringup->image_bytes;

	if (!starts_with(line, "bytes="))
		return;
	bytes = strtoull(line + strlen("bytes="), NULL, 10);
	progress_bytes(v->step, all && bytes > all ? all : bytes, all);
}

/* The reason of a pull that failed; -1. */
static int pull_failed(struct visit *v, const struct proc_result *result, struct error *err)
{
	struct member *m = v->m;

	if (result->out.text && strstr(result->out.text, "stalled=yes"))
		return error_set(
			err, ERROR_FAILED,
			"%s: the pull of %s stands still: nothing has arrived there for " PULL_STALL_S
			" s; look at the registry %s and the way to it, and run the same command again: what the engine has is kept",
			m->host->name, v->bringup->image, v->bringup->registry);
	error_wrap(err, "%s", m->host->name);
	return visit_explain(v, ENGINE_PULLS, err);
}

int visit_pull_by_name(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct member *m = v->m;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {
		.timeout_s = PULL_TIMEOUT_S, .holds_input = true, .line = pull_take_line, .arg = v};
	struct secret login;
	int rc;

	if (remote_script("pull",
			  WORDS(v->container.config_folder, pull_quoted(v, m->engine->pull),
				PULL_STALL_S),
			  &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	login = pull_login_line(v);
	command.words = words.list;
	command.input = secret_reveal(login);
	command.input_bytes = strlen(command.input);
	rc = ssh_check(m->ssh, &command, "cannot pull the image", &result, err);
	secret_wipe(&login);
	if (rc < 0)
		return pull_failed(v, &result, err);
	journal_add(m, "pull", v->bringup->image);
	return 0;
}

/* The image over the connection, from a file of this machine. */
static int pull_send_image(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(fd_close) int file = open(v->bringup->image_archive, O_RDONLY | O_CLOEXEC);
	struct member *m = v->m;
	struct ssh_command command = {.timeout_s = PULL_TIMEOUT_S, .input_fd = file};

	if (file < 0)
		return error_set(err, ERROR_FAILED, "%s: %m", v->bringup->image_archive);
	if (member_connect(m, err) < 0)
		return -1;
	command.words = pull_words(v, m->engine->load);
	if (ssh_check(m->ssh, &command, "cannot load the image", &result, err) < 0) {
		error_wrap(err, "%s", m->host->name);
		return visit_explain(v, ENGINE_PULLS, err);
	}
	journal_add(m, "load", v->bringup->image);
	return 0;
}

bool member_has_image(struct member *m, const char *image)
{
	_cleanup_(proc_result_release) struct proc_result there = {0};
	const struct engine_value values[] = {
		{"image", images_name_on_hosts(m->fleet->cluster, image, &m->arena), NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};
	struct error ignored = {0};

	engine_expand(m->engine->has_image, values, &words);
	command.words = words.list;
	return member_connect(m, &ignored) == 0 &&
	       ssh_run(m->ssh, &command, &there, &ignored) == 0 && there.status == 0;
}

/*
 * While an engine unpacks, the blobs and what is in them lie on its disk. Layers that it has already are not counted off, so
 * only a disk that could hold neither is a failure.
 */
int visit_check_disk(const struct visit *v, struct error *err)
{
	const struct facts *f = &v->m->facts;
	uint64_t bytes = v->bringup->image_bytes;
	char size[32], left[32];

	if (!bytes || f->disk_free_bytes <= 0 || f->disk_free_bytes >= 2.0 * (double)bytes)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: %s has %s free, and the image has %s before it is unpacked; free space there",
		v->m->host->name, *f->data_root ? f->data_root : "the engine's disk",
		format_bytes(left, (uint64_t)f->disk_free_bytes), format_bytes(size, bytes));
}

int visit_pull(struct visit *v, struct error *err)
{
	/* on a host without anything of the cluster, the engine's pull finds out by itself */
	if (!v->is_first && !v->bringup->image_is_new && member_has_image(v->m, v->bringup->image))
		return 0;
	if (visit_check_disk(v, err) < 0)
		return -1;
	if (v->bringup->image_archive) {
		progress_state(v->step, "gets %s over SSH", v->bringup->image);
		return pull_send_image(v, err);
	}
	progress_state(v->step, "pulls %s", v->bringup->image);
	if (visit_pull_by_name(v, err) == 0)
		return 0;
	/* one that has it needs no registry */
	if (!v->is_first || !member_has_image(v->m, v->bringup->image))
		return -1;
	*err = (struct error){0};
	return 0;
}
