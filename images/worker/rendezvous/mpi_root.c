/* SPDX-License-Identifier: MIT */
#include "rendezvous/mpi_root.h"
#include "backend/backend.h"
#include "backend/mpi/mpi_library.h"
#include "net/hmac.h"
#include "net/net.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ADDRESSES_MAX 32
#define RANDOM_BYTES 16

struct address {
	int family;	   /* AF_INET or AF_INET6; 0: none */
	uint8_t bytes[16]; /* the network part is what the mask leaves of them */
	uint8_t mask[16];
};

/* What rank 0 tells. */
struct meeting {
	struct address addresses[ADDRESSES_MAX];
	struct secret secret; /* none: the ranks have one */
	uint16_t port;
};

static char late[160];

static void mpi_root_give_up(int signal_number)
{
	ssize_t ignored = write(STDERR_FILENO, late, strlen(late));

	(void)signal_number;
	(void)ignored;
	_exit(STATUS_TIMEOUT);
}

static size_t mpi_root_copy_bytes(const struct sockaddr *from, uint8_t to[16])
{
	if (from->sa_family == AF_INET) {
		memcpy(to, &((const struct sockaddr_in *)from)->sin_addr, 4);
		return 4;
	}
	memcpy(to, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	return 16;
}

/* The addresses that other hosts may reach, those of IPv4 first. */
static void list_addresses(struct address list[ADDRESSES_MAX])
{
	static const int families[] = {AF_INET, AF_INET6};
	struct ifaddrs *all = NULL;
	int count = 0;

	memset(list, 0, ADDRESSES_MAX * sizeof(*list));
	if (getifaddrs(&all) < 0)
		return;
	for (int f = 0; f < 2; f++) {
		for (const struct ifaddrs *at = all; at && count < ADDRESSES_MAX;
		     at = at->ifa_next) {
			struct address *new = &list[count];

			if (!at->ifa_addr || !at->ifa_netmask ||
			    at->ifa_addr->sa_family != families[f] ||
			    (at->ifa_flags & (IFF_UP | IFF_LOOPBACK)) != IFF_UP)
				continue;
			mpi_root_copy_bytes(at->ifa_addr, new->bytes);
			mpi_root_copy_bytes(at->ifa_netmask, new->mask);
			if (families[f] == AF_INET6 && new->bytes[0] == 0xfe &&
			    (new->bytes[1] & 0xc0) == 0x80)
				continue; /* link-local: usable only together with an interface */
			new->family = families[f];
			count++;
		}
	}
	freeifaddrs(all);
}

static bool is_same(const struct address *a, const struct address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static bool is_near(const struct address *a, const struct address *own)
{
	bool near = a->family == own->family;

	for (int i = 0; i < 16; i++)
		near = near && ((a->bytes[i] ^ own->bytes[i]) & own->mask[i]) == 0;
	return near;
}

/* One of a network that this host is in, too. An address that this host has itself is not rank 0's
 * from here (every host's docker0 has the same). NULL: rank 0 is here. */
static const struct address *mpi_root_choose(const struct address list[ADDRESSES_MAX])
{
	struct address own[ADDRESSES_MAX];
	const struct address *best = NULL;
	bool best_is_near = false;

	list_addresses(own);
	for (int i = 0; i < ADDRESSES_MAX && list[i].family; i++) {
		bool mine = false, near = false;

		for (int k = 0; k < ADDRESSES_MAX && own[k].family; k++) {
			mine = mine || is_same(&list[i], &own[k]);
			near = near || is_near(&list[i], &own[k]);
		}
		if (mine || (best && (best_is_near || !near)))
			continue;
		best = &list[i];
		best_is_near = near;
	}
	return best;
}

static int make_secret(struct secret *secret, struct failure *err)
{
	uint8_t bytes[RANDOM_BYTES];
	char text[2 * RANDOM_BYTES + 1];

	secret_guard();
	if (secret_random(bytes, sizeof(bytes), err) < 0)
		return -1;
	for (int i = 0; i < RANDOM_BYTES; i++)
		snprintf(text + (ptrdiff_t)(2 * i), 3, "%02x", bytes[i]);
	secret_set(secret, text, strlen(text));
	hmac_wipe(text, sizeof(text));
	hmac_wipe(bytes, sizeof(bytes));
	return 0;
}

static int listen_for_all(struct options *o, struct meeting *meeting, struct failure *err)
{
	struct endpoint root;

	if (net_resolve("0.0.0.0", "0", &root) != 0)
		return failure_set(err, STATUS_USAGE, 0, o->host, "there is no IPv4 here");
	list_addresses(meeting->addresses);
	o->root_listener = net_listen(&root);
	if (!secret_is_set(&o->secret) && make_secret(&meeting->secret, err) < 0)
		return -1;
	if (o->root_listener < 0)
		return failure_set(err, STATUS_USAGE, 0, o->host, "rank 0 (%s) cannot listen",
				   o->host);
	meeting->port = net_port(&root);
	return 0;
}

static void name_address(const struct address *at, char name[ADDRESS_BYTES])
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct endpoint endpoint = {.bytes = at->family == AF_INET ? sizeof(v4) : sizeof(v6)};

	memcpy(&v4.sin_addr, at->bytes, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, at->bytes, sizeof(v6.sin6_addr));
	if (at->family == AF_INET)
		memcpy(&endpoint.addr, &v4, sizeof(v4));
	else
		memcpy(&endpoint.addr, &v6, sizeof(v6));
	net_name(&endpoint, name);
}

/* A rank on rank 0's host listens on all addresses, as rank 0 does; reception.c gives the others an
 * address that they can reach. */
static void mpi_root_take(struct options *o, const struct meeting *meeting)
{
	const struct address *at = o->rank == 0 ? NULL : mpi_root_choose(meeting->addresses);
	char name[ADDRESS_BYTES] = "0.0.0.0";

	if (at)
		name_address(at, name);
	snprintf(o->root_host, sizeof(o->root_host), "%s", name);
	snprintf(o->root_port, sizeof(o->root_port), "%u", (unsigned)meeting->port);
	if (!secret_is_set(&o->secret))
		o->secret = meeting->secret;
}

int mpi_root(struct options *options, struct failure *err)
{
	const struct backend *backend = backend_find(options->backend);
	const struct mpi_plugin *plugin = mpi_library(err);
	int processes = options->color >= 0
				? options->processes
				: options->world / (options->procs > 0 ? options->procs : 1);
	int rc;
	struct meeting meeting = {.port = 0};
	char why[256] = "";

	if (!plugin || (options->rank == 0 && listen_for_all(options, &meeting, err) < 0))
		return -1;
	snprintf(
		late, sizeof(late),
		"allreduce: error: in phase join MPI did not bring the ranks together within %d s; say where rank 0 listens with --root HOST:PORT\n",
		options->timeout_sec);
	signal(SIGALRM, mpi_root_give_up);
	alarm((unsigned)options->timeout_sec);
	rc = plugin->meet(&meeting, sizeof(meeting), processes, options->color, why, sizeof(why));
	if (rc == 0 && !(backend && backend->uses_mpi))
		plugin->close(NULL, NULL, 1);
	alarm(0);
	signal(SIGALRM, SIG_DFL);
	if (rc < 0)
		failure_set(err, STATUS_USAGE, -1, "", "%s", why);
	else
		mpi_root_take(options, &meeting);
	secret_forget(&meeting.secret);
	return rc < 0 ? -1 : 0;
}
