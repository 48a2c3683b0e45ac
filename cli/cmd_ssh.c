/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stages.h"

#include "core/quote.h"
#include "deployer/ssh/reach.h"
#include "deployer/ssh/ssh_transport.h"

#include <string.h>
#include <unistd.h>

/* ssh puts its words together with blanks and gives them to a shell, so they are quoted before. */
static int ssh_run_command(struct context *ctx, void *values, const char *const *arguments,
			   struct error *err)
{
	_cleanup_(str_release) struct str line = STR_INIT, sent = STR_INIT;
	struct words words = WORDS_INIT(ctx->arena);
	struct ssh_target target;
	struct stages s;
	struct host host;

	(void)values;
	if (stage_cluster(&s, ctx, err) < 0 ||
	    cluster_host_named(&s.cluster, arguments[0], ctx->arena, &host, err) < 0 ||
	    reach_host(&s.cluster, &host, ctx->timeout_s, ctx->arena, &target, err) < 0)
		return -1;
	words_add(&words, "ssh");
	ssh_openssh_add_way(&target, &words);
	words_add(&words, target.host);
	if (arguments[1] && strcmp(arguments[1], "--") == 0)
		arguments++;
	if (arguments[1]) {
		bool is_line = !arguments[2] && strpbrk(arguments[1], " \t\n;&|<>()$`\\\"'*?");

		ssh_command_line(&target, is_line ? WORDS("sh", "-c", arguments[1]) : arguments + 1,
				 &line);
		quote_for_login_shell(&sent, line.text);
		words_add(&words, sent.text);
	}
	execvp(words.list[0], (char *const *)words.list);
	return error_errno(err, "cannot start ssh");
}

const struct command command_ssh = {
	.name = "ssh",
	.arguments = "HOST [[--] CMD...]",
	.summary = "logs in to a host of the cluster",
	.help = "Becomes the system's ssh, with the user, port, keys, jump hosts and known_hosts that the cluster\n"
		"file and ~/.ssh/config have for the host. HOST may be any [USER@]ADDRESS[:PORT], too. The login\n"
		"is on the host itself; a command's words run there as they are, by sudo where the file says so.\n"
		"One word with blanks is a line for a shell: ringup ssh HOST 'cd /data && ls'.\n",
	.min_arguments = 1,
	.max_arguments = -1,
	.stop_at_argument = true,
	.run = ssh_run_command,
};
