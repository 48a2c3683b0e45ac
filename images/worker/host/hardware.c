/* SPDX-License-Identifier: MIT */
#include "host/hardware.h"

#include <fcntl.h>
#include <glob.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVIDIA 0x10de

/* PCI classes, without the programming interface. */
enum { CLASS_ETHERNET = 0x0200, CLASS_INFINIBAND = 0x0207, CLASS_VGA = 0x0300, CLASS_3D = 0x0302 };

static void hardware_path_of(char path[PATH_MAX], const char *name)
{
	const char *root = getenv("RINGUP_TEST_ROOT");

	snprintf(path, PATH_MAX, "%s%s", root ? root : "", name);
}

/* The first line of @folder/@name; "" if there is none. */
static void hardware_read_line(const char *folder, const char *name, char *text, size_t bytes)
{
	char path[PATH_MAX + 32];
	int fd;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, bytes - 1) : -1;
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static double read_number(const char *folder, const char *name)
{
	char text[64];

	hardware_read_line(folder, name, text, sizeof(text));
	return strtod(text, NULL); /* knows 0x too, and stops at " GT/s PCIe" */
}

static bool hardware_same_host(const struct group *group, int a, int b)
{
	return strcmp(group->members[a].host, group->members[b].host) == 0;
}

bool hardware_speaks(const struct group *group)
{
	int first = 0;

	while (!hardware_same_host(group, first, group->rank))
		first++;
	return first == group->rank;
}

bool hardware_has_others(const struct group *group)
{
	for (int rank = 0; rank < group->world; rank++)
		if (!hardware_same_host(group, rank, group->rank))
			return true;
	return false;
}

/* The interface that has this rank's address. */
static bool find_interface(const char *address, char name[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		struct endpoint endpoint = {.bytes = sizeof(struct sockaddr_in)};
		char own[ADDRESS_BYTES];

		if (!i->ifa_addr ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		if (i->ifa_addr->sa_family == AF_INET6)
			endpoint.bytes = sizeof(struct sockaddr_in6);
		memcpy(&endpoint.addr, i->ifa_addr, endpoint.bytes);
		net_name(&endpoint, own);
		found = strcmp(own, address) == 0;
		snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
	return found;
}

/* The fastest interface that is up. */
static double find_fastest(char name[IF_NAMESIZE])
{
	char pattern[PATH_MAX], state[32];
	glob_t found = {.gl_pathc = 0};
	double most = 0;

	hardware_path_of(pattern, "/sys/class/net/*");
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			double speed = read_number(found.gl_pathv[i], "speed");

			hardware_read_line(found.gl_pathv[i], "operstate", state, sizeof(state));
			if (speed <= most || strcmp(state, "up") != 0)
				continue;
			most = speed;
			snprintf(name, IF_NAMESIZE, "%s", strrchr(found.gl_pathv[i], '/') + 1);
		}
	globfree(&found);
	return most;
}

static void check_interface(const struct group *group, struct warnings *warnings)
{
	const char *address = group->members[group->rank].address;
	char own[IF_NAMESIZE] = "", fastest[IF_NAMESIZE] = "", path[PATH_MAX], name[64];
	double speed, most = find_fastest(fastest);
	struct warning *new;

	if (!find_interface(address, own))
		return;
	snprintf(name, sizeof(name), "/sys/class/net/%s", own);
	hardware_path_of(path, name);
	speed = read_number(path, "speed");
	if (speed <= 0 || most <= speed)
		return;
	new = warning_add(warnings, "give --bind the address of the faster one",
			  "the network used is not the fastest one of the host: %s", own);
	if (new)
		snprintf(new->why, sizeof(new->why), "%s (%s) has %.0f Mb/s, %s is up and has %.0f",
			 own, address, speed, fastest, most);
}

bool hardware_find_infiniband(char *name, size_t bytes)
{
	char pattern[PATH_MAX], state[64];
	glob_t ports = {.gl_pathc = 0};
	bool found = false;

	hardware_path_of(pattern, "/sys/class/infiniband/*/ports/*");
	if (glob(pattern, 0, NULL, &ports) == 0)
		for (size_t i = 0; i < ports.gl_pathc && !found; i++) {
			const char *device =
				strstr(ports.gl_pathv[i], "/infiniband/") + strlen("/infiniband/");

			hardware_read_line(ports.gl_pathv[i], "state", state, sizeof(state));
			found = strstr(state, "ACTIVE") != NULL; /* "4: ACTIVE" */
			snprintf(name, bytes, "%.*s/%s", (int)strcspn(device, "/"), device,
				 strrchr(device, '/') + 1);
		}
	globfree(&ports);
	return found;
}

void hardware_check_network(const struct group *group, struct warnings *warnings)
{
	char port[64];
	struct warning *new = NULL;

	if (!hardware_speaks(group) || !hardware_has_others(group))
		return;
	check_interface(group, warnings);
	if (hardware_find_infiniband(port, sizeof(port)))
		new = warning_add(
			warnings,
			"for the network's own speed use --backend nccl, or mpi with an MPI that knows InfiniBand",
			"TCP is used though InfiniBand or RoCE is there");
	if (new)
		snprintf(new->why, sizeof(new->why),
			 "port %s is active, and this backend has nothing but TCP between hosts",
			 port);
}

/* What it is, if it is of interest: "GPU" or "network card". */
static const char *hardware_kind_of(const char *device)
{
	int class = (int)read_number(device, "class") >> 8;

	if (class == CLASS_ETHERNET || class == CLASS_INFINIBAND)
		return "network card";
	if ((class == CLASS_VGA || class == CLASS_3D) &&
	    (int)read_number(device, "vendor") == NVIDIA)
		return "GPU";
	return NULL;
}

static void check_device(const char *device, struct warnings *warnings)
{
	const char *kind = hardware_kind_of(device), *name = strrchr(device, '/') + 1;
	double width, most_width, speed, most_speed;
	struct warning *new;

	if (!kind)
		return;
	width = read_number(device, "current_link_width");
	most_width = read_number(device, "max_link_width");
	speed = read_number(device, "current_link_speed");
	most_speed = read_number(device, "max_link_speed");
	if (kind[0] == 'G')
		speed = most_speed;
	if (width <= 0 || speed <= 0 || (width >= most_width && speed >= most_speed))
		return;
	new = warning_add(
		warnings,
		"look at the slot, the riser and the firmware's settings; seat the card anew",
		"the PCIe link of %s %s is below its maximum", kind, name);
	if (new)
		snprintf(new->why, sizeof(new->why),
			 "it has %.0f lanes of %.0f, at %.1f GT/s of %.1f", width, most_width,
			 speed, most_speed);
}

void hardware_check_pci(struct warnings *warnings)
{
	char pattern[PATH_MAX];
	glob_t found = {.gl_pathc = 0};

	hardware_path_of(pattern, "/sys/bus/pci/devices/*");
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			check_device(found.gl_pathv[i], warnings);
	globfree(&found);
}
