/* SPDX-License-Identifier: MIT */
/* The worker's rendezvous: what strangers, and ranks that know the secret, send to rank 0's port. The
 * input is up to CALLERS connections, each a length (2 bytes, little-endian) and so many bytes. With the
 * length's highest bit the bytes are a greeting and an introduction, which the target proves. */
#include "tests/fuzz/fuzz.h"

#include "images/worker/clock.h"
#include "images/worker/rendezvous/reception.h"
#include "images/worker/rendezvous/rendezvous.h"
#include "images/worker/text.h"

#include <pthread.h>

#define CALLERS 4
#define WAIT_USEC 2000	  /* for strangers */
#define PROOF_USEC 200000 /* for ranks, whose thread may have to wait for a core */
#define PROVEN 0x8000u

/* The seeds know this secret. */
static const char secret[] = "fuzz";

/* One connection. */
struct caller {
	const struct options *options;
	int fd;
	bool proven;
	const uint8_t *bytes;
	size_t size;
	pthread_t thread;
};

static void options_init(struct options *options)
{
	struct failure err;

	memset(options, 0, sizeof(*options));
	options->rank = 0;
	options->world = 2;
	options->timeout_sec = 1;
	options->root_listener = -1;
	fault_init(&options->fault);
	secret_set(&options->secret, secret, strlen(secret));
	memcpy(options->backend, "cpu", 4);
	memcpy(options->host, "here", 5);
	options->workload.iterations = 1;
	fuzz_check(rendezvous_listen(options, &err) == 0);
}

/* Fills @data from the caller's bytes, and with zeros from their end on. */
static void caller_take(struct caller *caller, void *data, size_t bytes)
{
	size_t now = bytes < caller->size ? bytes : caller->size;

	memset(data, 0, bytes);
	if (now > 0)
		memcpy(data, caller->bytes, now);
	caller->bytes += now;
	caller->size -= now;
}

/* A rank that knows the secret and says what the input has. */
static void *caller_prove(void *arg)
{
	struct caller *caller = arg;
	const struct secret *key = &caller->options->secret;
	int64_t deadline = clock_usec() + PROOF_USEC;
	struct introduction intro;
	struct exchange exchange;
	struct answer answer;

	memset(&exchange, 0, sizeof(exchange));
	caller_take(caller, &exchange.hello.greeting, sizeof(exchange.hello.greeting));
	caller_take(caller, &intro, sizeof(intro));
	if (net_send(caller->fd, &exchange.hello, sizeof(exchange.hello), deadline) < 0 ||
	    net_recv(caller->fd, &exchange.challenge, sizeof(exchange.challenge), deadline) < 0)
		return NULL;
	hello_prove(key, PROOF_RANK, &exchange, NULL, 0, answer.proof);
	hello_prove(key, PROOF_INTRODUCTION, &exchange, &intro,
		    offsetof(struct introduction, proof), intro.proof);
	if (net_send(caller->fd, &answer, sizeof(answer), deadline) == 0)
		net_send(caller->fd, &intro, sizeof(intro), deadline);
	return NULL;
}

/* Connects; a stranger says the bytes, all of which fit into the socket's buffer. */
static void caller_begin(struct caller *caller)
{
	struct endpoint root;

	fuzz_check(net_resolve(caller->options->root_host, caller->options->root_port, &root) == 0);
	caller->fd = net_connect(&root, clock_usec() + 1000000);
	fuzz_check(caller->fd >= 0);
	if (caller->proven) {
		fuzz_check(pthread_create(&caller->thread, NULL, caller_prove, caller) == 0);
		return;
	}
	net_send(caller->fd, caller->bytes, caller->size, clock_usec() + 1000000);
	shutdown(caller->fd, SHUT_WR);
}

static void caller_end(struct caller *caller)
{
	if (caller->proven)
		pthread_join(caller->thread, NULL);
	close(caller->fd);
}

/* Begins all connections of the input; returns how many. */
static int callers_begin(struct caller *callers, const struct options *options, const uint8_t *data,
			 size_t size, bool *proven)
{
	int count = 0;

	*proven = false;
	while (size >= 2 && count < CALLERS) {
		unsigned word = data[0] | (unsigned)data[1] << 8;
		size_t length = word & ~PROVEN;

		length = length < size - 2 ? length : size - 2;
		callers[count] = (struct caller){.options = options,
						 .proven = word & PROVEN,
						 .bytes = data + 2,
						 .size = length};
		*proven = *proven || callers[count].proven;
		caller_begin(&callers[count++]);
		data += 2 + length;
		size -= 2 + length;
	}
	return count;
}

static void check_members(const struct member *members)
{
	for (int rank = 0; rank < 2; rank++) {
		const struct member *m = &members[rank];

		fuzz_check(text_is_plain(m->host, sizeof(m->host)));
		fuzz_check(text_is_plain(m->address, sizeof(m->address)));
		fuzz_check(text_is_plain(m->library, sizeof(m->library)));
		fuzz_check(net_is_numeric(m->address) && m->port > 0 && m->port <= 65535);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct failure err = {.status = STATUS_PASS}, usable = {.status = STATUS_PASS};
	struct group group = {.world = 2, .listener = -1};
	struct caller callers[CALLERS];
	struct introduction own;
	struct member members[2];
	struct options options;
	int fds[2] = {-1, -1}, count, rc;
	FILE *before = stderr;
	bool proven;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	fuzz_check(nowhere);
	memset(members, 0, sizeof(members));
	group.members = members;
	options_init(&options);
	group.workload = options.workload;
	hello_introduce(&own, &options, &usable);
	count = callers_begin(callers, &options, data, size, &proven);
	group.timeout_usec = proven ? 10 * WAIT_USEC : WAIT_USEC;
	stderr = nowhere; /* each stranger is told of there */
	rc = reception_run(&options, &own, &group, fds, &err);
	stderr = before;
	fuzz_check(rc == 0 || (err.status > STATUS_PASS && err.status <= STATUS_SLOW));
	fuzz_check(rc == 0 || text_is_plain(err.reason, sizeof(err.reason)));
	if (rc == 0)
		check_members(members);
	for (int i = 0; i < count; i++)
		caller_end(&callers[i]);
	for (int rank = 0; rank < 2; rank++)
		if (fds[rank] >= 0)
			close(fds[rank]);
	if (group.listener >= 0)
		close(group.listener);
	return 0;
}
