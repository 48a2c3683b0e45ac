/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/bringup.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/quote.h"
#include "core/secret.h"
#include "deployer/bringup/claim.h"
#include "deployer/container/images.h"
#include "deployer/records/journal.h"
#include "deployer/bringup/mesh.h"
#include "deployer/remote.h"
#include "deployer/container/replace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define PULL_TIMEOUT_S 3600
#define PULL_STALL_S "60" /* without a byte */

static int run_words(struct member *m, const char *const *words, const void *input, size_t bytes,
		     int timeout_s, const char *what, struct proc_result *result, struct error *err)
{
	struct ssh_command command = {
		.words = words, .input = input, .input_bytes = bytes, .timeout_s = timeout_s};

	if (member_connect(m, err) < 0)
		return -1;
	if (ssh_check(m->ssh, &command, what, result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

static int send_files(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&v->m->arena);

	if (remote_script("receive", visit_receive_arguments(v, true), &words, err) < 0)
		return -1;
	if (run_words(v->m, words.list, v->parcel.tar, v->parcel.tar_bytes, 0,
		      "cannot put the cluster's files there", &result, err) == 0)
		return 0;
	/* after the probe, somebody else was quicker */
	if (result.status == OWNER_REFUSED)
		member_refuse_files(v->m, result.out.text, err);
	return -1;
}

static const char *const *engine_words(struct visit *v, const char *const *pattern)
{
	return container_words(v->m, &v->container, pattern);
}

static const char *bringup_quoted(struct visit *v, const char *const *pattern)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	quote_words(&line, engine_words(v, pattern));
	return arena_strdup(&v->m->arena, line.text);
}

/* The script's stdin: the login in a line of its own. The caller wipes it. */
static struct secret login_line(const struct visit *v)
{
	struct arena *arena = &v->m->arena;
	struct secret login =
		credentials_text(&v->bringup->credentials, v->bringup->registry, arena);
	struct secret line = {arena_printf(arena, "%s\n", secret_reveal(login))};

	secret_wipe(&login);
	return line;
}

/* "bytes=N": what the host has received since the pull began. */
static void bringup_pull_line(void *arg, const char *line)
{
	const struct visit *v = arg;
	uint64_t bytes, all = v->bringup->image_bytes;

	if (!starts_with(line, "bytes="))
		return;
	bytes = strtoull(line + strlen("bytes="), NULL, 10);
	progress_bytes(v->step, all && bytes > all ? all : bytes, all);
}

/* The reason of a pull that failed; -1. */
static int bringup_pull_failed(struct visit *v, const struct proc_result *result, struct error *err)
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

/*
 * The login goes into a configuration folder of ringup's own, which the same remote command removes
 * after the pull. So nothing stays in the user's configuration. The command's stdin stays open: its
 * end tells the command that the connection broke, and no password stays behind then.
 */
static int log_in_and_pull(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct member *m = v->m;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = PULL_TIMEOUT_S,
				      .holds_input = true,
				      .line = bringup_pull_line,
				      .arg = v};
	struct secret login;
	int rc;

	if (remote_script("pull",
			  WORDS(v->container.config_folder, bringup_quoted(v, m->engine->pull),
				PULL_STALL_S),
			  &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	login = login_line(v);
	command.words = words.list;
	command.input = secret_reveal(login);
	command.input_bytes = strlen(command.input);
	rc = ssh_check(m->ssh, &command, "cannot pull the image", &result, err);
	secret_wipe(&login);
	if (rc < 0)
		return bringup_pull_failed(v, &result, err);
	journal_add(m, "pull", v->bringup->image);
	return 0;
}

/* The image over the connection, from a file of this machine. */
static int bringup_send_image(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(fd_close) int file = open(v->bringup->image_archive, O_RDONLY | O_CLOEXEC);
	struct member *m = v->m;
	struct ssh_command command = {.timeout_s = PULL_TIMEOUT_S, .input_fd = file};

	if (file < 0)
		return error_set(err, ERROR_FAILED, "%s: %m", v->bringup->image_archive);
	if (member_connect(m, err) < 0)
		return -1;
	command.words = engine_words(v, m->engine->load);
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
static int bringup_check_disk(const struct visit *v, struct error *err)
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

static int bringup_pull(struct visit *v, struct error *err)
{
	if (!v->bringup->image_is_new && member_has_image(v->m, v->bringup->image))
		return 0;
	if (bringup_check_disk(v, err) < 0)
		return -1;
	if (v->bringup->image_archive) {
		progress_state(v->step, "gets %s over SSH", v->bringup->image);
		return bringup_send_image(v, err);
	}
	progress_state(v->step, "pulls %s", v->bringup->image);
	return log_in_and_pull(v, err);
}

static int bringup_converge(struct visit *v, struct error *err)
{
	struct member *m = v->m;

	if (!v->files_differ)
		return 0;
	m->phase = "files";
	v->step = progress_begin(m->host->name, "puts the keys there");
	m->changed = true;
	if (send_files(v, err) < 0)
		return -1;
	m->state.mesh = arena_strdup(&m->arena, v->parcel.digest);
	journal_add(m, "files", v->parcel.digest);
	if (!v->container_differs)
		return 0;
	m->phase = "image";
	if (bringup_pull(v, err) < 0)
		return -1;
	m->phase = "container";
	return visit_replace(v, err);
}

static int bring_one(struct member *m, void *arg, struct error *err)
{
	struct visit v = {.m = m, .bringup = arg};
	uint64_t begin = clock_usec();
	int rc;

	rc = visit_compare(&v, err);
	if (rc == 0)
		rc = bringup_converge(&v, err);
	if (v.step)
		progress_end(v.step, rc == 0, rc == 0 ? "up in %.1f s" : "failed after %.1f s",
			     clock_seconds_since(begin));
	visit_release(&v);
	return rc;
}

/*
 * A container that has proved itself comes back after a restart of the engine and after a boot. One
 * that dies at its start does not, so that it cannot start over and over.
 */
static int bringup_keep(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *note;

	(void)arg;
	if (!member_lacks_keep(m))
		return 0;
	if (run_words(m, container_keep_words(m), NULL, 0, 0,
		      "cannot set the container's restart policy", &result, err) < 0)
		return -1;
	note = remote_value(result.out.text, "note", &m->arena);
	if (*note)
		log_warn("%s: %s", m->host->name, note);
	m->changed = true;
	m->state.restarts = true;
	journal_add(m, "keep", m->state.container_id);
	return 0;
}

static void bringup_verify(struct fleet *fleet, const struct bringup *bringup)
{
	fleet_phase(fleet, "mesh");
	fleet_verify(fleet, bringup->accelerator);
	fleet_each(fleet, bringup_keep, NULL);
}

/* Whether the host needs another container, in `arg` by the members' indexes. */
struct bringup_turns {
	const struct bringup *bringup;
	bool *due;
};

static int bringup_judge(struct member *m, void *arg, struct error *err)
{
	struct bringup_turns *turns = arg;
	struct visit v = {.m = m, .bringup = turns->bringup};
	int rc = visit_compare(&v, err);

	turns->due[m->index] = rc == 0 && v.container_differs;
	visit_release(&v);
	return rc;
}

/* Lets only the next group work: up to `size` of those that are due. False when none is left. */
static bool bringup_next_group(struct fleet *fleet, bool *due, int size)
{
	_cleanup_(str_release) struct str names = STR_INIT;
	int count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		m->waits = true;
		if (!due[i] || m->failed || m->left_out || count == size)
			continue;
		str_addf(&names, "%s%s", count++ ? ", " : "", m->host->name);
		m->waits = due[i] = false;
	}
	if (count)
		log_info("  %-20s %s", "next", names.text);
	return count > 0;
}

/* Hosts whose turn has come or that need no new container: those that can be verified now. */
static void bringup_let_done(struct fleet *fleet, const bool *due)
{
	for (size_t i = 0; i < fleet->count; i++)
		fleet->members[i].waits = due[i];
}

/*
 * A host that needs no new container gets its files at once. The others take turns, and a group that
 * fails is the last one: those that are due then keep what they have.
 */
static void bringup_in_turns(struct fleet *fleet, const struct bringup *bringup)
{
	struct bringup_turns turns = {bringup, ARENA_ARRAY(fleet->arena, fleet->count, bool)};
	size_t failures;
	bool has_next;

	fleet_each(fleet, bringup_judge, &turns);
	bringup_let_done(fleet, turns.due);
	failures = fleet_failures(fleet);
	do {
		fleet_each(fleet, bring_one, (void *)(uintptr_t)bringup);
		bringup_let_done(fleet, turns.due);
		if (fleet_active(fleet))
			bringup_verify(fleet, bringup);
		has_next = fleet_failures(fleet) == failures &&
			   bringup_next_group(fleet, turns.due, bringup->rolling);
	} while (has_next);
	bringup_let_done(fleet, turns.due);
}

void fleet_bringup(struct fleet *fleet, const struct bringup *bringup)
{
	bool has_containers = fleet->members[0].engine->has_containers;

	if (bringup->rolling > 0 && has_containers) {
		bringup_in_turns(fleet, bringup);
		return;
	}
	/* The records are only read; fleet_each hands a plain pointer on. */
	fleet_each(fleet, bring_one, (void *)(uintptr_t)bringup);
	if (has_containers)
		bringup_verify(fleet, bringup);
}
