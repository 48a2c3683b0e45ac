/* SPDX-License-Identifier: MIT */
/* Data connections: two members find each other, and nobody else gets in: not with another key, nor by
 * saying again what was heard on the network, nor at a member's port. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/failure.c"
#include "images/worker/host/limits.c"
#include "images/worker/net/hmac.c"
#include "images/worker/net/links.c"
#include "images/worker/net/net.c"
#include "images/worker/secret.c"
#include "images/worker/text.c"

#include <pthread.h>

#define WAIT_USEC 10000000
#define SHORT_USEC 300000

void control_awaits(struct control *control, int rank, uint64_t done)
{
	(void)control;
	(void)rank;
	(void)done;
}

bool control_failed(const struct control *control)
{
	(void)control;
	return false;
}

/* Rank 1, which takes calls in a thread of its own. */
struct member_side {
	struct member members[2];
	struct group group;
	pthread_t thread;
	int64_t deadline_usec;
	int taken, rank, purpose, fd;
};

static bool side_take(void *arg, int rank, int purpose, int fd)
{
	struct member_side *side = arg;

	side->taken++;
	side->rank = rank;
	side->purpose = purpose;
	side->fd = fd;
	return true;
}

static int side_missing(const void *arg)
{
	return ((const struct member_side *)arg)->taken ? -1 : 0;
}

static int side_late(const void *arg, struct failure *err)
{
	(void)arg;
	return failure_set(err, STATUS_TIMEOUT, 0, "", "late");
}

static void *side_work(void *arg)
{
	struct member_side *side = arg;
	const struct link_taker taker = {
		.take = side_take, .missing = side_missing, .late = side_late, .arg = side};
	struct failure err;

	link_meet(&side->group, NULL, 0, &taker, side->deadline_usec, &err);
	return NULL;
}

static void side_open(struct member_side *side, int64_t usec)
{
	struct endpoint endpoint;

	memset(side, 0, sizeof(*side));
	assert_int_equal(net_resolve("127.0.0.1", "0", &endpoint), 0);
	side->group.listener = net_listen(&endpoint);
	assert_true(side->group.listener >= 0);
	for (int rank = 0; rank < 2; rank++) {
		snprintf(side->members[rank].address, ADDRESS_BYTES, "127.0.0.1");
		side->members[rank].port = net_port(&endpoint);
	}
	side->group.rank = 1;
	side->group.world = 2;
	side->group.members = side->members;
	memset(side->group.run_key, 7, sizeof(side->group.run_key));
	side->deadline_usec = clock_usec() + usec;
	side->fd = -1;
	assert_int_equal(pthread_create(&side->thread, NULL, side_work, side), 0);
}

static void side_close(struct member_side *side)
{
	pthread_join(side->thread, NULL);
	if (side->fd >= 0)
		close(side->fd);
	close(side->group.listener);
}

static struct group as_rank_0(const struct member_side *side)
{
	struct group group = side->group;

	group.rank = 0;
	return group;
}

static void test_two_members(void **state)
{
	struct member_side side;
	struct failure err;
	struct group group;
	char byte = 0;
	int fd;

	(void)state;
	side_open(&side, WAIT_USEC);
	group = as_rank_0(&side);
	fd = link_connect(&group, 1, LINK_MESH, clock_usec() + WAIT_USEC, &err);
	assert_true(fd >= 0);
	assert_int_equal(net_send(fd, "x", 1, clock_usec() + WAIT_USEC), 0);
	pthread_join(side.thread, NULL);
	assert_int_equal(side.taken, 1);
	assert_int_equal(side.rank, 0);
	assert_int_equal(side.purpose, LINK_MESH);
	assert_int_equal(net_recv(side.fd, &byte, 1, clock_usec() + WAIT_USEC), 0);
	assert_int_equal(byte, 'x');
	close(fd);
	close(side.fd);
	close(side.group.listener);
}

/* Whoever has the run's id, but not its key, is not let in, and takes a member for nobody. */
static void test_other_key(void **state)
{
	struct member_side side;
	struct failure err;
	struct group group;

	(void)state;
	side_open(&side, SHORT_USEC);
	group = as_rank_0(&side);
	group.run_key[31] ^= 1;
	assert_int_equal(link_connect(&group, 1, 0, clock_usec() + WAIT_USEC, &err), -1);
	assert_int_equal(err.status, STATUS_LOST);
	assert_has(err.reason, "what answers there is not that rank");
	side_close(&side);
	assert_int_equal(side.taken, 0);
}

/* Says @hello, and then @proof whatever the answer is. Whether the connection then ended. */
static bool says(const struct member_side *side, const struct link_hello *hello,
		 const uint8_t proof[MAC_BYTES], struct link_challenge *challenge)
{
	struct endpoint to;
	char byte;
	int fd, rc;

	assert_int_equal(net_resolve("127.0.0.1", "0", &to), 0);
	net_set_port(&to, (uint16_t)side->members[1].port);
	fd = net_connect(&to, clock_usec() + WAIT_USEC);
	assert_true(fd >= 0);
	assert_int_equal(net_send(fd, hello, sizeof(*hello), clock_usec() + WAIT_USEC), 0);
	rc = net_recv(fd, challenge, sizeof(*challenge), clock_usec() + WAIT_USEC);
	if (rc == 0 && net_send(fd, proof, MAC_BYTES, clock_usec() + WAIT_USEC) == 0)
		rc = net_recv(fd, &byte, 1, clock_usec() + WAIT_USEC);
	close(fd);
	return rc < 0 && rc != -ETIMEDOUT;
}

static void test_heard_before(void **state)
{
	struct link_hello hello = {.magic = LINK_MAGIC, .rank = 0, .purpose = 0};
	struct link_challenge first, second;
	uint8_t proof[MAC_BYTES] = {0};
	struct member_side side;

	(void)state;
	side_open(&side, SHORT_USEC);
	assert_true(says(&side, &hello, proof, &first));
	/* what would have been the right proof then is a wrong one now: the nonce is another */
	links_prove(&side.group, true, 1, &hello, first.nonce, proof);
	assert_true(says(&side, &hello, proof, &second));
	assert_memory_not_equal(first.nonce, second.nonce, NONCE_BYTES);
	/* the other side's proof, sent back */
	assert_true(says(&side, &hello, second.proof, &first));
	side_close(&side);
	assert_int_equal(side.taken, 0);
}

/* Ranks and purposes that do not exist, and this rank itself. */
static void test_bad_hello(void **state)
{
	static const struct link_hello rows[] = {
		{.magic = LINK_MAGIC + 1, .rank = 0},
		{.magic = LINK_MAGIC, .rank = 2},
		{.magic = LINK_MAGIC, .rank = UINT32_MAX},
		{.magic = LINK_MAGIC, .rank = 1},
		{.magic = LINK_MAGIC, .purpose = LINK_MESH + 1},
		{.magic = LINK_MAGIC, .purpose = UINT32_MAX},
	};
	static const struct link_challenge nothing;
	uint8_t proof[MAC_BYTES] = {0};
	struct member_side side;

	(void)state;
	side_open(&side, SHORT_USEC);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct link_challenge challenge = nothing;

		assert_true(says(&side, &rows[i], proof, &challenge));
		assert_memory_equal(&challenge, &nothing, sizeof(nothing));
	}
	side_close(&side);
	assert_int_equal(side.taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_members),
		cmocka_unit_test(test_other_key),
		cmocka_unit_test(test_heard_before),
		cmocka_unit_test(test_bad_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
