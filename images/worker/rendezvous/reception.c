/* SPDX-License-Identifier: MIT */
#include "rendezvous/reception.h"
#include "clock.h"
#include "host/limits.h"
#include "rendezvous/control.h"
#include "rendezvous/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCEPTS 16 /* new connections between two looks at the others */
#define TOLD_MAX \
	100 /* lines about connections that were turned away for one reason; then a count */
#define CROWD_MSEC 20 /* until the next look, while no place is free */

/* How far a connection has come. */
enum stage { STAGE_GREETING, STAGE_NONCE, STAGE_ANSWER, STAGE_INTRO };

/* A connection that has not proven yet that it is a rank. */
struct stranger {
	int fd;
	int64_t since_usec;
	enum stage stage;
	size_t have; /* bytes of `said` */
	struct {
		struct hello hello;
		struct answer answer;
		struct introduction intro;
	} said;
	struct challenge challenge;
};

#define SAID_BYTES(member)                                                          \
	(offsetof(struct stranger, said.member) - offsetof(struct stranger, said) + \
	 sizeof(((struct stranger *)NULL)->said.member))

/* What of `said` there must be at the end of a stage. Nothing lies between the messages. */
static const size_t stage_bytes[] = {[STAGE_GREETING] = sizeof(struct greeting),
				     [STAGE_NONCE] = sizeof(struct hello),
				     [STAGE_ANSWER] = SAID_BYTES(answer),
				     [STAGE_INTRO] = SAID_BYTES(intro)};
_Static_assert(SAID_BYTES(intro) ==
		       sizeof(struct hello) + sizeof(struct answer) + sizeof(struct introduction),
	       "as they come");

/* Why connections are turned away. */
enum away { AWAY_CROWD, AWAY_SILENT, AWAY_LEFT, AWAY_ALIEN, AWAY_SECRET, AWAY_MISFIT, AWAY_COUNT };

static const struct {
	const char *why; /* NULL: it differs */
	const char *many;
} aways[AWAY_COUNT] = {
	[AWAY_CROWD] = {"too many connections that say nothing", "said nothing for too long"},
	[AWAY_SILENT] = {"it says nothing", "said nothing"},
	[AWAY_LEFT] = {"it left before it said who it is", "left"},
	[AWAY_ALIEN] = {"it is no allreduce rank", "were no ranks"},
	[AWAY_SECRET] = {"wrong secret", "had a wrong secret"},
	[AWAY_MISFIT] = {NULL, "did not fit in"},
};

struct reception {
	const struct options *options;
	struct group *group;
	int *fds;
	int joined;
	struct introduction *intros; /* [world] */
	struct exchange *exchanges;  /* [world] what was said before; of another protocol: zero */
	bool *met;		     /* [world] */
	struct stranger *strangers;  /* oldest first */
	int count;
	int refused; /* why the last connection could not be accepted, a negative errno; 0: it could */
	int away[AWAY_COUNT]; /* connections turned away */
};

static void send_abort(int fd, const struct failure *failure)
{
	struct frame head = {.type = FRAME_ABORT, .bytes = sizeof(*failure)};
	int64_t deadline = clock_usec() + 1000000;

	if (net_send(fd, &head, sizeof(head), deadline) == 0)
		net_send(fd, failure, sizeof(*failure), deadline);
}

static void reception_forget(struct reception *r, int index)
{
	r->count--;
	memmove(&r->strangers[index], &r->strangers[index + 1],
		(size_t)(r->count - index) * sizeof(r->strangers[0]));
}

/* Turns a connection away; with @reason it is told why. */
static void turn_away(struct reception *r, int index, enum away away, const char *reason)
{
	struct failure failure = {.phase = PHASE_JOIN};
	const char *why = aways[away].why ? aways[away].why : reason;
	char name[ADDRESS_BYTES] = "unknown";
	struct endpoint from;
	int fd = r->strangers[index].fd;

	if (net_remote(fd, &from) == 0)
		net_name(&from, name);
	if (++r->away[away] <= TOLD_MAX)
		fprintf(stderr, "allreduce: turned away a connection from %s: %s\n", name, why);
	if (reason) {
		failure_set(&failure, STATUS_USAGE, -1, "", "rank 0 turned this rank away: %s",
			    reason);
		send_abort(fd, &failure);
	}
	close(fd);
	reception_forget(r, index);
}

static int reception_away(const struct reception *r)
{
	int total = 0;

	for (int i = 0; i < AWAY_COUNT; i++)
		total += r->away[i];
	return total;
}

/* How many there were, if not each was told of. */
static void tell_away(const struct reception *r)
{
	bool all_told = true;
	const char *joint = ": ";

	for (int i = 0; i < AWAY_COUNT; i++)
		all_told = all_told && r->away[i] <= TOLD_MAX;
	if (all_told)
		return;
	fprintf(stderr, "allreduce: turned away %d connections", reception_away(r));
	for (int i = 0; i < AWAY_COUNT; i++) {
		if (r->away[i] == 0)
			continue;
		fprintf(stderr, "%s%d %s", joint, r->away[i], aways[i].many);
		joint = ", ";
	}
	fputs("\n", stderr);
}

/* Whose place a new connection may take: that of the oldest one that has not said its hello, else of
 * the oldest that has not proven it; -1: of none, since all came a moment ago. */
static int find_place(const struct reception *r)
{
	int64_t now = clock_usec();

	for (int i = 0; i < r->count; i++)
		if (r->strangers[i].stage < STAGE_ANSWER &&
		    now - r->strangers[i].since_usec > SILENT_USEC)
			return i;
	return r->count > 0 && now - r->strangers[0].since_usec > UNPROVEN_USEC ? 0 : -1;
}

static void take_strangers(struct reception *r)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int place = r->count < STRANGERS_MAX ? r->count : find_place(r);
		int fd = place >= 0 ? net_accept(r->options->root_listener) : -1;
		struct stranger *new;

		if (fd >= 0 && limits_is_last(fd)) {
			close(fd);
			fd = -EMFILE;
		}
		r->refused = limits_refused(fd) ? fd : 0;
		if (fd < 0)
			return;
		if (r->count == STRANGERS_MAX)
			turn_away(r, place, AWAY_CROWD, NULL);
		new = &r->strangers[r->count++];
		memset(new, 0, sizeof(*new));
		new->fd = fd;
		new->since_usec = clock_usec();
	}
}

/* Whether a rank that is waiting for the others ended meanwhile: it says nothing before it is
 * welcomed. */
static bool has_left(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Two builds of one version may differ in what follows the handshake. */
static void name_version(const struct greeting *greeting, char version[VERSION_BYTES])
{
	snprintf(version, VERSION_BYTES, "%s", greeting->version);
	if (greeting->protocol != PROTOCOL)
		snprintf(version, VERSION_BYTES, "%.11s of protocol %u", greeting->version,
			 greeting->protocol);
}

/* A proven stranger that cannot be a member is told why. */
static bool fits_in(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	const struct greeting *greeting = &s->said.hello.greeting;
	const char *problem = hello_problem(greeting);
	uint32_t rank = greeting->rank;
	char reason[160] = "";

	if (!problem && greeting->protocol == PROTOCOL)
		problem = hello_intro_problem(&s->said.intro);
	if (problem)
		snprintf(reason, sizeof(reason), "it comes with %s", problem);
	else if (greeting->world != (uint32_t)r->group->world || rank == 0 ||
		 rank >= greeting->world)
		snprintf(reason, sizeof(reason),
			 "it says rank %u of %u, but the world has %d ranks", rank, greeting->world,
			 r->group->world);
	else if (r->met[rank] && !has_left(r->fds[rank]))
		snprintf(reason, sizeof(reason), "rank %u is there already, on %s", rank,
			 r->intros[rank].member.host);
	if (reason[0])
		turn_away(r, index, AWAY_MISFIT, reason);
	return !reason[0];
}

/* Makes a member of the stranger who has proven himself: one that said all, or one of another protocol. */
static void admit(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	const struct greeting *greeting = &s->said.hello.greeting;
	uint32_t rank = greeting->rank;

	if (!fits_in(r, index))
		return;
	if (r->met[rank])
		close(r->fds[rank]);
	else
		r->joined++;
	r->met[rank] = true;
	r->fds[rank] = s->fd;
	r->exchanges[rank].hello = s->said.hello;
	r->exchanges[rank].challenge = s->challenge;
	r->intros[rank] = s->said.intro;
	memcpy(r->intros[rank].member.host, greeting->host, sizeof(greeting->host));
	name_version(greeting, r->intros[rank].member.version);
	reception_forget(r, index);
}

/* The greeting is whole. Up to protocol 3 the secret stands in it, and no proof will follow. */
static bool heard_greeting(struct reception *r, int index)
{
	const struct greeting *greeting = &r->strangers[index].said.hello.greeting;

	if (greeting->magic != HELLO_MAGIC) {
		turn_away(r, index, AWAY_ALIEN, NULL);
		return false;
	}
	if (greeting->protocol >= PROTOCOL_PROVEN)
		return true;
	if (hmac_equal(greeting->secret, r->options->secret.bytes, sizeof(greeting->secret)))
		admit(r, index);
	else
		turn_away(r, index, AWAY_SECRET,
			  "wrong secret; set the same $RINGUP_SECRET for all ranks");
	return false;
}

/* The hello is whole: rank 0 proves who it is. */
static bool heard_hello(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	struct exchange exchange = {.hello = s->said.hello};
	struct failure err;

	if (hello_challenge(&exchange, r->options, &err) == 0) {
		s->challenge = exchange.challenge;
		if (net_send_some(s->fd, &s->challenge, sizeof(s->challenge)) ==
		    (ssize_t)sizeof(s->challenge))
			return true;
	}
	turn_away(r, index, AWAY_LEFT, NULL);
	return false;
}

/* An answer, or an introduction, is whole. */
static bool heard_proof(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	const struct exchange exchange = {.hello = s->said.hello, .challenge = s->challenge};
	const struct secret *secret = &r->options->secret;
	const struct introduction *intro = &s->said.intro;
	bool answered = s->stage == STAGE_ANSWER;
	bool proven = answered
			      ? hello_is_proven(secret, PROOF_RANK, &exchange, NULL, 0,
						s->said.answer.proof)
			      : hello_is_proven(secret, PROOF_INTRODUCTION, &exchange, intro,
						offsetof(struct introduction, proof), intro->proof);

	if (!proven) {
		turn_away(r, index, AWAY_SECRET, NULL);
		return false;
	}
	if (answered && s->said.hello.greeting.protocol == PROTOCOL)
		return true;
	admit(r, index);
	return false;
}

/* A stage is complete. Returns true if there is another one. */
static bool heard(struct reception *r, int index)
{
	switch (r->strangers[index].stage) {
	case STAGE_GREETING:
		return heard_greeting(r, index);
	case STAGE_NONCE:
		return heard_hello(r, index);
	case STAGE_ANSWER:
	case STAGE_INTRO:
		break;
	}
	return heard_proof(r, index);
}

/* Reads on from a stranger. Returns true if it is still one. */
static bool reception_hear(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];

	for (;;) {
		size_t want = stage_bytes[s->stage] - s->have;
		ssize_t got = net_recv_some(s->fd, (char *)&s->said + s->have, want);

		if (got < 0) { /* whoever knows another secret leaves when it sees rank 0's proof */
			turn_away(r, index, s->stage == STAGE_ANSWER ? AWAY_SECRET : AWAY_LEFT,
				  NULL);
			return false;
		}
		s->have += (size_t)got;
		if ((size_t)got < want)
			return true;
		if (!heard(r, index))
			return false;
		s->stage++;
	}
}

static void listen_to_all(struct reception *r, int64_t deadline)
{
	struct pollfd polls[STRANGERS_MAX + 1];
	int count = r->count;
	bool crowded = r->refused || (count == STRANGERS_MAX && find_place(r) < 0);

	polls[count] =
		(struct pollfd){.fd = crowded ? -1 : r->options->root_listener, .events = POLLIN};
	for (int i = 0; i < count; i++)
		polls[i] = (struct pollfd){.fd = r->strangers[i].fd, .events = POLLIN};
	poll(polls, (nfds_t)count + 1, clock_left_msec(deadline, crowded ? CROWD_MSEC : 100));
	for (int i = count - 1; i >= 0; i--) {
		if (polls[i].revents && !reception_hear(r, i))
			continue;
		if (clock_usec() >= r->strangers[i].since_usec + HELLO_USEC)
			turn_away(r, i, AWAY_SILENT, NULL);
	}
	if (polls[count].revents || r->refused)
		take_strangers(r);
}

/* Strangers that did not get in are told of where ranks are missing: it may be them. */
static void append_away(const struct reception *r, struct failure *err)
{
	size_t used = strlen(err->reason);

	if (reception_away(r) > 0)
		snprintf(err->reason + used, sizeof(err->reason) - used,
			 "; connections turned away: %d, for a wrong secret: %d", reception_away(r),
			 r->away[AWAY_SECRET]);
}

static int missing_ranks(const struct reception *r, struct failure *err)
{
	char names[200] = "";
	size_t used = 0;
	int first = -1, missing = 0;

	for (int rank = 0; rank < r->group->world; rank++) {
		if (r->met[rank])
			continue;
		first = first < 0 ? rank : first;
		if (missing++ < 16 && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%d",
						 missing > 1 ? ", " : "", rank);
	}
	failure_set(
		err, STATUS_TIMEOUT, first, "",
		"after %d s in phase join %d of %d ranks are missing: rank %s%s; were they started, and can they reach %s:%s?",
		(int)(r->group->timeout_usec / 1000000), missing, r->group->world, names,
		missing > 16 ? ", ..." : "", r->options->root_host, r->options->root_port);
	append_away(r, err);
	return -1;
}

/* Ranks that are missing because no more of them could be let in. */
static int too_many(const struct reception *r, struct failure *err)
{
	const char *host = r->intros[0].member.host;
	char why[128];

	limits_sentence(r->refused, why);
	return failure_set(err, STATUS_USAGE, 0, host,
			   "rank 0 (%s) cannot take in more than %d of %d ranks: %s", host,
			   r->joined, r->group->world, why);
}

static int gather_all(struct reception *r, struct failure *err)
{
	int64_t deadline = clock_usec() + r->group->timeout_usec;

	/* strangers leave sooner or later, and make room; ranks do not */
	while (r->joined < r->group->world && clock_usec() < deadline &&
	       !(r->refused && r->count == 0)) {
		listen_to_all(r, deadline);
		if (r->count > 0 || r->joined > 1) /* not before anybody has come */
			fault_strike(&r->options->fault, PHASE_JOIN, 0);
	}
	if (r->joined < r->group->world && r->refused)
		return too_many(r, err);
	return r->joined == r->group->world ? 0 : missing_ranks(r, err);
}

/* Do all ranks run the same program? */
static int check_versions(const struct reception *r, struct failure *err)
{
	const struct member *root = &r->intros[0].member;

	for (int rank = 1; rank < r->group->world; rank++) {
		const struct member *member = &r->intros[rank].member;

		if (strcmp(member->version, root->version) == 0)
			continue;
		return failure_set(
			err, STATUS_VERSION, rank, member->host,
			"versions differ: rank 0 (%s) runs %s, rank %d (%s) runs %s; deploy one image to all hosts",
			root->host, root->version, rank, member->host, member->version);
	}
	return 0;
}

/* Can all ranks use the backend, and is it the same one? */
static int check_backends(const struct reception *r, struct failure *err)
{
	for (int rank = 0; rank < r->group->world; rank++) {
		const struct introduction *intro = &r->intros[rank];

		if (strcmp(intro->backend, r->intros[0].backend) != 0)
			return failure_set(err, STATUS_USAGE, rank, intro->member.host,
					   "rank 0 uses --backend %s, rank %d (%s) uses %s",
					   r->intros[0].backend, rank, intro->member.host,
					   intro->backend);
		if (intro->unusable.status != STATUS_PASS)
			return failure_set(err, (enum status)intro->unusable.status, rank,
					   intro->member.host,
					   "--backend %s on rank %d (%s): %.256s", intro->backend,
					   rank, intro->member.host, intro->unusable.reason);
	}
	return 0;
}

static int send_welcome(struct reception *r, int rank, struct welcome *welcome, struct failure *err)
{
	const struct member *members = r->group->members;
	size_t table_bytes = (size_t)r->group->world * sizeof(*members);
	struct frame head = {.type = FRAME_WELCOME,
			     .bytes = (uint32_t)(sizeof(*welcome) + table_bytes)};
	int64_t deadline = clock_usec() + HELLO_USEC;
	int rc;

	hello_prove(&r->options->secret, PROOF_WELCOME, &r->exchanges[rank], welcome,
		    offsetof(struct welcome, proof), welcome->proof);
	rc = net_send(r->fds[rank], &head, sizeof(head), deadline);
	if (rc == 0)
		rc = net_send(r->fds[rank], welcome, sizeof(*welcome), deadline);
	if (rc == 0)
		rc = net_send(r->fds[rank], members, table_bytes, deadline);
	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_LOST, rank, members[rank].host,
			   "rank %d (%s) is gone in phase join: %s", rank, members[rank].host,
			   strerror(-rc));
}

static int welcome_all(struct reception *r, struct failure *err)
{
	struct group *group = r->group;
	struct welcome welcome = {.workload = group->workload};
	struct sha256 hash;

	if (secret_random(group->run_id, sizeof(group->run_id), err) < 0)
		return -1;
	hello_run_key(&r->options->secret, group->run_id, group->run_key);
	memcpy(welcome.run_id, group->run_id, sizeof(welcome.run_id));
	for (int rank = 0; rank < group->world; rank++)
		group->members[rank] = r->intros[rank].member;
	sha256_init(&hash);
	sha256_add(&hash, group->members, (size_t)group->world * sizeof(*group->members));
	sha256_finish(&hash, welcome.members);
	for (int rank = 1; rank < group->world; rank++)
		if (send_welcome(r, rank, &welcome, err) < 0)
			return -1;
	return 0;
}

static bool is_everywhere(const struct member *member)
{
	return strcmp(member->address, "0.0.0.0") == 0 || strcmp(member->address, "::") == 0;
}

/* Rank 0 and ranks that came to it over loopback may listen on all addresses. The others find them
 * at the one that the first rank of another host came by. */
static void settle_addresses(struct reception *r)
{
	char address[ADDRESS_BYTES] = "127.0.0.1";
	struct endpoint local;

	for (int rank = 1; rank < r->group->world; rank++) {
		if (net_local(r->fds[rank], &local) == 0 && !net_is_loopback(&local)) {
			net_name(&local, address);
			break;
		}
	}
	for (int rank = 0; rank < r->group->world; rank++)
		if (is_everywhere(&r->intros[rank].member))
			memcpy(r->intros[rank].member.address, address, sizeof(address));
}

static int receive(struct reception *r, struct failure *err)
{
	if (gather_all(r, err) < 0)
		return -1;
	err->phase = PHASE_VERSION;
	fault_strike(&r->options->fault, PHASE_VERSION, 0);
	if (check_versions(r, err) < 0 || check_backends(r, err) < 0)
		return -1;
	settle_addresses(r);
	err->phase = PHASE_JOIN;
	return welcome_all(r, err);
}

static void reception_open(struct reception *r)
{
	size_t world = (size_t)r->group->world;

	r->intros = calloc(world, sizeof(*r->intros));
	r->exchanges = calloc(world, sizeof(*r->exchanges));
	r->met = calloc(world, sizeof(*r->met));
	r->strangers = calloc(STRANGERS_MAX, sizeof(*r->strangers));
	if (!r->intros || !r->exchanges || !r->met || !r->strangers)
		abort();
}

static void reception_close(struct reception *r)
{
	close(r->options->root_listener);
	for (int i = 0; i < r->count; i++)
		close(r->strangers[i].fd);
	free(r->intros);
	free(r->exchanges);
	free(r->met);
	free(r->strangers);
}

int reception_run(const struct options *options, struct introduction *own, struct group *group,
		  int *fds, struct failure *err)
{
	struct reception r = {.options = options, .group = group, .fds = fds, .joined = 1};
	struct endpoint address;
	int rc = -1;

	reception_open(&r);
	net_local(options->root_listener, &address);
	group->listener = rendezvous_data_socket(options, &address, &own->member, err);
	r.intros[0] = *own;
	r.met[0] = true;
	if (group->listener >= 0)
		rc = receive(&r, err);
	tell_away(&r);
	for (int rank = 1; rc < 0 && rank < group->world; rank++)
		if (fds[rank] >= 0)
			send_abort(fds[rank], err);
	reception_close(&r);
	return rc;
}
