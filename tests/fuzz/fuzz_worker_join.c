/* SPDX-License-Identifier: MIT */
/* The worker's rendezvous: what strangers send to rank 0's port. The input is up to CALLERS
 * connections, each a length (2 bytes, little-endian) and so many bytes. */
#include "tests/fuzz/fuzz.h"

#include "images/worker/clock.h"
#include "images/worker/rendezvous/reception.h"
#include "images/worker/rendezvous/rendezvous.h"

#include <netinet/in.h>

#define CALLERS 4
#define WAIT_USEC 2000

/* The seeds know this secret. */
static const char secret[] = "fuzz";

static void options_init(struct options *options)
{
	struct failure err;

	memset(options, 0, sizeof(*options));
	options->rank = 0;
	options->world = 2;
	options->timeout_sec = 1;
	options->root_listener = -1;
	fault_init(&options->fault);
	memcpy(options->secret, secret, sizeof(secret));
	memcpy(options->backend, "cpu", 4);
	memcpy(options->host, "here", 5);
	options->workload.iterations = 1;
	fuzz_check(rendezvous_listen(options, &err) == 0);
}

/* Connects and says the bytes, all of which fit into the socket's buffer. */
static int call(const struct options *options, const uint8_t *bytes, size_t size)
{
	struct endpoint root;
	int fd;

	fuzz_check(net_resolve(options->root_host, options->root_port, &root) == 0);
	fd = net_connect(&root, clock_usec() + 1000000);
	fuzz_check(fd >= 0);
	net_send(fd, bytes, size, clock_usec() + 1000000);
	shutdown(fd, SHUT_WR);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct failure err = {.status = STATUS_PASS}, usable = {.status = STATUS_PASS};
	struct group group = {.world = 2, .listener = -1, .timeout_usec = WAIT_USEC};
	struct member members[2];
	struct options options;
	struct hello hello;
	int fds[2] = {-1, -1}, callers[CALLERS], count = 0, rc;
	FILE *before = stderr;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	fuzz_check(nowhere);
	memset(members, 0, sizeof(members));
	group.members = members;
	options_init(&options);
	group.workload = options.workload;
	hello_fill(&hello, &options, &usable);
	while (size >= 2 && count < CALLERS) {
		size_t length = data[0] | (size_t)data[1] << 8;

		length = length < size - 2 ? length : size - 2;
		callers[count++] = call(&options, data + 2, length);
		data += 2 + length;
		size -= 2 + length;
	}
	stderr = nowhere; /* each stranger is told of there */
	rc = reception_run(&options, &hello, &group, fds, &err);
	stderr = before;
	fuzz_check(rc == 0 || (err.status > STATUS_PASS && err.status <= STATUS_SLOW));
	fuzz_check(rc == 0 || strnlen(err.reason, sizeof(err.reason)) < sizeof(err.reason));
	if (rc == 0)
		for (int rank = 0; rank < 2; rank++) {
			fuzz_check(memchr(members[rank].host, 0, HOST_BYTES));
			fuzz_check(memchr(members[rank].address, 0, ADDRESS_BYTES));
			fuzz_check(memchr(members[rank].library, 0, sizeof(members[rank].library)));
		}
	for (int i = 0; i < count; i++)
		close(callers[i]);
	for (int rank = 0; rank < 2; rank++)
		if (fds[rank] >= 0)
			close(fds[rank]);
	if (group.listener >= 0)
		close(group.listener);
	return 0;
}
