/* SPDX-License-Identifier: MIT */
/* The keys of `hosts`, `groups` and `ssh`. */
#include "plan/cluster_rows.h"

#include "plan/arch.h"
#include "plan/gpu_wish.h"
#include "plan/host_set.h"

#include <arpa/inet.h>
#include <string.h>

#define PORTS .min = 1, .max = 65535

/* --- hosts ---------------------------------------------------------------------------------- */

static const char *host_address(const void *values, const void *root)
{
	(void)root;
	return ((const struct host *)values)->address;
}

static const char *host_user(const void *values, const void *root)
{
	(void)values;
	return ((const struct cluster *)root)->ssh.user;
}

int cluster_check_gpus(const struct yaml_place *at, struct error *err)
{
	const char *gpus = *(const char *const *)((const char *)at->values + at->row->offset);
	struct gpu_wish ignored;
	struct error why = {0};

	if (!*gpus || gpu_wish_parse(gpus, at->arena, &ignored, &why) == 0)
		return 0;
	return yaml_error(at->node, err, "'%s': %s", at->row->key, why.text);
}

static const char *host_key(const void *values, const void *root)
{
	(void)values;
	return ((const struct cluster *)root)->ssh.key;
}

static const char *host_jump(const void *values, const void *root)
{
	(void)values;
	return ((const struct cluster *)root)->ssh.jump;
}

static int host_check_arch(const struct yaml_place *at, struct error *err)
{
	const struct host *host = at->values;

	return !at->node || arch_by_name(host->arch)
		       ? 0
		       : yaml_error(at->node, err, "'%s' is amd64 or arm64, and not '%s'",
				    at->row->key, host->arch);
}

static int host_check_address(const struct yaml_place *at, struct error *err)
{
	if (at->node && yaml_get(at->map, "hosts"))
		return yaml_error(at->node, err, "a host has either '%s' or 'hosts'", at->row->key);
	return at->node || yaml_get(at->map, "hosts")
		       ? 0
		       : yaml_error(at->map, err, "a host needs an '%s', or 'hosts' for several",
				    at->row->key);
}

/* A name for each of several hosts would be the same one. */
static int host_check_name(const struct yaml_place *at, struct error *err)
{
	if (!at->node || !yaml_get(at->map, "hosts"))
		return 0;
	return yaml_error(at->node, err, "'%s' is for one host; 'hosts' gives several",
			  at->row->key);
}

/* One of the flags that tell what the file says from what is usual. */
#define NOTE_GIVEN(member, type, flag)                                    \
	static int member(const struct yaml_place *at, struct error *err) \
	{                                                                 \
		type *values = at->values;                                \
                                                                          \
		(void)err;                                                \
		values->flag = values->flag || at->node;                  \
		return 0;                                                 \
	}
NOTE_GIVEN(host_note_user, struct host, user_given)
NOTE_GIVEN(host_note_port, struct host, port_given)
NOTE_GIVEN(host_note_key, struct host, key_given)
NOTE_GIVEN(host_note_jump, struct host, jump_given)
NOTE_GIVEN(ssh_note_user, struct cluster_ssh, user_given)
NOTE_GIVEN(ssh_note_key, struct cluster_ssh, key_given)
NOTE_GIVEN(ssh_note_known_hosts, struct cluster_ssh, known_hosts_given)
#undef NOTE_GIVEN

#define AT(member) offsetof(struct host, member)
const struct yaml_row cluster_host_rows[] = {
	{.key = "address",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(address),
	 .note = "required",
	 .help = "name or address to connect to; the container's sshd listens on it",
	 .check = host_check_address},
	{.key = "name",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(name),
	 .note = "the address",
	 .given = host_address,
	 .help = "what tables, errors and the workers' ssh_config call the host",
	 .check = host_check_name},
	{.key = "hosts",
	 .kind = YAML_ROW_OWN,
	 .note = "none",
	 .help = "in place of address: several hosts, as a set such as node[01-64]"},
	{.key = "user",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(user),
	 .note = "the value of ssh.user",
	 .given = host_user,
	 .help = "user to log in as",
	 .check = host_note_user},
	{.key = "port",
	 .kind = YAML_ROW_INT,
	 .offset = AT(port),
	 .value = "22",
	 .help = "port of the host's own sshd",
	 .check = host_note_port,
	 PORTS},
	{.key = "key",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(key),
	 .note = "the value of ssh.key",
	 .given = host_key,
	 .help = "private key to log in with",
	 .check = host_note_key},
	{.key = "jump",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(jump),
	 .note = "the value of ssh.jump",
	 .given = host_jump,
	 .help = "jump hosts on the way to it, or none",
	 .check = host_note_jump},
	{.key = "sudo",
	 .kind = YAML_ROW_BOOL,
	 .offset = AT(sudo),
	 .note = "the value of ssh.sudo",
	 .help = "runs every command on it by sudo"},
	{.key = "slots",
	 .kind = YAML_ROW_INT,
	 .offset = AT(slots),
	 .note = "the GPUs that the probe saw, or 1",
	 .help = "ranks that bench starts on the host",
	 .min = 1,
	 .max = 1024},
	{.key = "gpus",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(gpus),
	 .note = "the value of container.gpus",
	 .help = "GPUs of the host's container: all, none, how many, a list as 0,1, or UUIDs",
	 .check = cluster_check_gpus},
	{.key = "arch",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(arch),
	 .note = "any",
	 .help = "amd64 or arm64: a host with another processor is refused",
	 .check = host_check_arch},
	YAML_ROWS_END,
};
#undef AT

void cluster_init_host(const struct cluster *cluster, struct arena *arena, struct host *host)
{
	struct error ignored = {0};

	*host = (struct host){0};
	yaml_defaults(cluster_host_rows, host, cluster, arena, &ignored);
	host->sudo = cluster->ssh.sudo;
	host->user_given = cluster->ssh.user_given;
	host->key_given = cluster->ssh.key_given;
	host->jump_given = cluster->ssh.jump_given;
}

/* ':' stands in addresses of IPv6 only: "10.0.0.1:2222" would be looked up as a name. */
static int check_colon(const struct yaml *node, const char *address, struct error *err)
{
	const char *colon = strchr(address, ':');
	struct in6_addr ignored;

	if (!colon || inet_pton(AF_INET6, address, &ignored) == 1)
		return 0;
	return yaml_error(
		node, err,
		"'%s' is no address: a port is the host's 'port', as in {address: %.*s, port: 2222}",
		address, (int)(colon - address), address);
}

static int add_host(struct cluster *c, const struct yaml *node, const struct host *host,
		    struct error *err)
{
	if (!cluster_host_word(host->address) || !cluster_host_word(host->name))
		return yaml_error(node, err, "'%s' is not a host name or address",
				  cluster_host_word(host->address) ? host->name : host->address);
	if (check_colon(node, host->address, err) < 0)
		return -1;
	if (!cluster_host_word(host->user))
		return yaml_error(node, err, "'%s' is not a user name", host->user);
	for (size_t i = 0; i < c->host_count; i++)
		if (strcmp(c->hosts[i].name, host->name) == 0)
			return yaml_error(node, err, "the host '%s' stands twice", host->name);
	if (c->host_count == CLUSTER_HOSTS_MAX)
		return yaml_error(node, err, "more than %d hosts", CLUSTER_HOSTS_MAX);
	c->hosts[c->host_count++] = *host;
	return 0;
}

/* "node[01-08]", several such with ',' between, or one name: hosts with what `host` says. */
static int add_names(struct cluster *c, const struct yaml *item, struct host host,
		     struct arena *arena, struct error *err)
{
	struct words names = WORDS_INIT(arena);
	const char *why;

	if (item->kind != YAML_TEXT)
		return yaml_error(item, err, "'hosts' is a set of names, as in node[01-64]");
	if (host_set_expand(item->text, &names, &why) < 0)
		return yaml_error(item, err, "'%s': %s", item->text, why);
	for (const char *const *name = words_list(&names); *name; name++) {
		host.name = host.address = *name;
		if (add_host(c, item, &host, err) < 0)
			return -1;
	}
	return 0;
}

static int add_entry(struct cluster *c, const struct yaml *item, struct host host,
		     struct arena *arena, struct error *err)
{
	const struct yaml *names = item->kind == YAML_MAP ? yaml_get(item, "hosts") : item;

	if (item->kind == YAML_LIST)
		return yaml_error(item, err, "a host is a name or a map with 'address'");
	if (item->kind == YAML_MAP &&
	    yaml_read(cluster_host_rows, "a host", item, &host, c, arena, err) < 0)
		return -1;
	return names ? add_names(c, names, host, arena, err) : add_host(c, item, &host, err);
}

/* Whether the file has anything in it. */
static bool cluster_says_more(const struct yaml *map)
{
	for (size_t i = 0; map && i < map->count; i++)
		if (!yaml_is_null(map->items[i]))
			return true;
	return false;
}

int cluster_read_hosts(const struct yaml_place *at, struct error *err)
{
	struct cluster *c = at->values;
	const struct yaml *list = at->node;
	struct host usual;

	if (!list && cluster_says_more(at->map))
		return 0; /* for a scheduler, which has hosts of its own; fleet_init refuses it for all else */
	if (!list || list->kind != YAML_LIST || !list->count)
		return yaml_error(list ? list : at->map, err,
				  "'%s' must list at least one host, as in hosts: [node01, node02]",
				  at->row->key);
	c->hosts = ARENA_ARRAY(at->arena, CLUSTER_HOSTS_MAX, struct host);
	cluster_init_host(c, at->arena, &usual);
	for (size_t i = 0; i < list->count; i++)
		if (add_entry(c, list->items[i], usual, at->arena, err) < 0)
			return -1;
	return 0;
}

/* A set must be one, and may name other groups but not itself. */
int cluster_check_groups(const struct yaml_place *at, struct error *err)
{
	const struct cluster *c = at->values;
	struct error why = {0};

	for (const char *const *group = c->groups; *group; group++) {
		const char *set = strchr(*group, '=') + 1;
		struct words names = WORDS_INIT(at->arena);

		if (host_set_names(c, set, &names, &why) < 0)
			return yaml_error(
				yaml_get(at->node, arena_strndup(at->arena, *group,
								 (size_t)(set - *group - 1))),
				err, "%s", why.text);
	}
	return 0;
}

/* --- ssh ------------------------------------------------------------------------------------ */

static int ssh_note_jump(const struct yaml_place *at, struct error *err)
{
	struct cluster_ssh *ssh = at->values;

	(void)err;
	ssh->jump_given = at->node != NULL;
	return 0;
}

/* A connection of libssh2 ends with the process: another one would have to be a daemon. */
static int ssh_check_keep(const struct yaml_place *at, struct error *err)
{
	const struct cluster_ssh *ssh = at->values;

	if (!ssh->keep_s || strcmp(ssh->transport, "libssh2") != 0)
		return 0;
	return yaml_error(at->node, err, "'%s' needs 'transport: auto' or 'openssh'", at->row->key);
}

#define AT(member) offsetof(struct cluster_ssh, member)
const struct yaml_row cluster_ssh_rows[] = {
	{.key = "user",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(user),
	 .value = "root",
	 .help = "user to log in as on every host",
	 .check = ssh_note_user},
	{.key = "key",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(key),
	 .value = "~/.ssh/id_ed25519",
	 .help = "private key to log in with; an agent's keys are tried after it",
	 .check = ssh_note_key},
	{.key = "known_hosts",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(known_hosts),
	 .value = "~/.ssh/known_hosts",
	 .help = "file with the host keys; only 'hosts trust' adds to it, after a yes",
	 .check = ssh_note_known_hosts},
	{.key = "jump",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(jump),
	 .note = "none",
	 .help = "jump hosts on the way to the hosts, with ',' between: [USER@]HOST[:PORT]",
	 .check = ssh_note_jump},
	{.key = "sudo",
	 .kind = YAML_ROW_BOOL,
	 .offset = AT(sudo),
	 .value = "false",
	 .help = "runs every command on the hosts by sudo"},
	{.key = "transport",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(transport),
	 .value = "auto",
	 .help = "libssh2 inside of ringup, openssh for the system's ssh, or auto",
	 .choices = WORDS("auto", "libssh2", "openssh")},
	{.key = "keep",
	 .kind = YAML_ROW_INT,
	 .offset = AT(keep_s),
	 .value = "0",
	 .min = 0,
	 .max = 86400,
	 .help = "seconds that the system's ssh keeps a connection for the next command; 0: none",
	 .check = ssh_check_keep},
	{.key = "config",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(config),
	 .value = "~/.ssh/config",
	 .help = "what it says of a host counts where this file says nothing; or none"},
	YAML_ROWS_END,
};
#undef AT
