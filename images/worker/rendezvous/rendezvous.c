/* SPDX-License-Identifier: MIT */
/* Both sides of the meeting: what is common, and the side of the ranks that connect. Rank 0's is in
 * reception.c. */
#include "rendezvous/rendezvous.h"
#include "backend/backend.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "rendezvous/reception.h"
#include "text.h"
#include "workload.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_USEC 20000
#define AWAIT_USEC 200000
#define ADDRESSES_MAX 8	     /* of a name, that are tried */
#define ATTEMPT_USEC 5000000 /* of one attempt: a lost packet must not cost the whole timeout */

/* On Debian a machine's own name means 127.0.1.1, which other hosts cannot reach. A rank that has a
 * secret then listens on all addresses. */
static void open_up(const struct options *o, struct endpoint *root)
{
	bool meant = strncmp(o->root_host, "127.", 4) == 0 || strchr(o->root_host, ':') ||
		     strcmp(o->root_host, "localhost") == 0;

	if (secret_is_set(&o->secret) && !meant && net_is_loopback(root))
		net_resolve(root->addr.ss_family == AF_INET ? "0.0.0.0" : "::", o->root_port, root);
}

/* The name of a pod or of a service may become known after this program's start. */
static int resolve_root(const struct options *o, struct endpoint *root, int64_t deadline,
			struct failure *err)
{
	int rc = net_resolve(o->root_host, o->root_port, root);

	while (rc != 0 && o->root_awaited && clock_usec() < deadline) {
		usleep(AWAIT_USEC);
		rc = net_resolve(o->root_host, o->root_port, root);
	}
	if (rc != 0 && o->root_awaited)
		return failure_set(
			err, STATUS_TIMEOUT, 0, "",
			"rank %d (%s) cannot find rank 0: %s in phase join, after %d s: %s",
			o->rank, o->host, o->root_host, o->timeout_sec, gai_strerror(rc));
	if (rc != 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host, "--root %s:%s: %s",
				   o->root_host, o->root_port, gai_strerror(rc));
	if (!secret_is_set(&o->secret) && !net_is_loopback(root))
		return failure_set(
			err, STATUS_USAGE, o->rank, o->host,
			"--root %s:%s is not on loopback: set the same $RINGUP_SECRET for all ranks, or name a file with it in $RINGUP_SECRET_FILE",
			o->root_host, o->root_port);
	return 0;
}

int rendezvous_listen(struct options *o, struct failure *err)
{
	int64_t deadline = clock_usec() + (int64_t)o->timeout_sec * 1000000;
	struct endpoint root;

	if (o->root_host[0] == '\0') {
		snprintf(o->root_host, sizeof(o->root_host), "127.0.0.1");
		snprintf(o->root_port, sizeof(o->root_port), "0");
	}
	if (resolve_root(o, &root, deadline, err) < 0)
		return -1;
	open_up(o, &root);
	o->root_listener = net_listen(&root);
	if (o->root_listener < 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host,
				   "rank 0 (%s) cannot listen on %s:%s: %s", o->host, o->root_host,
				   o->root_port, strerror(-o->root_listener));
	snprintf(o->root_port, sizeof(o->root_port), "%u", (unsigned)net_port(&root));
	return 0;
}

int rendezvous_data_socket(const struct options *o, const struct endpoint *fallback,
			   struct member *self, struct failure *err)
{
	struct endpoint data = *fallback;
	int fd;

	if (o->bind[0] != '\0' && net_resolve(o->bind, "0", &data) != 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host, "--bind %s: not an address",
				   o->bind);
	net_set_port(&data, 0);
	fd = net_listen(&data);
	if (fd < 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host,
				   "rank %d (%s) cannot listen on %s: %s", o->rank, o->host,
				   o->bind[0] ? o->bind : "its own address", strerror(-fd));
	net_name(&data, self->address);
	self->port = net_port(&data);
	return fd;
}

/* The addresses that a rank may try: without a secret those on loopback. *root comes first; returns how many there are. */
static int root_addresses(const struct options *o, const struct endpoint *root,
			  struct endpoint list[ADDRESSES_MAX])
{
	struct endpoint found[ADDRESSES_MAX];
	int count = 0, all = 0;

	list[count++] = *root;
	if (net_resolve_all(o->root_host, o->root_port, found, ADDRESSES_MAX, &all) != 0)
		return count;
	for (int i = 0; i < all && count < ADDRESSES_MAX; i++)
		if ((secret_is_set(&o->secret) || net_is_loopback(&found[i])) &&
		    (found[i].bytes != root->bytes ||
		     memcmp(&found[i].addr, &root->addr, root->bytes) != 0))
			list[count++] = found[i];
	return count;
}

/* Rank 0 may start later than this rank, so a refusal counts only at the timeout. All addresses of its name are tried in
 * turn; *root becomes the one that answers. */
static int reach_root(const struct options *o, struct endpoint *root, int64_t deadline,
		      struct failure *err)
{
	struct endpoint list[ADDRESSES_MAX];
	int fd = -ETIMEDOUT, count = root_addresses(o, root, list);

	for (unsigned i = 0; clock_usec() < deadline; i++) {
		int64_t attempt = clock_usec() + ATTEMPT_USEC;

		*root = list[i % (unsigned)count];
		fd = net_connect(root, attempt < deadline ? attempt : deadline);
		if (fd >= 0)
			return fd;
		usleep(RETRY_USEC);
	}
	return failure_set(
		err, STATUS_TIMEOUT, 0, "",
		"rank %d (%s) cannot reach rank 0 at %s:%s within %d s in phase join: %s", o->rank,
		o->host, o->root_host, o->root_port, o->timeout_sec, strerror(-fd));
}

static int root_silent(const struct options *o, int rc, struct failure *err)
{
	bool late = rc == -ETIMEDOUT;

	return failure_set(err, late ? STATUS_TIMEOUT : STATUS_LOST, 0, "",
			   "rank 0 at %s:%s %s in phase join: %s", o->root_host, o->root_port,
			   late ? "does not answer" : "ended the connection", strerror(-rc));
}

/* Rank 0, proven, says something that no rank 0 says. */
static int root_wrong(const struct options *o, const char *problem, struct failure *err)
{
	return failure_set(err, STATUS_LOST, 0, "",
			   "in phase join rank 0 at %s:%s welcomes this rank with %s", o->root_host,
			   o->root_port, problem);
}

/* The connection ended before rank 0 proved itself: rank 0 may have had too many at once. */
#define ENDED_EARLY 1

/* What comes instead of a challenge: nothing that is said there is believed. */
static int not_root(const struct options *o, const struct challenge *heard, struct failure *err)
{
	struct frame head;

	memcpy(&head, heard, sizeof(head));
	if (head.type == FRAME_ABORT && head.bytes == sizeof(*err))
		return failure_set(
			err, STATUS_VERSION, 0, "",
			"versions differ: rank %d (%s) runs %s of protocol %d, rank 0 at %s:%s speaks an older protocol; deploy one image to all hosts",
			o->rank, o->host, ALLREDUCE_VERSION, PROTOCOL, o->root_host, o->root_port);
	return failure_set(err, STATUS_LOST, 0, "",
			   "what answers at %s:%s in phase join is no rank 0 of allreduce",
			   o->root_host, o->root_port);
}

/* Says hello; then rank 0 must prove that it knows the secret. */
static int hear_challenge(const struct options *o, int fd, struct exchange *exchange,
			  int64_t deadline, struct failure *err)
{
	struct challenge *challenge = &exchange->challenge;
	int rc;

	memset(exchange, 0, sizeof(*exchange));
	if (hello_fill(&exchange->hello, o, err) < 0)
		return -1;
	rc = net_send(fd, &exchange->hello, sizeof(exchange->hello), deadline);
	if (rc == 0)
		rc = net_recv(fd, challenge, sizeof(struct frame), deadline);
	if (rc == 0 && challenge->magic != CHALLENGE_MAGIC)
		return not_root(o, challenge, err);
	if (rc == 0)
		rc = net_recv(fd, (char *)challenge + sizeof(struct frame),
			      sizeof(*challenge) - sizeof(struct frame), deadline);
	if (rc < 0) {
		root_silent(o, rc, err);
		return rc == -ETIMEDOUT ? -1 : ENDED_EARLY;
	}
	if (!hmac_equal(challenge->nonce, exchange->hello.nonce, NONCE_BYTES) &&
	    hello_is_proven(&o->secret, PROOF_ROOT, exchange, NULL, 0, challenge->proof) &&
	    text_is_plain(challenge->version, sizeof(challenge->version)))
		return 0;
	return failure_set(
		err, STATUS_USAGE, 0, "",
		"wrong secret: whoever answers at %s:%s does not have that of rank %d (%s), which told it nothing; set the same $RINGUP_SECRET for all ranks, or look who listens there",
		o->root_host, o->root_port, o->rank, o->host);
}

/* Proves that this rank knows the secret, and says what the others must know of it. A rank 0 of another
 * protocol wants the first part only: it will tell all ranks that versions differ. */
static int introduce(const struct options *o, int fd, const struct exchange *exchange,
		     struct introduction *intro, int64_t deadline, struct failure *err)
{
	struct answer answer;
	int rc;

	hello_prove(&o->secret, PROOF_RANK, exchange, NULL, 0, answer.proof);
	hello_prove(&o->secret, PROOF_INTRODUCTION, exchange, intro,
		    offsetof(struct introduction, proof), intro->proof);
	rc = net_send(fd, &answer, sizeof(answer), deadline);
	if (rc == 0 && exchange->challenge.protocol == PROTOCOL)
		rc = net_send(fd, intro, sizeof(*intro), deadline);
	return rc < 0 ? root_silent(o, rc, err) : 0;
}

/* Rank 0 turned this rank away, or the run has failed. */
static int read_abort(const struct options *o, int fd, int64_t deadline, bool *alone,
		      struct failure *err)
{
	int rc = net_recv(fd, err, sizeof(*err), deadline);

	if (rc < 0)
		return root_silent(o, rc, err);
	failure_tidy(err);
	*alone = err->status == STATUS_USAGE && err->phase == PHASE_JOIN;
	return -1;
}

static int versions_differ(const struct options *o, const struct challenge *challenge,
			   struct failure *err)
{
	return failure_set(
		err, STATUS_VERSION, 0, "",
		"versions differ: rank 0 at %s:%s runs %s of protocol %u, rank %d (%s) runs %s of protocol %d; deploy one image to all hosts",
		o->root_host, o->root_port, challenge->version, challenge->protocol, o->rank,
		o->host, ALLREDUCE_VERSION, PROTOCOL);
}

/* Whether the welcome and the members are rank 0's, and make sense. */
static int check_welcome(const struct options *o, const struct exchange *exchange,
			 const struct welcome *welcome, const struct group *group,
			 struct failure *err)
{
	const char *problem;
	uint8_t digest[MAC_BYTES];
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, group->members, (size_t)group->world * sizeof(*group->members));
	sha256_finish(&hash, digest);
	if (!hello_is_proven(&o->secret, PROOF_WELCOME, exchange, welcome,
			     offsetof(struct welcome, proof), welcome->proof) ||
	    !hmac_equal(digest, welcome->members, sizeof(digest)))
		return root_wrong(o, "a wrong proof", err);
	problem = workload_problem(&welcome->workload, group->world, backend_find(o->backend));
	for (int rank = 0; rank < group->world && !problem; rank++)
		problem = hello_member_problem(&group->members[rank]);
	return problem ? root_wrong(o, problem, err) : 0;
}

static int read_welcome(const struct options *o, int fd, const struct exchange *exchange,
			struct group *group, int64_t deadline, bool *alone, struct failure *err)
{
	size_t table_bytes = (size_t)group->world * sizeof(*group->members);
	struct welcome welcome;
	struct frame head;
	int rc = net_recv(fd, &head, sizeof(head), deadline);

	if (rc == 0 && head.type == FRAME_ABORT && head.bytes == sizeof(*err))
		return read_abort(o, fd, deadline, alone, err);
	if (exchange->challenge.protocol != PROTOCOL)
		return versions_differ(o, &exchange->challenge, err);
	if (rc == 0 && (head.type != FRAME_WELCOME || head.bytes != sizeof(welcome) + table_bytes))
		return root_wrong(o, "a message that does not belong there", err);
	if (rc == 0)
		rc = net_recv(fd, &welcome, sizeof(welcome), deadline);
	if (rc == 0)
		rc = net_recv(fd, group->members, table_bytes, deadline);
	if (rc < 0)
		return root_silent(o, rc, err);
	if (check_welcome(o, exchange, &welcome, group, err) < 0)
		return -1;
	memcpy(group->run_id, welcome.run_id, sizeof(group->run_id));
	hello_run_key(&o->secret, group->run_id, group->run_key);
	group->workload = welcome.workload;
	return 0;
}

/* The handshake on *fd, anew where rank 0 had too many connections. */
static int shake_hands(const struct options *o, const struct endpoint *root, int *fd,
		       struct exchange *exchange, int64_t deadline, struct failure *err)
{
	int rc, again;

	while ((rc = hear_challenge(o, *fd, exchange, deadline, err)) == ENDED_EARLY) {
		usleep(RETRY_USEC);
		again = clock_usec() < deadline ? net_connect(root, deadline) : -ETIMEDOUT;
		if (again < 0)
			return -1;
		close(*fd);
		*fd = again;
	}
	return rc;
}

static int join_root(const struct options *o, struct introduction *intro, struct group *group,
		     int *fd, bool *alone, struct failure *err)
{
	int64_t deadline = clock_usec() + (int64_t)o->timeout_sec * 1000000;
	struct exchange exchange;
	struct endpoint root, local;

	if (resolve_root(o, &root, deadline, err) < 0)
		return -1;
	*fd = reach_root(o, &root, deadline, err);
	if (*fd < 0)
		return -1;
	if (net_local(*fd, &local) < 0)
		return root_silent(o, -errno, err);
	open_up(o, &local);
	group->listener = rendezvous_data_socket(o, &local, &intro->member, err);
	if (group->listener < 0)
		return -1;
	fault_strike(&o->fault, PHASE_JOIN, o->rank);
	deadline = clock_usec() + group->timeout_usec + NAMING_USEC;
	if (shake_hands(o, &root, fd, &exchange, deadline, err) < 0 ||
	    introduce(o, *fd, &exchange, intro, deadline, err) < 0)
		return -1;
	fault_strike(&o->fault, PHASE_VERSION, o->rank);
	return read_welcome(o, *fd, &exchange, group, deadline, alone, err);
}

int rendezvous_join(const struct options *o, const struct failure *unusable, struct group *group,
		    int **fds, bool *alone, struct failure *err)
{
	struct introduction intro;
	int count = o->rank == 0 ? o->world : 1;

	memset(group, 0, sizeof(*group));
	group->rank = o->rank;
	group->world = o->world;
	group->listener = -1;
	group->timeout_usec = control_wait_usec(o->timeout_sec);
	group->workload = o->workload;
	group->members = calloc((size_t)o->world, sizeof(*group->members));
	*fds = calloc((size_t)count, sizeof(**fds));
	if (!group->members || !*fds)
		abort();
	for (int i = 0; i < count; i++)
		(*fds)[i] = -1;
	*alone = true;
	err->phase = PHASE_JOIN;
	hello_introduce(&intro, o, unusable);
	if (o->rank == 0)
		return reception_run(o, &intro, group, *fds, err);
	return join_root(o, &intro, group, *fds, alone, err);
}

void group_release(struct group *group)
{
	if (group->listener >= 0)
		close(group->listener);
	free(group->members);
}
