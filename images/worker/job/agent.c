/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/agent.h"
#include "job/protocol.h"
#include "job/rank.h"
#include "job/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ssh(1)'s options that take an argument. */
#define WITH_ARGUMENT "BbcDEeFIiJLlmOoPpQRSWw"

/* Steps over options, joined with their arguments or not: "-q", "-p 22", "-p22", "-xp 22". */
static char *const *agent_skip_options(char *const *words)
{
	for (; *words && **words == '-' && (*words)[1]; words++) {
		const char *taker;

		if (strcmp(*words, "--") == 0)
			return words + 1;
		taker = strpbrk(*words + 1, WITH_ARGUMENT);
		if (taker && !taker[1] && words[1])
			words++;
	}
	return words;
}

/* "spawn HOST COMMAND"; the words of the command are joined as ssh joins them. */
static void agent_say(const char *host, char *const *words, struct text *out)
{
	struct text command = {0};
	const char *at = strrchr(host, '@');

	for (size_t i = 0; words[i]; i++)
		text_addf(&command, "%s%s", i ? " " : "", words[i]);
	text_addf(out, "spawn %s ", at ? at + 1 : host);
	text_add_escaped(out, command.bytes, command.length);
	text_add_bytes(out, "\n", 1);
	text_release(&command);
}

static bool agent_send(int connection, const struct text *out)
{
	for (size_t sent = 0; sent < out->length;) {
		ssize_t done =
			send(connection, out->bytes + sent, out->length - sent, MSG_NOSIGNAL);

		if (done < 0 && errno != EINTR)
			return false;
		sent += done > 0 ? (size_t)done : 0;
	}
	return true;
}

/* Waits for "exit STATUS". */
static int agent_wait(int connection)
{
	char bytes[64];
	size_t length = 0;
	long status;

	while (length < sizeof(bytes) - 1) {
		ssize_t got = read(connection, bytes + length, sizeof(bytes) - 1 - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break; /* the job ends */
		length += (size_t)got;
		bytes[length] = '\0';
		if (strchr(bytes, '\n'))
			return sscanf(bytes, "exit %ld", &status) == 1 ? (int)status & 255
								       : AGENT_EXIT_FAILED;
	}
	return AGENT_EXIT_FAILED;
}

int agent_run(char *const *words)
{
	const char *id = getenv(JOB_VARIABLE), *host;
	struct text out = {0};
	int connection, status = AGENT_EXIT_FAILED;

	words = agent_skip_options(words);
	host = *words;
	if (!host || strpbrk(host, " \n\\")) {
		fputs("ringup-job: the name of a host is needed\n", stderr);
		return AGENT_EXIT_FAILED;
	}
	words = agent_skip_options(words + 1); /* ssh takes options behind the host, too */
	if (!*words || !id) {
		fprintf(stderr, "ringup-job: %s\n",
			id ? "it runs commands, and opens no shell"
			   : "nothing in the environment says which job this is");
		return AGENT_EXIT_FAILED;
	}
	connection = supervisor_connect(id, "", NULL);
	if (connection < 0)
		return AGENT_EXIT_FAILED;
	agent_say(host, words, &out);
	if (agent_send(connection, &out))
		status = agent_wait(connection);
	text_release(&out);
	close(connection);
	return status;
}
