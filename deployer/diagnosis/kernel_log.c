/* SPDX-License-Identifier: MIT */
#include "deployer/diagnosis/kernel_log.h"

#include "core/file.h"
#include "core/foreign.h"
#include "deployer/remote.h"

#include <string.h>

#define ASK_TIMEOUT_S 5

struct kernel_logs {
	int seconds;
	struct proc_result *results; /* one per member */
};

/* A host that does not answer has no log: that is no error of its own. */
static int kernel_log_ask(struct member *m, void *arg, struct error *err)
{
	const struct kernel_logs *logs = arg;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = ASK_TIMEOUT_S};
	struct error ignored = {0};

	if (!m->ssh ||
	    remote_script("kernel_log", WORDS(arena_printf(&m->arena, "%d", logs->seconds)), &words,
			  err) < 0)
		return 0;
	command.words = words.list;
	ssh_run(m->ssh, &command, &logs->results[m->index], &ignored);
	return 0;
}

static void kernel_log_keep(FILE *file, const char *host, char *text)
{
	for (char *line; (line = strsep(&text, "\n"));)
		if (*line)
			fprintf(file, "[%s] %s\n", host, foreign_clean_line(line));
}

void kernel_log_read(struct fleet *fleet, int seconds, const char *folder,
		     struct diagnosing *diagnosing)
{
	struct kernel_logs logs = {seconds,
				   ARENA_ARRAY(fleet->arena, fleet->count, struct proc_result)};
	_cleanup_(file_close) FILE *file = NULL;

	fleet_each(fleet, kernel_log_ask, &logs);
	for (size_t i = 0; i < fleet->count; i++) {
		struct proc_result *result = &logs.results[i];
		const char *host = fleet->members[i].host->name;

		if (result->out.length) {
			diagnosing_feed(diagnosing, host, DIAGNOSIS_NO_RANK, result->out.text,
					result->out.length);
			file = file ? file
				    : fopen(arena_printf(fleet->arena, "%s/kernel.log", folder),
					    "we");
			if (file)
				kernel_log_keep(file, host, result->out.text);
		}
		proc_result_release(result);
	}
}
