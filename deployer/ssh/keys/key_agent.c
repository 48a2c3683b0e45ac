/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/key_agent.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_TIMEOUT_S 10
#define START_TIMEOUT_USEC 5000000
#define START_POLL_USEC 5000
#define KEY_LIFE_S "43200"  /* of a key in ringup's own agent */
#define FOLDER_BYTES_MAX 60 /* a socket's path has 108 bytes at most (unix(7)) */

/* What is known of agents and keys; under the lock. It lives as long as the process. */
static struct {
	pthread_mutex_t lock;
	struct arena arena;
	const char *listed; /* the agent that was asked, and what it has */
	struct words keys;
	struct words unlocked, refused; /* paths of keys */
	const char *folder, *socket;	/* of our own agent; NULL: there is none yet */
	int alive;			/* it lives until this is closed */
} agents = {.lock = PTHREAD_MUTEX_INITIALIZER, .arena = ARENA_INIT, .alive = -1};

static void key_agent_end(void)
{
	struct error ignored = {0};

	fd_close(&agents.alive);
	if (agents.folder)
		folder_remove(agents.folder, &ignored);
}

/* "TYPE BASE64" of each line of `ssh-add -L`; a comment may follow. */
static void key_agent_read(const char *socket, struct words *keys)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct proc proc = {.words = WORDS("ssh-add", "-L"), .timeout_s = LIST_TIMEOUT_S};
	char *lines, *line;

	proc.env = WORDS(arena_printf(keys->arena, "SSH_AUTH_SOCK=%s", socket));
	if (proc_run(&proc, &result, &ignored) < 0 || result.status != 0)
		return;
	lines = result.out.text;
	while ((line = strsep(&lines, "\n"))) {
		char *type = strsep(&line, " "), *base64 = line ? strsep(&line, " ") : NULL;

		if (base64 && *base64)
			words_addf(keys, "%s %s", type, base64);
	}
}

void key_agent_list(const char *socket, struct words *keys)
{
	if (!*socket)
		return;
	pthread_mutex_lock(&agents.lock);
	if (agents.socket && strcmp(socket, agents.socket) == 0) {
		key_agent_read(socket, keys);
	} else {
		if (!agents.listed || strcmp(agents.listed, socket) != 0) {
			agents.listed = arena_strdup(&agents.arena, socket);
			agents.keys = (struct words)WORDS_INIT(&agents.arena);
			key_agent_read(agents.listed, &agents.keys);
		}
		words_add_all(keys, words_list(&agents.keys));
	}
	pthread_mutex_unlock(&agents.lock);
}

/*
 * The agent is ended by a shell that waits for the end of a pipe, whose other end only this process has. It is in
 * a group of its own, so that Ctrl-C does not end the shell alone.
 */
static int key_agent_spawn(const char *socket, struct error *err)
{
	const char *const *words =
		WORDS("sh", "-c", "ssh-agent -D -a \"$1\" & cat; kill $!", "sh", socket);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int pipes[2], rc;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	rc = posix_spawnp(&pid, words[0], &actions, &attributes, (char *const *)words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	fd_close(&pipes[0]);
	agents.alive = pipes[1];
	return rc ? error_set(err, ERROR_FAILED, "cannot start ssh-agent: %s", strerror(rc)) : 0;
}

static int key_agent_start(struct error *err)
{
	const char *base = getenv("TMPDIR");
	uint64_t deadline = clock_usec() + START_TIMEOUT_USEC;
	const char *socket;
	char *folder;

	if (agents.socket)
		return 0;
	if (!base || *base != '/' || strlen(base) > FOLDER_BYTES_MAX)
		base = "/tmp";
	folder = arena_printf(&agents.arena, "%s/ringup-agent-XXXXXX", base);
	if (!mkdtemp(folder))
		return error_errno(err, "cannot make a folder in %s", base);
	agents.folder = folder;
	atexit(key_agent_end);
	socket = arena_printf(&agents.arena, "%s/agent", folder);
	if (key_agent_spawn(socket, err) < 0)
		return -1;
	while (!file_exists(socket)) {
		if (clock_usec() > deadline)
			return error_set(err, ERROR_FAILED, "ssh-agent does not start");
		usleep(START_POLL_USEC);
	}
	agents.socket = socket;
	return 0;
}

/* The environment with our agent in place of the person's. */
static char **key_agent_environment(struct arena *arena, bool has_terminal)
{
	struct words all = WORDS_INIT(arena);

	for (char **e = environ; *e; e++)
		if (!starts_with(*e, "SSH_AUTH_SOCK="))
			words_add(&all, *e);
	words_addf(&all, "SSH_AUTH_SOCK=%s", agents.socket);
	if (!has_terminal) /* ssh-add(1): otherwise only with $DISPLAY */
		words_add(&all, "SSH_ASKPASS_REQUIRE=force");
	return (char **)all.list;
}

/* Runs ssh-add at the terminal; 0 when it has the key. */
static int key_agent_add(const char *key, bool has_terminal)
{
	const char *const *words = WORDS("ssh-add", "-q", "-t", KEY_LIFE_S, "--", key);
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1, rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
					 has_terminal ? "/dev/tty" : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words,
			  key_agent_environment(&agents.arena, has_terminal));
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return -1;
	/* who is told to end does not wait for a person who may be gone */
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (interrupted())
			kill(pid, SIGTERM);
		usleep(START_POLL_USEC);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int key_agent_ask(const char *key, struct error *err)
{
	_cleanup_(fd_close) int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (terminal < 0 && !getenv("SSH_ASKPASS"))
		return error_set(
			err, ERROR_FAILED,
			"the key %s is encrypted, and there is no terminal to ask for its passphrase at; add it to an agent: ssh-add %s",
			key, key);
	if (words_has(&agents.refused, key))
		rc = -1;
	else if (key_agent_start(err) < 0)
		return -1;
	else
		rc = key_agent_add(key, terminal >= 0);
	if (rc == 0) {
		words_add(&agents.unlocked, key);
		return 0;
	}
	words_add(&agents.refused, key);
	return error_set(err, ERROR_FAILED,
			 "the key %s is encrypted, and its passphrase did not come", key);
}

int key_agent_unlock(const char *key, const char **socket, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&agents.lock);
	agents.unlocked.arena = agents.refused.arena = &agents.arena;
	if (!words_has(&agents.unlocked, key))
		rc = key_agent_ask(key, err);
	*socket = agents.socket;
	pthread_mutex_unlock(&agents.lock);
	return rc;
}
