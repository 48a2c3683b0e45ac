/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/claim.h"
#include "deployer/bringup/operate.h"

#include "core/log.h"
#include "core/quote.h"
#include "deployer/probe.h"
#include "deployer/remote.h"

#include <string.h>

#define CLAIM_COMMAND "ringup up --take-over (or ringup down --take-over)"

/* What of the host's is somebody else's, and whose; NULL when nothing is. */
static const char *claim_of_another(struct member *m, const struct owner **owner)
{
	const struct host_state *state = &m->state;
	const struct owner *own = &m->fleet->owner;
	bool has_container = *state->container_id;

	if (has_container && !owner_is(&state->container_owner, own)) {
		*owner = &state->container_owner;
		return arena_printf(&m->arena, "the container %s", m->fleet->container);
	}
	/* a container of ours says whose files without an owner are */
	if (owner_is(&state->owner, own) || (!*state->owner.id && (has_container || !*state->mesh)))
		return NULL;
	*owner = &state->owner;
	return arena_printf(&m->arena, "the cluster '%s'", m->fleet->cluster->name);
}

int member_check_owner(struct member *m, struct error *err)
{
	const struct owner *owner;
	const char *thing = claim_of_another(m, &owner);

	if (!thing)
		return 0;
	if (!m->fleet->takes_over)
		return owner_refuse(m->host->name, thing, owner, CLAIM_COMMAND, err);
	log_warn("%s: takes over %s: %s", m->host->name, thing,
		 *owner->id ? owner_story(owner, &m->arena) : "it names no owner");
	return 0;
}

static int claim_check_one(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return member_check_owner(m, err);
}

void fleet_check_owner(struct fleet *fleet)
{
	fleet_each(fleet, claim_check_one, NULL);
}

bool member_is_paused(const struct member *m)
{
	return strcmp(m->state.status, "paused") == 0;
}

int member_check_paused(const struct member *m, struct error *err)
{
	if (!member_is_paused(m))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: its container is paused: somebody ran '%s pause'; end that there with '%s unpause %s'",
		m->host->name, m->engine->name, m->engine->name, m->fleet->container);
}

static int claim_check_paused(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return member_check_paused(m, err);
}

void fleet_check_paused(struct fleet *fleet)
{
	fleet_each(fleet, claim_check_paused, NULL);
}

int member_ask_owner(struct member *m, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const struct engine_value values[] = {{"container", m->fleet->container, NULL}, {0}};
	struct words state = WORDS_INIT(&m->arena), words = WORDS_INIT(&m->arena);
	_cleanup_(str_release) struct str line = STR_INIT;
	struct ssh_command command = {0};

	engine_expand(m->engine->state, values, &state);
	quote_words(&line, state.list);
	if (remote_script("owner", WORDS(m->fleet->cluster->name, m->engine->name, line.text),
			  &words, err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "cannot ask for the cluster's owner", &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	probe_read_state(m, result.out.text);
	return member_check_owner(m, err);
}

int member_check_worker(const struct member *m, struct error *err)
{
	if (m->engine->has_containers ? m->state.running : *m->state.mesh)
		return 0;
	return error_set(err, ERROR_FAILED, "%s: no worker is up there; run 'ringup up' first",
			 m->host->name);
}

int member_refuse_files(struct member *m, const char *said, struct error *err)
{
	owner_parse(said, "owner_", &m->arena, &m->state.owner);
	return owner_refuse(m->host->name,
			    arena_printf(&m->arena, "the cluster '%s'", m->fleet->cluster->name),
			    &m->state.owner, CLAIM_COMMAND, err);
}

/* The names of the jobs whose processes are in the container, one to a line. */
static const char claim_jobs[] =
	"for file in /proc/[0-9]*/environ; do\n"
	"  tr '\\0' '\\n' <\"$file\" 2>/dev/null | sed -n 's/^RINGUP_JOB=//p'\n"
	"done | sort -u\n";

#define CLAIM_JOBS_TIMEOUT_S 30
#define CLAIM_JOBS_BYTES 200

static int claim_check_jobs(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0}; /* an image without a shell cannot tell */
	const struct owner *owner = &m->state.container_owner;

	(void)arg;
	if (!m->engine->has_containers || !m->state.running || owner_is(owner, &m->fleet->owner) ||
	    member_exec(m, WORDS("sh", "-c", claim_jobs), CLAIM_JOBS_TIMEOUT_S, &result, &ignored) <
		    0 ||
	    !result.out.text || !*result.out.text)
		return 0;
	str_one_line(&result.out, CLAIM_JOBS_BYTES);
	return error_set(
		err, ERROR_FAILED,
		"%s: a job runs in the container of another owner, and would end with it: %s (%s); it is ended there by 'ringup stop', and here by --force",
		m->host->name, result.out.text,
		*owner->id ? owner_story(owner, &m->arena) : "it names no owner");
}

void fleet_check_their_jobs(struct fleet *fleet)
{
	fleet_each(fleet, claim_check_jobs, NULL);
}
