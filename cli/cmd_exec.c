/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/exec_output.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/term.h"
#include "deployer/bringup/claim.h"
#include "deployer/bringup/operate.h"
#include "plan/host_set.h"

#include <string.h>

#define EXEC_TIMEOUT_DEFAULT_S 3600

#define EXEC_SAID_BYTES 300 /* of the engine, where the command did not begin */

struct options {
	struct words hosts;
	int limit;
	bool gather, local;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{'b', "gather", NULL, "print equal outputs once, with the hosts that gave them", OPT_FLAG,
	 offsetof(struct options, gather)},
	{'l', "local", NULL, "run it on the hosts themselves, not in the containers", OPT_FLAG,
	 offsetof(struct options, local)},
	{0, "limit", "S", "seconds that the command may take (3600)", OPT_INT,
	 offsetof(struct options, limit)},
	OPT_END,
};

struct exec {
	const char *const *words;
	int limit_s;
	bool local;
	struct exec_output *output; /* NULL: all is kept, as far as there is room */
	struct proc_result *results;
	bool *ended; /* the command did, with a status: no host was lost meanwhile */
};

static int exec_one(struct member *m, void *arg, struct error *err)
{
	struct exec *e = arg;
	struct proc_result *r = &e->results[m->index];
	int fd = -1, rc = e->local ? 0 : member_ask_owner(m, err);

	if (rc == 0 && e->output)
		rc = exec_output_open(e->output, m->index, &fd, err);
	if (rc == 0)
		rc = member_exec_to(m, e->local, e->words, e->limit_s, fd, r, err);
	if (e->output)
		exec_output_end(e->output, m->index);
	member_disconnect(m); /* nothing else is asked; a thousand open ones are 60 MiB */
	/* what is shown and compared is text */
	nuls_replace(r->out.text, r->out.length, '?');
	nuls_replace(r->err.text, r->err.length, '?');
	if (rc < 0)
		return -1;
	if (!e->local && r->status && m->engine->has_containers &&
	    member_check_worker(m, err) < 0) { /* the engine failed, and not the command */
		str_one_line(&r->err, EXEC_SAID_BYTES);
		error_advise(err, "%s", r->err.text);
		str_clear(&r->err);
		return -1;
	}
	e->ended[m->index] = true;
	if (r->status == 0)
		return 0;
	return error_set(err, ERROR_FAILED, "%s: %s ended with status %d", m->host->name,
			 e->words[0], r->status);
}

static const char *exec_text(const struct exec *e, size_t index, bool errors)
{
	const struct str *text = errors ? &e->results[index].err : &e->results[index].out;

	return text->text ? text->text : "";
}

/* Whether an earlier host printed the same, so that this one is named there. */
static bool exec_is_repeated(const struct exec *e, size_t index, bool errors)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(exec_text(e, i, errors), exec_text(e, index, errors)) == 0)
			return true;
	return false;
}

/* "node[01-08]" for all hosts that printed what this one did; *count is how many. */
static const char *exec_hosts(const struct stages *s, const struct exec *e, size_t index,
			      bool errors, size_t *count)
{
	struct words names = WORDS_INIT(s->arena);

	for (size_t i = index; i < s->fleet.count; i++)
		if (strcmp(exec_text(e, i, errors), exec_text(e, index, errors)) == 0)
			words_add(&names, s->fleet.members[i].host->name);
	*count = names.count;
	return host_set_fold(names.list, s->arena);
}

/* Equal outputs once: standard output below a heading, as clush -b has it, errors behind the names. */
static void exec_print_gathered(const struct stages *s, const struct exec *e)
{
	static const char rule[] = "---------------";
	size_t count;

	for (size_t i = 0; i < s->fleet.count; i++) {
		const char *out = exec_text(e, i, false), *errors = exec_text(e, i, true);
		size_t length = strlen(out);

		if (*out && !exec_is_repeated(e, i, false)) {
			const char *hosts = exec_hosts(s, e, i, false, &count);

			say("%s\n%s (%zu)\n%s\n%s%s", rule, hosts, count, rule, out,
			    out[length - 1] == '\n' ? "" : "\n");
		}
		if (*errors && !exec_is_repeated(e, i, true))
			stage_print_lines(stderr, exec_hosts(s, e, i, true, &count), errors);
	}
}

/* A host's part of the document; nothing is known of one that was lost. */
static cJSON *exec_json(const struct stages *s, const struct exec *e, size_t index)
{
	const struct proc_result *r = &e->results[index];
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "host", s->fleet.members[index].host->name);
	if (!r->out.text)
		return item;
	if (e->ended[index])
		cJSON_AddNumberToObject(item, "status", r->status);
	cJSON_AddStringToObject(item, "stdout", r->out.text);
	cJSON_AddStringToObject(item, "stderr", r->err.text);
	if (r->out.overflowed || r->err.overflowed)
		cJSON_AddTrueToObject(item, "truncated");
	return item;
}

static void exec_print_all(const struct stages *s, const struct exec *e, bool gather)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts = cJSON_AddArrayToObject(json, "hosts");

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct proc_result *r = &e->results[i];
		const char *name = s->fleet.members[i].host->name;

		cJSON_AddItemToArray(hosts, exec_json(s, e, i));
		if (r->out.overflowed || r->err.overflowed)
			log_warn(
				"%s: only the first %zu bytes of what the command printed are here",
				name, r->out.overflowed ? r->out.length : r->err.length);
		if (s->ctx->json || gather)
			continue;
		stage_print_lines(stderr, name, r->err.text);
	}
	stage_json_failed(s, json);
	if (s->ctx->json)
		json_print(stdout, json);
	else if (gather)
		exec_print_gathered(s, e);
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

static const char *const *exec_names(const struct stages *s)
{
	struct words names = WORDS_INIT(s->arena);

	for (size_t i = 0; i < s->fleet.count; i++)
		words_add(&names, s->fleet.members[i].host->name);
	return words_list(&names);
}

static int exec_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	struct options *o = values;
	struct exec e = {.words = arguments,
			 .local = o->local,
			 .limit_s = o->limit ? o->limit : EXEC_TIMEOUT_DEFAULT_S};
	struct stages s;

	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, &o->hosts, NULL, err) < 0)
		return -1;
	e.results = ARENA_ARRAY(s.arena, s.fleet.count, struct proc_result);
	e.ended = ARENA_ARRAY(s.arena, s.fleet.count, bool);
	if (!ctx->json && !o->gather)
		e.output = exec_output_new(exec_names(&s), s.fleet.count, !term_is_tty(stdout),
					   s.arena);
	for (size_t i = 0; e.output && i < s.fleet.count; i++)
		if (!member_is_active(&s.fleet.members[i]))
			exec_output_end(e.output, i); /* nobody waits for its turn */
	fleet_each(&s.fleet, exec_one, &e);
	if (e.output)
		exec_output_close(e.output);
	exec_print_all(&s, &e, o->gather);
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
	.summary = "runs a command in every container, or on every host",
	.help = "Each line of output is printed behind the name of its host: at a terminal as it comes, else in\n"
		"the order of the hosts. With -b equal outputs are printed once, as clush prints them; there and\n"
		"with --json not more than the first 8 to 16 MiB of a host are kept, and that is said.\n"
		"The words reach the program as they are: no shell reads them (for a shell: ringup exec -- sh -c\n"
		"'...'). With -l they run on the hosts themselves, which need no container for it.\n"
		"The exit status is the command's, the highest one of the hosts. It is 4 or 1 when the command\n"
		"succeeds, but some hosts or all of them cannot be reached, or have no container that runs.\n"
		"On Ctrl-C, and after --limit, the command and all that it started end on every host.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = -1,
	.stop_at_argument = true,
	.run = exec_run,
};
