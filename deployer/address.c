/* SPDX-License-Identifier: MIT */
#include "deployer/address.h"

#include "core/str.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

#define ADDRESS_PEERS_MAX 4 /* hosts that are asked for a name */
#define ADDRESS_BYTES_MAX INET6_ADDRSTRLEN

bool address_is_number(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* A number that other hosts can use: neither loopback nor an IPv6 address of one link. */
static bool address_is_usable(const char *text)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) != 127 && v4.s_addr != INADDR_ANY;
	return inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_LOOPBACK(&v6) &&
	       !IN6_IS_ADDR_LINKLOCAL(&v6) && !IN6_IS_ADDR_UNSPECIFIED(&v6);
}

/* The first usable address in the output of getent(1): it stands first in each line. NULL: none. */
static const char *address_in_lines(const char *text, struct arena *arena)
{
	for (; text && *text; text = strchr(text, '\n'), text += text != NULL) {
		const char *word = arena_strndup(arena, text, strcspn(text, " \t\n"));

		if (address_is_usable(word))
			return word;
	}
	return NULL;
}

static const char *address_asked(struct member *peer, const char *name, struct arena *arena)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {.words = WORDS("getent", "ahosts", name)};
	struct error ignored = {0};

	if (member_connect(peer, &ignored) < 0 ||
	    ssh_run(peer->ssh, &command, &result, &ignored) < 0)
		return NULL;
	return address_in_lines(result.out.text, arena);
}

/* What this machine finds under the name. */
static const char *address_here(const char *name, struct arena *arena)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	const char *found = NULL;

	if (getaddrinfo(name, NULL, &hints, &list) != 0)
		return NULL;
	for (struct addrinfo *at = list; at && !found; at = at->ai_next) {
		char text[ADDRESS_BYTES_MAX];

		if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0,
				NI_NUMERICHOST) == 0 &&
		    address_is_usable(text))
			found = arena_strdup(arena, text);
	}
	freeaddrinfo(list);
	return found;
}

static const char *address_by_peers(struct fleet *fleet, const struct member *m)
{
	const char *found = NULL;
	size_t asked = 0;

	for (size_t i = 0; i < fleet->count && !found && asked < ADDRESS_PEERS_MAX; i++) {
		struct member *peer = &fleet->members[i];

		if (peer == m || peer->failed || peer->left_out)
			continue;
		found = address_asked(peer, m->host->address, fleet->arena);
		asked++;
	}
	return found;
}

void fleet_find_addresses(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];
		const char *found = m->facts.address;

		if (address_is_number(m->host->address))
			continue;
		if (!found || !address_is_usable(found))
			found = m->failed ? NULL : address_by_peers(fleet, m);
		if (!found)
			found = address_here(m->host->address, fleet->arena);
		if (found)
			m->address = found;
	}
}

static int address_check_one(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	if (m->fleet->count < 2 || address_is_number(m->address))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: the name %s leads other hosts nowhere: %s; give 'address' in numbers in cluster.yaml, with %s as the 'name'",
		m->host->name, m->host->address,
		m->facts.address && *m->facts.address
			? arena_printf(&m->arena,
				       "on the host it is %s, and no other host knows it",
				       m->facts.address)
			: "neither the host nor the others know it",
		m->host->address);
}

void fleet_check_addresses(struct fleet *fleet)
{
	fleet_each(fleet, address_check_one, NULL);
}
