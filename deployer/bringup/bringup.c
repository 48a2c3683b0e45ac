/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/bringup.h"

#include "core/clock.h"
#include "core/log.h"
#include "deployer/bringup/claim.h"
#include "deployer/records/journal.h"
#include "deployer/bringup/mesh.h"
#include "deployer/bringup/pull.h"
#include "deployer/remote.h"
#include "deployer/container/replace.h"

#include <string.h>

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

	if (remote_script("receive", visit_receive_arguments(v, true), &words, err) < 0 ||
	    parcel_make(v->m, v->bringup, &v->parcel, err) < 0)
		return -1;
	if (run_words(v->m, words.list, v->parcel.tar, v->parcel.tar_bytes, 0,
		      "cannot put the cluster's files there", &result, err) == 0)
		return 0;
	/* after the probe, somebody else was quicker */
	if (result.status == OWNER_REFUSED)
		member_refuse_files(v->m, result.out.text, err);
	return -1;
}

/* An engine keeps an image that has a name left; when this fails, it has one too many. */
static void bringup_forget_seed(struct visit *v)
{
	struct member *m = v->m;
	const char *name = v->bringup->seed_names ? v->bringup->seed_names[m->index] : NULL;
	const struct engine_value values[] = {{"image", name, NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);
	struct error ignored = {0};

	if (!name)
		return;
	engine_expand(m->engine->prune_image, values, &words);
	member_check(m, words.list, "", &ignored);
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
	if (visit_pull(v, err) < 0)
		return -1;
	bringup_forget_seed(v);
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
