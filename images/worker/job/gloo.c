/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/gloo.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK 127 /* 127.0.0.0/8 (RFC 1122, 3.2.1.3) */

static bool gloo_spans_hosts(void)
{
	const char *controller = getenv("HOROVOD_CONTROLLER"), *world = getenv("HOROVOD_SIZE"),
		   *local = getenv("HOROVOD_LOCAL_SIZE");

	return controller && strcmp(controller, "gloo") == 0 && world && local &&
	       strcmp(world, local) != 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 ==
		       LOOPBACK;
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void address_text(const struct sockaddr *address, char text[static INET6_ADDRSTRLEN])
{
	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
			  INET6_ADDRSTRLEN);
	else if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
			  INET6_ADDRSTRLEN);
}

/* The IPv4 address of the interface that Horovod was told; "ADDRESS" if there is none. */
static void interface_address(char text[static INET_ADDRSTRLEN])
{
	const char *name = getenv("HOROVOD_GLOO_IFACE");
	struct ifaddrs *all = NULL;

	snprintf(text, INET_ADDRSTRLEN, "ADDRESS");
	if (!name || getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
		    strcmp(i->ifa_name, name) == 0)
			inet_ntop(AF_INET, &((const struct sockaddr_in *)i->ifa_addr)->sin_addr,
				  text, INET_ADDRSTRLEN);
	freeifaddrs(all);
}

bool gloo_is_reached(char reason[static GLOO_REASON_BYTES])
{
	char name[HOST_NAME_MAX + 1] = "", address[INET_ADDRSTRLEN],
				  found[INET6_ADDRSTRLEN] = "no address";
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	bool reached = false;

	if (!gloo_spans_hosts() || gethostname(name, sizeof(name) - 1) < 0)
		return true;
	interface_address(address);
	if (getaddrinfo(name, NULL, &hints, &list) == 0) {
		/* where all hosts are on one machine, its loopback addresses are fine */
		reached = !is_loopback(list->ai_addr) || strncmp(address, "127.", 4) == 0;
		address_text(list->ai_addr, found);
		freeaddrinfo(list);
	}
	snprintf(
		reason, GLOO_REASON_BYTES,
		"the name of this host, %s, has %s here, and Horovod's Gloo listens there: put the line '%s %s' into its /etc/hosts, in place of another one with that name, or take --launcher mpirun",
		name, found, address, name);
	return reached;
}
