/* SPDX-License-Identifier: MIT */
#include "plan/cluster.h"

#include "core/words.h"
#include "plan/cluster_rows.h"

#include <limits.h>
#include <string.h>

bool job_name_is_right(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= JOB_NAME_BYTES_MAX && *name != '.' && *name != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       length;
}

int job_name_check(const char *name, struct error *err)
{
	if (job_name_is_right(name) && strlen(name) <= JOB_NAME_GIVEN_MAX)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"'%s' cannot be a job's name: it takes letters, digits, '.', '_' and '-', %d at most",
		name, JOB_NAME_GIVEN_MAX);
}

const struct cluster_job *cluster_job(const struct cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->job_count; i++)
		if (strcmp(cluster->jobs[i].name, name) == 0)
			return &cluster->jobs[i];
	return NULL;
}

/* A block scalar ("command: |") ends with a line end, and words that follow it would be a command of their own. */
static void job_trim(struct cluster_job *job, struct arena *arena)
{
	size_t length = strlen(job->command[0]);
	struct words words = WORDS_INIT(arena);

	while (length && strchr(" \t\n", job->command[0][length - 1]))
		length--;
	words_add(&words, arena_strndup(arena, job->command[0], length));
	job->command = words.list;
}

/* A text is a shell's command line, as in a Dockerfile's CMD; a list is the words themselves. */
static int job_check_command(const struct yaml_place *at, struct error *err)
{
	struct cluster_job *job = at->values;
	struct error name = {0};

	if (job_name_check(job->name, &name) < 0)
		return yaml_error(at->map, err, "%s", name.text);
	job->in_shell = at->node && at->node->kind == YAML_TEXT;
	if (job->in_shell && job->command[0])
		job_trim(job, at->arena);
	if (!at->node || !job->command[0] || !*job->command[0])
		return yaml_error(at->node ? at->node : at->map, err, "the job '%s' needs a '%s'",
				  job->name, at->row->key);
	return 0;
}

int cluster_check_jobs(const struct yaml_place *at, struct error *err)
{
	const struct cluster *c = at->values;

	for (size_t i = 0; i < c->job_count; i++)
		if (cluster_host(c, c->jobs[i].name))
			return yaml_error(yaml_get(at->node, c->jobs[i].name), err,
					  "a job cannot be called '%s': a host has that name",
					  c->jobs[i].name);
	return 0;
}

#define AT(member) offsetof(struct cluster_job, member)
#define SECONDS .kind = YAML_ROW_INT, .max = INT_MAX / 1000
const struct yaml_row cluster_job_rows[] = {
	{.key = "command",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(command),
	 .note = "required",
	 .help = "what each rank runs: a list of words, or a text for a shell",
	 .check = job_check_command},
	{.key = "launcher",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(launcher),
	 .value = "auto",
	 .help = "how ranks are started; 'ringup run --help' lists the launchers"},
	{.key = "roles",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(roles),
	 .note = "all ranks are alike",
	 .help = "NAME=N,... for launchers that know roles (tf)"},
	{.key = "n",
	 .kind = YAML_ROW_INT,
	 .offset = AT(ranks),
	 .note = "the slots of the hosts",
	 .help = "ranks in all",
	 .max = INT_MAX},
	{.key = "ppn",
	 .kind = YAML_ROW_INT,
	 .offset = AT(per_host),
	 .note = "the host's slots",
	 .help = "ranks per host",
	 .max = INT_MAX},
	{.key = "gpus",
	 .kind = YAML_ROW_INT,
	 .offset = AT(gpus),
	 .note = "all of its host",
	 .help = "GPUs that each rank sees",
	 .max = INT_MAX},
	{.key = "hosts",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(hosts),
	 .note = "all",
	 .help = "the hosts that it may use"},
	{.key = "env",
	 .kind = YAML_ROW_PAIRS,
	 .offset = AT(env),
	 .note = "none",
	 .help = "environment of every rank"},
	{.key = "workdir",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(workdir),
	 .note = "that of the container",
	 .help = "where the command runs"},
	{.key = "sync",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(sync),
	 .note = "none",
	 .help = "DIR[:TARGET], a folder that comes to every host first"},
	{.key = "limit",
	 .offset = AT(timeout_s),
	 SECONDS,
	 .note = "none",
	 .help = "seconds that the job may take"},
	{.key = "hang_timeout",
	 .offset = AT(hang_timeout_s),
	 SECONDS,
	 .note = "none",
	 .help = "seconds without output after which the job is ended"},
	{.key = "hang_idle",
	 .kind = YAML_ROW_BOOL,
	 .offset = AT(hang_idle),
	 .value = "false",
	 .help = "whether a job that uses a processor is never taken for hung"},
	{.key = "start_limit",
	 .offset = AT(start_timeout_s),
	 SECONDS,
	 .note = "60",
	 .help = "seconds until all ranks have begun"},
	{.key = "grace",
	 .kind = YAML_ROW_INT,
	 .offset = AT(grace_s),
	 .note = "4",
	 .help = "seconds between SIGTERM and SIGKILL when the job ends",
	 .min = 1,
	 .max = JOB_GRACE_MAX_S},
	{.key = "retries",
	 .kind = YAML_ROW_INT,
	 .offset = AT(retries),
	 .value = "0",
	 .help = "how often a failed job is started again",
	 .max = INT_MAX},
	YAML_ROWS_END,
};
#undef SECONDS
#undef AT
