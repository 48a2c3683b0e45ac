/* SPDX-License-Identifier: MIT */
#include "deployer/export/export.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/slurm.h"
#include "deployer/scheduler/slurm_script.h"
#include "deployer/scheduler/slurm_settings.h"
#include "deployer/scheduler/slurm_submit.h"

#include "core/file.h"
#include "core/log.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What the job says itself; what the person sets counts more. */
static void slurm_add_job(const struct export_wish *wish, struct words *settings)
{
	if (wish->job.timeout_s)
		words_addf(settings, "time=%d", (wish->job.timeout_s + 59) / 60);
	if (wish->retries)
		words_add(settings, "requeue=yes");
	words_add_all(settings, wish->settings); /* of two the later one counts */
}

/* What the person leaves open, the cluster's own commands say. */
static void slurm_settle(struct export_wish *wish, const struct slurm_site *site)
{
	extern const struct exporter exporter_slurm;
	struct words settings = WORDS_INIT(wish->arena);
	const char *container = *wish->image ? site->container : "none";

	if (strcmp(export_value(&exporter_slurm, wish, "container"), "auto") == 0) {
		words_addf(&settings, "container=%s", container);
		if (*wish->image && strcmp(container, "none") == 0)
			log_warn(
				"this Slurm has neither pyxis nor Apptainer for %s: the job runs with what is installed on the nodes",
				wish->image);
	}
	if (*site->mpi)
		words_addf(&settings, "mpi=%s", site->mpi);
	words_addf(&settings, "gpu-option=%s", site->gpus);
	slurm_add_job(wish, &settings);
	wish->settings = words_list(&settings);
}

/* Where the cluster's own commands answer, what they say that they can; elsewhere what most have. */
static int slurm_write(const struct export_wish *given, struct export_files *files,
		       struct error *err)
{
	extern const struct exporter exporter_slurm;
	_cleanup_(str_release) struct str out = STR_INIT;
	struct export_wish wish = *given;
	struct words settings = WORDS_INIT(wish.arena);
	struct slurm_site site;
	struct error ignored = {0};

	if (slurm_answers(wish.arena) && slurm_site(wish.arena, &site, &ignored) == 0) {
		slurm_settle(&wish, &site);
	} else {
		slurm_add_job(&wish, &settings);
		wish.settings = words_list(&settings);
	}
	if (slurm_script(&exporter_slurm, &wish, NULL, &out, err) < 0)
		return -1;
	export_add(&wish, files, arena_printf(wish.arena, "%s.sbatch", wish.job.name), out.text);
	return 0;
}

/* Ranks of MPI that srun starts without PMIx or PMI-2 each take themselves for the only one. */
static int slurm_check_mpi(const struct export_wish *wish, const struct slurm_site *site,
			   struct error *err)
{
	if (wish->job.launcher->place != PLACE_MPI || *site->mpi || export_is_set(wish, "mpi"))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"srun here has no PMIx and no PMI-2, by which ranks of MPI find each other: 'srun --mpi=list' has %s; say --set mpi=NAME if your MPI knows one of them, or take --launcher env or torchrun",
		*site->mpi_list ? site->mpi_list : "nothing");
}

static int slurm_check_run(const struct export_wish *wish, struct error *err)
{
	if (export_is_set(wish, "array"))
		return error_set(
			err, ERROR_USAGE,
			"--set array is many jobs, and 'run' follows one; write the script with 'ringup export slurm --set array=...' and give it to sbatch");
	if (export_is_set(wish, "output"))
		return error_set(
			err, ERROR_USAGE,
			"--set output is for 'ringup export'; what a job prints that 'run' follows is in .ringup/jobs/JOB");
	return 0;
}

static int slurm_submit_job(struct export_wish *wish, const char *folder, const char **id,
			    struct error *err)
{
	extern const struct exporter exporter_slurm;
	_cleanup_(str_release) struct str out = STR_INIT;
	char whole[PATH_MAX];
	const struct slurm_follow follow = {.folder = whole};
	struct slurm_site site;
	const char *path;

	if (!realpath(folder, whole))
		return error_errno(err, "cannot find %s", folder);
	path = arena_printf(wish->arena, "%s/job.sbatch", whole);
	if (slurm_site(wish->arena, &site, err) < 0 || slurm_check_mpi(wish, &site, err) < 0)
		return -1;
	slurm_settle(wish, &site);
	if (slurm_script(&exporter_slurm, wish, &follow, &out, err) < 0 ||
	    file_write(path, out.text, out.length, 0600, err) < 0)
		return -1;
	return slurm_submit(path, wish->job.name, wish->cluster->folder, wish->arena, id, err);
}

static int slurm_look_at(const struct export_wish *wish, struct scheduler_overview *overview,
			 struct error *err)
{
	if (export_check_look(wish, WORDS(NULL), err) < 0 ||
	    slurm_look(wish->arena, overview, err) < 0)
		return -1;
	if (!overview->node_count)
		log_warn(
			"Slurm shows its nodes to operators only (PrivateData=nodes of slurm.conf)");
	return 0;
}

const struct exporter exporter_slurm = {
	.name = "slurm",
	.help = "a shared fleet: a batch script for sbatch, whose ranks srun starts",
	.settings = slurm_settings,
	.write = slurm_write,
	.check_run = slurm_check_run,
	.submit = slurm_submit_job,
	.look = slurm_look_at,
	.scheduler = &scheduler_slurm,
};
