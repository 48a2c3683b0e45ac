/* SPDX-License-Identifier: MIT */
/*
 * The system's own ssh: one master connection, each command a session over its control socket.
 */
#include "deployer/ssh/ssh_transport.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_TIMEOUT_S 10 /* to end the shared connection */

#define FOLDER_BYTES_MAX 60
#define SSH_FAILED 255 /* ssh(1): of ssh itself, or of the command */
#define SAID_BYTES 700

struct openssh {
	const struct ssh_target *target;
	struct arena arena;
	const char *folder; /* holds the control socket; removed at close */
	const char *const *base;
};

static void close_openssh(void *state)
{
	struct openssh *o = state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = {.timeout_s = EXIT_TIMEOUT_S, .even_when_interrupted = true};

	if (o->base) {
		words_add_all(&words, o->base);
		words_add_all(&words, WORDS("-O", "exit", o->target->address));
		proc.words = words.list;
		proc_run(&proc, &result, &ignored);
	}
	if (o->folder)
		folder_remove(o->folder, &ignored);
	arena_release(&o->arena);
	free(o);
}

static void ssh_openssh_base_words(struct openssh *o)
{
	const struct ssh_target *t = o->target;
	struct words words = WORDS_INIT(&o->arena);

	words_add_all(&words,
		      WORDS("ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"));
	words_addf(&words, "-oUserKnownHostsFile=%s", t->known_hosts);
	words_addf(&words, "-oConnectTimeout=%d", t->timeout_s);
	words_addf(&words, "-oServerAliveInterval=%d", ssh_silence_s() / SSH_ASKS);
	words_addf(&words, "-oServerAliveCountMax=%d", SSH_ASKS);
	words_add_all(&words, WORDS("-o", "ControlMaster=auto"));
	words_addf(&words, "-oControlPath=%s/s", o->folder);
	words_add_all(&words, WORDS("-o", "ControlPersist=600", "-i", t->key, "-l", t->user));
	words_addf(&words, "-p%d", t->port);
	if (*t->jump)
		words_add_all(&words, WORDS("-J", t->jump));
	o->base = words.list;
}

/*
 * Makes a folder for the shared connection's socket, in $TMPDIR unless that path is too long. A
 * socket's path has at most 108 bytes (unix(7)), and ssh needs some of them for a temporary name.
 */
static int make_folder(struct openssh *o, struct error *err)
{
	const char *base = getenv("TMPDIR");
	char *folder;

	if (!base || *base != '/' || strlen(base) > FOLDER_BYTES_MAX)
		base = "/tmp";
	folder = arena_printf(&o->arena, "%s/ringup-ssh-XXXXXX", base);
	if (!mkdtemp(folder))
		return error_errno(err, "cannot make a folder in %s", base);
	o->folder = folder;
	return 0;
}

static int open_openssh(const struct ssh_target *target, void **state, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct openssh *o = xmalloc(sizeof(*o));
	struct words words;
	char place[200];
	struct proc proc = {.timeout_s = target->timeout_s + 5};

	*o = (struct openssh){.target = target, .arena = ARENA_INIT};
	words = (struct words)WORDS_INIT(&o->arena);
	if (make_folder(o, err) < 0) {
		close_openssh(o);
		return -1;
	}
	ssh_openssh_base_words(o);
	words_add_all(&words, o->base);
	words_add_all(&words, WORDS(target->address, "true"));
	proc.words = words.list;
	if (proc_run(&proc, &result, err) < 0 || result.status != 0) {
		str_one_line(&result.err, SAID_BYTES);
		if (!err->kind)
			error_set(err, ERROR_FAILED,
				  "%s: ssh cannot log in as %s: %s; try: ssh -p %d %s@%s true",
				  ssh_place(target, place), target->user, result.err.text,
				  target->port, target->user, target->address);
		close_openssh(o);
		return -1;
	}
	*state = o;
	return 0;
}

const char *const *ssh_openssh_words(void *state)
{
	struct openssh *o = state;
	struct words words = WORDS_INIT(&o->arena);

	words_add_all(&words, o->base);
	words_add(&words, o->target->address);
	return words.list;
}

/* Whether the shared connection is gone. */
static bool ssh_openssh_is_lost(struct openssh *o)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = {.timeout_s = EXIT_TIMEOUT_S};

	words_add_all(&words, o->base);
	words_add_all(&words, WORDS("-O", "check", o->target->address));
	proc.words = words.list;
	return proc_run(&proc, &result, &ignored) < 0 || result.status != 0;
}

static int ssh_openssh_lost(const struct openssh *o, struct proc_result *result, struct error *err)
{
	char place[200];

	str_one_line(&result->err, SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: the connection broke while the command ran%s%s",
			 ssh_place(o->target, place), result->err.length ? ": " : "",
			 result->err.text);
}

static int run_openssh(void *state, const char *line, const struct ssh_command *command,
		       uint64_t deadline_usec, struct proc_result *result, struct error *err)
{
	struct openssh *o = state;
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = ssh_command_proc(command, deadline_usec);
	char place[200];

	words_add_all(&words, o->base);
	words_add_all(&words, WORDS(o->target->address, line));
	proc.words = words.list;
	proc_result_release(result);
	if (proc_run(&proc, result, err) < 0)
		return error_wrap(err, "%s", ssh_place(o->target, place));
	return result->status == SSH_FAILED && ssh_openssh_is_lost(o)
		       ? ssh_openssh_lost(o, result, err)
		       : 0;
}

const struct ssh_transport ssh_transport_openssh = {
	.name = "openssh",
	.open = open_openssh,
	.run = run_openssh,
	.close = close_openssh,
};
