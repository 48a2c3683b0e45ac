/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_job.h"

#include "cli/app/stage_fleet.h"
#include "cli/app/stage_plan.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/private.h"
#include "core/quote.h"
#include "deployer/launcher/launcher.h"
#include "plan/host_set.h"
#include "plan/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the new process to say the job's name; "" when it ended without. */
static void hear_name(int from, pid_t child, char *name, size_t size)
{
	size_t length = 0;
	bool told_to_stop = false;

	while (length + 1 < size) {
		ssize_t got = read(from, name + length, size - length - 1);

		if (got > 0)
			length += (size_t)got;
		else if (got == 0 || errno != EINTR)
			break;
		else if (interrupted() && !told_to_stop) {
			told_to_stop = true;
			kill(child, interrupt_signal());
		}
	}
	name[length] = '\0';
}

static int detached_parent(struct detached *detached, int from, pid_t child, struct error *err)
{
	int status = 0;

	hear_name(from, child, detached->name, sizeof(detached->name));
	close(from);
	if (*detached->name)
		return 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* the other process has printed its error */
	fflush(NULL);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : error_set(err, ERROR_FAILED, "killed") + 2);
}

int detach(struct detached *detached, bool *is_parent, struct error *err)
{
	int ends[2];
	pid_t child;

	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0)
		return error_errno(err, "cannot start a process for the job");
	*is_parent = child > 0;
	if (*is_parent) {
		close(ends[1]);
		return detached_parent(detached, ends[0], child, err);
	}
	close(ends[0]);
	setsid();
	detached->told = ends[1];
	return 0;
}

void detached_began(struct detached *detached, const char *name, const char *folder)
{
	char path[4096];
	int null, log;

	if (detached->told < 0)
		return; /* a job that is started again */
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	snprintf(path, sizeof(path), "%s/ringup.log", folder);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dup2(null, STDIN_FILENO);
	dup2(log < 0 ? null : log, STDOUT_FILENO);
	dup2(log < 0 ? null : log, STDERR_FILENO);
	dprintf(detached->told, "%s", name);
	fd_close(&detached->told);
	fd_close(&null);
	fd_close(&log);
}

/* .ringup/local/bin is the folder of the programs, as on a host without containers. */
static int link_programs(const struct stages *s, const char **folder, struct error *err)
{
	const char *programs = path_program_folder(s->arena), *link, *new_link;

	*folder = cluster_state_path(&s->cluster, "local", s->arena);
	link = arena_printf(s->arena, "%s/bin", *folder);
	new_link = arena_printf(s->arena, "%s/bin-%d", *folder, (int)getpid());
	if (!file_exists(arena_printf(s->arena, "%s/ringup-job", programs)))
		return error_set(err, ERROR_FAILED, "%s/ringup-job is missing; run make", programs);
	if (private_folder(cluster_state_path(&s->cluster, "", s->arena), err) < 0 ||
	    private_folder(*folder, err) < 0)
		return -1;
	if (symlink(programs, new_link) < 0 || rename(new_link, link) < 0)
		return error_errno(err, "cannot make the link %s", link);
	return 0;
}

int stage_local(struct stages *s, int slots, struct error *err)
{
	const struct fleet_options options = {0};
	struct host *host = ARENA_NEW(s->arena, struct host);
	struct member *member;
	const char *folder;

	cluster_init_host(&s->cluster, s->arena, host);
	host->name = "localhost";
	host->address = "127.0.0.1";
	host->slots = slots;
	s->cluster.hosts = host;
	s->cluster.host_count = 1;
	s->cluster.container.engine = "none";
	if (link_programs(s, &folder, err) < 0 ||
	    fleet_init(&s->cluster, &options, s->arena, &s->fleet, err) < 0)
		return -1;
	member = &s->fleet.members[0];
	member->target.transport = "local";
	member->target.sudo = false;
	member->state.folder = folder;
	member->state.mesh = "local"; /* it needs no `up` */
	return member_connect(member, err);
}

static int check_job(const struct stages *s, const struct cluster_job *job, struct error *err)
{
	const struct launcher *launcher;
	struct words names = WORDS_INIT(s->arena);
	struct job_roles roles;

	const struct launcher_wish wish = {.has_roles = *job->roles};

	if (launcher_find_for_job(job->launcher, &wish, &launcher, err) < 0 ||
	    (*job->roles &&
	     job_roles_parse(job->roles, launcher->roles, s->arena, &roles, err) < 0))
		return -1;
	for (const char *const *set = job->hosts; *set; set++)
		if (host_set_of_cluster(&s->cluster, *set, &names, err) < 0)
			return -1;
	return 0;
}

int stage_check_job(const struct stages *s, const struct cluster_job *job, struct error *err)
{
	return check_job(s, job, err) < 0
		       ? error_wrap(err, "%s: the job '%s'", s->cluster.path, job->name)
		       : 0;
}

int stage_check_jobs(const struct stages *s, struct error *err)
{
	for (size_t i = 0; i < s->cluster.job_count; i++)
		if (stage_check_job(s, &s->cluster.jobs[i], err) < 0)
			return -1;
	return 0;
}

int stage_job_on(const struct stages *s, const char *host, struct arena *arena, const char **name,
		 struct error *err)
{
	struct job_record *list;
	size_t count;

	*name = NULL;
	if (job_records_list(&s->cluster, arena, &list, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count && !*name; i++) {
		const char *const *on = list[i].host_names;
		bool is_there = !host || !on || !*on;

		if (host && *list[i].scheduler)
			continue; /* it runs on other hosts */
		for (; !is_there && *on; on++)
			is_there = strcmp(*on, host) == 0;
		if (is_there && !*list[i].ended && !list[i].is_local &&
		    strcmp(list[i].state, "waiting") != 0 && job_is_alive(&list[i]))
			*name = list[i].name;
	}
	return 0;
}

int stage_running_job(const struct stages *s, struct arena *arena, const char **name,
		      struct error *err)
{
	return stage_job_on(s, NULL, arena, name, err);
}

/* A job that waits for its hosts has none yet, and one on this machine alone has none of the cluster's. */
static int stage_jobs_on(struct context *ctx, const struct words *sets, struct words *names,
			 struct error *err)
{
	struct job_record *list;
	struct stages chosen;
	size_t count;

	if (stage_cluster(&chosen, ctx, err) < 0 || stage_choose(&chosen, sets, NULL, err) < 0 ||
	    job_records_list(&chosen.cluster, chosen.arena, &list, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *const *host = list[i].host_names;

		if (*list[i].ended || list[i].is_local || !host)
			continue;
		while (*host && !cluster_host(&chosen.cluster, *host))
			host++;
		if (*host)
			words_add(names, list[i].name);
	}
	return 0;
}

int stage_name_jobs(struct context *ctx, const struct words *sets, const char *const *arguments,
		    const char *const **names, struct error *err)
{
	struct words found = WORDS_INIT(ctx->arena);

	*names = arguments;
	if (!sets->count)
		return *arguments ? 0
				  : error_set(err, ERROR_USAGE,
					      "which job? Name one, or hosts with --hosts; "
					      "'ringup ps' lists the jobs");
	if (*arguments)
		return error_set(err, ERROR_USAGE,
				 "name either jobs or hosts: --hosts means all jobs there");
	if (stage_jobs_on(ctx, sets, &found, err) < 0)
		return -1;
	if (!found.count)
		log_info("no job of this cluster runs there");
	*names = words_list(&found);
	return 0;
}

static int drain_jobs(const struct stages *s, struct error *err)
{
	_cleanup_(str_release) struct str waits_for = STR_INIT;
	const char *name = NULL;
	int rc;

	do {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		rc = stage_running_job(s, &arena, &name, err);
		if (rc == 0 && name && strcmp(name, waits_for.text ? waits_for.text : "") != 0) {
			log_info("waits until the job '%s' has ended; 'ringup logs %s' shows it, "
				 "'ringup stop %s' ends it",
				 name, name, name);
			str_clear(&waits_for);
			str_add(&waits_for, name);
		}
		if (rc == 0 && name) {
			poll(NULL, 0, INTERRUPT_POLL_MSEC);
			rc = interrupt_check(err);
		}
	} while (rc == 0 && name);
	return rc;
}

int stage_hold_idle(struct stages *s, const struct job_care *care, int *lock, struct error *err)
{
	const char *name;

	if (care->force && care->drain)
		return error_set(
			err, ERROR_USAGE,
			"--drain waits for jobs and --force ends them: give one of the two");
	if (stage_hold(s, lock, err) < 0)
		return -1;
	if (care->force)
		return 0;
	if (care->drain)
		return drain_jobs(s, err);
	if (stage_running_job(s, s->arena, &name, err) < 0)
		return -1;
	return !name ? 0
		     : error_set(
			       err, ERROR_FAILED,
			       "the job '%s' runs on this cluster; end it first (ringup stop %s), "
			       "wait for it by --drain, or give --force",
			       name, name);
}

int stage_hold_for_job(struct stages *s, int *lock, struct error *err)
{
	if (stage_state(s, err) < 0)
		return -1;
	return file_lock_shared(cluster_state_path(&s->cluster, "lock", s->arena), lock, err);
}

/*
 * The words of a shell's line that the shell would not change, where a launcher knows them: "torchrun
 * train.py" gets its hosts from ringup, and as a line it would be one torchrun per rank. NULL: a shell runs it.
 */
static const char *const *stage_own_words(const struct stages *s, const char *line)
{
	struct words words = WORDS_INIT(s->arena);
	char *rest = arena_strdup(s->arena, line), *word;

	if (strpbrk(line, "\"'`$&|;<>()*?[]{}#~!\\\n"))
		return NULL;
	while ((word = strtok_r(rest, " \t", &rest)))
		words_add(&words, word);
	return launcher_has_words(words_list(&words)) ? words.list : NULL;
}

/* Where a text of several lines uses the words that follow the job's name; in one line they follow the text. */
static bool stage_uses_words(const char *text)
{
	return strstr(text, "$@") || strstr(text, "${@") || strstr(text, "$*") ||
	       strstr(text, "$1") || strstr(text, "${1");
}

/* The words of a shell's command, without the NAME=VALUE before them, as far as blanks tell. */
static const char *const *stage_part_words(char *part, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);
	char *word;

	while ((word = strsep(&part, " \t")))
		if (*word && (words.count || !strchr(word, '=')))
			words_add(&words, word);
	return words_list(&words);
}

/* A text that ringup cannot take apart, and one of whose commands is a launcher's. */
static void stage_warn_of_starter(const struct stages *s, const struct cluster_job *job)
{
	char *text = arena_strdup(s->arena, job->command[0]), *part;

	while ((part = strsep(&text, ";&|()\n"))) {
		const char *const *words = stage_part_words(part, s->arena);

		if (!*words || !launcher_has_words(words))
			continue;
		log_warn(
			"%s: the job '%s': its text starts %s, once for each rank; let the command begin with %s, and ringup starts it once per host, or take --launcher ssh with --ppn 1 to start it so yourself",
			s->cluster.path, job->name, *words, *words);
		return;
	}
}

void stage_job_ranks(const struct cluster_job *job, bool has_roles, int nodes, int *ranks,
		     int *per_host)
{
	bool is_said = *ranks || *per_host;

	/* both say how many a node has; the roles are so many ranks, too */
	if (!*per_host && !(nodes && (*ranks || has_roles)))
		*per_host = job->per_host;
	if (is_said)
		return;
	if (!nodes || !*per_host ||
	    (job->ranks <= nodes * *per_host && job->ranks > (nodes - 1) * *per_host))
		*ranks = job->ranks;
}

int stage_take_env(const struct words *said, struct words *env, struct error *err)
{
	for (size_t i = 0; i < said->count; i++) {
		const char *pair = said->list[i];
		const char *value = strchr(pair, '=') ? "" : getenv(pair);

		if (!*pair || *pair == '=')
			return error_set(err, ERROR_USAGE, "--env %s: NAME=VALUE is needed", pair);
		if (!value)
			return error_set(
				err, ERROR_USAGE,
				"--env %s: it has no value here; NAME=VALUE is needed, or NAME for one that has",
				pair);
		if (strchr(pair, '='))
			words_add(env, pair);
		else
			words_addf(env, "%s=%s", pair, value);
	}
	return 0;
}

int stage_job_command(const struct stages *s, const struct cluster_job *job,
		      const char *const *more, const char *const **command, struct error *err)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct words words = WORDS_INIT(s->arena);
	const char *const *own = job->in_shell ? stage_own_words(s, job->command[0]) : job->command;

	if (own) {
		words_add_all(&words, own);
		words_add_all(&words, more);
		*command = words.list;
		return 0;
	}
	if (*more && strchr(job->command[0], '\n')) {
		if (!stage_uses_words(job->command[0]))
			return error_set(
				err, ERROR_USAGE,
				"the command of the job '%s' has several lines and uses no word that follows the name: write \"$@\" where '%s' is to stand",
				job->name, more[0]);
		words_add_all(&words, WORDS("/bin/sh", "-c", job->command[0], job->name));
		words_add_all(&words, more);
	} else {
		str_addf(&line, "%s%s", job->command[0], *more ? " " : "");
		quote_words(&line, more);
		words_add_all(&words, WORDS("/bin/sh", "-c", arena_strdup(s->arena, line.text)));
	}
	stage_warn_of_starter(s, job);
	*command = words.list;
	return 0;
}

int stage_built_plan(struct stages *s, const struct plan **plan, struct error *err)
{
	struct lock *lock = ARENA_NEW(s->arena, struct lock);
	bool found;

	*plan = NULL;
	if (cluster_has_no_stack(&s->cluster))
		return 0;
	if (lock_read(stage_lock_path(s), s->arena, lock, &found, err) < 0)
		return -1;
	*plan = found ? &lock->plan : NULL;
	return 0;
}
