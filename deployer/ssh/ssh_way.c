/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh_way.h"

#include "core/file.h"
#include "deployer/ssh/keys/key_agent.h"

#include <errno.h>
#include <string.h>

static bool way_agent_has(const struct words *agent, const struct private_key *key)
{
	for (size_t i = 0; i < agent->count; i++) {
		const char *base64 = strchr(agent->list[i], ' ') + 1;

		if (*key->public_base64 && strcmp(base64, key->public_base64) == 0)
			return true;
	}
	return false;
}

static bool way_agent_suits(const struct words *agent, bool libssh2)
{
	for (size_t i = 0; i < agent->count; i++)
		if (private_key_is_for_libssh2(agent->list[i]) == libssh2)
			return true;
	return false;
}

/* Whether the key can be used as it lies there, by libssh2 or only by the system's ssh. */
static bool way_key_suits(const struct private_key *key, bool libssh2, struct arena *arena)
{
	bool has_certificate = file_exists(arena_printf(arena, "%s-cert.pub", key->path));

	return key->state == PRIVATE_KEY_FOUND && !key->encrypted &&
	       (private_key_is_for_libssh2(key->type) && !has_certificate) == libssh2;
}

static bool way_any_key(const struct ssh_way *way, bool libssh2, struct arena *arena)
{
	for (size_t i = 0; i < way->key_count; i++)
		if (way_key_suits(&way->keys[i], libssh2, arena))
			return true;
	return false;
}

/*
 * Has the passphrase asked for, of a key that cluster.yaml names, or where nothing else could log in. `agent` is
 * what the agent has then.
 */
static void way_unlock(struct ssh_way *way, struct ssh_target *target, struct words *agent,
		       struct arena *arena)
{
	bool others =
		agent->count || way_any_key(way, true, arena) || way_any_key(way, false, arena);

	for (size_t i = 0; i < way->key_count; i++) {
		const struct private_key *key = &way->keys[i];
		const char *socket;
		struct error why = {0};

		if (key->state != PRIVATE_KEY_FOUND || !key->encrypted ||
		    way_agent_has(agent, key) || (others && !target->keys_given))
			continue;
		if (key_agent_unlock(key->path, &socket, &why) < 0) {
			way->locked = arena_strdup(arena, why.text);
			continue;
		}
		target->agent = socket;
		*agent = (struct words)WORDS_INIT(arena);
		key_agent_list(socket, agent);
		others = true;
	}
}

static const char *way_because(const struct ssh_way *way, const struct ssh_target *target,
			       const struct words *agent, struct arena *arena)
{
	if (strcmp(target->transport, ssh_transport_openssh.name) == 0)
		return "ssh.transport says so";
	if (target->keep_s)
		return "ssh.keep wants a connection that stays open";
	if (*target->beyond)
		return target->beyond;
	if (target->via && strcmp(target->transport, ssh_transport_libssh2.name) != 0)
		return "it is behind a jump host";
	if (!way_any_key(way, true, arena) && !way_agent_suits(agent, true) && way->has_more)
		return "no key is one for libssh2 (they are RSA, FIDO, or have a certificate)";
	return "";
}

/* `transport: libssh2` is an order, so that what it cannot do is an error. */
static int way_check_libssh2(const struct ssh_way *way, const struct ssh_target *target,
			     struct error *err)
{
	char place[200];

	if (strcmp(target->transport, ssh_transport_libssh2.name) != 0 || !*way->because)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "%s: libssh2 cannot do it: %s; set ssh.transport to auto or openssh",
			 ssh_place(target, place), way->because);
}

int ssh_way_choose(struct ssh_target *target, struct arena *arena, struct ssh_way *way,
		   struct error *err)
{
	struct words agent = WORDS_INIT(arena);

	*way = (struct ssh_way){.transport = &ssh_transport_local, .because = "", .locked = ""};
	if (strcmp(target->transport, ssh_transport_local.name) == 0)
		return 0;
	if (target->password) {
		way->transport = &ssh_transport_libssh2;
		return 0;
	}
	while (target->keys[way->key_count])
		way->key_count++;
	way->keys = ARENA_ARRAY(arena, way->key_count, struct private_key);
	for (size_t i = 0; i < way->key_count; i++)
		private_key_look(target->keys[i], arena, &way->keys[i]);
	key_agent_list(target->agent, &agent);
	way_unlock(way, target, &agent, arena);
	way->agent_count = agent.count;
	way->has_more = way_any_key(way, false, arena) || way_agent_suits(&agent, false);
	way->because = way_because(way, target, &agent, arena);
	way->may_change = strcmp(target->transport, "auto") == 0;
	way->transport = *way->because ? &ssh_transport_openssh : &ssh_transport_libssh2;
	return way_check_libssh2(way, target, err);
}

/* "the key a", or "the keys a, b and 2 of the ssh-agent". */
static void way_add_keys(const struct ssh_way *way, struct str *out)
{
	size_t named = 0;

	for (size_t i = 0; i < way->key_count; i++)
		if (way->keys[i].state == PRIVATE_KEY_FOUND)
			str_addf(out, "%s%s", named++ ? ", " : "the key ", way->keys[i].path);
	if (way->agent_count)
		str_addf(out, "%s%zu of the ssh-agent", named ? " and " : "the keys, ",
			 way->agent_count);
}

/* What is wrong with the first key, or "": then the host did refuse it. */
static const char *way_fault(const struct ssh_way *way, struct arena *arena)
{
	const struct private_key *key = &way->keys[0];

	if (*way->locked)
		return way->locked;
	for (size_t i = 0; i < way->key_count && !way->agent_count; i++)
		if (way->keys[i].state == PRIVATE_KEY_FOUND)
			return "";
	if (key->state == PRIVATE_KEY_EXPOSED)
		return arena_printf(
			arena,
			"the key %s is not used, as other users may read it; chmod 600 mends that",
			key->path);
	if (key->state == PRIVATE_KEY_UNREADABLE)
		return arena_printf(arena, "the key %s cannot be read", key->path);
	if (key->state == PRIVATE_KEY_FOREIGN)
		return arena_printf(arena, "%s is no private key%s", key->path,
				    ends_with(key->path, ".pub") ? ", but a public one" : "");
	if (key->state == PRIVATE_KEY_MISSING && !way->agent_count)
		return arena_printf(
			arena,
			"there is no key %s, and no ssh-agent has one; make one by ssh-keygen, or set ssh.key in cluster.yaml",
			key->path);
	return "";
}

static int way_say_refused(const struct ssh_way *way, const struct ssh_target *target,
			   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(str_release) struct str keys = STR_INIT;
	const char *fault = target->password ? "" : way_fault(way, &arena);
	char place[200];

	if (target->password)
		return error_set(err, ERROR_FAILED,
				 "%s: the host did not take the password of user %s",
				 ssh_place(target, place), target->user);
	if (*fault)
		return error_set(err, ERROR_FAILED, "%s: cannot log in as %s: %s",
				 ssh_place(target, place), target->user, fault);
	way_add_keys(way, &keys);
	return error_set(
		err, ERROR_FAILED,
		"%s: the host refused %s for user %s; put it there by ringup keys install, or set ssh.key and ssh.user in cluster.yaml",
		ssh_place(target, place), keys.length ? keys.text : "every key", target->user);
}

/* ssh's own words on a key file that it cannot use, as 'Load key "k": error in libcrypto', or "". In the arena. */
static const char *way_not_loaded(const char *said, struct arena *arena)
{
	const char *at = strstr(said, "Load key \"");

	return at ? arena_strndup(arena, at, strcspn(at, ";")) : "";
}

/* Why no key would do, by ssh's words on what the host takes: "Permission denied (password)."; or "". In the arena. */
static const char *way_takes_no_key(const char *said, struct arena *arena)
{
	static const char start[] = "Permission denied (";
	const char *at = strstr(said, start);
	const char *list = at ? arena_strndup(arena, at + strlen(start),
					      strspn(at + strlen(start),
						     "abcdefghijklmnopqrstuvwxyz0123456789-,@."))
			      : "";

	return !*list || strstr(list, "publickey")
		       ? ""
		       : arena_printf(
				 arena,
				 "it lets nobody in by a key alone, and asks for: %s; see PubkeyAuthentication and AuthenticationMethods of its sshd_config",
				 list);
}

int ssh_way_refused(const struct ssh_way *way, const struct ssh_target *target, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *fault = way->key_count && way->keys[0].state == PRIVATE_KEY_EXPOSED
				    ? ""
				    : way_not_loaded(err->text, &arena);
	char place[200];

	if (!*fault && !target->password)
		fault = way_takes_no_key(err->text, &arena);
	if (*fault)
		error_set(err, ERROR_FAILED, "%s: cannot log in as %s: %s",
			  ssh_place(target, place), target->user, fault);
	else
		way_say_refused(way, target, err);
	err->system = EACCES;
	return -1;
}
