/* SPDX-License-Identifier: MIT */
#include "deployer/health.h"

#include "core/quote.h"
#include "deployer/remote.h"
#include "deployer/bringup/visit.h"
#include "deployer/container/gpus.h"

#include <stdlib.h>
#include <string.h>

#define HEALTH_TIMEOUT_S 30
#define HEALTH_LOG_LINES "5"
#define HEALTH_WORDS_BYTES 300

/* The engine's words for the end of the container's log; "" for a container that runs, and for none. */
static const char *health_logs_line(struct member *m)
{
	const struct engine_value values[] = {
		{"container", m->fleet->container, NULL}, {"tail", HEALTH_LOG_LINES, NULL}, {0}};
	_cleanup_(str_release) struct str line = STR_INIT;
	struct words words = WORDS_INIT(&m->arena);

	if (!*m->state.container_id || m->state.running)
		return "";
	engine_expand(m->engine->logs, values, &words);
	quote_words(&line, words.list);
	return arena_strdup(&m->arena, line.text);
}

/* `said` is the key that answered, "TYPE BASE64". The public key may have a comment behind it. */
static enum health_sshd health_of_sshd(const char *said, const char *public_key)
{
	size_t length = strlen(said);

	if (!length || strcmp(said, "unknown") == 0)
		return HEALTH_SSHD_UNKNOWN;
	if (strcmp(said, "silent") == 0)
		return HEALTH_SSHD_SILENT;
	if (!public_key)
		return HEALTH_SSHD_FINE;
	return strncmp(said, public_key, length) == 0 &&
			       (!public_key[length] || public_key[length] == ' ')
		       ? HEALTH_SSHD_FINE
		       : HEALTH_SSHD_OTHER;
}

static void health_add_difference(struct str *out, const char *what, const char *has,
				  const char *wanted)
{
	if (*wanted && strcmp(has, wanted) != 0)
		str_addf(out, "%s%s", out->length ? ", " : "", what);
}

/* Where nvidia-smi fails, it is not known which GPUs the container is to have. */
static bool health_knows_gpus(struct member *m, const struct bringup *wanted)
{
	struct error ignored = {0};

	return strcmp(wanted->accelerator, "cuda") != 0 || member_check_gpu_error(m, &ignored) == 0;
}

static int health_compare(struct member *m, const struct bringup *wanted, struct health *health,
			  struct error *err)
{
	struct visit v = {.m = m, .bringup = wanted};
	_cleanup_(str_release) struct str differs = STR_INIT;
	int rc = visit_compare(&v, err);

	if (rc == 0) {
		health->image =
			wanted->image && m->engine->has_containers ? v.container.wish.image : "";
		/* the container's words name the image */
		health->config = *health->image ? v.container.config_hash : "";
		health->files = arena_strdup(&m->arena, v.parcel.digest);
		if (m->engine->has_containers && *m->state.container_id)
			health_add_difference(&differs, "image", m->state.image, health->image);
		if (*m->state.container_id && strcmp(m->state.image, health->image) == 0 &&
		    health_knows_gpus(m, wanted))
			health_add_difference(&differs, "configuration", m->state.config,
					      health->config);
		health_add_difference(&differs, "keys and files", m->state.mesh, health->files);
		health->differs = arena_strdup(&m->arena, differs.text);
	}
	visit_release(&v);
	return rc;
}

int member_ask_health(struct member *m, const struct bringup *wanted, const char *public_key,
		      struct health *health, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = HEALTH_TIMEOUT_S};
	_cleanup_(str_release) struct str last = STR_INIT;
	const char *port =
		m->state.running && m->sshd_port ? arena_printf(&m->arena, "%d", m->sshd_port) : "";

	*health = (struct health){
		.last_words = "", .image = "", .config = "", .files = "", .differs = ""};
	if (remote_script("health", WORDS(m->address, port, health_logs_line(m)), &words, err) <
		    0 ||
	    member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "cannot ask how it is", &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	health->uptime_s = strtod(remote_value(result.out.text, "uptime_s", &m->arena), NULL);
	health->sshd = health_of_sshd(remote_value(result.out.text, "sshd", &m->arena), public_key);
	str_add(&last, remote_value(result.out.text, "last_words", &m->arena));
	str_one_line(&last, HEALTH_WORDS_BYTES);
	health->last_words = arena_strdup(&m->arena, last.text);
	return wanted ? health_compare(m, wanted, health, err) : 0;
}
