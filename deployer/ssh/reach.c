/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/reach.h"

#include "core/file.h"
#include "core/words.h"
#include "deployer/ssh/ssh_ask.h"
#include "deployer/ssh/ssh_config.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_DEFAULT "~/.ssh/config" /* of `ssh.config` */
#define SYSTEM_CONFIG "/etc/ssh/ssh_config"

static bool reach_goes_direct(const char *jump)
{
	return !*jump || strcmp(jump, "none") == 0;
}

/* Where only ssh can say who logs in where. */
static int reach_ask(const struct cluster *c, const struct host *host, const char *usual_user,
		     struct ssh_config *config, struct arena *arena, struct error *err)
{
	struct words files = WORDS_INIT(arena);

	words_add(&files, cluster_path(c, c->ssh.config, arena));
	if (strcmp(c->ssh.config, CONFIG_DEFAULT) == 0)
		words_add(&files, SYSTEM_CONFIG);
	return ssh_config_ask(config, words_list(&files), host->address,
			      host->user_given ? host->user : "", host->port_given ? host->port : 0,
			      usual_user, err);
}

/* Reads the files that ssh would read for the host. */
static int reach_read_config(const struct cluster *c, const struct host *host,
			     const char *usual_user, bool jump_given, struct ssh_config *config,
			     struct arena *arena, struct error *err)
{
	const char *file = c->ssh.config;

	ssh_config_init(config, arena);
	config->user = host->user_given ? host->user : "";
	config->port = host->port_given ? host->port : 0;
	config->jump_given = jump_given;
	if (strcmp(file, "none") != 0 &&
	    (ssh_config_read(config, cluster_path(c, file, arena), host->address, usual_user, err) <
		     0 ||
	     (strcmp(file, CONFIG_DEFAULT) == 0 &&
	      ssh_config_read(config, SYSTEM_CONFIG, host->address, usual_user, err) < 0)))
		return error_wrap(err, "%s", host->name);
	if (config->is_unsure && reach_ask(c, host, usual_user, config, arena, err) < 0)
		return error_wrap(err, "%s", host->name);
	ssh_config_finish(config, host->address, usual_user);
	return 0;
}

/* The key that cluster.yaml names, or those of ~/.ssh/config, or those that ssh has by default. */
static const char *const *reach_keys(const struct cluster *c, const struct host *host,
				     const struct ssh_config *config, struct arena *arena)
{
	static const char *const usual[] = {"id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk",
					    "id_ecdsa_sk"};
	struct words keys = WORDS_INIT(arena);

	if (host->key_given) {
		words_add(&keys, cluster_path(c, host->key, arena));
		return keys.list;
	}
	if (config->identity_files.count)
		return words_list(&config->identity_files);
	words_add(&keys, cluster_path(c, host->key, arena));
	for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
		const char *path = arena_printf(arena, "%s/.ssh/%s", path_home(arena), usual[i]);

		if (strcmp(path, keys.list[0]) != 0 && file_exists(path))
			words_add(&keys, path);
	}
	return keys.list;
}

/* The files of the user, and with `all` those of the machine behind them. */
static const char *const *reach_known_hosts(const struct cluster *c,
					    const struct ssh_config *config, bool all,
					    struct arena *arena)
{
	struct words files = WORDS_INIT(arena);

	if (c->ssh.known_hosts_given || !config->user_known_hosts.count)
		words_add(&files, cluster_path(c, c->ssh.known_hosts, arena));
	else
		words_add_all(&files, words_list(&config->user_known_hosts));
	if (!all)
		return files.list;
	if (config->global_known_hosts.count)
		words_add_all(&files, words_list(&config->global_known_hosts));
	else
		words_add_all(&files,
			      WORDS("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"));
	return files.list;
}

/* The agent's socket; "" when none is to be asked. */
static const char *reach_agent(const struct ssh_config *config, struct arena *arena)
{
	const char *said = config->identity_agent, *variable = "SSH_AUTH_SOCK";

	if (strcmp(said, "none") == 0)
		return "";
	if (*said == '$')
		variable = said + 1;
	else if (*said && strcmp(said, variable) != 0)
		return path_expand(arena, NULL, said);
	return getenv(variable) ? arena_strdup(arena, getenv(variable)) : "";
}

/* What `ssh -F` needs: "" where ssh reads the same files by itself. ssh does not look at $HOME. */
static const char *reach_config_file(const struct cluster *c, struct arena *arena)
{
	const struct passwd *me = getpwuid(getuid());
	const char *path;

	if (strcmp(c->ssh.config, "none") == 0)
		return "none";
	path = cluster_path(c, c->ssh.config, arena);
	if (strcmp(c->ssh.config, CONFIG_DEFAULT) == 0 && me &&
	    strcmp(me->pw_dir, path_home(arena)) == 0)
		return "";
	return file_exists(path) ? path : "none";
}

static bool reach_is_lax(const struct ssh_config *config)
{
	return strcmp(config->strict_keys, "no") == 0 || strcmp(config->strict_keys, "off") == 0 ||
	       strcmp(config->strict_keys, "accept-new") == 0;
}

/* All but the way to it. `usual_user` logs in where nobody says who. */
static int reach_fill(const struct cluster *c, const struct host *host, const char *usual_user,
		      bool jump_given, struct arena *arena, struct ssh_target *t, struct error *err)
{
	struct ssh_config config;

	if (reach_read_config(c, host, usual_user, jump_given, &config, arena, err) < 0)
		return -1;
	*t = (struct ssh_target){
		.name = host->name,
		.host = host->address,
		.address = config.hostname,
		.user = *config.user ? config.user : usual_user,
		.port = config.port ? config.port : host->port,
		.keys = reach_keys(c, host, &config, arena),
		.keys_given = host->key_given,
		.known_hosts = reach_known_hosts(c, &config, false, arena),
		.known_hosts_all = reach_known_hosts(c, &config, true, arena),
		.known_hosts_given = c->ssh.known_hosts_given,
		.host_key_alias = config.host_key_alias,
		.agent = reach_agent(&config, arena),
		.identities_only = strcmp(config.identities_only, "yes") == 0,
		.is_lax = reach_is_lax(&config),
		.config = reach_config_file(c, arena),
		.beyond = config.beyond,
		.proxy_jump = config.jump_given ? "" : config.proxy_jump,
		.proxy_command = config.jump_given ? "" : config.proxy_command,
		.has_remote_command = config.has_remote_command,
		.names_ciphers = config.names_ciphers,
		.jump = "",
		.transport = c->ssh.transport,
		.keep_s = c->ssh.keep_s,
		.sudo = host->sudo,
	};
	return 0;
}

/* A jump host: a member by its name, or any host as [USER@]HOST[:PORT], as whom ssh would log in. */
static int reach_jump(const struct cluster *c, const char *text, const struct host *named,
		      struct arena *arena, struct ssh_target *t, struct error *err)
{
	const struct passwd *me = getpwuid(getuid());
	struct host host = *named;

	if (cluster_host(c, text))
		return reach_fill(c, &host, c->ssh.user, true, arena, t, err);
	if (!strchr(text, '@'))
		host.user_given = false;
	return reach_fill(c, &host, me ? me->pw_name : c->ssh.user, true, arena, t, err);
}

/* Whether an entry of the list of jump hosts is this very host. */
static bool reach_is_itself(const struct host *host, const struct host *named)
{
	return strcmp(named->name, host->name) == 0 ||
	       (strcmp(named->address, host->address) == 0 &&
		(named->port == host->port || !named->port_given));
}

/* The jump hosts before this one: all, or those before its own place in the list. */
static int reach_way(const struct cluster *c, const struct host *host, struct arena *arena,
		     struct ssh_target *target, struct error *err)
{
	char *list = arena_strdup(arena, host->jump), *entry;
	struct words way = WORDS_INIT(arena);

	while ((entry = strsep(&list, ","))) {
		struct ssh_target *jump = ARENA_NEW(arena, struct ssh_target);
		struct host named;

		if (cluster_host_named(c, entry, arena, &named, err) < 0)
			return error_wrap(err, "%s: its jump host", host->name);
		if (reach_is_itself(host, &named))
			break;
		if (way.count == REACH_JUMPS_MAX)
			return error_set(err, ERROR_USAGE, "%s: more than %d jump hosts",
					 host->name, REACH_JUMPS_MAX);
		if (reach_jump(c, entry, &named, arena, jump, err) < 0)
			return -1;
		jump->via = target->via;
		jump->timeout_s = target->timeout_s;
		target->via = jump;
		words_addf(&way, "%s@%s:%d", jump->user, jump->host, jump->port);
	}
	target->jump = way.count ? words_join(&way, ",") : "";
	return 0;
}

/* The host of an entry of ProxyJump: [ssh://][USER@]HOST[:PORT], with brackets around an IPv6 address. */
static const char *reach_jump_name(const char *entry, struct arena *arena)
{
	size_t length = strcspn(entry, ",");
	char *name = arena_strndup(arena, entry, length), *at;

	if (starts_with(name, "ssh://"))
		name += strlen("ssh://");
	at = strrchr(name, '@');
	name = at ? at + 1 : name;
	if (*name == '[')
		return arena_strndup(arena, name + 1, strcspn(name + 1, "]"));
	if (strchr(name, ':') == strrchr(name, ':'))
		name[strcspn(name, ":")] = '\0';
	return name;
}

/* Hosts whose ProxyJump leads back to them: ssh starts one program after the other then, without an end. */
static int reach_check_loop(const struct cluster *c, const struct host *host, const char *jump,
			    struct arena *arena, struct error *err)
{
	struct words way = WORDS_INIT(arena);
	bool is_loop = false;

	words_add(&way, host->address);
	while (!reach_goes_direct(jump) && !is_loop) {
		const char *name = reach_jump_name(jump, arena);
		const struct host next = {.name = name, .address = name, .user = "", .key = ""};
		struct ssh_config config;

		is_loop = way.count > REACH_JUMPS_MAX;
		for (size_t i = 0; i < way.count; i++)
			is_loop |= strcmp(way.list[i], name) == 0;
		words_add(&way, name);
		if (reach_read_config(c, &next, "", false, &config, arena, err) < 0)
			return -1;
		jump = config.proxy_jump;
	}
	if (!is_loop)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"%s: its ProxyJump in ~/.ssh/config leads back to where it was: %s; give the last of them 'ProxyJump none' there, or say 'jump' in the cluster file",
		host->name, words_join(&way, " > "));
}

int reach_host(const struct cluster *cluster, const struct host *host, int timeout_s,
	       struct arena *arena, struct ssh_target *target, struct error *err)
{
	if (reach_fill(cluster, host, cluster->ssh.user, host->jump_given, arena, target, err) < 0)
		return -1;
	target->timeout_s = timeout_s ? timeout_s : REACH_TIMEOUT_DEFAULT_S;
	target->direct = host->jump_given;
	if (reach_check_loop(cluster, host, target->proxy_jump, arena, err) < 0)
		return -1;
	if (!host->jump_given || reach_goes_direct(host->jump))
		return 0;
	return reach_way(cluster, host, arena, target, err);
}
