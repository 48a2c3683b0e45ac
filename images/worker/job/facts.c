/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_FIRST 10240 /* of the ports that jobs get, below those of outgoing connections */
#define PORT_LAST 32767
#define PORT_TRIES 2000

static void fact_add(struct host *host, const char *name, const char *value)
{
	text_addf(&host->out, "fact %s ", name);
	text_add_escaped(&host->out, value, strlen(value));
	text_add_bytes(&host->out, "\n", 1);
}

static void fact_add_number(struct host *host, const char *name, long value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%ld", value);
	fact_add(host, name, digits);
}

/* The processors that this process may use (sched_getaffinity(2)). */
static long count_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
							    : sysconf(_SC_NPROCESSORS_ONLN);
}

/* The GPUs of a lab host, which are not there (images/simulated/nvidia-smi); 0 elsewhere. */
static long count_simulated_gpus(void)
{
	const char *folder = getenv("RINGUP_SIMULATED");
	char path[4096];
	FILE *file;
	long count = 0;

	snprintf(path, sizeof(path), "%s/gpus", folder ? folder : "");
	file = folder ? fopen(path, "re") : NULL;
	if (!file)
		return 0;
	for (int c; (c = getc(file)) != EOF;)
		count += c == '\n';
	fclose(file);
	return count;
}

/* /dev/nvidia0, /dev/nvidia1 ...: what NVIDIA's toolkit puts into a container. */
static long count_gpus(void)
{
	DIR *folder = opendir("/dev");
	struct dirent *entry;
	long count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder)))
		count += strncmp(entry->d_name, "nvidia", 6) == 0 && isdigit(entry->d_name[6]);
	closedir(folder);
	return count ? count : count_simulated_gpus();
}

/* Clears the bits behind the network's. */
static void mask_bytes(unsigned char *bytes, size_t size, int bits)
{
	for (size_t i = 0; i < size; i++, bits -= 8)
		bytes[i] &= (unsigned char)(bits >= 8 ? 0xff : bits > 0 ? 0xff << (8 - bits) : 0);
}

/* "10.0.0.0/24" of an interface's address. */
static void add_network(struct host *host, int family, const void *address, int bits)
{
	char text[INET6_ADDRSTRLEN] = "", cidr[INET6_ADDRSTRLEN + 16];
	size_t size = family == AF_INET ? 4 : 16;
	unsigned char bytes[16];

	memcpy(bytes, address, size);
	mask_bytes(bytes, size, bits);
	inet_ntop(family, bytes, text, sizeof(text));
	snprintf(cidr, sizeof(cidr), "%s/%d", text, bits);
	fact_add(host, "network", cidr);
}

static int prefix_length(const struct sockaddr *mask)
{
	const unsigned char *bytes;
	size_t size = 4;
	int bits = 0;

	if (!mask)
		return 32;
	bytes = (const unsigned char *)&((const struct sockaddr_in *)mask)->sin_addr;
	if (mask->sa_family == AF_INET6) {
		bytes = (const unsigned char *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
		size = 16;
	}
	for (size_t i = 0; i < size; i++)
		bits += __builtin_popcount(bytes[i]);
	return bits;
}

/* The interface that owns the host's address, and its network. */
static void add_interface(struct host *host)
{
	struct ifaddrs *all, *i;
	char text[INET6_ADDRSTRLEN];

	if (getifaddrs(&all) < 0)
		return;
	for (i = all; i; i = i->ifa_next) {
		const struct sockaddr *a = i->ifa_addr;
		const void *address;

		if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6))
			continue;
		address = a->sa_family == AF_INET
				  ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
				  : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;
		if (!inet_ntop(a->sa_family, address, text, sizeof(text)) ||
		    strcmp(text, host->options.address) != 0)
			continue;
		fact_add(host, "interface", i->ifa_name);
		add_network(host, a->sa_family, address, prefix_length(i->ifa_netmask));
		break;
	}
	freeifaddrs(all);
}

/* "4: ACTIVE" (Linux, Documentation/ABI/stable/sysfs-class-infiniband). */
static bool rdma_is_active(const char *ports, const char *port)
{
	char path[4096];
	FILE *file;
	int state = 0;

	snprintf(path, sizeof(path), "%s/%s/state", ports, port);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%d", &state) != 1)
		state = 0;
	fclose(file);
	return state == 4;
}

/* "mlx5_0:1" for each port of a card that moves data without the processor (InfiniBand, RoCE) and has a link. */
static void add_rdma(struct host *host)
{
	const char *sys = getenv("RINGUP_SYS");
	char folder[2048], ports[3072], name[600];
	struct dirent **cards, **list;
	int count, port_count;

	snprintf(folder, sizeof(folder), "%s/class/infiniband", sys && *sys ? sys : "/sys");
	count = scandir(folder, &cards, NULL, versionsort);
	for (int i = 0; i < count; i++) {
		snprintf(ports, sizeof(ports), "%s/%s/ports", folder, cards[i]->d_name);
		port_count =
			cards[i]->d_name[0] == '.' ? 0 : scandir(ports, &list, NULL, versionsort);
		for (int k = 0; k < port_count; k++) {
			snprintf(name, sizeof(name), "%s:%s", cards[i]->d_name, list[k]->d_name);
			if (isdigit(list[k]->d_name[0]) && rdma_is_active(ports, list[k]->d_name))
				fact_add(host, "rdma", name);
			free(list[k]);
		}
		if (port_count > 0)
			free(list);
		free(cards[i]);
	}
	if (count > 0)
		free(cards);
}

static bool port_is_free(int port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool free_port;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	free_port = bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0;
	close(fd);
	return free_port;
}

/* Each name of a port is a moment's truth: another program may take it before the job does. */
static void add_ports(struct host *host)
{
	unsigned int seed = (unsigned int)(job_clock_usec() ^ ((int64_t)getpid() << 16));
	long found = 0, last = 0;

	for (int i = 0; i < PORT_TRIES && found < host->options.ports; i++) {
		int port = PORT_FIRST + rand_r(&seed) % (PORT_LAST - PORT_FIRST + 1);

		if (port == last || !port_is_free(port))
			continue;
		last = port;
		found++;
		fact_add_number(host, "port", port);
	}
}

/* Hosts of a lab share one machine, and its cores. */
static void fact_add_machine(struct host *host)
{
	char id[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fscanf(file, "%63s", id) == 1)
		fact_add(host, "machine", id);
	if (file)
		fclose(file);
}

void host_say_facts(struct host *host)
{
	fact_add_machine(host);
	fact_add_number(host, "cores", count_cores());
	fact_add_number(host, "gpus", count_gpus());
	add_interface(host);
	add_rdma(host);
	add_ports(host);
}
