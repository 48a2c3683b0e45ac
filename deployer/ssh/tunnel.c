/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/tunnel.h"

#include "core/arena.h"
#include "core/file.h"
#include "core/proc.h"
#include "deployer/ssh/ssh_transport.h"
#include "deployer/ssh/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last jump host of ~/.ssh/config, by way of those before it. */
static void tunnel_add_jump(const struct ssh_target *t, struct words *words)
{
	const char *comma = strrchr(t->proxy_jump, ','), *last = comma ? comma + 1 : t->proxy_jump;

	words_add(words, "ssh");
	if (*t->config)
		words_add_all(words, WORDS("-F", t->config));
	words_add_all(words, WORDS("-oBatchMode=yes", "-oControlPath=none",
				   "-oStrictHostKeyChecking=yes"));
	words_addf(words, "-oConnectTimeout=%d", t->timeout_s);
	if (comma)
		words_addf(words, "-J%.*s", (int)(comma - t->proxy_jump), t->proxy_jump);
	words_addf(words, "-W[%s]:%d", t->address, t->port);
	words_addf(words, "%s%s", starts_with(last, "ssh://") ? "" : "ssh://", last);
}

/* The last jump host of cluster.yaml. */
static void tunnel_add_via(const struct ssh_target *t, struct words *words)
{
	words_add(words, "ssh");
	ssh_openssh_add_way(t->via, words);
	words_add_all(words, WORDS("-oBatchMode=yes", "-oControlPath=none"));
	words_addf(words, "-oConnectTimeout=%d", t->timeout_s);
	words_add(words, "-W");
	words_addf(words, "[%s]:%d", t->address, t->port);
	words_add(words, t->via->host);
}

void tunnel_words(const struct ssh_target *t, struct words *words)
{
	if (t->via)
		tunnel_add_via(t, words);
	else if (*t->proxy_jump)
		tunnel_add_jump(t, words);
	else if (*t->proxy_command)
		words_add_all(words,
			      WORDS("/bin/sh", "-c",
				    arena_printf(words->arena, "exec %s", t->proxy_command)));
}

static int tunnel_by_program(const struct words *words, struct tunnel *tunnel, struct error *err)
{
	posix_spawn_file_actions_t actions;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, "cannot make a pair of sockets");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&tunnel->pid, words->list[0], &actions, NULL, (char *const *)words->list,
			  environ);
	posix_spawn_file_actions_destroy(&actions);
	fd_close(&pair[1]);
	tunnel->fd = pair[0];
	if (rc == 0)
		return fcntl(tunnel->fd, F_SETFL, O_NONBLOCK) < 0
			       ? error_errno(err, "cannot set up a socket")
			       : 0;
	tunnel->pid = 0;
	return error_set(err, ERROR_FAILED, "cannot start %s: %s", words->list[0], strerror(rc));
}

int tunnel_open(const struct ssh_target *target, uint64_t deadline_usec, struct tunnel *tunnel,
		struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words words = WORDS_INIT(&arena);

	*tunnel = (struct tunnel)TUNNEL_INIT;
	tunnel_words(target, &words);
	if (words.count)
		return tunnel_by_program(&words, tunnel, err);
	tunnel->fd = tcp_connect(target->address, target->port, deadline_usec, err);
	return tunnel->fd < 0 ? -1 : 0;
}

bool tunnel_ask(const struct ssh_target *target, struct str *said)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words words = WORDS_INIT(&arena);
	struct proc proc = {.timeout_s = target->timeout_s};
	struct error ignored = {0};

	tunnel_words(target, &words);
	proc.words = words_list(&words);
	if (!words.count || proc_run(&proc, &result, &ignored) < 0 || result.status == 0)
		return false;
	str_one_line(&result.err, SSH_SAID_BYTES);
	if (result.err.length)
		str_add(said, result.err.text);
	else
		str_addf(said, "it ended with status %d", result.status);
	return true;
}

/* What makes the key of a host on the way known; it is a host's own business to be trusted. */
static int tunnel_advise_key(const struct ssh_target *t, const char *said, struct error *err)
{
	const struct ssh_target *via = t->via;

	if (!via)
		return error_advise(
			err,
			"'ssh %s' shows the fingerprint; compare it with the host's own before you say yes",
			t->proxy_jump);
	if (strstr(said, "has changed"))
		return error_advise(
			err,
			"if it was installed anew, remove its line there, and compare the fingerprint of its new key");
	return error_advise(
		err,
		"compare its fingerprint with the host's own, then add its key: ssh-keyscan -p %d %s >>%s",
		via->port, via->address, via->known_hosts[0]);
}

/* What to do about what ssh(1) says of a jump host. "channel 0: open failed: ..." is that host's answer (RFC 4254, section 5.1). */
static int tunnel_advise(const struct ssh_target *t, const char *said, struct error *err)
{
	if (strstr(said, "Host key verification failed"))
		return tunnel_advise_key(t, said, err);
	if (strstr(said, "open failed: administratively prohibited"))
		return error_advise(
			err,
			"it lets nobody go on from there: see AllowTcpForwarding and PermitOpen of its sshd_config");
	if (strstr(said, "open failed: connect failed: Connection refused"))
		return error_advise(
			err,
			"nothing listens on port %d of %s, as seen from there: is sshd running?",
			t->port, t->address);
	if (strstr(said, "open failed: connect failed: ") || strstr(said, "unknown host"))
		return error_advise(err, "it is the jump host that does not reach %s port %d",
				    t->address, t->port);
	if (strstr(said, "Permission denied ("))
		return error_advise(err, "the jump host does not take the key; put it there, too");
	if (strstr(said, "connect to host "))
		return error_advise(err, "it is the jump host that is not reached from here");
	return -1;
}

int tunnel_fault(const struct ssh_target *t, const char *said, struct error *err)
{
	const char *name = t->via ? t->via->name : t->proxy_jump;

	error_set(err, ERROR_FAILED, "not reached by %s%s%s: %s",
		  t->via  ? "the jump host "
		  : *name ? "ProxyJump "
			  : "ProxyCommand",
		  name, t->via ? "" : " of ~/.ssh/config", said);
	return tunnel_advise(t, said, err);
}

int tunnel_failed(const struct ssh_target *t, const char *said, struct error *err)
{
	char place[200];

	tunnel_fault(t, said, err);
	return error_wrap(err, "%s", ssh_place(t, place));
}

void tunnel_close(struct tunnel *tunnel)
{
	fd_close(&tunnel->fd);
	if (!tunnel->pid)
		return;
	kill(tunnel->pid, SIGTERM);
	while (waitpid(tunnel->pid, NULL, 0) < 0 && errno == EINTR)
		;
	tunnel->pid = 0;
}
