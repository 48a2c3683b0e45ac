/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/keys.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/private.h"
#include "core/proc.h"
#include "deployer/address.h"
#include "deployer/ssh/keys/known_hosts.h"

#include <string.h>
#include <unistd.h>

#define KEY_CEILING_BYTES (16 * KIB)
#define SECRET_BYTES 32
/* The folder of the keys inside a container. */
#define INSIDE "/etc/ringup/ssh"

static int keys_read_text(const char *path, struct arena *arena, const char **text,
			  struct error *err)
{
	char *content;

	if (file_read(path, KEY_CEILING_BYTES, arena, &content, NULL, err) < 0)
		return -1;
	*text = content;
	return 0;
}

static int load_pair(const char *path, const char *comment, struct arena *arena,
		     struct secret *private_key, const char **public_key, struct error *err)
{
	const char *public_path = arena_printf(arena, "%s.pub", path);

	if (private_file(path, err) < 0)
		return -1;
	if (!file_exists(path) && proc_check(WORDS("ssh-keygen", "-q", "-t", "ed25519", "-N", "",
						   "-C", comment, "-f", path),
					     err) < 0)
		return error_wrap(err, "cannot make the key %s", path);
	if (secret_read(path, KEY_CEILING_BYTES, arena, private_key, err) < 0 ||
	    keys_read_text(public_path, arena, public_key, err) < 0)
		return -1;
	*public_key = arena_strndup(arena, *public_key, strcspn(*public_key, "\n"));
	return 0;
}

static int load_secret(const char *path, struct arena *arena, struct secret *secret,
		       struct error *err)
{
	char hex[2 * SECRET_BYTES + 1];
	int rc;

	if (private_file(path, err) < 0)
		return -1;
	if (file_exists(path))
		return secret_read(path, KEY_CEILING_BYTES, arena, secret, err);
	rc = random_hex(hex, SECRET_BYTES, err);
	if (rc == 0)
		rc = file_write(path, hex, strlen(hex), 0600, err);
	if (rc == 0)
		*secret = secret_copy(hex, arena);
	secret_wipe_bytes(hex, sizeof(hex));
	return rc;
}

int keys_load(const struct fleet *fleet, struct arena *arena, struct keys *keys, struct error *err)
{
	const char *folder = cluster_state_path(fleet->cluster, "keys", arena);
	const char *comment = arena_printf(arena, "ringup cluster %s", fleet->cluster->name);

	*keys = (struct keys){0};
	keys->members = ARENA_ARRAY(arena, fleet->count, struct member_keys);
	keys->count = fleet->count;
	if (private_folder(cluster_state_path(fleet->cluster, "", arena), err) < 0 ||
	    private_folder(folder, err) < 0 ||
	    load_pair(arena_printf(arena, "%s/id_ed25519", folder), comment, arena,
		      &keys->private_key, &keys->public_key, err) < 0 ||
	    load_secret(arena_printf(arena, "%s/secret", folder), arena, &keys->secret, err) < 0)
		return -1;
	for (size_t i = 0; i < fleet->count; i++) {
		const char *name = fleet->members[i].host->name;
		struct member_keys *m = &keys->members[i];

		if (load_pair(arena_printf(arena, "%s/host-%s", folder, name), name, arena,
			      &m->host_key, &m->host_public, err) < 0)
			return -1;
	}
	return 0;
}

bool keys_exist(const struct fleet *fleet, struct arena *arena)
{
	const char *folder = cluster_state_path(fleet->cluster, "keys", arena);

	if (!file_exists(arena_printf(arena, "%s/id_ed25519", folder)) ||
	    !file_exists(arena_printf(arena, "%s/secret", folder)))
		return false;
	for (size_t i = 0; i < fleet->count; i++)
		if (!file_exists(arena_printf(arena, "%s/host-%s", folder,
					      fleet->members[i].host->name)))
			return false;
	return true;
}

void keys_wipe(struct keys *keys)
{
	secret_wipe(&keys->private_key);
	secret_wipe(&keys->secret);
	for (size_t i = 0; i < keys->count; i++)
		secret_wipe(&keys->members[i].host_key);
}

/* "[10.0.0.1]:9435 ssh-ed25519 AAAA", one line per container of the mesh. */
static const char *known_hosts_text(const struct fleet *fleet, const struct keys *keys,
				    struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < fleet->count; i++) {
		const char *address = fleet->members[i].address;
		int port = fleet->members[i].sshd_port;
		const char *public = keys->members[i].host_public;
		const char *space = strchr(public, ' '),
			   *end = space ? strchr(space + 1, ' ') : NULL;

		if (!port)
			continue;
		str_addf(&text, "%s %.*s\n", known_hosts_name(address, port, arena),
			 end ? (int)(end - public) : (int)strlen(public), public);
	}
	return arena_strdup(arena, text.text);
}

/* Plain ssh, mpirun and horovodrun all find address, port and keys here. */
static const char *ssh_config_text(const struct fleet *fleet, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *host = fleet->members[i].host;
		const char *address = fleet->members[i].address;

		if (!fleet->members[i].sshd_port)
			continue;
		str_addf(&text, "Host %s", host->name);
		if (strcmp(host->name, host->address) != 0)
			str_addf(&text, " %s", host->address);
		if (strcmp(address, host->address) != 0)
			str_addf(&text, " %s", address);
		str_addf(&text,
			 "\n    HostName %s\n    Port %d\n    User root\n"
			 "    IdentityFile " INSIDE "/id_ed25519\n    IdentitiesOnly yes\n"
			 "    UserKnownHostsFile " INSIDE "/known_hosts\n"
			 "    StrictHostKeyChecking yes\n    BatchMode yes\n"
			 "    ConnectTimeout 20\n    ConnectionAttempts 3\n",
			 address, fleet->members[i].sshd_port);
	}
	return arena_strdup(arena, text.text);
}

/*
 * Whether hosts(5) can give this name an address. A resolver never looks up what inet_aton(3) takes
 * for an address ("10", "1.2"), and "localhost" is each host's own. cluster_host_word has held that
 * there is no white space and no '#'.
 */
static bool keys_is_host_name(const char *name)
{
	return !strchr(name, ':') && name[strspn(name, "0123456789.")] &&
	       strcasecmp(name, "localhost") != 0;
}

/*
 * "10.0.0.1 node01", one line per name of a host, for the containers' /etc/hosts. A host whose address
 * is not known in numbers is left to the resolver that finds its name.
 */
static const char *hosts_text(const struct fleet *fleet, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *host = fleet->members[i].host;
		const char *address = fleet->members[i].address;

		if (!address_is_number(address))
			continue;
		if (keys_is_host_name(host->name))
			str_addf(&text, "%s %s\n", address, host->name);
		if (strcmp(host->name, host->address) != 0 && keys_is_host_name(host->address))
			str_addf(&text, "%s %s\n", address, host->address);
	}
	return arena_strdup(arena, text.text);
}

/*
 * sshd takes only keys, listens only on the cluster's address, and runs commands and nothing else:
 * whoever logs in gets no way from there to other sockets, agents or networks (sshd_config(5)).
 * mpirun needs only commands. images/entry/ringup-entry adds ForceCommand, since only the image
 * knows its path. On a terminal sshd prints nothing of its own: no message of the day, no last
 * login.
 */
#define SSHD_FORWARDS_NOTHING                                                             \
	"AllowTcpForwarding no\nAllowStreamLocalForwarding no\nAllowAgentForwarding no\n" \
	"GatewayPorts no\nX11Forwarding no\nPermitTunnel no\n"                            \
	"PermitUserEnvironment no\nPermitUserRC no\n"

static const char *sshd_config_text(const struct fleet *fleet, const struct member *member,
				    struct arena *arena)
{
	size_t starts = fleet->count * 2 + 64;

	if (!member->sshd_port)
		return "# no Port: container.sshd_port is none, so images/entry/ringup-entry starts no sshd\n";
	return arena_printf(arena,
			    "Port %d\nListenAddress %s\nHostKey " INSIDE "/ssh_host_ed25519_key\n"
			    "AuthorizedKeysFile " INSIDE "/authorized_keys\n"
			    "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
			    "KbdInteractiveAuthentication no\nUsePAM no\n" SSHD_FORWARDS_NOTHING
			    "PrintMotd no\nPrintLastLog no\nPidFile none\n"
			    "MaxStartups %zu:30:%zu\nMaxSessions 1000\n",
			    member->sshd_port, member->address, starts, starts * 2);
}

void keys_files(const struct fleet *fleet, const struct keys *keys, const struct member *member,
		struct arena *arena, struct key_file files[static KEY_FILES_MAX])
{
	const struct key_file all[] = {
		{.name = "id_ed25519", .secret = keys->private_key, .mode = 0600},
		{"id_ed25519.pub", keys->public_key, {NULL}, 0644},
		{"authorized_keys", arena_printf(arena, "%s\n", keys->public_key), {NULL}, 0600},
		{.name = "ssh_host_ed25519_key",
		 .secret = keys->members[member->index].host_key,
		 .mode = 0600},
		{"known_hosts", known_hosts_text(fleet, keys, arena), {NULL}, 0644},
		{"ssh_config", ssh_config_text(fleet, arena), {NULL}, 0644},
		{"hosts", hosts_text(fleet, arena), {NULL}, 0644},
		{"sshd_config", sshd_config_text(fleet, member, arena), {NULL}, 0644},
		{.name = "secret", .secret = keys->secret, .mode = 0600},
	};

	_Static_assert(ARRAY_LEN(all) < KEY_FILES_MAX, "room for the end");
	memcpy(files, all, sizeof(all));
	files[ARRAY_LEN(all)] = (struct key_file){0};
}
