/* SPDX-License-Identifier: MIT */
#include "deployer/job/versions.h"

#include "core/foreign.h"
#include "deployer/bringup/host_stack.h"
#include "deployer/launcher/launcher.h"
#include "deployer/remote.h"

#include <string.h>

#define LIBRARIES_MAX 64
#define LINE_BYTES_MAX 200
#define HOSTS_SHOWN 3
#define ANSWER_USEC 10000000 /* a slow file system costs the comparison, not the job */

struct host_versions {
	struct words lines; /* NAME=VERSION */
	bool has_ended;
};

struct job_versions {
	const struct job_plan *plan;
	struct host_versions *hosts; /* as the plan has them */
	uint64_t asked_usec;	     /* 0: nobody has waited yet */
};

struct job_versions *job_versions_new(const struct job_plan *plan)
{
	struct job_versions *versions = ARENA_NEW(plan->arena, struct job_versions);

	versions->plan = plan;
	versions->hosts = ARENA_ARRAY(plan->arena, plan->host_count, struct host_versions);
	for (size_t i = 0; i < plan->host_count; i++)
		versions->hosts[i].lines = (struct words)WORDS_INIT(plan->arena);
	return versions;
}

/* One host differs from no other. */
static bool versions_is_asked(const struct job_plan *plan)
{
	return !plan->options->mixed_versions && (plan->host_count > 1 || plan->options->lock);
}

/* Whether the word names a Python: python3, /venv/bin/python3.11. */
static bool versions_is_python(const char *word)
{
	const char *name = strrchr(word, '/');

	name = name ? name + 1 : word;
	return strncmp(name, "python", 6) == 0 && !name[6 + strspn(name + 6, "0123456789.")];
}

/* The Python that runs the command: one of its words, or a word of the line that a shell gets. "" */
static const char *versions_python(const struct job_options *options, struct arena *arena)
{
	for (const char *const *word = options->command; *word; word++) {
		char *rest = arena_strdup(arena, *word), *part;

		while ((part = strsep(&rest, " \t\n;&|()")))
			if (versions_is_python(part))
				return part;
	}
	return options->launcher->trains ? "python3" : "";
}

int job_versions_words(const struct job_options *options, int gpus, struct words *words,
		       struct error *err)
{
	return remote_script("versions",
			     WORDS(versions_python(options, words->arena),
				   options->launcher->spawns ? "mpi" : "",
				   arena_printf(words->arena, "%d", gpus)),
			     words, err);
}

int job_versions_ask(const struct job_versions *versions, const struct job_host *host,
		     struct str *out, struct error *err)
{
	const struct job_plan *plan = versions->plan;
	struct words words = WORDS_INIT(plan->arena);

	if (!versions_is_asked(plan))
		return 0;
	if (job_versions_words(plan->options, host->gpus, &words, err) < 0)
		return -1;
	job_say(out, "task", JOB_LABEL_VERSIONS);
	for (size_t i = 0; i < words.count; i++)
		job_say(out, "word", words.list[i]);
	return 0;
}

void job_versions_hear(struct job_versions *versions, const struct job_host *host,
		       const struct job_event *event)
{
	struct host_versions *said = &versions->hosts[host - versions->plan->hosts];

	if (event->kind == JOB_EVENT_EXIT)
		said->has_ended = true;
	else if (event->kind == JOB_EVENT_OUTPUT && event->is_whole && !event->is_error &&
		 strchr(event->text, '=') && strlen(event->text) <= LINE_BYTES_MAX &&
		 said->lines.count < LIBRARIES_MAX)
		words_add(&said->lines,
			  arena_strdup(versions->plan->arena, foreign_clean_line(event->text)));
}

bool job_versions_are_known(struct job_versions *versions, uint64_t now_usec)
{
	bool all = true;

	if (!versions->asked_usec)
		versions->asked_usec = now_usec;
	for (size_t i = 0; i < versions->plan->host_count; i++)
		all = all && versions->hosts[i].has_ended;
	return all || !versions_is_asked(versions->plan) ||
	       now_usec - versions->asked_usec > ANSWER_USEC;
}

const char *job_versions_silent(const struct job_versions *versions)
{
	for (size_t i = 0; i < versions->plan->host_count; i++)
		if (versions_is_asked(versions->plan) && !versions->hosts[i].has_ended)
			return versions->plan->hosts[i].member->host->name;
	return NULL;
}

/* The version that the host has of the library in a line "NAME=VERSION"; "none". */
static const char *host_version(const struct host_versions *host, const char *line)
{
	size_t length = strcspn(line, "=") + 1;

	for (size_t i = 0; i < host->lines.count; i++)
		if (strncmp(host->lines.list[i], line, length) == 0)
			return host->lines.list[i] + length;
	return "none";
}

/* Adds "2.1.0 on node01, node02" for all hosts that have the same as host `first`. */
static void versions_add_hosts(const struct job_versions *versions, const char *line, size_t first,
			       struct str *out)
{
	const char *version = host_version(&versions->hosts[first], line);
	int shown = 0, more = 0;

	str_addf(out, "%s on ", version);
	for (size_t i = first; i < versions->plan->host_count; i++) {
		const char *name = versions->plan->hosts[i].member->host->name;

		if (!versions->hosts[i].has_ended ||
		    strcmp(host_version(&versions->hosts[i], line), version) != 0)
			continue;
		if (shown < HOSTS_SHOWN)
			str_addf(out, "%s%s", shown++ ? ", " : "", name);
		else
			more++;
	}
	if (more)
		str_addf(out, " and %d more", more);
}

/* What differs of the library of this line; NULL: nothing. */
static const char *versions_compare(const struct job_versions *versions, const char *line)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int kinds = 0;

	for (size_t i = 0; i < versions->plan->host_count; i++) {
		const char *version = host_version(&versions->hosts[i], line);
		bool is_new = versions->hosts[i].has_ended;

		for (size_t k = 0; is_new && k < i; k++)
			is_new = !versions->hosts[k].has_ended ||
				 strcmp(host_version(&versions->hosts[k], line), version) != 0;
		if (!is_new)
			continue;
		str_add(&text, kinds++ ? "; " : "");
		versions_add_hosts(versions, line, i, &text);
	}
	if (kinds < 2)
		return NULL;
	return arena_printf(
		versions->plan->arena,
		"the hosts do not have the same %.*s: %s; install the same on all, or give --mixed-versions",
		(int)strcspn(line, "="), line, text.text);
}

/* What a host has of the library of this line, if it is not the lock's version. */
static const char *versions_compare_lock(const struct job_versions *versions, size_t host,
					 const char *line)
{
	const struct job_plan *plan = versions->plan;
	const char *differs = plan->options->lock
				      ? host_stack_differs(plan->options->lock, line, plan->arena)
				      : NULL;

	if (!differs)
		return NULL;
	return arena_printf(
		plan->arena,
		"%s has %s; the script of 'ringup recipe --format script' installs the lock's, and --mixed-versions runs with what is there",
		plan->hosts[host].member->host->name, differs);
}

const char *job_versions_differ(const struct job_versions *versions)
{
	for (size_t i = 0; i < versions->plan->host_count; i++) {
		const struct words *lines = &versions->hosts[i].lines;

		for (size_t k = 0; versions->hosts[i].has_ended && k < lines->count; k++) {
			const char *differs = versions_compare(versions, lines->list[k]);

			if (!differs)
				differs = versions_compare_lock(versions, i, lines->list[k]);
			if (differs)
				return differs;
		}
	}
	return NULL;
}
