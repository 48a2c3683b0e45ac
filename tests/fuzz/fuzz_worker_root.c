/* SPDX-License-Identifier: MIT */
/* The worker's rendezvous, the joining side: what may answer at rank 0's port. The first byte's lowest
 * bits say up to where the target plays a rank 0 that knows the secret (RAW: not at all; CHALLENGE: it
 * proves itself; WELCOME: what the input has as welcome and members is proven, too). The rest is what
 * is said then. */
#include "tests/fuzz/fuzz.h"

#include "images/worker/clock.h"
#include "images/worker/rendezvous/control.h"
#include "images/worker/rendezvous/hello.h"
#include "images/worker/rendezvous/rendezvous.h"
#include "images/worker/text.h"

#include "images/worker/collective/dtype.h"

#include <poll.h>
#include <pthread.h>

#define WORLD 2
#define PATIENCE_USEC 1000000

enum known { RAW, CHALLENGE, WELCOME, KNOWN_COUNT };

static const char secret[] = "fuzz";

struct false_root {
	const struct options *options;
	int listener;
	enum known known;
	const uint8_t *data;
	size_t size;
};

/* The input's bytes, and zeros from their end on. */
static void root_take(struct false_root *root, void *data, size_t bytes)
{
	size_t now = bytes < root->size ? bytes : root->size;

	memset(data, 0, bytes);
	if (now > 0)
		memcpy(data, root->data, now);
	root->data += now;
	root->size -= now;
}

/* Takes what the rank says until it proves itself, and proves that it knows the secret. */
static int root_meet(struct false_root *root, int fd, struct exchange *exchange)
{
	int64_t deadline = clock_usec() + PATIENCE_USEC;
	struct introduction intro;
	struct answer answer;
	struct failure err;

	memset(exchange, 0, sizeof(*exchange));
	if (net_recv(fd, &exchange->hello, sizeof(exchange->hello), deadline) < 0)
		return -1;
	fuzz_check(!memmem(&exchange->hello, sizeof(exchange->hello), secret, strlen(secret)));
	if (root->known == RAW || hello_challenge(exchange, root->options, &err) < 0 ||
	    net_send(fd, &exchange->challenge, sizeof(exchange->challenge), deadline) < 0 ||
	    net_recv(fd, &answer, sizeof(answer), deadline) < 0)
		return -1;
	fuzz_check(hello_is_proven(&root->options->secret, PROOF_RANK, exchange, NULL, 0,
				   answer.proof));
	return net_recv(fd, &intro, sizeof(intro), deadline);
}

static void root_welcome(struct false_root *root, int fd, const struct exchange *exchange)
{
	int64_t deadline = clock_usec() + PATIENCE_USEC;
	struct member members[WORLD];
	struct frame head = {.type = FRAME_WELCOME,
			     .bytes = sizeof(struct welcome) + sizeof(members)};
	struct welcome welcome;
	struct sha256 hash;

	root_take(root, &welcome, sizeof(welcome));
	root_take(root, members, sizeof(members));
	sha256_init(&hash);
	sha256_add(&hash, members, sizeof(members));
	sha256_finish(&hash, welcome.members);
	hello_prove(&root->options->secret, PROOF_WELCOME, exchange, &welcome,
		    offsetof(struct welcome, proof), welcome.proof);
	net_send(fd, &head, sizeof(head), deadline);
	net_send(fd, &welcome, sizeof(welcome), deadline);
	net_send(fd, members, sizeof(members), deadline);
}

static void *root_play(void *arg)
{
	struct false_root *root = arg;
	struct exchange exchange;
	struct pollfd ready = {.fd = root->listener, .events = POLLIN};
	int fd;

	poll(&ready, 1, PATIENCE_USEC / 1000);
	fd = net_accept(root->listener);
	close(root->listener); /* it answers once: a second call is refused */
	if (fd < 0)
		return NULL;
	if (root_meet(root, fd, &exchange) == 0 && root->known == WELCOME)
		root_welcome(root, fd, &exchange);
	if (root->size > 0)
		net_send(fd, root->data, root->size, clock_usec() + PATIENCE_USEC);
	net_close_all(&fd, 1, PATIENCE_USEC);
	return NULL;
}

static void options_init(struct options *options)
{
	struct failure err;

	memset(options, 0, sizeof(*options));
	options->world = WORLD;
	options->timeout_sec = 1;
	options->root_listener = -1;
	fault_init(&options->fault);
	secret_set(&options->secret, secret, strlen(secret));
	memcpy(options->backend, "cpu", 4);
	memcpy(options->host, "here", 5);
	fuzz_check(rendezvous_listen(options, &err) == 0);
	options->rank = 1;
}

/* What a rank believes it can be run with. */
static void check_group(const struct group *group)
{
	const struct workload *w = &group->workload;

	fuzz_check(w->type < DTYPE_COUNT && w->op < OP_COUNT && w->root < WORLD);
	fuzz_check(w->first_bytes <= w->last_bytes && w->factor >= 2 && w->iterations >= 1);
	fuzz_check(w->iterations <= ITERATIONS_MAX && !w->graph && !w->registers);
	for (int rank = 0; rank < WORLD; rank++) {
		const struct member *m = &group->members[rank];

		fuzz_check(text_is_plain(m->host, sizeof(m->host)));
		fuzz_check(text_is_plain(m->version, sizeof(m->version)));
		fuzz_check(text_is_plain(m->library, sizeof(m->library)));
		fuzz_check(net_is_numeric(m->address) && m->port > 0 && m->port <= 65535);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure err = {.status = STATUS_PASS}, usable = {.status = STATUS_PASS};
	struct options options;
	struct false_root root;
	struct group group;
	pthread_t thread;
	bool alone;
	int *fds, rc;

	if (size == 0)
		return 0;
	options_init(&options);
	root = (struct false_root){.options = &options,
				   .listener = options.root_listener,
				   .known = data[0] % KNOWN_COUNT,
				   .data = data + 1,
				   .size = size - 1};
	fuzz_check(pthread_create(&thread, NULL, root_play, &root) == 0);
	rc = rendezvous_join(&options, &usable, &group, &fds, &alone, &err);
	if (rc == 0)
		check_group(&group);
	fuzz_check(rc == 0 || (err.status > STATUS_PASS && err.status <= STATUS_SLOW));
	fuzz_check(rc == 0 || text_is_plain(err.reason, sizeof(err.reason)));
	if (fds[0] >= 0)
		close(fds[0]);
	pthread_join(thread, NULL);
	free(fds);
	group_release(&group);
	return 0;
}
