/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/seeds.h"

#include "core/log.h"
#include "deployer/bringup/pull.h"
#include "deployer/container/images.h"
#include "deployer/remote.h"

#include <string.h>

#define SEEDS_STORE_TIMEOUT_S 3600

struct seeds {
	const struct bringup *bringup;
	const struct seed *list;
	size_t count;
	bool *is_lost;		   /* by seed */
	const struct seed **given; /* by member: where it pulls; NULL: it does not in this round */
	const char **names;	   /* by member: the image's name at its seed */
};

static size_t seeds_index(const struct seeds *seeds, const struct member *m)
{
	size_t i = 0;

	while (i < seeds->count && strcmp(seeds->list[i].host, m->host->name) != 0)
		i++;
	return i;
}

/* What bring-up would do if the seed were the cluster's registry. */
static void seeds_visit(struct member *m, const struct bringup *bringup, const struct seed *seed,
			struct bringup *instead, struct visit *v)
{
	const char *path = strchr(bringup->image, '/');

	*instead = *bringup;
	instead->image = arena_printf(&m->arena, "%s%s", seed->address, path);
	instead->registry = seed->address;
	instead->registry_ca = seed->ca;
	instead->credentials = seed->credentials;
	*v = (struct visit){.m = m, .bringup = instead};
	container_describe(m, instead, &v->container);
}

/* The engine trusts the seed while it pulls. */
static int seeds_trust(struct member *m, const struct visit *v, const char *script,
		       const char *input, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {
		.words = WORDS("sh", "-c", script, "seed", v->container.ca_path),
		.input = input,
		.input_bytes = input ? strlen(input) : 0};

	if (!*v->container.ca_path)
		return 0;
	if (member_connect(m, err) < 0)
		return -1;
	return ssh_check(m->ssh, &command, "cannot put the CA of the seed's registry there",
			 &result, err);
}

static int seeds_pull_trusting(struct visit *v, struct error *err)
{
	struct error ignored = {0};
	int rc;

	if (seeds_trust(v->m, v, "umask 022 && mkdir -p \"${1%/*}\" && cat >\"$1\"",
			v->bringup->registry_ca, err) < 0)
		return -1;
	rc = visit_pull_by_name(v, err);
	if (seeds_trust(v->m, v, "rm -rf \"${1%/*}\"", NULL, rc < 0 ? &ignored : err) < 0)
		return -1;
	return rc;
}

static int seeds_pull(struct member *m, const struct seeds *seeds, const struct seed *seed,
		      struct error *err)
{
	struct bringup instead;
	struct visit v;
	int rc;

	seeds_visit(m, seeds->bringup, seed, &instead, &v);
	if (visit_check_disk(&v, err) < 0)
		return -1;
	m->phase = "image";
	v.step = progress_begin(m->host->name, arena_printf(&m->arena, "pulls %s", instead.image));
	rc = seeds_pull_trusting(&v, err);
	progress_end(v.step, rc == 0, rc == 0 ? "has the image" : "not from %s", seed->host);
	if (rc == 0)
		seeds->names[m->index] = instead.image;
	return rc;
}

/* Waits until the seed's registry holds what it has handed on: it stores it beside the pull. */
static int seeds_wait_stored(struct member *m, const struct seed *seed, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = SEEDS_STORE_TIMEOUT_S};

	if (remote_script("seed_stored", WORDS(seed->storage), &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	return ssh_check(m->ssh, &command, "its registry does not store the image", &result, err);
}

static int seeds_one(struct member *m, void *arg, struct error *err)
{
	struct seeds *seeds = arg;
	const struct seed *seed = seeds->given[m->index];
	size_t own = seeds_index(seeds, m);
	struct error why = {0};

	(void)err;
	if (!seed)
		return 0;
	if ((!member_has_image(m, seeds->bringup->image) && seeds_pull(m, seeds, seed, &why) < 0) ||
	    (own < seeds->count && seeds_wait_stored(m, seed, &why) < 0)) {
		log_warn(
			"%s: the image does not come from the seed %s: %s; the registry %s serves it",
			m->host->name, seed->host, why.text, seeds->bringup->registry);
		if (own < seeds->count)
			seeds->is_lost[own] = true;
	}
	return 0;
}

/* Those whose own registry is one from `first` to before `end` pull from it. */
static void seeds_round(struct fleet *fleet, struct seeds *seeds, size_t first, size_t end)
{
	for (size_t i = 0; i < fleet->count; i++) {
		size_t own = seeds_index(seeds, &fleet->members[i]);

		seeds->given[i] = own >= first && own < end ? &seeds->list[own] : NULL;
	}
	fleet_each(fleet, seeds_one, seeds);
}

/* The others, in turn over the seeds that have it. False when no seed has. */
static bool seeds_share_out(const struct fleet *fleet, const struct seeds *seeds)
{
	size_t next = 0, tried;

	for (size_t i = 0; i < fleet->count; i++) {
		seeds->given[i] = NULL;
		if (!member_is_active(&fleet->members[i]) ||
		    seeds_index(seeds, &fleet->members[i]) < seeds->count)
			continue;
		for (tried = 0; tried < seeds->count && seeds->is_lost[next % seeds->count];
		     tried++)
			next++;
		if (tried == seeds->count)
			return false;
		seeds->given[i] = &seeds->list[next++ % seeds->count];
	}
	return true;
}

void fleet_pull_from_seeds(struct fleet *fleet, const struct bringup *bringup,
			   const struct seed *list, size_t count, const char **names)
{
	struct seeds seeds = {bringup,
			      list,
			      count,
			      ARENA_ARRAY(fleet->arena, count, bool),
			      ARENA_ARRAY(fleet->arena, fleet->count, const struct seed *),
			      names};

	if (!count)
		return;
	seeds_round(fleet, &seeds, 0, 1);
	seeds_round(fleet, &seeds, 1, count);
	if (seeds_share_out(fleet, &seeds))
		fleet_each(fleet, seeds_one, &seeds);
}
