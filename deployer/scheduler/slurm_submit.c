/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_submit.h"

#include "deployer/scheduler/slurm.h"

#include <errno.h>
#include <string.h>

/* "train (the default), closed (down)" */
static const char *slurm_partition_list(const struct scheduler_overview *overview,
					struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	for (size_t i = 0; i < overview->queue_count; i++) {
		const struct scheduler_queue *p = &overview->queues[i];

		words_addf(&words, "%s%s%s", p->name, p->is_default ? " (the default)" : "",
			   strcmp(p->state, "UP") != 0 ? " (not up)" : "");
	}
	return words_join(&words, ", ");
}

/* "it has 3 nodes with ...; "; "" where nodes are not shown. */
static const char *slurm_size(const struct scheduler_overview *overview, struct arena *arena)
{
	int cpus = 0, gpus = 0, with_gpus = 0;

	for (size_t i = 0; i < overview->node_count; i++) {
		const struct scheduler_node *node = &overview->nodes[i];

		cpus = node->cpus > cpus ? node->cpus : cpus;
		gpus = node->gpus > gpus ? node->gpus : gpus;
		with_gpus += node->gpus > 0;
	}
	if (!overview->node_count)
		return "";
	return arena_printf(
		arena,
		"it has %zu nodes with up to %d CPUs each; %d of them have GPUs, up to %d each; ",
		overview->node_count, cpus, with_gpus, gpus);
}

/* NULL: the partitions are not known. */
static const char *slurm_time_list(const struct scheduler_overview *overview, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	if (!overview)
		return "'scontrol show partition' has the most time that each gives (MaxTime)";
	for (size_t i = 0; i < overview->queue_count; i++)
		words_addf(&words, "%s %s", overview->queues[i].name, overview->queues[i].limit);
	return arena_printf(arena, "the most time that its partitions give is %s",
			    words_join(&words, ", "));
}

/* In MiB, as --mem=515000M and slurm.conf count it. */
static const char *slurm_memory(const struct scheduler_overview *overview, struct arena *arena)
{
	int most = 0;

	for (size_t i = 0; i < overview->node_count; i++)
		if (overview->nodes[i].memory_mib > most)
			most = overview->nodes[i].memory_mib;
	return most ? arena_printf(arena, "its nodes have up to %dM each", most)
		    : "'scontrol show node' has the memory of each (RealMemory)";
}

/* A controller that was too slow to answer may have heard it: nobody but Slurm knows whether there is a job. */
static int slurm_may_have_it(const char *name, struct error *err)
{
	return error_advise(
		err,
		"Slurm may have taken the job all the same, without ringup's knowledge: 'squeue --me --name=%s' shows it once 'scontrol ping' says UP, and 'scancel NUMBER' ends it; only where there is none submit the job again",
		name);
}

/* What sbatch says when slurmctld has not answered it (slurm_errno.c); the job is as good as before. */
static bool slurm_is_unreachable(const char *complaint, const char *name, struct error *err)
{
	bool is_away = strstr(complaint, "Unable to contact slurm controller");

	if (!is_away && !strstr(complaint, "Socket timed out") &&
	    !strstr(complaint, "Zero Bytes were transmitted"))
		return false;
	error_set(err, ERROR_FAILED, "Slurm's controller does not answer: %s", complaint);
	if (is_away)
		error_advise(
			err,
			"'scontrol ping' shows whether it is up; if not, ask who runs the cluster, and submit the job again");
	else
		slurm_may_have_it(name, err);
	return true;
}

/* What needs no look at the cluster: a part of the complaint, and what to do. */
static const struct {
	const char *part, *advice;
} slurm_refusals[] = {
	{"nvalid account",
	 "choose one with --set account=NAME; 'sacctmgr show assoc user=$USER' lists yours, and their partitions"},
	{"nvalid qos", "choose one with --set qos=NAME; 'sacctmgr show qos' lists them"},
	{"SubmitJob",
	 "you have as many jobs there as your account or quality of service allows, waiting ones too ('squeue --me'); wait until some have ended, or see 'sacctmgr show qos' and choose another with --set qos=NAME"},
	{"violates accounting/QOS policy",
	 "your account or quality of service allows no more jobs, or none of this size or time; wait until some have ended ('squeue --me'), ask for less, or see 'sacctmgr show qos' and choose another with --set qos=NAME"},
};

static int slurm_refused(const char *text, const char *name, struct arena *arena, struct error *err)
{
	const char *complaint = slurm_complaint(text, arena);
	struct scheduler_overview overview;
	struct error ignored = {0};
	bool knows;

	if (slurm_is_unreachable(complaint, name, err))
		return -1;
	error_set(err, ERROR_USAGE, "Slurm refuses the job: %s", complaint);
	for (size_t i = 0; i < ARRAY_LEN(slurm_refusals); i++)
		if (strstr(complaint, slurm_refusals[i].part))
			return error_advise(err, "%s", slurm_refusals[i].advice);
	knows = slurm_look(arena, &overview, &ignored) == 0;
	if (strstr(complaint, "time limit is invalid"))
		return error_advise(
			err,
			"%s; ask for less with --set time=MINUTES, or choose another with --set partition=NAME",
			slurm_time_list(knows ? &overview : NULL, arena));
	if (strstr(complaint, "Time limit specification required"))
		return error_advise(err, "%s; say how much the job needs with --set time=MINUTES",
				    slurm_time_list(knows ? &overview : NULL, arena));
	if (!knows)
		return -1;
	if (strstr(complaint, "artition"))
		error_advise(err, "its partitions are %s; choose one with --set partition=NAME",
			     slurm_partition_list(&overview, arena));
	else if (strstr(complaint, "emory specification"))
		error_advise(
			err,
			"%s; ask for less with --set mem=SIZE (container.memory is what is asked for without it)",
			slurm_memory(&overview, arena));
	else if (strstr(complaint, "onfiguration is not available"))
		error_advise(
			err,
			"%sask for less with --nodes, --ppn, --gpus or --set mem=SIZE, and see 'ringup status --on slurm'",
			slurm_size(&overview, arena));
	else
		error_advise(err, "correct the --set options or ask who runs the cluster");
	return -1;
}

int slurm_submit(const char *script, const char *name, const char *folder, struct arena *arena,
		 const char **id, struct error *err)
{
	const char *text;
	size_t digits = 0;
	int status;

	if (slurm_run(WORDS("sbatch", "--parsable", script), folder, arena, &text, &status, err) <
	    0)
		return err->system == ETIMEDOUT ? slurm_may_have_it(name, err) : -1;
	if (status != 0)
		return slurm_refused(text, name, arena, err);
	/* warnings may stand before it, and ";CLUSTER" behind */
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		digits = strspn(at, "0123456789");
		if (digits && (at[digits] == '\n' || at[digits] == ';' || !at[digits])) {
			*id = arena_strndup(arena, at, digits);
			return 0;
		}
	}
	return error_set(err, ERROR_FAILED, "sbatch said no job number: %s",
			 slurm_complaint(text, arena));
}
