/* SPDX-License-Identifier: MIT */
/* A command over the control socket of an ssh, with masters that are wrong. tests/long/ssh.bats has real ones. */
#include "tests/unit/support.h"

#include "core/words.h"
#include "deployer/ssh/ssh_mux.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SESSION 77

/* What the master sends after the client's hello, its command and its three descriptors. */
struct master {
	int listener;
	const uint32_t *hello, *opened, *ended; /* how many numbers, and these; NULL: it closes */
	const char *prints;
	char command[200];
	pthread_t thread;
};

static const uint32_t hello[] = {3, 8, 1, 4}, opened[] = {4, 12, 0x80000006, 1, SESSION},
		      ended[] = {4, 12, 0x80000004, SESSION, 7};

/* Whether it was there to be sent. */
static bool master_says(int fd, const uint32_t *packet)
{
	for (size_t i = 0; packet && i < packet[0]; i++) {
		uint32_t value = htonl(packet[1 + i]);

		assert_int_equal(send(fd, &value, sizeof(value), MSG_NOSIGNAL), sizeof(value));
	}
	return packet;
}

/* A packet of the client. How many bytes it has. */
static size_t master_hears(int fd, unsigned char *to, size_t room)
{
	uint32_t length;

	assert_int_equal(recv(fd, &length, sizeof(length), MSG_WAITALL), sizeof(length));
	length = ntohl(length);
	assert_true(length < room);
	assert_int_equal(recv(fd, to, length, MSG_WAITALL), length);
	return length;
}

static int master_takes(int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int taken;

	assert_int_equal(recvmsg(fd, &message, MSG_CMSG_CLOEXEC), 1);
	memcpy(&taken, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return taken;
}

static void *master_run(void *arg)
{
	struct master *m = arg;
	int fd = accept(m->listener, NULL, NULL), standard[3];
	unsigned char request[300] = {0};
	size_t length;

	master_hears(fd, request, sizeof(request));
	if (master_says(fd, m->hello) && m->hello == hello) {
		/* type, id, an empty text, four flags, no escape, an empty text, the command: PROTOCOL.mux, 2 */
		length = master_hears(fd, request, sizeof(request));
		memcpy(m->command, request + 40, length - 40);
		for (int i = 0; i < 3; i++)
			standard[i] = master_takes(fd);
		if (master_says(fd, m->opened) && m->prints)
			dprintf(standard[1], "%s", m->prints);
		for (int i = 0; i < 3; i++)
			close(standard[i]);
		master_says(fd, m->ended);
	}
	close(fd);
	return NULL;
}

static const char *master_start(struct scratch *s, struct master *m)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	const char *path = arena_printf(&s->arena, "%s/s", s->folder);

	memcpy(where.sun_path, path, strlen(path) + 1);
	unlink(path);
	m->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(m->listener, (struct sockaddr *)&where, sizeof(where)), 0);
	assert_int_equal(listen(m->listener, 1), 0);
	assert_int_equal(pthread_create(&m->thread, NULL, master_run, m), 0);
	return path;
}

static void master_end(struct master *m)
{
	pthread_join(m->thread, NULL);
	close(m->listener);
}

/* 0, -1, or -2 when no master that is understood answers. */
static int run(struct scratch *s, struct master *m, struct ssh_mux *mux, struct proc_result *result)
{
	const char *path = master_start(s, m);
	struct proc proc = {.words = WORDS("ssh"),
			    .timeout_s = 20,
			    .runner = &ssh_mux_runner,
			    .runner_state = mux};
	struct error err = {0};
	int rc = -2;

	*result = (struct proc_result){0};
	if (ssh_mux_open(mux, path, "echo hi", 20)) {
		rc = proc_run(&proc, result, &err);
		ssh_mux_close(mux);
	}
	master_end(m);
	return rc;
}

static void test_a_command(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result;
	struct master m = {.hello = hello, .opened = opened, .ended = ended, .prints = "hi\n"};
	struct ssh_mux mux;

	assert_int_equal(run(*state, &m, &mux, &result), 0);
	assert_int_equal(result.status, 7);
	assert_string_equal(result.out.text, "hi\n");
	assert_string_equal(m.command, "echo hi");
	assert_false(mux.is_refused);
}

/* A command that was killed, or a connection that broke: as ssh(1). */
static void test_no_status(void **state)
{
	static const uint32_t other[] = {4, 12, 0x80000004, SESSION + 1, 7};
	const uint32_t *const ends[] = {NULL, other};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		_cleanup_(proc_result_release) struct proc_result result;
		struct master m = {.hello = hello, .opened = opened, .ended = ends[i]};
		struct ssh_mux mux;

		assert_int_equal(run(*state, &m, &mux, &result), 0);
		assert_int_equal(result.status, 255);
	}
}

static void test_refused(void **state)
{
	static const uint32_t failure[] = {4, 12, 0x80000003, 1, 0},
			      denied[] = {4, 12, 0x80000002, 1, 0}, cut[] = {2, 4, 0x80000006},
			      endless[] = {1, ~0U};
	const struct {
		const uint32_t *answer;
		bool is_refused;
	} cases[] = {
		{failure, true}, {denied, true}, {NULL, false}, {cut, false}, {endless, false}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(proc_result_release) struct proc_result result;
		struct master m = {.hello = hello, .opened = cases[i].answer};
		struct ssh_mux mux;

		assert_int_equal(run(*state, &m, &mux, &result), -1);
		assert_int_equal(mux.is_refused, cases[i].is_refused);
	}
}

static void test_no_master(void **state)
{
	static const uint32_t old[] = {3, 8, 1, 3}, other[] = {3, 8, 2, 4}, cut[] = {2, 4, 1},
			      endless[] = {1, 0x7fffffff};
	const uint32_t *const hellos[] = {old, other, cut, endless, NULL};
	struct scratch *s = *state;
	struct ssh_mux mux;

	for (size_t i = 0; i < ARRAY_LEN(hellos); i++) {
		_cleanup_(proc_result_release) struct proc_result result;
		struct master m = {.hello = hellos[i]};

		assert_int_equal(run(s, &m, &mux, &result), -2);
	}
	assert_false(ssh_mux_open(&mux, arena_printf(&s->arena, "%s/none", s->folder), "true", 5));
	assert_false(ssh_mux_open(&mux, arena_printf(&s->arena, "/%0200d", 1), "true", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_a_command),
		SCRATCH_TEST(test_no_status),
		SCRATCH_TEST(test_refused),
		SCRATCH_TEST(test_no_master),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("ssh_mux", tests, NULL, NULL);
}
