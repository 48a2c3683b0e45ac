/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_job.h"
#include "cli/app/stage_plan.h"
#include "cli/job_files.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "deployer/export/export.h"
#include "deployer/launcher/launcher.h"
#include "plan/lock.h"

#include <string.h>

#define WORKER_NAME "bench"

struct options {
	const char *output, *kind, *image, *launcher, *name;
	struct words settings, env;
	int nodes, ranks, per_host, gpus;
	bool no_facts;
};

static const struct opt options[] = {
	{'o', "output", "DIR", "write the files there (default: the main one to standard output)",
	 OPT_TEXT, offsetof(struct options, output)},
	{0, "kind", "KIND", "what the job becomes there (default: by its launcher); see below",
	 OPT_TEXT, offsetof(struct options, kind)},
	{'s', "set", "NAME=VALUE", "a setting of that engine, see below; may be given again",
	 OPT_LIST, offsetof(struct options, settings)},
	{0, "image", "REF", "the image, by digest (default: that of ringup.lock)", OPT_TEXT,
	 offsetof(struct options, image)},
	{0, "nodes", "N", "nodes there (default: ranks / ppn, or as the hosts have room)", OPT_INT,
	 offsetof(struct options, nodes)},
	{'n', "ranks", "N", "ranks in all", OPT_INT, offsetof(struct options, ranks)},
	{0, "ppn", "N", "ranks per node (default: the host's slots, or one per GPU)", OPT_INT,
	 offsetof(struct options, per_host)},
	{0, "gpus", "N", "GPUs of each rank (default: a node's ranks see all of the node)", OPT_INT,
	 offsetof(struct options, gpus)},
	{0, "launcher", "NAME", "as in 'run'", OPT_TEXT, offsetof(struct options, launcher)},
	{'e', "env", "NAME[=VALUE]",
	 "for every rank (NAME: its value here); may be given more than once", OPT_LIST,
	 offsetof(struct options, env)},
	{0, "name", "JOB", "name of the job there", OPT_TEXT, offsetof(struct options, name)},
	FACTS_OPTION(struct options, no_facts),
	OPT_END,
};

/* On one machine so many ranks, or roles, are all of its node's, whatever ppn is. */
static int export_said_nodes(const struct options *o, int nodes, const struct cluster_job *job)
{
	return o->nodes ? o->nodes : o->ranks || *job->roles ? nodes : 0;
}

/* What the job of the cluster file says where no option does. */
static int export_take_job(struct stages *s, const struct options *o, const char *const *arguments,
			   struct export_wish *wish, const char **launcher, const char **roles,
			   struct error *err)
{
	const struct cluster_job *job = cluster_job(&s->cluster, arguments[0]);

	wish->job.command = arguments;
	if (!job)
		return 0;
	if (stage_check_job(s, job, err) < 0)
		return -1;
	wish->job.name = job->name;
	wish->job.env = job->env;
	wish->job.workdir = job->workdir;
	stage_job_ranks(job, *job->roles, export_said_nodes(o, wish->nodes, job), &wish->job.ranks,
			&wish->job.per_host);
	wish->job.gpus = job->gpus;
	wish->job.timeout_s = job->timeout_s;
	wish->job.hang_timeout_s = job->hang_timeout_s;
	wish->job.grace_s = job->grace_s;
	wish->retries = job->retries;
	*launcher = job->launcher;
	*roles = job->roles;
	if (*job->sync)
		log_warn(
			"the job's folder %s is not in the image, and nobody brings it there: put it into image.files",
			job->sync);
	return stage_job_command(s, job, arguments + 1, &wish->job.command, err);
}

static int export_unknown_job(const struct stages *s, const char *name, struct error *err)
{
	struct words names = WORDS_INIT(s->arena);

	for (size_t i = 0; i < s->cluster.job_count; i++)
		words_add(&names, s->cluster.jobs[i].name);
	return error_set(err, ERROR_USAGE,
			 "%s has no job '%s'; it has: %s. A program stands after '--': -- %s",
			 s->cluster.path, name, names.count ? words_join(&names, ", ") : "none",
			 name);
}

static int export_find_launcher(struct export_wish *wish, const char *name, const char *roles_text,
				struct error *err)
{
	const struct launcher_wish launcher = {.plan = wish->is_worker ? NULL : wish->plan,
					       .command = wish->job.command,
					       .has_roles = *roles_text};
	struct job_roles *roles = ARENA_NEW(wish->arena, struct job_roles);

	if (launcher_find_for_job(name, &launcher, &wish->job.launcher, err) < 0)
		return -1;
	if (wish->is_worker && wish->job.launcher->place == PLACE_ROLES)
		return error_set(
			err, ERROR_USAGE,
			"ringup's worker does not know roles; take another launcher than '%s' for it, or name a job",
			wish->job.launcher->name);
	if (!*roles_text)
		return 0;
	if (job_roles_parse(roles_text, wish->job.launcher->roles, wish->arena, roles, err) < 0)
		return -1;
	wish->job.roles = roles;
	wish->job.ranks = roles->ranks;
	return 0;
}

/* The job of the arguments, or without any ringup's own worker. */
static int export_job(struct stages *s, const struct options *o, const char *const *arguments,
		      bool is_command, struct export_wish *wish, struct error *err)
{
	static const char *const worker[] = {"allreduce", NULL};
	const char *launcher = "auto", *roles = "";
	struct words env = WORDS_INIT(s->arena);

	wish->is_worker = !*arguments;
	wish->job = (struct job_options){.name = WORKER_NAME,
					 .command = worker,
					 .workdir = "",
					 .ranks = o->ranks,
					 .per_host = o->per_host};
	if (*arguments) {
		wish->job.name = "job";
		if (!is_command && !arguments[1] && !strchr(*arguments, '/') &&
		    !cluster_job(&s->cluster, *arguments))
			return export_unknown_job(s, *arguments, err);
		if (export_take_job(s, o, arguments, wish, &launcher, &roles, err) < 0)
			return -1;
	}
	words_add_all(&env, wish->job.env ? wish->job.env : WORDS(NULL));
	if (stage_take_env(&o->env, &env, err) < 0)
		return -1;
	wish->job.env = words_list(&env);
	wish->job.name = o->name ? o->name : wish->job.name;
	wish->job.gpus = o->gpus ? o->gpus : wish->job.gpus;
	if (job_name_check(wish->job.name, err) < 0)
		return -1;
	return export_find_launcher(wish, o->launcher ? o->launcher : launcher, roles, err);
}

/* The lock says the stack and the image; --image names another one. */
static int export_image(struct stages *s, const struct options *o, struct export_wish *wish,
			struct error *err)
{
	struct lock *lock = ARENA_NEW(s->arena, struct lock);
	struct reference reference;
	bool found;

	wish->image = "";
	if (lock_read(stage_lock_path(s), s->arena, lock, &found, err) < 0)
		return -1;
	/* another stack than the file's would be another image than the person reads of */
	if (found && !o->image && s->cluster.stack && !cluster_has_no_stack(&s->cluster) &&
	    lock_match(lock, stage_lock_path(s), s->cluster.stack, s->cluster.allow,
		       s->cluster.accelerator, err) < 0)
		return -1;
	if (found) {
		wish->plan = cluster_has_no_stack(&s->cluster) ? NULL : &lock->plan;
		wish->image = lock->image;
	}
	if (!o->image)
		return 0;
	if (reference_parse(o->image, s->arena, &reference, err) < 0)
		return error_wrap(err, "--image");
	if (!reference.digest)
		return error_set(
			err, ERROR_USAGE,
			"--image %s has no digest, and a tag may mean another image tomorrow; 'ringup inspect %s' shows it: NAME@sha256:...",
			o->image, o->image);
	wish->image = reference_text(&reference, s->arena);
	return 0;
}

static int export_check_image(const struct exporter *exporter, const struct export_wish *wish,
			      struct error *err)
{
	if (*wish->image || !exporter->needs_image)
		return 0;
	if (strcmp(wish->cluster->container.engine, "none") == 0)
		return error_set(
			err, ERROR_USAGE,
			"container.engine is none, so there is no image, and %s needs one; name it by --image HOST/NAME@sha256:...",
			exporter->name);
	return error_set(
		err, ERROR_USAGE,
		"ringup.lock names no image that is in a registry; 'ringup up' or 'ringup push' puts it there, or say --image HOST/NAME@sha256:...");
}

/* The registry is the nodes' to reach, and a loopback address is another machine on each of them. */
static void export_warn_registry(const struct export_wish *wish)
{
	const char *end = strchr(wish->image, '/');

	if (end && reference_is_loopback(
			   arena_strndup(wish->arena, wish->image, (size_t)(end - wish->image))))
		log_warn(
			"%s is on this machine's loopback, which no other node reaches; 'ringup copy' brings it to another registry, and --image names it there",
			wish->image);
}

static void export_read_facts(struct stages *s, struct export_wish *wish)
{
	struct facts *facts = ARENA_ARRAY(s->arena, s->fleet.count + 1, struct facts);

	for (size_t i = 0; i < s->fleet.count; i++)
		facts[i] = s->fleet.members[i].facts;
	wish->facts = facts;
	wish->fact_count = s->fleet.count;
}

static int export_write(const char *folder, const struct export_files *files, struct error *err)
{
	if (folder_make(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files->count; i++) {
		const struct export_file *file = &files->list[i];
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		if (file_write(arena_printf(&arena, "%s/%s", folder, file->name), file->text,
			       strlen(file->text), 0644, err) < 0)
			return -1;
	}
	return 0;
}

/* Each engine with its kinds and settings. */
static void export_fill(const char *name, struct str *out)
{
	(void)name;
	for (const struct exporter *const *e = exporters; *e; e++) {
		const char *const *kind = (*e)->kinds;

		str_addf(out, "  %-12s %s\n", (*e)->name, (*e)->help);
		for (; kind && *kind; kind++)
			str_addf(out, "%s%s", kind == (*e)->kinds ? "    --kind            " : ", ",
				 *kind);
		if ((*e)->kinds)
			str_add(out, "\n");
		for (const struct export_setting *set = (*e)->settings; set->name; set++)
			str_addf(out, "    %-17s %s%s%s%s\n", set->name, set->help,
				 *set->otherwise ? " (" : "", set->otherwise,
				 *set->otherwise ? ")" : "");
	}
}

/* One machine takes the ranks of one node, unless somebody says how many it takes. */
static int export_take_machine(const struct exporter *exporter, const struct options *o,
			       bool is_job, struct export_wish *wish, struct error *err)
{
	int whole;

	if (!exporter->is_one_node)
		return 0;
	if (o->nodes > 1)
		return error_set(
			err, ERROR_USAGE,
			"--nodes %d: %s has one machine; -n N says how many ranks its one container has",
			o->nodes, exporter->name);
	whole = o->ranks || o->per_host ? 0 : export_take_one_node(wish);
	if (whole && is_job && !o->nodes)
		log_warn(
			"%s has one machine: it gets the ranks of one node (%d) of the job's %d; -n %d puts all of them into its one container, and --nodes 1 says that one node is meant",
			exporter->name, wish->job.per_host, whole, whole);
	return 0;
}

static int export_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct options *o = values;
	const struct exporter *exporter;
	struct export_files files = {0};
	struct export_wish wish = {.arena = ctx->arena};
	struct stages s;

	if (exporter_find(arguments[0], &exporter, err) < 0 || stage_cluster(&s, ctx, err) < 0)
		return -1;
	s.no_facts = o->no_facts;
	wish.cluster = &s.cluster;
	wish.kind = o->kind;
	wish.origin = job_files_origin(ctx, WORDS("export", arguments[0]), options, o, &o->env,
				       arguments + 1);
	wish.settings = words_list(&o->settings);
	wish.nodes = exporter->is_one_node ? 1 : o->nodes;
	if (stage_facts_on_file(&s, err) < 0 || export_image(&s, o, &wish, err) < 0 ||
	    export_job(&s, o, arguments + 1, ctx->is_after_dashes, &wish, err) < 0)
		return -1;
	export_read_facts(&s, &wish);
	wish.job.lock = wish.plan;
	if (export_check(exporter, &wish, err) < 0 ||
	    export_check_image(exporter, &wish, err) < 0 ||
	    export_take_machine(exporter, o,
				arguments[1] && cluster_job(wish.cluster, arguments[1]), &wish,
				err) < 0 ||
	    export_place(&wish, err) < 0 || exporter->write(&wish, &files, err) < 0)
		return -1;
	export_warn_registry(&wish);
	export_warn_of_secrets(exporter, &wish);
	if (o->output && export_write(o->output, &files, err) < 0)
		return -1;
	job_files_show(ctx, o->output, exporter, &wish, &files);
	return 0;
}

const struct command command_export = {
	.name = "export",
	.arguments = "ENGINE [JOB [ARG...] | [--] CMD...]",
	.summary = "writes a job's files for a scheduler or an orchestrator",
	.help = "The same cluster file, lock and image for an engine that takes over where a list of hosts ends. JOB\n"
		"is an entry of 'jobs' in cluster.yaml; without one the job is ringup's own worker, which measures.\n"
		"The image is named by its digest, and no file holds a password. The same input gives the same bytes.\n"
		"With -o DIR all files are written there; without it the main one goes to standard output.\n"
		"Engines, and their settings for --set:\n"
		"@{exporters}"
		"  ringup export kubernetes -o deploy/train train\n"
		"  ringup export slurm --set partition=gpu train | sbatch\n"
		"  ringup export compose -o here/ && docker compose -f here/compose.yaml up\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = -1,
	.fill = export_fill,
	.run = export_run,
};
