/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/mesh.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/log.h"
#include "deployer/bringup/bringup.h"
#include "deployer/container/gpus.h"
#include "deployer/remote.h"
#include "deployer/bringup/operate.h"

#include <string.h>

#define MESH_TIMEOUT_S 600
#define MESH_PATIENCE_S "15" /* a busy host needs seconds to start an sshd */
#define LOG_BYTES 600
#define LOG_LINES 20
#define MESH_PAIRS_SHOWN 4

int mesh_died(struct member *m, const char *exit_status, const char *log, struct error *err)
{
	error_set(err, ERROR_FAILED,
		  "%s: the container %s died at start (exit status %s); its log ends: %s",
		  m->host->name, m->fleet->container, *exit_status ? exit_status : "?",
		  *log ? log : "(it is empty)");
	if (strstr(log, "Address already in use"))
		error_advise(
			err,
			"another program has port %d there (ss -ltnp shows it): stop it, or set container.sshd_port",
			m->sshd_port);
	return -1;
}

/* The error for a container that died and lies there: its exit status and the end of its log. */
static int died(struct member *m, const char *state, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result logs = {0};
	struct error ignored = {0};

	if (member_logs(m, LOG_LINES, false, &logs, &ignored) == 0)
		str_add(&logs.out, logs.err.text);
	str_one_line(&logs.out, LOG_BYTES);
	mesh_died(m, remote_value(state, "container_exit", &m->arena), logs.out.text, err);
	if (strstr(logs.out.text, "Address already in use"))
		return -1;
	return error_advise(
		err, "'ringup logs %s' shows all of it; mend the cause and run 'ringup up' again",
		m->host->name);
}

static int run_record(struct member *m, const char *const *pattern, struct proc_result *result,
		      struct error *err)
{
	const struct engine_value values[] = {{"container", m->fleet->container, NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};

	engine_expand(pattern, values, &words);
	command.words = words.list;
	if (member_connect(m, err) < 0)
		return -1;
	if (ssh_run(m->ssh, &command, result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

static int check_running(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result state = {0};

	(void)arg;
	if (run_record(m, m->engine->state, &state, err) < 0)
		return -1;
	return strstr(state.out.text, "container_running=true") ? 0 : died(m, state.out.text, err);
}

/* A single container gets no logins, so one that was just started is watched for a moment. */
static int watch_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	if (!m->changed)
		return 0;
	if (run_record(m, m->engine->outlive, &result, err) < 0)
		return -1;
	return result.status == ENGINE_ALIVE ? 0 : check_running(m, arg, err);
}

static const char *const NO_WORDS[] = {NULL};

/* How long the sshds of the fleet may need until they let workers in. */
static const char *mesh_patience(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->members[i].changed)
			return MESH_PATIENCE_S;
	return "0";
}

/*
 * The words of mesh.sh: the patience, and the members that this one must be able to log in to, which are the next ones in
 * the ring of hosts. NO_WORDS when there are none.
 */
static const char *const *mesh_words(struct member *m, const char *patience)
{
	struct words words = WORDS_INIT(&m->arena);
	struct fleet *fleet = m->fleet;

	words_add(&words, patience);
	for (size_t i = 1; i < fleet->count && words.count <= MESH_PEERS_MAX; i++) {
		const struct member *peer = &fleet->members[(m->index + i) % fleet->count];

		if (member_is_active(peer))
			words_add(&words, peer->host->name);
	}
	return words.count > 1 ? words.list : NO_WORDS;
}

/* What ssh says of a login that failed, and what that means; "%d" is the port. Rows are tried in order. */
static const struct {
	const char *said, *means;
} mesh_reasons[] = {
	{"Connection refused", "connection refused on port %d: no sshd listens there"},
	{"timed out", "no answer on port %d: a firewall drops it, or the route leads elsewhere"},
	{"No route to host", "no route to it, or a firewall that rejects port %d"},
	{"Network is unreachable", "there is no route to it"},
	{"Could not resolve", "its name is not known there"},
	{"REMOTE HOST IDENTIFICATION",
	 "another host key answers on port %d: not this cluster's sshd"},
	{"Host key verification failed",
	 "another host key answers on port %d: not this cluster's sshd"},
	{"Permission denied", "the cluster's key is refused on port %d: its sshd has other keys"},
	{"kex_exchange_identification",
	 "what listens on port %d ends the connection: no sshd, or one that refuses this host"},
};

/* "node02 -> node03: connection refused on port 9435: no sshd listens there" */
static void mesh_add_pair(struct member *m, const struct member *peer, const char *said,
			  struct str *out)
{
	const char *means = NULL;

	for (size_t i = 0; i < ARRAY_LEN(mesh_reasons) && !means; i++)
		if (strstr(said, mesh_reasons[i].said))
			means = mesh_reasons[i].means;
	str_addf(out, "%s%s -> %s: ", out->length ? "; " : "", m->host->name, peer->host->name);
	if (!means) {
		str_add(out, said);
		return;
	}
	for (; *means; means++) {
		if (!starts_with(means, "%d")) {
			str_add_char(out, *means);
			continue;
		}
		str_addf(out, "%d", peer->sshd_port);
		means++;
	}
}

static const struct member *mesh_named(const struct fleet *fleet, const char *name, size_t length)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const char *known = fleet->members[i].host->name;

		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return &fleet->members[i];
	}
	return NULL;
}

/* The script's lines "NAME: WORDS OF SSH", of which the first ones become pairs; what else it says stands as it is. */
int mesh_explain(struct member *m, const char *said, struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	char *copy = arena_strdup(&m->arena, said), *line;
	size_t pairs = 0;

	while ((line = strsep(&copy, "\n"))) {
		_cleanup_(str_release) struct str words = STR_INIT;
		const char *colon = strstr(line, ": ");
		const struct member *peer =
			colon ? mesh_named(m->fleet, line, (size_t)(colon - line)) : NULL;

		if (!*line || (peer && pairs++ >= MESH_PAIRS_SHOWN))
			continue;
		str_add(&words, peer ? colon + 2 : line);
		str_one_line(&words, LOG_BYTES);
		if (peer)
			mesh_add_pair(m, peer, words.text, &text);
		else
			str_addf(&text, "%s%s", text.length ? "; " : "", words.text);
	}
	if (pairs > MESH_PAIRS_SHOWN)
		str_addf(&text, "; and %zu more from %s", pairs - MESH_PAIRS_SHOWN, m->host->name);
	return error_set(err, ERROR_FAILED, "%s: its worker cannot log in to others: %s",
			 m->host->name,
			 text.length ? text.text : "the check failed without a word");
}

/* Without sshds the containers need only run ringup-job, which starts jobs: it runs `true` here. */
static int mesh_run_job(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)arg;
	if (member_exec(m, WORDS("true"), MESH_TIMEOUT_S, &result, err) < 0)
		return -1;
	if (result.status == 0)
		return 0;
	str_add(&result.out, result.err.text);
	str_one_line(&result.out, LOG_BYTES);
	return error_set(err, ERROR_FAILED,
			 "%s: ringup-job, which starts jobs, does not run in its container: %s",
			 m->host->name, result.out.text);
}

static int meet_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	const char *const *const *of = arg;

	if (!*of[m->index])
		return 0;
	if (remote_script("mesh", of[m->index], &words, err) < 0)
		return -1;
	if (member_exec(m, words.list, MESH_TIMEOUT_S, &result, err) < 0)
		return -1;
	if (result.status == 0)
		return 0;
	str_add(&result.out, result.err.text);
	return mesh_explain(m, result.out.text, err);
}

/*
 * The peers are chosen before any member can fail, so each host's thread reads only its own list.
 */
static void mesh_meet(struct fleet *fleet)
{
	const char *const **of = ARENA_ARRAY(fleet->arena, fleet->count, const char *const *);
	const char *patience = mesh_patience(fleet);

	for (size_t i = 0; i < fleet->count; i++)
		of[i] = mesh_words(&fleet->members[i], patience);
	fleet_each(fleet, meet_one, of);
}

/*
 * A member that cannot log in to a dead container has not failed; the member with the dead
 * container has. `before` is the number of members that had failed before the logins.
 */
static void find_dead(struct fleet *fleet, const bool *failed_before, size_t before)
{
	struct error *errors = ARENA_ARRAY(fleet->arena, fleet->count, struct error);

	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		if (!m->failed || failed_before[i])
			continue;
		errors[i] = m->err;
		m->failed = false;
		m->err = (struct error){0};
	}
	fleet_each(fleet, check_running, NULL);
	if (fleet_failures(fleet) > before) {
		if (cluster_has_sshd(fleet->cluster))
			mesh_meet(fleet);
		return;
	}
	for (size_t i = 0; i < fleet->count; i++) {
		if (!errors[i].kind)
			continue;
		fleet->members[i].failed = true;
		fleet->members[i].err = errors[i];
	}
}

static void meet_living(struct fleet *fleet)
{
	bool *failed_before = ARENA_ARRAY(fleet->arena, fleet->count, bool);
	size_t before = fleet_failures(fleet);

	for (size_t i = 0; i < fleet->count; i++)
		failed_before[i] = fleet->members[i].failed;
	if (cluster_has_sshd(fleet->cluster))
		mesh_meet(fleet);
	else
		fleet_each(fleet, mesh_run_job, NULL);
	if (fleet_failures(fleet) > before)
		find_dead(fleet, failed_before, before);
}

/*
 * Digest of the containers, their starts and the keys of all hosts. If it equals the last verified
 * one, nothing has changed.
 */
static void mesh_digest(const struct fleet *fleet, char text[static DIGEST_TEXT_BYTES])
{
	struct digest digest;

	digest_init(&digest);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		digest_add(&digest, m->host->name, strlen(m->host->name) + 1);
		if (m->failed || m->left_out)
			continue;
		digest_add(&digest, m->state.container_id, strlen(m->state.container_id) + 1);
		digest_add(&digest, m->state.started, strlen(m->state.started) + 1);
		digest_add(&digest, m->state.mesh, strlen(m->state.mesh) + 1);
	}
	digest_finish(&digest, text);
}

/* Of a container that nobody has touched since it was verified: somebody may have stopped its sshd. */
static int mesh_check_sshd(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};

	(void)arg;
	if (!m->sshd_port)
		return 0;
	if (remote_script("sshd_greets",
			  WORDS(m->address, arena_printf(&m->arena, "%d", m->sshd_port)), &words,
			  err) < 0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "cannot ask its container's sshd", &result, err) < 0)
		return -1;
	if (!*remote_value(result.out.text, "greets", &m->arena))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: its container's sshd does not answer on %s port %d; 'ringup restart %s' starts it again, 'ringup logs %s' may say why",
		m->host->name, m->address, m->sshd_port, m->host->name, m->host->name);
}

void fleet_verify(struct fleet *fleet, const char *accelerator)
{
	const char *path = cluster_state_path(fleet->cluster, "verified", fleet->arena);
	struct error ignored = {0};
	char now[DIGEST_TEXT_BYTES], *before = NULL;
	struct progress_step *step;
	size_t alive = fleet_active(fleet);
	bool has_sshd = cluster_has_sshd(fleet->cluster);

	mesh_digest(fleet, now);
	if (alive == fleet->count && file_exists(path) &&
	    file_read(path, DIGEST_TEXT_BYTES, fleet->arena, &before, NULL, &ignored) == 0 &&
	    strcmp(before, now) == 0) {
		if (has_sshd)
			fleet_each(fleet, mesh_check_sshd, NULL);
		fleet_check_container_gpus(fleet, accelerator);
		return;
	}
	if (alive < 2) {
		fleet_each(fleet, has_sshd ? watch_one : mesh_run_job, NULL);
		fleet_check_container_gpus(fleet, accelerator);
		return;
	}
	step = progress_begin("mesh", has_sshd ? "every worker logs in to every other"
					       : "every worker runs ringup-job");
	meet_living(fleet);
	progress_end(step, fleet_active(fleet) == alive,
		     has_sshd ? "%zu workers can log in to each other"
			      : "%zu workers run ringup-job; they have no sshd",
		     fleet_active(fleet));
	fleet_check_container_gpus(fleet, accelerator);
	if (fleet_active(fleet) == fleet->count &&
	    file_write(path, now, strlen(now), 0600, &ignored) < 0)
		log_debug("%s", ignored.text);
}
