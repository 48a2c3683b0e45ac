/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/tunnel.h"

#include "core/arena.h"
#include "core/file.h"
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

static int tunnel_by_ssh(const struct ssh_target *t, struct tunnel *tunnel, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words words = WORDS_INIT(&arena);
	posix_spawn_file_actions_t actions;
	int pair[2], rc;

	words_add(&words, "ssh");
	ssh_openssh_add_way(t->via, &words);
	words_add_all(&words, WORDS("-oBatchMode=yes", "-oControlPath=none"));
	words_addf(&words, "-oConnectTimeout=%d", t->timeout_s);
	words_add(&words, "-W");
	words_addf(&words, "[%s]:%d", t->address, t->port);
	words_add(&words, t->via->host);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, "cannot make a pair of sockets");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&tunnel->pid, words.list[0], &actions, NULL, (char *const *)words.list,
			  environ);
	posix_spawn_file_actions_destroy(&actions);
	fd_close(&pair[1]);
	tunnel->fd = pair[0];
	if (rc == 0)
		return fcntl(tunnel->fd, F_SETFL, O_NONBLOCK) < 0
			       ? error_errno(err, "cannot set up a socket")
			       : 0;
	tunnel->pid = 0;
	return error_set(err, ERROR_FAILED, "cannot start ssh: %s", strerror(rc));
}

int tunnel_open(const struct ssh_target *target, uint64_t deadline_usec, struct tunnel *tunnel,
		struct error *err)
{
	*tunnel = (struct tunnel)TUNNEL_INIT;
	if (target->via)
		return tunnel_by_ssh(target, tunnel, err);
	tunnel->fd = tcp_connect(target->address, target->port, deadline_usec, err);
	return tunnel->fd < 0 ? -1 : 0;
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
