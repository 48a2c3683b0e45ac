/* SPDX-License-Identifier: MIT */
/*
 * The system's own ssh: one master connection, each command a session over its control socket.
 */
#include "deployer/ssh/ssh_transport.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/private.h"
#include "core/quote.h"
#include "core/secret.h"
#include "core/words.h"
#include "deployer/ssh/keys/host_key_check.h"
#include "deployer/ssh/ssh_fault.h"
#include "deployer/ssh/ssh_mux.h"
#include "deployer/ssh/tcp.h"
#include "deployer/ssh/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_TIMEOUT_S 10 /* to end the shared connection */

#define FOLDER_BYTES_MAX 60
#define SSH_FAILED 255 /* ssh(1): of ssh itself, or of the command */
/*
 * What ssh offers by itself since OpenSSH 7.6, with AES-GCM first: a file goes with 0.8 of the time that OpenSSH's ChaCha20 takes
 * (bench/fleet.sh), since processors have instructions for AES. OpenSSH 8.1 has '^' for "these first"; older ones do not know it.
 */
#define CIPHERS                                                                        \
	"aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com," \
	"aes128-ctr,aes192-ctr,aes256-ctr"

struct openssh {
	const struct ssh_target *target;
	struct arena arena;
	const char *folder; /* holds the control socket; removed at close */
	const char *kept;   /* the socket of a connection that outlives this process, or NULL */
	const char *socket; /* of the connection */
	const char *const *base;
	bool only_keys; /* an agent's other keys are not offered before those of cluster.yaml */
};

static void close_openssh(void *state)
{
	struct openssh *o = state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = {.timeout_s = EXIT_TIMEOUT_S, .even_when_interrupted = true};

	if (o->base && !o->kept) {
		words_add_all(&words, o->base);
		words_add_all(&words, WORDS("-O", "exit", o->target->host));
		proc.words = words.list;
		proc_run(&proc, &result, &ignored);
	}
	if (o->folder)
		folder_remove(o->folder, &ignored);
	arena_release(&o->arena);
	free(o);
}

/* A path in an option's value: there '%' begins a token, and a blank ends a file's name. */
static const char *ssh_openssh_path(const char *path, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	bool quoted = path[strcspn(path, " \t")];

	if (quoted)
		str_add_char(&text, '"');
	for (; *path; path++)
		str_addf(&text, *path == '%' ? "%%%%" : "%c", *path);
	if (quoted)
		str_add_char(&text, '"');
	return arena_strdup(arena, text.text);
}

static const char *ssh_openssh_paths(const char *const *paths, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	for (; *paths; paths++)
		words_add(&words, ssh_openssh_path(*paths, arena));
	return words_join(&words, " ");
}

const char *ssh_openssh_proxy(const struct ssh_target *target, struct arena *arena)
{
	_cleanup_(str_release) struct str line = STR_INIT, option = STR_INIT;
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("ssh"));
	ssh_openssh_add_way(target->via, &words);
	words_add_all(&words, WORDS("-oBatchMode=yes", "-oControlPath=none"));
	words_addf(&words, "-oConnectTimeout=%d", target->timeout_s);
	words_add_all(&words, WORDS("-W", "\1", target->via->host));
	quote_words(&line, words.list);
	/* ssh puts the values of %h and %p in; '%' of the words themselves is doubled for it */
	str_add(&option, "ProxyCommand=");
	for (const char *at = line.text; *at; at++)
		if (starts_with(at, "'\1'")) {
			str_add(&option, "'[%h]:%p'");
			at += 2;
		} else {
			str_addf(&option, *at == '%' ? "%%%%" : "%c", *at);
		}
	return arena_strdup(arena, option.text);
}

/* Whether this machine allows FIPS's ciphers alone: an ssh of such a machine refuses a list with others. */
static bool ssh_openssh_is_fips(struct arena *arena)
{
	char *text;

	return file_read("/proc/sys/crypto/fips_enabled", KIB, arena, &text, NULL,
			 &(struct error){0}) == 0 &&
	       *text == '1';
}

void ssh_openssh_add_way(const struct ssh_target *target, struct words *words)
{
	struct arena *arena = words->arena;

	if (*target->config)
		words_add_all(words, WORDS("-F", target->config));
	if (!target->names_ciphers && !ssh_openssh_is_fips(arena))
		words_add(words, "-oCiphers=" CIPHERS);
	words_addf(words, "-p%d", target->port);
	for (const char *const *key = target->keys; *key; key++)
		words_addf(words, "-oIdentityFile=%s", ssh_openssh_path(*key, arena));
	if (*target->agent)
		words_addf(words, "-oIdentityAgent=%s", ssh_openssh_path(target->agent, arena));
	words_add(words, "-oStrictHostKeyChecking=yes");
	words_addf(words, "-oUserKnownHostsFile=%s", ssh_openssh_paths(target->known_hosts, arena));
	if (target->via)
		words_addf(words, "-o%s", ssh_openssh_proxy(target, arena));
	else if (target->direct)
		words_add(words, "-oProxyJump=none");
	words_add_all(words, WORDS("-l", target->user));
}

/* The socket for this way to the host: another key, user or jump host has another one. An agent's path does not count. */
static const char *ssh_openssh_kept_path(struct openssh *o, const struct words *way,
					 const char *folder)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	char sum[DIGEST_TEXT_BYTES];

	for (size_t i = 0; i < way->count; i++)
		if (!starts_with(way->list[i], "-oIdentityAgent="))
			str_addf(&text, "%zu %s ", strlen(way->list[i]), way->list[i]);
	str_add(&text, o->target->host);
	digest_of(text.text, text.length, sum);
	return arena_printf(&o->arena, "%s/%.20s", folder, sum + DIGEST_PREFIX_BYTES);
}

/* A folder of this user alone, in $XDG_RUNTIME_DIR unless that is too long for a socket's path. */
static int ssh_openssh_kept_folder(struct openssh *o, const char **folder, struct error *err)
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	if (base && *base == '/' && strlen(base) <= FOLDER_BYTES_MAX)
		*folder = arena_printf(&o->arena, "%s/ringup", base);
	else
		*folder = arena_printf(&o->arena, "/tmp/ringup-%u", (unsigned int)getuid());
	return private_folder(*folder, err) < 0 || private_check_above(*folder, err) < 0 ? -1 : 0;
}

/* Whether an ssh answers at the socket: then the connection is there. */
static bool ssh_openssh_is_kept(const struct openssh *o)
{
	struct ssh_mux mux;

	if (!o->kept || !ssh_mux_open(&mux, o->socket, "", o->target->timeout_s))
		return false;
	ssh_mux_close(&mux);
	return true;
}

static void ssh_openssh_base_words(struct openssh *o, const char *kept_in)
{
	const struct ssh_target *t = o->target;
	struct words words = WORDS_INIT(&o->arena);

	/* of what the person's file has for logins only what reaches the host counts, and errors are said aloud */
	words_add_all(&words, WORDS("ssh", "-T", "-oBatchMode=yes", "-oLogLevel=INFO"));
	if (t->has_remote_command)
		words_add(&words, "-oRemoteCommand=none");
	if (o->only_keys)
		words_add(&words, "-oIdentitiesOnly=yes");
	ssh_openssh_add_way(t, &words);
	if (kept_in)
		o->kept = ssh_openssh_kept_path(o, &words, kept_in);
	words_addf(&words, "-oConnectTimeout=%d", t->timeout_s);
	words_addf(&words, "-oServerAliveInterval=%d", ssh_silence_s() / SSH_ASKS);
	words_addf(&words, "-oServerAliveCountMax=%d", SSH_ASKS);
	words_add(&words, "-oControlMaster=auto");
	o->socket = o->kept ? o->kept : arena_printf(&o->arena, "%s/s", o->folder);
	words_addf(&words, "-oControlPath=%s", ssh_openssh_path(o->socket, &o->arena));
	words_addf(&words, "-oControlPersist=%d", o->kept ? t->keep_s : 600);
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

/* What a line of ssh means; rows that are found first count. The words are those of OpenSSH 6.6 to 10. */
static const struct {
	const char *said;
	enum ssh_fault fault;
	bool asks; /* another server than sshd makes ssh say so, too: ssh_fault_ask tells */
} openssh_faults[] = {
	{"Session open refused by peer", SSH_FAULT_SESSIONS, false},
	{"Unable to negotiate with ", SSH_FAULT_STRANGE, false},
	{"Exceeded MaxStartups", SSH_FAULT_BUSY, false},
	{"Not allowed at this time", SSH_FAULT_BUSY, false},
	{"exchange_identification: Connection closed", SSH_FAULT_BUSY, true},
	{"exchange_identification: read: Connection reset", SSH_FAULT_BUSY, true},
	{"Protocol major versions differ", SSH_FAULT_BROKEN, true},
	{"during banner exchange", SSH_FAULT_SILENT, true},
	{"exchange_identification: ", SSH_FAULT_BROKEN, true},
	{"Bad packet length", SSH_FAULT_BROKEN, false},
	{"Connection closed by ", SSH_FAULT_BROKEN, false},
	{"Connection reset by ", SSH_FAULT_BROKEN, false},
	{"ssh_dispatch_run_fatal", SSH_FAULT_BROKEN, false},
};

/* asks may be NULL. */
static enum ssh_fault ssh_openssh_fault(const char *said, bool *asks)
{
	if (strstr(said, "UNKNOWN port 65535")) /* the way to it ended, not its sshd */
		return SSH_FAULT_NONE;
	for (size_t i = 0; i < ARRAY_LEN(openssh_faults); i++) {
		if (!strstr(said, openssh_faults[i].said))
			continue;
		if (asks)
			*asks = openssh_faults[i].asks;
		return openssh_faults[i].fault;
	}
	return SSH_FAULT_NONE;
}

static bool ssh_openssh_is_refused(const char *said)
{
	return !strstr(said, "UNKNOWN port 65535") &&
	       (strstr(said, "Permission denied (") ||
		strstr(said, "Too many authentication failures"));
}

/* The login worked, and its shell ends before it runs anything. */
static int ssh_openssh_no_shell(const struct openssh *o, struct proc_result *result,
				struct error *err)
{
	const struct ssh_target *t = o->target;
	char place[200];

	str_one_line(&result->err, SSH_SAID_BYTES);
	str_one_line(&result->out, SSH_SAID_BYTES);
	return error_set(
		err, ERROR_FAILED,
		"%s: user %s can log in, and runs no commands there: 'true' ended with status %d%s%s; look at the login shell in /etc/passwd and at what it reads first",
		ssh_place(t, place), t->user, result->status,
		result->out.length || result->err.length ? ": " : "",
		result->out.length   ? result->out.text
		: result->err.length ? result->err.text
				     : "");
}

/* What stands in the text behind `before`, up to one of the signs of `end`; "" when it is not there. */
static const char *ssh_openssh_said(const char *text, const char *before, const char *end,
				    struct arena *arena)
{
	const char *at = strstr(text, before);

	at = at ? at + strlen(before) : "";
	return arena_strndup(arena, at, strcspn(at, end));
}

/*
 * sshconnect.c of OpenSSH 6.6 to 9.9: "The fingerprint for the ED25519 key sent by the remote host is\nSHA256:...", "Offending ED25519
 * key in FILE:1", "No ED25519 host key is known for HOST and you have requested strict checking."
 */
static bool ssh_openssh_explain_key(struct openssh *o, const char *text, struct error *err)
{
	const struct ssh_target *t = o->target;
	const char *type = ssh_openssh_said(text, "The fingerprint for the ", " ", &o->arena);
	const char *print =
		ssh_openssh_said(text, "key sent by the remote host is\n", "\r\n", &o->arena);
	const char *where = ssh_openssh_said(
		text, arena_printf(&o->arena, "Offending %s key in ", type), "\r\n", &o->arena);
	char place[200];

	if (*type && *print && *where) {
		const char *colon = strrchr(where, ':');

		error_set(
			err, ERROR_FAILED,
			"%s: its host key (%s %.*s) differs from the one in %s: someone may be in between; if the host was installed anew, remove the old key: ssh-keygen -R '%s' -f %.*s",
			ssh_place(t, place), type, (int)strcspn(print, "."), print, where,
			host_key_known_name(t, &o->arena),
			colon ? (int)(colon - where) : (int)strlen(where), where);
		return true;
	}
	type = ssh_openssh_said(text, "No ", " ", &o->arena);
	if (!strstr(text, " host key is known for ") || !*t->known_hosts)
		return false;
	error_set(
		err, ERROR_FAILED,
		"%s: its host key (%s) is not in %s; compare the fingerprint with the host's own, then add it: ringup hosts trust",
		ssh_place(t, place), type, *t->known_hosts);
	host_key_say_lax(t, err);
	return true;
}

static bool ssh_openssh_explain_fault(struct openssh *o, const char *text,
				      enum ssh_failure *failure, struct error *err)
{
	_cleanup_(str_release) struct str greeting = STR_INIT;
	bool asks = false;
	enum ssh_fault fault = ssh_openssh_fault(text, &asks), seen;
	const char *said = fault == SSH_FAULT_STRANGE
				   ? ssh_openssh_said(strstr(text, "Unable to negotiate with "),
						      ": ", "\r\n", &o->arena)
				   : "";

	seen = asks && !ssh_target_has_way(o->target) ? ssh_fault_ask(o->target, &greeting)
						      : SSH_FAULT_NONE;
	if (seen != SSH_FAULT_NONE) {
		fault = seen;
		said = greeting.text;
	}
	if (fault == SSH_FAULT_NONE)
		return false;
	if (fault == SSH_FAULT_BUSY)
		*failure = SSH_FAILED_BUSY;
	ssh_fault_set(o->target, fault, said, err);
	return true;
}

/* The same error as by libssh2, where what ssh said has one. */
static bool ssh_openssh_explain(struct openssh *o, const char *text, enum ssh_failure *failure,
				struct error *err)
{
	static const struct {
		const char *said;
		int code;
	} codes[] = {{"Connection refused", ECONNREFUSED},
		     {"Connection timed out", ETIMEDOUT},
		     {"No route to host", EHOSTUNREACH},
		     {"Network is unreachable", ENETUNREACH}};
	char place[200];

	if (strstr(text, "Host key verification failed"))
		return ssh_openssh_explain_key(o, text, err);
	if (ssh_openssh_explain_fault(o, text, failure, err))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (strstr(text, "connect to host ") && strstr(text, codes[i].said)) {
			tcp_explain(codes[i].code, o->target->port, err);
			error_wrap(err, "%s", ssh_place(o->target, place));
			return true;
		}
	return false;
}

/* What ssh said, as one of the failures; ssh.c says what a refused login means. */
static int ssh_openssh_failed(struct openssh *o, struct proc_result *result,
			      enum ssh_failure *failure, struct error *err)
{
	const struct ssh_target *t = o->target;
	_cleanup_(str_release) struct str said = STR_INIT;
	char place[200];

	*failure =
		ssh_openssh_is_refused(result->err.text) ? SSH_FAILED_LOGIN : SSH_FAILED_OTHERWISE;
	if (result->status != SSH_FAILED)
		return ssh_openssh_no_shell(o, result, err);
	/* ssh with a shared connection drops what the program on the way to the host says */
	if (ssh_target_has_way(t) && *failure != SSH_FAILED_LOGIN && tunnel_ask(t, &said)) {
		if (ssh_openssh_fault(said.text, NULL) == SSH_FAULT_BUSY)
			*failure = SSH_FAILED_BUSY;
		return tunnel_failed(t, said.text, err);
	}
	if (*failure != SSH_FAILED_LOGIN &&
	    (ssh_target_has_way(t) ? ssh_openssh_explain_fault(o, result->err.text, failure, err)
				   : ssh_openssh_explain(o, result->err.text, failure, err)))
		return -1;
	str_one_line(&result->err, SSH_SAID_BYTES);
	return error_set(err, ERROR_FAILED,
			 "%s: ssh cannot log in as %s: %s; try: ringup -v ssh %s",
			 ssh_place(t, place), t->user, result->err.text, t->name);
}

/* One try. 0, or -1 with the failure. */
static int ssh_openssh_try(struct openssh *o, const char *kept_in, enum ssh_failure *failure,
			   struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = {.timeout_s = o->target->timeout_s + 5};
	char place[200];

	ssh_openssh_base_words(o, kept_in);
	if (ssh_openssh_is_kept(o))
		return 0;
	words_add_all(&words, o->base);
	words_add_all(&words, WORDS(o->target->host, "true"));
	proc.words = words.list;
	if (proc_run(&proc, &result, err) < 0)
		return err->system == ETIMEDOUT
			       ? ssh_fault_set(o->target, SSH_FAULT_STUCK, "", err)
			       : error_wrap(err, "%s", ssh_place(o->target, place));
	return result.status == 0 ? 0 : ssh_openssh_failed(o, &result, failure, err);
}

/* The key that cluster.yaml names is tried first, as libssh2 does it: sshd counts each key of an agent as a failure. */
static int open_openssh(const struct ssh_target *target, void **state, enum ssh_failure *failure,
			struct error *err)
{
	struct openssh *o = xmalloc(sizeof(*o));
	const char *kept_in = NULL;
	int rc = -1;

	*o = (struct openssh){.target = target, .arena = ARENA_INIT};
	o->only_keys = target->keys_given && !target->identities_only && *target->agent;
	if (target->keep_s ? ssh_openssh_kept_folder(o, &kept_in, err) == 0
			   : make_folder(o, err) == 0)
		rc = ssh_openssh_try(o, kept_in, failure, err);
	if (rc < 0 && o->only_keys && *failure == SSH_FAILED_LOGIN) {
		o->only_keys = false;
		*err = (struct error){0};
		rc = ssh_openssh_try(o, kept_in, failure, err);
	}
	if (rc == 0)
		*state = o;
	else
		close_openssh(o);
	return rc;
}

const char *const *ssh_openssh_words(void *state)
{
	struct openssh *o = state;
	struct words words = WORDS_INIT(&o->arena);

	words_add_all(&words, o->base);
	words_add(&words, o->target->host);
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
	words_add_all(&words, WORDS("-O", "check", o->target->host));
	proc.words = words.list;
	return proc_run(&proc, &result, &ignored) < 0 || result.status != 0;
}

static int ssh_openssh_lost(const struct openssh *o, struct proc_result *result, struct error *err)
{
	char place[200];

	str_one_line(&result->err, SSH_SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: the connection broke while the command ran%s%s",
			 ssh_place(o->target, place), result->err.length ? ": " : "",
			 result->err.text);
}

/* Gives a program `input` and then what comes from a descriptor, where it can have only one of them. */
struct feed {
	const struct ssh_command *command;
	int to;
	atomic_bool over; /* the program ended */
};

static void *ssh_openssh_feed(void *arg)
{
	struct feed *feed = arg;
	char buffer[32 * KIB];
	ssize_t got = 1;

	if (file_write_all(feed->to, feed->command->input, feed->command->input_bytes) < 0)
		got = 0;
	while (got > 0 && !atomic_load(&feed->over)) {
		struct pollfd ready = {.fd = feed->command->input_fd, .events = POLLIN};

		if (poll(&ready, 1, INTERRUPT_POLL_MSEC) <= 0)
			continue;
		got = read(feed->command->input_fd, buffer, sizeof(buffer));
		if (got > 0 && file_write_all(feed->to, buffer, (size_t)got) < 0)
			got = 0;
	}
	secret_wipe_bytes(buffer, sizeof(buffer));
	fd_close(&feed->to);
	return NULL;
}

/* proc_run, also where the command has both kinds of input. */
static int ssh_openssh_proc(const struct ssh_command *command, struct proc *proc,
			    struct proc_result *result, struct error *err)
{
	struct feed feed = {.command = command};
	int pipes[2], rc;
	pthread_t thread;

	if (command->input_fd <= 0 || !command->input_bytes)
		return proc_run(proc, result, err);
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	feed.to = pipes[1];
	proc->input_fd = pipes[0];
	if (pthread_create(&thread, NULL, ssh_openssh_feed, &feed) != 0) {
		fd_close(&pipes[0]);
		fd_close(&pipes[1]);
		return error_set(err, ERROR_FAILED, "cannot start a thread");
	}
	rc = proc_run(proc, result, err);
	atomic_store(&feed.over, true);
	fd_close(&pipes[0]); /* a writer that waits gets EPIPE */
	pthread_join(thread, NULL);
	return rc;
}

/*
 * Without an ssh process, where the descriptors are this process's own. *is_done is false when the command is still to
 * be run.
 */
static int ssh_openssh_by_mux(const struct openssh *o, const char *line,
			      const struct ssh_command *command, struct proc *proc,
			      struct proc_result *result, bool *is_done, struct error *err)
{
	struct error said = {0};
	struct ssh_mux mux;
	int rc;

	*is_done = command->input_fd <= 0 && (command->output_fd <= 0 || command->output_is_ours) &&
		   ssh_mux_open(&mux, o->socket, line, o->target->timeout_s);
	if (!*is_done)
		return 0;
	proc->runner = &ssh_mux_runner;
	proc->runner_state = &mux;
	rc = proc_run(proc, result, &said);
	proc->runner = NULL;
	ssh_mux_close(&mux);
	if (mux.is_refused) {
		*is_done = false;
		proc_result_release(result);
		return 0;
	}
	if (rc < 0)
		*err = said;
	return rc;
}

static int run_openssh(void *state, const char *line, const struct ssh_command *command,
		       uint64_t deadline_usec, struct proc_result *result, struct error *err)
{
	struct openssh *o = state;
	struct words words = WORDS_INIT(&o->arena);
	struct proc proc = ssh_command_proc(command, deadline_usec);
	char place[200];
	bool is_done;
	int rc;

	words_add_all(&words, o->base);
	words_add_all(&words, WORDS(o->target->host, line));
	proc.words = words.list;
	proc_result_release(result);
	rc = ssh_openssh_by_mux(o, line, command, &proc, result, &is_done, err);
	if (!is_done)
		rc = ssh_openssh_proc(command, &proc, result, err);
	if (rc < 0)
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
