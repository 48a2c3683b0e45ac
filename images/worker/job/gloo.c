/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/gloo.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOPBACK 127   /* 127.0.0.0/8 (RFC 1122, 3.2.1.3) */
#define NO_PROGRAM 127 /* exit status where there is no such program */

static bool gloo_spans_hosts(void)
{
	const char *controller = getenv("HOROVOD_CONTROLLER"), *world = getenv("HOROVOD_SIZE"),
		   *local = getenv("HOROVOD_LOCAL_SIZE");

	return controller && strcmp(controller, "gloo") == 0 && world && local &&
	       strcmp(world, local) != 0;
}

static bool is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == LOOPBACK;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* In the child: the C library's own answer. */
static void gloo_become_getent(const char *name, int out)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("getent", "getent", "ahosts", name, (char *)NULL);
	_exit(NO_PROGRAM);
}

/*
 * The first address of the name, "" when it has none. getent answers as the rank's own C library does, with all the
 * sources of nsswitch.conf: this program has no loader, and could not load them. False: there is no getent.
 */
static bool gloo_resolve(const char *name, char address[static INET6_ADDRSTRLEN])
{
	char said[INET6_ADDRSTRLEN + 1] = "", rest[512];
	size_t length = 0;
	int ends[2], status = 0;
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	child = fork();
	if (child == 0)
		gloo_become_getent(name, ends[1]);
	close(ends[1]);
	while (length < sizeof(said) - 1 &&
	       (got = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += (size_t)got;
	while (read(ends[0], rest, sizeof(rest)) > 0)
		;
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return false;
	said[strcspn(said, " \t\n%")] = '\0';
	if (strlen(said) < INET6_ADDRSTRLEN)
		memcpy(address, said, strlen(said) + 1);
	return !WIFEXITED(status) || WEXITSTATUS(status) != NO_PROGRAM;
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
	char name[HOST_NAME_MAX + 1] = "", address[INET_ADDRSTRLEN], found[INET6_ADDRSTRLEN] = "";

	if (!gloo_spans_hosts() || gethostname(name, sizeof(name) - 1) < 0 ||
	    !gloo_resolve(name, found))
		return true;
	interface_address(address);
	snprintf(
		reason, GLOO_REASON_BYTES,
		"the name of this host, %s, has %s here, and Horovod's Gloo listens there: put the line '%s %s' into its /etc/hosts, in place of another one with that name, or take --launcher mpirun",
		name, *found ? found : "no address", address, name);
	/* where all hosts are on one machine, its loopback addresses are fine */
	return *found && (!is_loopback(found) || strncmp(address, "127.", 4) == 0);
}
