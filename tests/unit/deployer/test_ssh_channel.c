/* SPDX-License-Identifier: MIT */
/* How commands end and begin on a connection of libssh2, with a real sshd. tests/long/ssh_faults.bats has the system's ssh. */
#include "tests/unit/support.h"

#include "core/words.h"
#include "deployer/ssh/ssh.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define INPUT_BYTES (6 * MIB) /* more than a channel's window */
#define ROUNDS 4

/* An sshd for each connection (sshd -i) to a port of its own. */
struct server {
	struct scratch *s;
	pid_t pid;
	struct ssh_target target;
};

static void server_accept(int listener, const char *const *words)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when a test fails */
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			_exit(1);
		if (fork() == 0) {
			dup2(fd, 0);
			dup2(fd, 1);
			execv(words[0], (char *const *)words);
			_exit(127);
		}
		close(fd);
	}
}

static int server_listen(int *port)
{
	struct sockaddr_in where = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(where);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&where, &length), 0);
	*port = ntohs(where.sin_port);
	return fd;
}

static void server_target(struct server *server, const char *key, int port)
{
	struct scratch *s = server->s;
	struct words keys = WORDS_INIT(&s->arena), known = WORDS_INIT(&s->arena);
	const char *line = arena_printf(&s->arena, "[127.0.0.1]:%d %s", port,
					slurp(s, arena_printf(&s->arena, "%s.pub", key)));

	words_add(&keys, key);
	words_add(&known, put(s, "known", line));
	server->target = (struct ssh_target){.name = "node01",
					     .proxy_jump = "",
					     .proxy_command = "",
					     .host = "127.0.0.1",
					     .address = "127.0.0.1",
					     .user = getpwuid(getuid())->pw_name,
					     .port = port,
					     .keys = keys.list,
					     .keys_given = true,
					     .identities_only = true,
					     .agent = "",
					     .known_hosts = known.list,
					     .known_hosts_all = known.list,
					     .host_key_alias = "",
					     .config = "none",
					     .beyond = "",
					     .jump = "",
					     .transport = "libssh2",
					     .timeout_s = 10};
}

/* One key is the host's and the user's. `option` is one more of sshd's. */
static void server_start(struct server *server, struct scratch *s, const char *option)
{
	const char *key = in(s, "key");
	struct words words = WORDS_INIT(&s->arena);
	struct error err = {0};
	int port, listener = server_listen(&port);

	if (getuid() == 0)
		mkdir("/run/sshd", 0755); /* of the Debian package, made by its unit */
	server->s = s;
	if (!file_exists(key))
		assert_fine(proc_check(
			WORDS("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key), &err));
	words_add_all(&words, WORDS("/usr/sbin/sshd", "-i", "-f", "/dev/null", "-h", key, "-E",
				    in(s, "log"), "-o", "StrictModes=no", "-o", "UsePAM=no", "-o"));
	words_addf(&words, "AuthorizedKeysFile=%s.pub", key);
	/* bash reads .bashrc below sshd, unless it is no outermost shell (bash(1), INVOCATION) */
	words_add_all(&words, WORDS("-o", "SetEnv=SHLVL=5", "-o", option));
	server_target(server, key, port);
	server->pid = fork();
	assert_true(server->pid >= 0);
	if (server->pid == 0)
		server_accept(listener, words.list);
	close(listener);
}

static void server_stop(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}

/*
 * Commands that end with most of their input unread, so that the window for the rest never opens. Status and output are
 * there all the same, at once, and the connection goes on.
 */
static void test_input_unread(void **state)
{
	char *input = arena_alloc(&((struct scratch *)*state)->arena, INPUT_BYTES);
	struct ssh_command unread = {.words = WORDS("sh", "-c", "echo said; exit 7"),
				     .input = input,
				     .input_bytes = INPUT_BYTES,
				     .timeout_s = 8};
	struct server server;
	struct error err = {0};
	struct ssh *ssh;

	server_start(&server, *state, "LogLevel=ERROR");
	assert_fine(ssh_open(&server.target, &ssh, &err));
	for (size_t i = 0; i < ROUNDS; i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};

		assert_fine(ssh_run(ssh, &unread, &result, &err));
		assert_int_equal(result.status, 7);
		assert_string_equal(result.out.text, "said\n");
	}
	ssh_close(ssh);
	server_stop(&server);
}

/* An sshd that gives no session: the error names the host and what failed, and comes at once. */
static void test_refused(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct ssh_command command = {.words = WORDS("true"), .timeout_s = 8};
	struct server server;
	struct error err = {0};
	struct ssh *ssh;

	server_start(&server, *state, "MaxSessions=0");
	assert_fine(ssh_open(&server.target, &ssh, &err));
	assert_fails(ssh_run(ssh, &command, &result, &err), ERROR_FAILED,
		     "opens no session; see MaxSessions");
	assert_has(err.text, "node01 (127.0.0.1 port ");
	ssh_close(ssh);
	server_stop(&server);
}

/* MaxSessions 1: a session that ended gives its place to the next one. */
static void test_one_at_a_time(void **state)
{
	struct ssh_command command = {.words = WORDS("true"), .timeout_s = 8};
	struct server server;
	struct error err = {0};
	struct ssh *ssh;

	server_start(&server, *state, "MaxSessions=1");
	assert_fine(ssh_open(&server.target, &ssh, &err));
	for (size_t i = 0; i < 5; i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};

		assert_fine(ssh_run(ssh, &command, &result, &err));
		assert_int_equal(result.status, 0);
	}
	ssh_close(ssh);
	server_stop(&server);
}

/*
 * Root has a network of its own, in which sockets take 4 KiB at a time, as a slow network does: packets then go in two
 * parts.
 */
static int narrow_network(void **state)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd;

	(void)state;
	if (getuid() != 0)
		return 0;
	if (unshare(CLONE_NEWNET) < 0 || (fd = socket(AF_INET, SOCK_DGRAM, 0)) < 0 ||
	    ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		return -1;
	close(fd);
	fd = open("/proc/sys/net/ipv4/tcp_wmem", O_WRONLY | O_CLOEXEC);
	return fd < 0 || file_write_all(fd, "4096 4096 8192", 14) < 0 ? -1 : close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_input_unread),
		SCRATCH_TEST(test_refused),
		SCRATCH_TEST(test_one_at_a_time),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("ssh_channel", tests, narrow_network, NULL);
}
