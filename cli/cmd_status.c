/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_seeds.h"
#include "cli/app/stage_simulated.h"
#include "cli/run_on.h"
#include "cli/status_on.h"

#include "core/log.h"
#include "core/term.h"
#include "deployer/bringup/claim.h"
#include "deployer/container/gpus.h"
#include "deployer/health.h"
#include "deployer/probe.h"
#include "plan/gpu_wish.h"

#include <string.h>

#define STATUS_MINUTE_S 60
#define STATUS_HOUR_S (60 * STATUS_MINUTE_S)
#define STATUS_DAY_S (24 * STATUS_HOUR_S)

struct options {
	struct words hosts, settings;
	const char *on;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "on", "ENGINE", "the nodes, GPUs and queues of a scheduler: @{schedulers}", OPT_TEXT,
	 offsetof(struct options, on)},
	{'s', "set", "NAME=VALUE", "with --on kubernetes: context or namespace, as in 'run'",
	 OPT_LIST, offsetof(struct options, settings)},
	OPT_END,
};

struct status_row {
	const char *state;
	struct health health;
	const char *gpus; /* what is wrong between its GPUs and those of its container, or "" */
	enum container_gpus container_gpus;
	const char *error; /* what is wrong with the host, or NULL */
};

struct status {
	struct stages *stages;
	const struct bringup *wanted; /* NULL where nothing is known of it */
	struct status_row *rows;      /* one per member */
};

/* Whose the container is, or the files where there is none. */
static const struct owner *status_owner(const struct member *m)
{
	return *m->state.container_id ? &m->state.container_owner : &m->state.owner;
}

static bool is_there(const struct member *m)
{
	return *m->state.container_id || *m->state.mesh || *m->state.owner.id;
}

static bool is_foreign(const struct member *m)
{
	return is_there(m) && !owner_is(status_owner(m), &m->fleet->owner);
}

static const char *state_of(const struct member *m)
{
	if (m->failed)
		return "unreachable";
	if (is_foreign(m))
		return "foreign";
	if (!m->engine->has_containers)
		return *m->state.mesh ? "ready" : "absent";
	if (!*m->state.container_id)
		return "absent";
	if (member_is_paused(m))
		return "paused";
	return m->state.running ? "running" : "stopped";
}

static bool status_is_up(const struct member *m)
{
	return !is_foreign(m) && !member_is_paused(m) &&
	       (m->engine->has_containers ? m->state.running : *m->state.mesh);
}

static int status_ask_one(struct member *m, void *arg, struct error *err)
{
	struct status *status = arg;
	const struct bringup *wanted = status->wanted;
	struct error ignored = {0}; /* that nobody can look is said otherwise */

	status->rows[m->index].gpus = "";
	if (is_foreign(m))
		return 0;
	if (wanted && strcmp(wanted->accelerator, "cuda") == 0 && status_is_up(m) &&
	    m->engine->has_containers && !*m->facts.gpu_error &&
	    member_compare_gpus(m, &status->rows[m->index].container_gpus,
				&status->rows[m->index].gpus, &ignored) < 0)
		status->rows[m->index].gpus = "";
	return member_ask_health(m, wanted,
				 wanted ? wanted->keys.members[m->index].host_public : NULL,
				 &status->rows[m->index].health, err);
}

/* Docker and Podman print Go's zero time for a container that was made and could not be started. */
static bool status_never_started(const struct member *m)
{
	return starts_with(m->state.started, "0001-01-01T");
}

/* Why a host without a running container has none. */
static int status_say_absent(const struct member *m, const struct health *health, struct error *err)
{
	const char *name = m->host->name;

	if (is_foreign(m))
		return error_set(
			err, ERROR_FAILED, "%s: the cluster '%s' there is not this folder's: %s",
			name, m->fleet->cluster->name,
			*status_owner(m)->id ? owner_story(status_owner(m), m->fleet->arena)
					     : "it names no owner");
	if (!m->engine->has_containers || !*m->state.container_id)
		return error_set(err, ERROR_FAILED, "%s: %s; 'ringup up' starts it", name,
				 m->engine->has_containers ? "it has no container"
							   : "the worker is not there");
	if (member_check_paused(m, err) < 0)
		return -1;
	if (status_never_started(m))
		return error_set(
			err, ERROR_FAILED,
			"%s: its container was made and could not be started; 'ringup up' tries it again and says why not",
			name);
	return error_set(
		err, ERROR_FAILED,
		"%s: its container has ended with status %d; its log ends: %s; 'ringup up' starts it, 'ringup logs %s' shows more",
		name, m->state.exit_status,
		*health->last_words ? health->last_words : "(it is empty)", name);
}

/* A cluster for CPUs does not care. */
static const char *status_gpu_trouble(const struct status *status, struct member *m)
{
	return strcmp(status->stages->cluster.accelerator, "cpu") == 0 ? "" : member_gpu_trouble(m);
}

/* What is wrong with a host that answers; -1 with the reason, or 0. */
static int status_judge_one(struct member *m, void *arg, struct error *err)
{
	const struct status *status = arg;
	const struct health *health = &status->rows[m->index].health;
	const char *trouble;

	if (!status_is_up(m))
		return status_say_absent(m, health, err);
	trouble = status_gpu_trouble(status, m);
	if (*trouble)
		return error_set(
			err, ERROR_FAILED,
			"%s: %s; 'dmesg | grep -e Xid -e NVRM' there may say why, and 'ringup doctor %s' what to do",
			m->host->name, trouble, m->host->name);
	if (*status->rows[m->index].gpus)
		return error_set(err, ERROR_FAILED, "%s: %s", m->host->name,
				 status->rows[m->index].gpus);
	if (*health->differs)
		return error_set(
			err, ERROR_FAILED,
			"%s: it has another %s than ringup.lock and cluster.yaml say; 'ringup up' mends it",
			m->host->name, health->differs);
	if (health->sshd == HEALTH_SSHD_SILENT)
		return error_set(
			err, ERROR_FAILED,
			"%s: its container's sshd does not answer on %s port %d; 'ringup logs %s' may say why",
			m->host->name, m->address, m->sshd_port, m->host->name);
	if (health->sshd == HEALTH_SSHD_OTHER)
		return error_set(
			err, ERROR_FAILED,
			"%s: what answers on %s port %d has another host key than this cluster's sshd",
			m->host->name, m->address, m->sshd_port);
	return 0;
}

/* Without a lock that names an image, all must have the one that most hosts have. */
static void status_compare_images(const struct status *status)
{
	const struct fleet *fleet = &status->stages->fleet;
	const struct member *usual = NULL;
	size_t most = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];
		size_t same = 0;

		if (m->failed || m->left_out || !status_is_up(m))
			continue;
		for (size_t k = 0; k < fleet->count; k++)
			same += !fleet->members[k].failed && !fleet->members[k].left_out &&
				status_is_up(&fleet->members[k]) &&
				strcmp(fleet->members[k].state.image, m->state.image) == 0;
		if (same > most) {
			most = same;
			usual = m;
		}
	}
	for (size_t i = 0; usual && i < fleet->count; i++) {
		struct member *m = &fleet->members[i];

		if (m->failed || m->left_out || !status_is_up(m) || *status->rows[i].health.image ||
		    strcmp(m->state.image, usual->state.image) == 0)
			continue;
		m->failed = true;
		error_set(&m->err, ERROR_FAILED,
			  "%s: it has another image than %s; 'ringup up' mends it", m->host->name,
			  usual->host->name);
	}
}

/* A host that answers, and that fleet_check has failed. */
static const char *status_of_unfit(const struct member *m)
{
	return m->engine->has_containers && !*m->facts.engine_version ? "no engine" : "unusable";
}

/* Fills the rows. Afterwards the members with something wrong have failed. */
static void status_find(struct status *status)
{
	struct fleet *fleet = &status->stages->fleet;

	fleet_check(fleet);
	for (size_t i = 0; i < fleet->count; i++) /* a host that answered has facts */
		if (fleet->members[i].failed && fleet->members[i].facts.host)
			status->rows[i].state = status_of_unfit(&fleet->members[i]);
	fleet_each(fleet, status_ask_one, status);
	for (size_t i = 0; i < fleet->count; i++)
		if (!status->rows[i].state && !fleet->members[i].left_out)
			status->rows[i].state = state_of(&fleet->members[i]);
	fleet_each(fleet, status_judge_one, status);
	status_compare_images(status);
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->members[i].failed)
			status->rows[i].error = fleet->members[i].err.text;
}

/* --- as a table ----------------------------------------------------------------------------- */

/* "2026-11-21T09:30:00.12345Z" without the fraction. */
static const char *started_of(const struct member *m, struct arena *arena)
{
	if (!m->state.running)
		return "-";
	return arena_printf(arena, "%.19sZ", m->state.started);
}

/* "12 d 3 h", "3 h 20 min", "5 min". */
static const char *status_uptime(double seconds, struct arena *arena)
{
	long s = seconds > 0 && seconds < 1e10 ? (long)seconds : 0;

	if (!s)
		return "-";
	if (s >= STATUS_DAY_S)
		return arena_printf(arena, "%ld d %ld h", s / STATUS_DAY_S,
				    s % STATUS_DAY_S / STATUS_HOUR_S);
	if (s >= STATUS_HOUR_S)
		return arena_printf(arena, "%ld h %ld min", s / STATUS_HOUR_S,
				    s % STATUS_HOUR_S / STATUS_MINUTE_S);
	return arena_printf(arena, "%ld min", s / STATUS_MINUTE_S);
}

static const char *status_sshd(enum health_sshd sshd)
{
	static const char *const texts[] = {[HEALTH_SSHD_UNKNOWN] = "-",
					    [HEALTH_SSHD_SILENT] = "silent",
					    [HEALTH_SSHD_OTHER] = "other key",
					    [HEALTH_SSHD_FINE] = "answers"};

	return texts[sshd];
}

/* "8"; "error" where something is wrong with them, which the error says. */
static const char *status_gpus(const struct status *status, struct member *m)
{
	const char *gpus = status->rows[m->index].gpus;
	size_t count = m->facts.host ? gpu_count(&m->facts) : 0;

	if (m->facts.host && (*status_gpu_trouble(status, m) || (gpus && *gpus)))
		return "error";
	return count ? arena_printf(status->stages->arena, "%zu", count) : "-";
}

static void status_add_row(const struct status *status, size_t i, struct term_table *table)
{
	struct member *m = &status->stages->fleet.members[i];
	const struct status_row *row = &status->rows[i];
	struct arena *arena = status->stages->arena;
	bool answers = m->facts.host != NULL;
	const char *digest = answers ? strstr(m->state.image, "sha256") : NULL;
	char disk[32];

	term_table_row(
		table,
		WORDS(m->host->name, m->host->address, row->state,
		      answers ? started_of(m, arena) : "-",
		      answers && *m->state.container_id
			      ? arena_printf(arena, "%.12s", m->state.container_id)
			      : "-",
		      digest ? arena_printf(arena, "%.19s", digest) : "-",
		      status_sshd(row->health.sshd), status_gpus(status, m),
		      row->health.differs && *row->health.differs ? row->health.differs : "-",
		      status_uptime(row->health.uptime_s, arena),
		      answers ? format_bytes(disk, (uint64_t)m->facts.disk_free_bytes) : "-"));
}

static void status_print_table(const struct status *status)
{
	const struct fleet *fleet = &status->stages->fleet;
	struct term_table table;

	term_table_init(&table, status->stages->arena,
			WORDS("HOST", "ADDRESS", "STATE", "STARTED", "CONTAINER", "IMAGE", "SSHD",
			      ">GPUS", "DIFFERS", ">UPTIME", ">DISK FREE"));
	for (size_t i = 0; i < fleet->count; i++)
		if (!fleet->members[i].left_out)
			status_add_row(status, i, &table);
	term_table_print(&table, stdout);
}

/* --- as JSON -------------------------------------------------------------------------------- */

static void status_add_owner(const struct member *m, cJSON *item)
{
	const struct owner *owner = status_owner(m);
	cJSON *json = cJSON_AddObjectToObject(item, "owner");

	cJSON_AddBoolToObject(json, "ours", owner_is(owner, &m->fleet->owner));
	json_add_text(json, "user", owner->user);
	json_add_text(json, "machine", owner->machine);
	json_add_text(json, "folder", owner->folder);
	json_add_text(json, "time", owner->time);
}

static void status_add_health(const struct member *m, const struct health *health, cJSON *item)
{
	cJSON *wanted;

	if (!health->differs)
		return;
	if (health->uptime_s > 0)
		cJSON_AddNumberToObject(item, "uptime_s", health->uptime_s);
	if (health->sshd != HEALTH_SSHD_UNKNOWN)
		cJSON_AddStringToObject(item, "sshd", status_sshd(health->sshd));
	json_add_text(item, "last_words", health->last_words);
	cJSON_AddStringToObject(item, "differs", health->differs);
	json_add_text(item, "config", m->state.config);
	json_add_text(item, "files", m->state.mesh);
	wanted = cJSON_AddObjectToObject(item, "wanted");
	json_add_text(wanted, "image", health->image);
	json_add_text(wanted, "config", health->config);
	json_add_text(wanted, "files", health->files);
}

static cJSON *status_host_json(const struct member *m, const struct status_row *row)
{
	static const char *const gpus[] = {[CONTAINER_GPUS_FINE] = "",
					   [CONTAINER_GPUS_FEWER] = "fewer",
					   [CONTAINER_GPUS_LOST] = "lost"};
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "host", m->host->name);
	cJSON_AddStringToObject(item, "address", m->host->address);
	cJSON_AddStringToObject(item, "state", row->state);
	cJSON_AddBoolToObject(item, "ok", !row->error);
	json_add_text(item, "error", row->error);
	if (!m->facts.host)
		return item;
	json_add_text(item, "container", m->state.container_id);
	json_add_text(item, "image", m->state.image);
	json_add_text(item, "started", m->state.started);
	cJSON_AddNumberToObject(item, "exit_status", m->state.exit_status);
	cJSON_AddNumberToObject(item, "disk_free_bytes", m->facts.disk_free_bytes);
	cJSON_AddNumberToObject(item, "gpus", (double)gpu_count(&m->facts));
	json_add_text(item, "gpu_error", m->facts.gpu_error);
	json_add_text(item, "container_gpus", gpus[row->container_gpus]);
	status_add_health(m, &row->health, item);
	if (is_there(m))
		status_add_owner(m, item);
	return item;
}

static void status_print_json(const struct status *status)
{
	const struct stages *s = status->stages;
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].left_out)
			cJSON_AddItemToArray(
				hosts, status_host_json(&s->fleet.members[i], &status->rows[i]));
	stage_add_simulated(s, json);
	if (s->cluster.images.seeds)
		stage_seeds_say((struct stages *)(uintptr_t)s, json);
	json_print(stdout, json);
}

/* --- the command ---------------------------------------------------------------------------- */

static int status_show(struct stages *s, struct error *err)
{
	struct status status = {.stages = s};
	struct bringup wanted = {0};
	struct error why = {0};
	bool known = false;

	if (stage_wanted(s, &wanted, &known, &why) < 0)
		log_warn("the hosts are not compared with what 'ringup up' would make: %s",
			 why.text);
	status.wanted = known ? &wanted : NULL;
	status.rows = ARENA_ARRAY(s->arena, s->fleet.count, struct status_row);
	status_find(&status);
	keys_wipe(&wanted.keys);
	if (s->ctx->json)
		status_print_json(&status);
	else
		status_print_table(&status);
	if (!s->ctx->json)
		stage_seeds_say(s, NULL);
	return fleet_result(&s->fleet, err);
}

static int status_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct options *o = values;
	struct stages s;
	int rc;

	if (o->on)
		return status_on(ctx, o->on, words_list(&o->settings), err);
	if (o->settings.count)
		return error_set(err, ERROR_USAGE, "--set goes with --on ENGINE");
	if (stage_cluster(&s, ctx, err) < 0 || stage_ask_only(&s, &o->hosts, arguments, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0)
		rc = status_show(&s, err);
	fleet_close(&s.fleet);
	return rc;
}

static void status_fill(const char *name, struct str *out)
{
	(void)name;
	run_on_fill(out);
}

const struct command command_status = {
	.name = "status",
	.arguments = "[HOST...]",
	.summary = "how every host and its container is, and what differs",
	.help = "Each host is compared with ringup.lock and cluster.yaml: its image, the configuration of its\n"
		"container, its keys and files. The host also says whether the container's sshd answers, and how\n"
		"many GPUs nvidia-smi lists.\n"
		"\n"
		"running      the container runs; with engine: none a host is 'ready'\n"
		"stopped      it has ended; the error shows its status and its last words\n"
		"paused       somebody paused it with the engine's own command\n"
		"absent       there is none\n"
		"foreign      somebody else started it\n"
		"no engine    the host answers, and its container engine does not\n"
		"unusable     the host cannot be a part of the cluster; the error says why\n"
		"unreachable  the host does not answer by ssh\n"
		"\n"
		"The exit status is 0 when every host is as it should be, 4 when some are not, 1 when none is.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.fill = status_fill,
	.run = status_run,
};
