/* SPDX-License-Identifier: MIT */
/*
 * slurm_script.h - a job as a batch script for sbatch(1), which a person would have written so.
 *
 * srun starts the ranks, also those of MPI (PMIx), so no rank logs in anywhere. The image comes in one of three ways:
 *
 *   pyxis       srun's own --container-image, by the plug-in pyxis and enroot (github.com/NVIDIA/pyxis)
 *   apptainer   one image file, which the first node makes beside the script (apptainer.org, "apptainer pull")
 *   none        what is installed on the nodes
 */
#ifndef DEPLOYER_SCHEDULER_SLURM_SCRIPT_H
#define DEPLOYER_SCHEDULER_SLURM_SCRIPT_H

#include "deployer/export/export.h"

/* What only a job has that ringup follows. */
struct slurm_follow {
	/* on a file system that the nodes share: out.log and err.log get the ranks' lines behind their numbers, batch.log
	 * what the script says, placed.log each rank's node, and `ended` the status */
	const char *folder;
};

/*
 * Adds the script. The exporter is for the settings of the wish; with `follow` NULL the output goes where Slurm puts
 * it. ERROR_USAGE when a setting is wrong, or the launcher cannot be started so.
 */
int slurm_script(const struct exporter *exporter, const struct export_wish *wish,
		 const struct slurm_follow *follow, struct str *out, struct error *err);

/* Whether each task of the script is a node, whose ranks the launcher starts. */
bool slurm_script_starts_nodes(const struct export_wish *wish);

#endif
