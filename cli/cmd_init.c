/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/confirm.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_plan.h"
#include "cli/init_text.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/bringup/host_stack.h"
#include "deployer/engine/engine.h"
#include "plan/host_set.h"

#include <string.h>
#include <unistd.h>

#define REGISTRY_PORT 5000

struct options {
	const char *name, *user, *key, *known_hosts, *jump, *transport, *registry, *ca,
		*registry_on, *engine, *interface;
	struct words stack;
	int port;
	bool sudo, insecure, no_probe, force, yes, dry_run;
};

#define AT(member) offsetof(struct options, member)
static const struct opt options[] = {
	{0, "name", "NAME", "of the cluster (the folder's)", OPT_TEXT, AT(name)},
	{'u', "user", "USER", "to log in as (that of ~/.ssh/config, or root)", OPT_TEXT, AT(user)},
	{'i', "key", "FILE", "private key (~/.ssh/id_ed25519)", OPT_TEXT, AT(key)},
	{0, "known-hosts", "FILE", "host keys (~/.ssh/known_hosts)", OPT_TEXT, AT(known_hosts)},
	{'J', "jump", "HOST", "log in by way of this host", OPT_TEXT, AT(jump)},
	{'p', "port", "PORT", "of the hosts' sshd (22)", OPT_INT, AT(port)},
	{0, "sudo", NULL, "become root with sudo", OPT_FLAG, AT(sudo)},
	{0, "transport", "WHICH", "auto, libssh2 or openssh", OPT_TEXT, AT(transport)},
	{0, "registry", "HOST:PORT", "a registry that exists", OPT_TEXT, AT(registry)},
	{0, "ca", "FILE", "its CA", OPT_TEXT, AT(ca)},
	{0, "insecure", NULL, "it speaks plain HTTP", OPT_FLAG, AT(insecure)},
	{0, "registry-on", "HOST", "a registry will run there ('registry serve --on')", OPT_TEXT,
	 AT(registry_on)},
	{0, "stack", "REQ", "what the image holds; may be given again (by the GPUs that are there)",
	 OPT_LIST, AT(stack)},
	{0, "engine", "NAME", "container engine of the hosts, or none (auto)", OPT_TEXT,
	 AT(engine)},
	{0, "interface", "NAME", "network interface of the workers (that of the address)", OPT_TEXT,
	 AT(interface)},
	{0, "no-probe", NULL, "do not ask the hosts", OPT_FLAG, AT(no_probe)},
	{0, "force", NULL, "write over a file that is there", OPT_FLAG, AT(force)},
	{0, "dry-run", NULL, "print the file", OPT_FLAG, AT(dry_run)},
	{'y', "yes", NULL, "ask nothing: take the defaults", OPT_FLAG, AT(yes)},
	OPT_END,
};
#undef AT

/* One line of answer; the default where it is empty. Without a terminal, or with --yes, the default. */
static const char *init_ask(const struct options *o, const char *question, const char *otherwise,
			    struct arena *arena)
{
	char line[1024] = "";

	if (o->yes || !term_is_tty(stdin))
		return otherwise;
	say_to(stderr, "%s%s%s%s: ", question, *otherwise ? " [" : "", otherwise,
	       *otherwise ? "]" : "");
	fflush(stderr);
	if (!fgets(line, sizeof(line), stdin))
		return otherwise;
	line[strcspn(line, "\r\n")] = '\0';
	return *line ? arena_strdup(arena, line) : otherwise;
}

static int init_hosts(const struct options *o, const char *const *arguments, struct words *hosts,
		      struct error *err)
{
	const char *asked[] = {NULL, NULL};
	const struct cluster nothing = {0};

	if (!*arguments) {
		asked[0] = init_ask(o, "hosts, for example node[01-08]", "", hosts->arena);
		arguments = asked;
	}
	for (; *arguments && **arguments; arguments++)
		if (host_set_names(&nothing, *arguments, hosts, err) < 0)
			return error_wrap(err, "hosts");
	if (!hosts->count)
		return error_set(
			err, ERROR_USAGE,
			"no hosts; name them: ringup init node[01-08], or their addresses");
	for (size_t i = 0; i < hosts->count; i++)
		if (!cluster_host_word(hosts->list[i]))
			return error_set(err, ERROR_USAGE, "'%s' is no name or address of a host",
					 hosts->list[i]);
	return 0;
}

static bool init_has_host(const char *const *hosts, const char *name)
{
	for (; *hosts; hosts++)
		if (strcmp(*hosts, name) == 0)
			return true;
	return false;
}

/* What `up` would refuse, or miss, when the file is written. */
static int init_check_options(const struct options *o, const char *folder, const char *const *hosts,
			      struct arena *arena, struct error *err)
{
	const struct cluster beside = {.folder = folder}; /* paths in the file are relative to it */

	if (o->engine && !engine_find(o->engine))
		return error_set(
			err, ERROR_USAGE,
			"--engine %s: there is no such engine; see 'ringup help cluster.yaml'",
			o->engine);
	if (o->registry_on && !init_has_host(hosts, o->registry_on))
		return error_set(err, ERROR_USAGE, "--registry-on %s is none of the hosts",
				 o->registry_on);
	if (o->registry && !strchr(o->registry, ':'))
		return error_set(err, ERROR_USAGE,
				 "--registry %s has no port; write %s:5000 for the usual one",
				 o->registry, o->registry);
	if (o->ca && !file_exists(cluster_path(&beside, o->ca, arena)))
		return error_set(err, ERROR_USAGE, "--ca %s: there is no such file", o->ca);
	return 0;
}

/* The registry: as told, asked for, or one that will run on the first host. */
static void init_registry(const struct options *o, struct init_wish *wish, struct arena *arena)
{
	const char *on = o->registry_on;

	if (o->engine && strcmp(o->engine, "none") == 0 && !o->registry && !on)
		return;
	wish->registry = o->registry;
	if (!wish->registry && !on) {
		wish->registry = init_ask(
			o,
			"registry, HOST:PORT (empty: one that 'ringup registry serve' starts on the first host)",
			"", arena);
		if (!*wish->registry)
			on = wish->hosts[0];
	}
	if (!on)
		return;
	wish->registry_on = on;
	wish->registry = arena_printf(arena, "%s:%d", on, REGISTRY_PORT);
	wish->ca = arena_printf(arena, ".ringup/registry/%s/ca.pem", on);
}

static int init_wish(const struct options *o, const char *const *arguments, struct context *ctx,
		     struct init_wish *wish, struct error *err)
{
	struct words hosts = WORDS_INIT(ctx->arena);
	const char *folder = path_folder(ctx->arena, ctx->cluster_path);
	char here[4096];

	if (init_hosts(o, arguments, &hosts, err) < 0 ||
	    init_check_options(o, folder, words_list(&hosts), ctx->arena, err) < 0)
		return -1;
	if (strcmp(folder, ".") == 0 && getcwd(here, sizeof(here)))
		folder = here;
	*wish = (struct init_wish){
		.name = o->name ? o->name : init_name_of(folder, ctx->arena),
		.hosts = words_list(&hosts),
		.user = o->user ? o->user
				: init_ask(
					  o,
					  "user to log in as (empty: that of ~/.ssh/config, or root)",
					  "", ctx->arena),
		.key = o->key,
		.known_hosts = o->known_hosts,
		.jump = o->jump,
		.transport = o->transport,
		.sudo = o->sudo,
		.port = o->port,
		.ca = o->ca,
		.insecure = o->insecure,
		.stack = words_list(&o->stack),
		.engine = o->engine,
		.interface = o->interface,
	};
	init_registry(o, wish, ctx->arena);
	return 0;
}

/* The text as a cluster, by way of a file beside the one to be: relative paths are the same there. */
static int init_load(struct context *ctx, const char *text, struct stages *s, struct error *err)
{
	const char *path = arena_printf(ctx->arena, "%s/.cluster.yaml.%ld",
					path_folder(ctx->arena, ctx->cluster_path), (long)getpid());
	struct context own = *ctx;
	int rc;

	if (file_write(path, text, strlen(text), 0600, err) < 0)
		return -1;
	own.cluster_path = path;
	own.cluster_named = true;
	own.cluster = NULL;
	*ctx = own;
	rc = stage_cluster(s, ctx, err);
	unlink(path);
	if (rc < 0 && starts_with(err->text, path)) /* LINE:COLUMN of a file that nobody has */
		error_set(err, err->kind, "the file that was to be written: %s",
			  arena_strdup(ctx->arena, strchr(err->text + strlen(path), ' ') + 1));
	return rc;
}

/*
 * Whether the stack of the new file resolves for the hosts. A file whose stack fits the hosts no longer or not yet is written, and
 * said; one that asks for what does not exist is not.
 */
static int init_check_stack(struct stages *s, struct error *err)
{
	struct error why = {0};

	if (stage_resolve(s, NULL, &why) == 0)
		return 0;
	if (why.kind == ERROR_USAGE) {
		*err = why;
		return -1;
	}
	log_warn("'ringup up' cannot use the file yet: %s", why.text);
	return 0;
}

static bool init_use_sudo(const struct stages *s)
{
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (!m->failed &&
		    strcmp(facts_text(&m->facts, fact_row("root_by"), s->arena), "sudo") == 0)
			return true;
	}
	return false;
}

/*
 * Hosts without containers keep what they have: the stack asks for that, if all have the same and it resolves. @text
 * is room for the file with which that is tried.
 */
static void init_use_hosts_stack(struct context *ctx, struct fleet *fleet, struct init_wish *wish,
				 struct str *text)
{
	struct words requests = WORDS_INIT(ctx->arena);
	struct context own = *ctx;
	struct error why = {0};
	struct stages s;

	fleet_read_stack(fleet, &requests);
	if (requests.count == 0)
		return;
	wish->stack = words_list(&requests);
	wish->is_hosts_stack = true;
	str_clear(text);
	init_add_text(wish, fleet, ctx->arena, text);
	if (init_load(&own, text->text, &s, &why) == 0) {
		s.fleet = *fleet;
		if (stage_resolve(&s, NULL, &why) == 0)
			return;
	}
	log_warn(
		"the hosts have %s, which does not resolve: %s; the file asks for other versions, which 'ringup up' compares",
		words_join(&requests, " "), why.text);
	wish->stack = NULL;
	wish->is_hosts_stack = false;
}

/*
 * Asks the hosts, and makes the text from what they say. *partial is set when some of them did not
 * answer: they stand in the file all the same.
 */
static int init_probe(struct context *ctx, struct init_wish *wish, struct str *text,
		      struct error *partial, struct error *err)
{
	struct context first = *ctx, second = *ctx;
	struct stages s, again;
	bool is_asked;
	size_t failed;
	int rc = -1;

	if (init_load(&first, text->text, &s, err) < 0)
		return -1;
	s.details = true;
	is_asked = stage_probe(&s, err) == 0;
	if (is_asked)
		rc = fleet_result(&s.fleet, err);
	failed = fleet_failures(&s.fleet);
	if (rc < 0 && (!is_asked || failed == s.fleet.count)) {
		fleet_close(&s.fleet);
		return error_advise(
			err,
			"no file was written; --no-probe writes one without asking, and then "
			"'ringup hosts trust', 'ringup keys install' and 'ringup init --force' "
			"know the hosts");
	}
	wish->sudo |= init_use_sudo(&s);
	for (size_t i = 0; i < s.fleet.count; i++) {
		const char *engine = s.fleet.members[i].facts.engine;

		wish->needs_setup |= engine && !*engine && !init_is_bare(wish);
	}
	if (init_is_bare(wish) && !*wish->stack)
		init_use_hosts_stack(ctx, &s.fleet, wish, text);
	str_clear(text);
	init_add_text(wish, &s.fleet, ctx->arena, text);
	if (init_load(&second, text->text, &again, err) < 0) {
		fleet_close(&s.fleet);
		return -1;
	}
	again.fleet = s.fleet;
	*partial = *err;
	*err = (struct error){0};
	rc = init_check_stack(&again, err);
	fleet_close(&s.fleet);
	return rc;
}

static void init_say_next(const struct init_wish *wish, bool was_asked, const char *path)
{
	log_info("%s is written; next:", path);
	if (!was_asked) {
		log_info("  ringup hosts trust");
		log_info("  ringup keys install");
		log_info("  ringup init --force, with the same words and without --no-probe");
	}
	if (wish->needs_setup)
		log_info("  ringup setup");
	if (wish->registry_on)
		log_info("  ringup registry serve --on %s", wish->registry_on);
	if (wish->registry && *wish->registry)
		log_info("  ringup login -u %s", wish->registry_on ? "ringup" : "USER");
	log_info("  ringup doctor");
	log_info("  ringup up");
}

static int init_run(struct context *ctx, void *values, const char *const *arguments,
		    struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const struct options *o = values;
	struct error partial = {0};
	struct init_wish wish;
	struct stages s;

	if (file_exists(ctx->cluster_path) && !o->force && !o->dry_run)
		return error_set(
			err, ERROR_USAGE,
			"%s is there already; --force writes over it, and -f names another",
			ctx->cluster_path);
	if (init_wish(o, arguments, ctx, &wish, err) < 0)
		return -1;
	init_add_text(&wish, NULL, ctx->arena, &text);
	if (o->no_probe) {
		struct context own = *ctx;

		if (init_load(&own, text.text, &s, err) < 0)
			return -1;
	} else if (init_probe(ctx, &wish, &text, &partial, err) < 0) {
		return -1;
	}
	if (o->dry_run) {
		say_data(text.text, text.length);
		return 0;
	}
	if (file_write(ctx->cluster_path, text.text, text.length, 0644, err) < 0)
		return -1;
	init_say_next(&wish, !o->no_probe, ctx->cluster_path);
	*err = partial;
	return partial.kind == ERROR_NONE ? 0 : -1;
}

const struct command command_init = {
	.name = "init",
	.arguments = "[HOST...]",
	.summary = "asks the hosts and writes a commented cluster.yaml",
	.help = "HOST is a name, an address, or a set: node[01-08]. What is not given is asked for on a terminal.\n"
		"The hosts are probed, and the file says what they are: its stack fits their GPUs, and 'ringup up'\n"
		"takes it as it stands once the registry runs. It writes over a file only with --force.\n"
		"  ringup init node[01-08] --registry 10.0.0.254:5000 --ca ca.pem\n"
		"  ringup init node[01-08] --user ops --sudo --registry-on node01\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = init_run,
};
