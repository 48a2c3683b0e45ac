/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"

#include "core/json.h"
#include "deployer/claim.h"
#include "deployer/operate.h"

#include <string.h>

#define EXEC_TIMEOUT_DEFAULT_S 3600

struct options {
	struct words hosts;
	int limit;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "limit", "S", "seconds that the command may take (3600)", OPT_INT,
	 offsetof(struct options, limit)},
	OPT_END,
};

struct exec {
	const char *const *words;
	int limit_s;
	struct proc_result *results;
	bool *ended; /* the command did, with a status: no host was lost meanwhile */
};

static int exec_one(struct member *m, void *arg, struct error *err)
{
	struct exec *e = arg;
	struct proc_result *r = &e->results[m->index];

	if (member_ask_owner(m, err) < 0)
		return -1;
	if (member_exec(m, e->words, e->limit_s, r, err) < 0)
		return -1;
	e->ended[m->index] = true;
	if (r->status == 0)
		return 0;
	return error_set(err, ERROR_FAILED, "%s: %s ended with status %d", m->host->name,
			 e->words[0], r->status);
}

static void exec_print_all(const struct stages *s, const struct exec *e)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct proc_result *r = &e->results[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(hosts, item);
		cJSON_AddStringToObject(item, "host", s->fleet.members[i].host->name);
		if (!r->out.text)
			continue;
		if (e->ended[i])
			cJSON_AddNumberToObject(item, "status", r->status);
		cJSON_AddStringToObject(item, "stdout", r->out.text);
		cJSON_AddStringToObject(item, "stderr", r->err.text);
		if (r->out.overflowed || r->err.overflowed)
			log_warn(
				"%s: only the first %zu bytes of what the command printed are here",
				s->fleet.members[i].host->name,
				r->out.overflowed ? r->out.length : r->err.length);
		if (s->ctx->json)
			continue;
		stage_print_lines(stdout, s->fleet.members[i].host->name, r->out.text);
		stage_print_lines(stderr, s->fleet.members[i].host->name, r->err.text);
	}
	if (s->ctx->json)
		json_print(stdout, json);
}

/*
 * A command that failed on a host gives its status, the highest one of all hosts. Without one, the
 * status says how many hosts could not be asked.
 */
static void exec_take_status(const struct stages *s, const struct exec *e, struct error *err)
{
	int worst = 0;

	for (size_t i = 0; i < s->fleet.count; i++)
		if (e->ended[i] && e->results[i].status > worst)
			worst = e->results[i].status;
	if (worst && err->kind != ERROR_INTERRUPTED)
		err->kind = (enum error_kind)worst;
}

static int exec_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct options *o = values;
	struct exec e = {.words = arguments,
			 .limit_s = o->limit ? o->limit : EXEC_TIMEOUT_DEFAULT_S};
	struct stages s;

	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, &o->hosts, NULL, err) < 0)
		return -1;
	e.results = ARENA_ARRAY(s.arena, s.fleet.count, struct proc_result);
	e.ended = ARENA_ARRAY(s.arena, s.fleet.count, bool);
	fleet_each(&s.fleet, exec_one, &e);
	exec_print_all(&s, &e);
	if (fleet_result(&s.fleet, err) < 0)
		exec_take_status(&s, &e, err);
	for (size_t i = 0; i < s.fleet.count; i++)
		proc_result_release(&e.results[i]);
	fleet_close(&s.fleet);
	return err->kind ? -1 : 0;
}

const struct command command_exec = {
	.name = "exec",
	.arguments = "[--] CMD...",
	.summary = "runs a command in every container",
	.help = "Each line of output is printed behind the name of its host. The words reach the program as\n"
		"they are: no shell reads them (for a shell: ringup exec -- sh -c '...').\n"
		"The exit status is the command's, the highest one of the hosts. It is 4 or 1 when the command\n"
		"succeeds, but some hosts or all of them cannot be reached.\n"
		"On Ctrl-C, and after --limit, the command and all that it started end on every host.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = -1,
	.stop_at_argument = true,
	.run = exec_run,
};
