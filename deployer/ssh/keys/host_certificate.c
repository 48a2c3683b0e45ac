/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/host_certificate.h"

#include "core/proc.h"
#include "core/words.h"
#include "deployer/ssh/ssh_transport.h"

#include <string.h>

/* What `ssh -v` says of it, and what it says when the host key has passed and nobody may log in (sshconnect.c, ssh.c). */
#define SHOWN "Server host certificate: "
#define PASSED "Permission denied ("

const char *host_certificate_key(const struct ssh_target *t, struct arena *arena)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(arena);
	struct proc proc = {.timeout_s = t->timeout_s + 5};
	struct error ignored = {0};
	const char *at;

	words_add_all(&words, WORDS("ssh", "-v", "-T", "-oLogLevel=DEBUG1", "-oBatchMode=yes",
				    "-oControlPath=none", "-oPreferredAuthentications=none"));
	if (t->has_remote_command)
		words_add(&words, "-oRemoteCommand=none");
	ssh_openssh_add_way(t, &words);
	words_addf(&words, "-oConnectTimeout=%d", t->timeout_s);
	words_add_all(&words, WORDS(t->host, "true"));
	proc.words = words_list(&words);
	if (proc_run(&proc, &result, &ignored) < 0 || !result.err.length)
		return "";
	at = strstr(result.err.text, SHOWN);
	if (!at || !strstr(at, PASSED))
		return "";
	at += strlen(SHOWN);
	at += strcspn(at, " \r\n"); /* the type */
	at += *at == ' ';
	return starts_with(at, "SHA256:") ? arena_strndup(arena, at, strcspn(at, " ,\r\n")) : "";
}
