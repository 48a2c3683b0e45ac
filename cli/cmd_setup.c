/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/confirm.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_plan.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/setup/setup.h"
#include "plan/host_set.h"

#include <ctype.h>
#include <string.h>

#define LOG_SIZE "100m"
#define LOG_FILES "5"

struct options {
	struct words hosts, skip, mirrors, insecure;
	const char *engine, *driver, *data_root;
	bool yes, dry_run, no_verify;
};

#define AT(member) offsetof(struct options, member)
static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "engine", "NAME", "docker or podman (that of cluster.yaml; auto: docker)", OPT_TEXT,
	 AT(engine)},
	{0, "driver", "VERSION", "also install this NVIDIA driver; the hosts need a reboot then",
	 OPT_TEXT, AT(driver)},
	{0, "skip", "PART", "not engine, toolkit, driver, fabric, time, limits, registry or daemon",
	 OPT_LIST, AT(skip)},
	{0, "data-root", "DIR", "folder of Docker's images, where daemon.json names none", OPT_TEXT,
	 AT(data_root)},
	{0, "mirror", "URL", "a mirror of Docker Hub; may be given again", OPT_LIST, AT(mirrors)},
	{0, "insecure-registry", "HOST:PORT", "a registry without TLS; may be given again",
	 OPT_LIST, AT(insecure)},
	{0, "no-verify", NULL, "do not run a container at the end", OPT_FLAG, AT(no_verify)},
	{0, "dry-run", NULL, "print the plan only", OPT_FLAG, AT(dry_run)},
	{'y', "yes", NULL, "do not ask", OPT_FLAG, AT(yes)},
	OPT_END,
};
#undef AT

struct setup_case {
	struct stages s;
	struct setup_steps steps;
	struct setup_wish wish;
	struct setup_turn *turns;
};

static bool setup_skips(const struct options *o, const char *part)
{
	for (size_t i = 0; i < o->skip.count; i++)
		if (strcmp(o->skip.list[i], part) == 0)
			return true;
	return false;
}

static void setup_add_texts(cJSON *json, const char *key, const struct words *words)
{
	if (words->count)
		cJSON_AddItemToObject(
			json, key, cJSON_CreateStringArray(words_list(words), (int)words->count));
}

/* What daemon.json is to hold, where it says nothing else. */
static cJSON *setup_daemon(const struct options *o)
{
	cJSON *json = cJSON_CreateObject(), *log = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "log-driver", "json-file");
	cJSON_AddStringToObject(log, "max-size", LOG_SIZE);
	cJSON_AddStringToObject(log, "max-file", LOG_FILES);
	cJSON_AddItemToObject(json, "log-opts", log);
	json_add_text(json, "data-root", o->data_root);
	setup_add_texts(json, "registry-mirrors", &o->mirrors);
	setup_add_texts(json, "insecure-registries", &o->insecure);
	return json;
}

/* A version becomes part of a package's name: nothing but digits, dots and a dash may stand in it. */
static int setup_check_driver(const char *driver, struct error *err)
{
	for (const char *c = driver; c && *c; c++)
		if (!isdigit((unsigned char)*c) && *c != '.' && *c != '-')
			return error_set(err, ERROR_USAGE, "--driver '%s' is no version", driver);
	return 0;
}

static int setup_check_skip(const struct words *skip, struct error *err)
{
	static const char *const parts[] = {"engine", "toolkit",  "driver", "fabric", "time",
					    "limits", "registry", "daemon", NULL};

	for (size_t i = 0; i < skip->count; i++) {
		size_t part = 0;

		while (parts[part] && strcmp(parts[part], skip->list[i]) != 0)
			part++;
		if (!parts[part])
			return error_set(
				err, ERROR_USAGE, "--skip '%s' is no part; did you mean '%s'?",
				skip->list[i], nearest_word(skip->list[i], parts) ?: "engine");
	}
	return 0;
}

/* dockerd with a mirror that has a path, or an insecure registry with a scheme, does not start or takes it for something else. */
static int setup_check_registries(const struct options *o, struct error *err)
{
	for (size_t i = 0; i < o->mirrors.count; i++) {
		const char *url = o->mirrors.list[i], *host = strstr(url, "://");

		host = host ? host + 3 : "";
		if ((!starts_with(url, "https://") && !starts_with(url, "http://")) || !*host ||
		    *host == '/' || host[strcspn(host, "?#@ ")] ||
		    (strchr(host, '/') && strchr(host, '/')[1]))
			return error_set(
				err, ERROR_USAGE,
				"--mirror '%s' is no address of a mirror; it is https://HOST[:PORT], without a path",
				url);
	}
	for (size_t i = 0; i < o->insecure.count; i++)
		if (!*o->insecure.list[i] || strstr(o->insecure.list[i], "://") ||
		    o->insecure.list[i][strcspn(o->insecure.list[i], "?#@ ")])
			return error_set(
				err, ERROR_USAGE,
				"--insecure-registry '%s' is no HOST[:PORT], nor a network as 10.0.0.0/8",
				o->insecure.list[i]);
	return 0;
}

/* Before a host is asked. */
static int setup_check_options(const struct options *o, struct error *err)
{
	if (setup_check_skip(&o->skip, err) < 0 || setup_check_driver(o->driver, err) < 0 ||
	    setup_check_registries(o, err) < 0)
		return -1;
	if (o->data_root && *o->data_root != '/')
		return error_set(err, ERROR_USAGE, "--data-root '%s' does not begin with '/'",
				 o->data_root);
	return 0;
}

static int setup_wish_of(struct setup_case *c, const struct options *o, struct error *err)
{
	const struct cluster *cluster = &c->s.cluster;
	const char *engine = o->engine ? o->engine : cluster->container.engine;
	const char *ca_path = *cluster->registry.ca
				      ? cluster_path(cluster, cluster->registry.ca, c->s.arena)
				      : "";
	char *ca = NULL;

	if (strcmp(engine, "auto") == 0)
		engine = c->s.fleet.count ? c->s.fleet.members[0].engine->name : engine;
	if (*ca_path && !file_exists(ca_path))
		log_warn(
			"registry.ca: %s is not there yet, and is left out: 'ringup registry serve' makes it for a registry of ringup's, and another 'setup' or 'up' brings it to the hosts",
			ca_path);
	else if (*ca_path && file_read(ca_path, MIB, c->s.arena, &ca, NULL, err) < 0)
		return error_wrap(err, "registry.ca");
	c->wish = (struct setup_wish){.engine = engine,
				      .driver = o->driver ? o->driver : "",
				      .skip = words_list(&o->skip),
				      .registry = cluster->registry.address,
				      .registry_ca = ca};
	return 0;
}

/* ---- the plan ---- */

/* The step's command on each host; NULL where it does not need it. In the stages' arena. */
static const char **setup_commands(const struct setup_case *c, size_t step)
{
	const char **shown = ARENA_ARRAY(c->s.arena, c->s.fleet.count + 1, const char *);

	for (size_t i = 0; i < c->s.fleet.count; i++)
		if (member_is_active(&c->s.fleet.members[i]) && c->turns[i].needs[step])
			shown[i] =
				setup_shown(&c->steps.steps[step], c->turns[i].values, c->s.arena);
	return shown;
}

/* Takes the first command out, wherever it stands, with the hosts of it. NULL: none is left. */
static const char *setup_take(const struct setup_case *c, const char **shown, struct words *hosts)
{
	const char *command = NULL;

	*hosts = (struct words)WORDS_INIT(c->s.arena);
	for (size_t i = 0; i < c->s.fleet.count; i++) {
		command = command ?: shown[i];
		if (!shown[i] || strcmp(shown[i], command) != 0)
			continue;
		words_add(hosts, c->s.fleet.members[i].host->name);
		shown[i] = NULL;
	}
	return command;
}

static size_t setup_print_daemon(const struct setup_case *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->s.fleet.count; i++) {
		const struct member *m = &c->s.fleet.members[i];
		const struct setup_turn *turn = &c->turns[i];

		if (!member_is_active(m))
			continue;
		if (turn->daemon) {
			say("%s: adds to /etc/docker/daemon.json: %s\n", m->host->name,
			    words_join(&turn->added, ", "));
			count++;
		}
		if (*turn->not_root)
			log_warn("%s: %s", m->host->name, turn->not_root);
		if (turn->kept.count)
			log_warn("%s: /etc/docker/daemon.json keeps its own %s", m->host->name,
				 words_join(&turn->kept, ", "));
	}
	return count;
}

/* What lets Docker Engine take it over, at the end. */
static void setup_print_engine(const struct setup_case *c)
{
	for (size_t i = 0; i < c->s.fleet.count; i++) {
		const char *name = c->s.fleet.members[i].host->name;
		const struct daemon_turn *turn = &c->turns[i].engine;

		if (!member_is_active(&c->s.fleet.members[i]))
			continue;
		if (turn->after == DAEMON_RELOADS)
			say("%s: at the end: %s\n", name, turn->command);
		if (turn->after == DAEMON_RESTARTS)
			say("%s: at the end: %s (%s)\n", name, turn->command, turn->why);
		if (turn->after != DAEMON_WAITS)
			continue;
		if (*turn->script)
			say("%s: at the end: %s (%s)\n", name, turn->script,
			    words_join(&turn->reloads, ", "));
		say("%s: not in force at the end: %s: waits for: %s (%s)\n", name,
		    words_join(&turn->restarts, ", "), turn->command, turn->why);
	}
}

static void setup_say_waits(const struct setup_case *c)
{
	for (size_t i = 0; i < c->s.fleet.count; i++) {
		const struct member *m = &c->s.fleet.members[i];
		const struct daemon_turn *turn = &c->turns[i].engine;

		if (member_is_active(m) && turn->after == DAEMON_WAITS)
			log_warn("%s: %s: not in force before: %s (%s)", m->host->name,
				 words_join(&turn->restarts, ", "), turn->command, turn->why);
	}
}

/* Names the hosts for which there is no package of the driver that was asked for. */
static void setup_say_no_driver(const struct setup_case *c)
{
	for (size_t i = 0; i < c->s.fleet.count; i++) {
		const struct member *m = &c->s.fleet.members[i];
		bool is_wanted = *c->wish.driver && !*m->facts.simulated &&
				 strcmp(m->facts.driver, c->wish.driver) != 0 &&
				 (*m->facts.gpus ||
				  *facts_text(&m->facts, fact_row("pci_gpus"), c->s.arena));

		for (size_t k = 0; k < c->steps.count && member_is_active(m); k++)
			is_wanted &= !(c->turns[i].needs[k] && c->steps.steps[k].reboot);
		if (is_wanted && member_is_active(m))
			log_warn(
				"%s: no package of driver %s is known for %s and its GPUs: install it by "
				"hand",
				m->host->name, c->wish.driver, m->facts.os);
	}
}

static size_t setup_print_step(const struct setup_case *c, size_t at)
{
	const struct setup_step *step = &c->steps.steps[at];
	const char **shown = setup_commands(c, at), *command;
	struct words hosts;
	size_t count = 0;

	for (; (command = setup_take(c, shown, &hosts)); count++) {
		say("%s: %s%s\n", host_set_fold(words_list(&hosts), c->s.arena), step->what,
		    step->reboot ? "; counts after a REBOOT" : "");
		say("    %s\n", command);
	}
	return count;
}

static size_t setup_print(const struct setup_case *c)
{
	size_t count = setup_print_daemon(c);

	for (size_t i = 0; i < c->steps.count; i++)
		count += setup_print_step(c, i);
	setup_print_engine(c);
	if (!count)
		say("every host has all that it needs\n");
	return count;
}

static cJSON *setup_step_json(const struct setup_step *step, const char *command,
			      const struct words *hosts)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "id", step->id);
	cJSON_AddItemToObject(item, "hosts",
			      cJSON_CreateStringArray(words_list(hosts), (int)hosts->count));
	cJSON_AddStringToObject(item, "what", step->what);
	cJSON_AddStringToObject(item, "command", command);
	cJSON_AddBoolToObject(item, "reboot", step->reboot);
	cJSON_AddStringToObject(item, "source", step->source);
	return item;
}

static size_t setup_add_step_json(const struct setup_case *c, size_t at, cJSON *array)
{
	const char **shown = setup_commands(c, at), *command;
	struct words hosts;
	size_t count = 0;

	for (; (command = setup_take(c, shown, &hosts)); count++)
		cJSON_AddItemToArray(array, setup_step_json(&c->steps.steps[at], command, &hosts));
	return count;
}

/* What setup does to the daemon.json and the engine of each host. */
static void setup_add_daemon_json(const struct setup_case *c, cJSON *json)
{
	cJSON *files = cJSON_AddArrayToObject(json, "daemon_json");
	cJSON *turns = cJSON_AddArrayToObject(json, "engine");

	for (size_t i = 0; i < c->s.fleet.count; i++) {
		const struct member *m = &c->s.fleet.members[i];
		const struct setup_turn *turn = &c->turns[i];
		cJSON *item;

		if (member_is_active(m) && turn->daemon) {
			item = cJSON_CreateObject();
			cJSON_AddStringToObject(item, "host", m->host->name);
			setup_add_texts(item, "added", &turn->added);
			setup_add_texts(item, "kept", &turn->kept);
			cJSON_AddItemToArray(files, item);
		}
		if (member_is_active(m) && turn->engine.after != DAEMON_STAYS) {
			item = cJSON_CreateObject();
			cJSON_AddStringToObject(item, "host", m->host->name);
			cJSON_AddStringToObject(item, "after",
						daemon_after_names[turn->engine.after]);
			cJSON_AddStringToObject(item, "command", turn->engine.command);
			json_add_text(item, "why", turn->engine.why);
			setup_add_texts(item, "reloads", &turn->engine.reloads);
			setup_add_texts(item, "restarts", &turn->engine.restarts);
			cJSON_AddItemToArray(turns, item);
		}
	}
}

static size_t setup_print_json(const struct setup_case *c)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *array = cJSON_AddArrayToObject(json, "steps");
	size_t count = 0;

	for (size_t i = 0; i < c->s.fleet.count; i++)
		count += member_is_active(&c->s.fleet.members[i]) && c->turns[i].daemon;
	for (size_t i = 0; i < c->steps.count; i++)
		count += setup_add_step_json(c, i, array);
	setup_add_daemon_json(c, json);
	json_print(stdout, json);
	return count;
}

/* ---- doing it ---- */

static void setup_say_reboot(const struct setup_case *c)
{
	struct words hosts = WORDS_INIT(c->s.arena);

	for (size_t i = 0; i < c->s.fleet.count; i++) {
		bool reboot = false;

		for (size_t k = 0; k < c->steps.count && member_is_active(&c->s.fleet.members[i]);
		     k++)
			reboot |= c->turns[i].needs[k] && c->steps.steps[k].reboot;
		if (reboot)
			words_add(&hosts, c->s.fleet.members[i].host->name);
	}
	if (hosts.count)
		log_warn(
			"%s must be booted now; then run 'ringup setup' again for what follows a driver",
			host_set_fold(words_list(&hosts), c->s.arena));
}

static int setup_apply(struct setup_case *c, const struct options *o, struct error *err)
{
	size_t count = c->s.ctx->json ? setup_print_json(c) : setup_print(c);
	bool is_engine = !setup_skips(o, "engine") && strcmp(c->wish.engine, "none") != 0;

	if (!setup_skips(o, "driver"))
		setup_say_no_driver(c);
	if (o->dry_run)
		return 0;
	if (count) {
		if (!o->yes && confirm("do this?", "add --yes to do it", err) < 0)
			return -1;
		setup_do(&c->s.fleet, &c->steps, &c->wish, c->turns);
		setup_say_waits(c);
		setup_say_reboot(c);
	}
	if (is_engine && !o->no_verify)
		setup_verify(&c->s.fleet, c->wish.engine);
	return 0;
}

static int setup_work_on(struct setup_case *c, const struct options *o, struct error *err)
{
	_cleanup_(json_free) cJSON *daemon = setup_daemon(o);
	const struct engine *engine;

	c->s.details = true;
	/* the probe asks for the engine that is to be there */
	if (o->engine)
		c->s.cluster.container.engine = o->engine;
	if (setup_load(c->s.arena, &c->steps, err) < 0 || stage_catalog(&c->s, err) < 0 ||
	    stage_probe(&c->s, err) < 0 || setup_wish_of(c, o, err) < 0)
		return -1;
	engine = engine_find(c->wish.engine);
	c->wish.catalog = &c->s.catalog;
	c->wish.only_plan = o->dry_run;
	c->wish.has_settings = engine && engine->settings;
	if (c->wish.has_settings && !setup_skips(o, "daemon"))
		c->wish.daemon = daemon;
	c->turns = setup_plan(&c->s.fleet, &c->steps, &c->wish);
	if (fleet_active(&c->s.fleet) && setup_apply(c, o, err) < 0)
		return -1;
	return fleet_result(&c->s.fleet, err);
}

static int setup_run_command(struct context *ctx, void *values, const char *const *arguments,
			     struct error *err)
{
	struct setup_case c = {0};
	int rc;

	if (setup_check_options(values, err) < 0 || stage_cluster(&c.s, ctx, err) < 0 ||
	    stage_ask_only(&c.s, &((struct options *)values)->hosts, arguments, err) < 0)
		return -1;
	rc = setup_work_on(&c, values, err);
	fleet_close(&c.s.fleet);
	return rc;
}

const struct command command_setup = {
	.name = "setup",
	.arguments = "[HOST...]",
	.summary =
		"installs on the hosts what the cluster needs: engine, NVIDIA toolkit, limits ...",
	.help = "Probes the hosts, prints the steps that each lacks with their commands, asks, and does them side by\n"
		"side: the container engine, NVIDIA's container toolkit and CDI specification, the registry's CA, log\n"
		"limits and mirrors in daemon.json, limits of logins, a time service, and with --driver the driver. A\n"
		"second time does nothing. daemon.json is merged: what stands in it stays, and the first one is kept\n"
		"as daemon.json.before-ringup. Docker Engine takes it over by a reload, or by a restart where no\n"
		"container runs or live-restore is on; else setup says what waits for it. At the end a container of\n"
		"the host's own /bin/true must run.\n"
		"ringup boots no host: a driver counts after a reboot. The steps are rows of recipes/setup.csv.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = setup_run_command,
};
