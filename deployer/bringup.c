/* SPDX-License-Identifier: MIT */
#include "deployer/bringup.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/quote.h"
#include "deployer/journal.h"
#include "deployer/remote.h"
#include "deployer/visit.h"

#include <string.h>

#define PULL_TIMEOUT_S 3600
#define RUN_TIMEOUT_S 180
#define MESH_TIMEOUT_S 600
#define LOGIN_FAILED 41 /* exit status of pull.sh */
#define LOG_BYTES 600

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

	if (remote_script("receive", WORDS(v->m->state.folder, v->container.ca_path), &words, err) <
	    0)
		return -1;
	return run_words(v->m, words.list, v->parcel.tar, v->parcel.tar_bytes, 0,
			 "cannot put the cluster's files there", &result, err);
}

static const char *const *engine_words(struct visit *v, const char *const *pattern)
{
	return container_words(v->m, &v->container, pattern);
}

/* The registry's "no" in words that say what to do. */
static int explain_pull(const struct visit *v, struct error *err)
{
	const struct bringup *b = v->bringup;

	if (strstr(err->text, "x509") || strstr(err->text, "certificate"))
		return error_advise(err,
				    "the host does not trust the registry %s; set registry.ca in "
				    "cluster.yaml to the CA that signed its certificate",
				    b->registry);
	if (strstr(err->text, "unauthorized") || strstr(err->text, "401"))
		return error_advise(
			err, "the registry %s refused user '%s'; log in again: ringup login %s",
			b->registry, b->credentials.user ? b->credentials.user : "(none)",
			b->registry);
	if (strstr(err->text, "refused") || strstr(err->text, "no route"))
		return error_advise(err, "can this host reach the registry %s?", b->registry);
	if (strstr(err->text, "no space left"))
		return error_advise(err, "free space under %s and run this again",
				    *v->m->facts.data_root ? v->m->facts.data_root
							   : "its data folder");
	return -1;
}

static int explain_login(const struct visit *v, struct proc_result *result, struct error *err)
{
	str_one_line(&result->err, LOG_BYTES);
	error_set(err, ERROR_FAILED, "%s: cannot log in to the registry %s: %s", v->m->host->name,
		  v->bringup->registry, result->err.text);
	return explain_pull(v, err);
}

static const char *quoted(struct visit *v, const char *const *pattern)
{
	_cleanup_(str_release) struct str line = {0};

	str_init(&line);
	quote_words(&line, engine_words(v, pattern));
	return arena_strdup(&v->m->arena, line.text);
}

/*
 * Login and pull are one command on the host, with a configuration folder of our own that is gone
 * when it ends: nothing stays in the user's, and a connection that breaks leaves no password
 * behind.
 */
static int log_in_and_pull(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const struct credentials *c = &v->bringup->credentials;
	const char *password = c->user ? secret_reveal(c->password) : "";
	struct words words = WORDS_INIT(&v->m->arena);

	if (remote_script("pull",
			  WORDS(v->container.config_folder,
				c->user ? quoted(v, v->m->engine->login) : "",
				quoted(v, v->m->engine->pull)),
			  &words, err) < 0)
		return -1;
	if (run_words(v->m, words.list, password, strlen(password), PULL_TIMEOUT_S,
		      "cannot pull the image", &result, err) < 0)
		return result.status == LOGIN_FAILED ? explain_login(v, &result, err)
						     : explain_pull(v, err);
	journal_add(v->m, "pull", v->bringup->image);
	return 0;
}

static int pull(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result there = {0};
	struct ssh_command command = {.words = engine_words(v, v->m->engine->has_image)};

	if (ssh_run(v->m->ssh, &command, &there, err) < 0)
		return error_wrap(err, "%s", v->m->host->name);
	if (there.status == 0)
		return 0;
	progress_state(v->step, "pulls %s", v->bringup->image);
	return log_in_and_pull(v, err);
}

static int remove_container(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	progress_state(v->step, "removes the old container");
	return run_words(v->m, engine_words(v, v->m->engine->remove), NULL, 0, RUN_TIMEOUT_S,
			 "cannot remove the old container", &result, err);
}

static int remove_old(struct visit *v, struct error *err)
{
	return *v->m->state.container_id ? remove_container(v, err) : 0;
}

/* A container that died has its exit status and its last words in its log. */
static int died(struct visit *v, const char *state, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result logs = {0};
	struct ssh_command command = {.words = engine_words(v, v->m->engine->logs)};
	struct error ignored = {0};
	const char *exit_status = strstr(state, "container_exit=");

	if (ssh_run(v->m->ssh, &command, &logs, &ignored) < 0)
		str_clear(&logs.err);
	str_add(&logs.out, logs.err.text);
	str_one_line(&logs.out, LOG_BYTES);
	error_set(err, ERROR_FAILED,
		  "%s: the container %s died at start (exit status %.*s); its log ends: %s",
		  v->m->host->name, v->m->fleet->container,
		  exit_status ? (int)strcspn(exit_status + 15, "\n") : 1,
		  exit_status ? exit_status + 15 : "?",
		  logs.out.length ? logs.out.text : "(it is empty)");
	if (strstr(logs.out.text, "Address already in use"))
		return error_advise(
			err,
			"another program has port %d there (ss -ltnp shows it): stop it, or set "
			"container.sshd_port",
			v->m->fleet->cluster->container.sshd_port);
	return error_advise(
		err, "'ringup logs %s' shows all of it; mend the cause and run 'ringup up' again",
		v->m->host->name);
}

static int check_alive(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result there = {0}, state = {0};
	struct ssh_command command = {.words = engine_words(v, v->m->engine->outlive)};

	if (ssh_run(v->m->ssh, &command, &there, err) < 0)
		return error_wrap(err, "%s", v->m->host->name);
	if (there.status == ENGINE_ALIVE)
		return 0;
	if (run_words(v->m, engine_words(v, v->m->engine->state), NULL, 0, 0,
		      "cannot look at the container", &state, err) < 0)
		return -1;
	return strstr(state.out.text, "container_running=true") ? 0 : died(v, state.out.text, err);
}

static int run_container(struct visit *v, struct proc_result *result, struct error *err)
{
	progress_state(v->step, "starts the container");
	return run_words(v->m, engine_words(v, v->m->engine->run), NULL, 0, RUN_TIMEOUT_S,
			 "cannot start the container", result, err);
}

static int start(struct visit *v, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct member *m = v->m;

	m->changed = true;
	if (run_container(v, &result, err) < 0) {
		/* the engine ended what an interrupted run had begun only after the probe */
		if (!m->engine->name_taken || !strstr(err->text, m->engine->name_taken))
			return -1;
		proc_result_release(&result);
		result = (struct proc_result){0};
		*err = (struct error){0};
		if (remove_container(v, err) < 0 || run_container(v, &result, err) < 0)
			return -1;
	}
	str_trim(&result.out);
	m->state.container_id = arena_strdup(&m->arena, result.out.text);
	m->state.config = v->container.config_hash;
	m->state.running = true;
	journal_add(m, "run", m->state.container_id);
	return check_alive(v, err);
}

static int converge(struct visit *v, struct error *err)
{
	struct member *m = v->m;

	if (!v->files_differ)
		return 0;
	v->step = progress_begin(m->host->name, "puts the keys there");
	m->changed = true;
	if (send_files(v, err) < 0)
		return -1;
	m->state.mesh = arena_strdup(&m->arena, v->parcel.digest);
	journal_add(m, "files", v->parcel.digest);
	if (!v->container_differs)
		return 0;
	if (pull(v, err) < 0 || remove_old(v, err) < 0 || start(v, err) < 0)
		return -1;
	return 0;
}

static int bring_one(struct member *m, void *arg, struct error *err)
{
	struct visit v = {.m = m, .bringup = arg};
	uint64_t begin = clock_usec();
	int rc;

	rc = visit_compare(&v, err);
	if (rc == 0)
		rc = converge(&v, err);
	if (v.step)
		progress_end(v.step, rc == 0, rc == 0 ? "up in %.1f s" : "failed after %.1f s",
			     clock_seconds_since(begin));
	visit_release(&v);
	return rc;
}

static const char *const NO_WORDS[] = {NULL};

/* The members that this one must be able to log in to: the next ones in the ring. */
static const char *const *peers_of(struct member *m)
{
	struct words peers = WORDS_INIT(&m->arena);
	struct fleet *fleet = m->fleet;

	for (size_t i = 1; i < fleet->count && peers.count < MESH_PEERS_MAX; i++) {
		const struct member *peer = &fleet->members[(m->index + i) % fleet->count];

		if (!peer->failed)
			words_add(&peers, peer->host->name);
	}
	return peers.list ? peers.list : NO_WORDS;
}

static int mesh_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	const char *const *peers = peers_of(m);

	(void)arg;
	if (!*peers)
		return 0;
	if (remote_script("mesh", peers, &words, err) < 0)
		return -1;
	if (member_exec(m, words.list, MESH_TIMEOUT_S, &result, err) < 0)
		return -1;
	if (result.status == 0)
		return 0;
	str_add(&result.out, result.err.text);
	str_one_line(&result.out, LOG_BYTES);
	return error_set(
		err, ERROR_FAILED,
		"%s: its worker cannot log in to other workers on port %d: %s; is the port open "
		"between the hosts?",
		m->host->name, m->fleet->cluster->container.sshd_port, result.out.text);
}

/* What was verified last: containers and keys of all hosts. Equal means that nothing has changed
 * since. */
static void mesh_digest(const struct fleet *fleet, char text[static DIGEST_TEXT_BYTES])
{
	struct digest digest;

	digest_init(&digest);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		digest_add(&digest, m->host->name, strlen(m->host->name) + 1);
		if (m->failed)
			continue;
		digest_add(&digest, m->state.container_id, strlen(m->state.container_id) + 1);
		digest_add(&digest, m->state.mesh, strlen(m->state.mesh) + 1);
	}
	digest_finish(&digest, text);
}

static void verify_mesh(struct fleet *fleet)
{
	const char *path = cluster_state_path(fleet->cluster, "verified", fleet->arena);
	struct error ignored = {0};
	char now[DIGEST_TEXT_BYTES], *before = NULL;
	struct progress_step *step;
	size_t alive = fleet->count - fleet_failures(fleet);

	mesh_digest(fleet, now);
	if (alive == fleet->count && file_exists(path) &&
	    file_read(path, DIGEST_TEXT_BYTES, fleet->arena, &before, NULL, &ignored) == 0 &&
	    strcmp(before, now) == 0)
		return;
	if (alive < 2)
		return;
	step = progress_begin("mesh", "every worker logs in to every other");
	fleet_each(fleet, mesh_one, NULL);
	if (fleet_failures(fleet) == 0 && file_write(path, now, strlen(now), 0600, &ignored) < 0)
		log_debug("%s", ignored.text);
	progress_end(step, fleet->count - fleet_failures(fleet) == alive,
		     "%zu workers can log in to each other", fleet->count - fleet_failures(fleet));
}

void fleet_bringup(struct fleet *fleet, const struct bringup *bringup)
{
	/* The records are only read; fleet_each hands a plain pointer on. */
	fleet_each(fleet, bring_one, (void *)(uintptr_t)bringup);
	if (fleet->members[0].engine->has_containers)
		verify_mesh(fleet);
}
