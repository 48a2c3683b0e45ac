/* SPDX-License-Identifier: MIT */
/* slurm_settings.h - what a person may say of a batch script by `--set`, and which values can stand in one. */
#ifndef DEPLOYER_SCHEDULER_SLURM_SETTINGS_H
#define DEPLOYER_SCHEDULER_SLURM_SETTINGS_H

#include "deployer/export/export.h"

/* The settings of a script, for `--set NAME=VALUE`; the last one has no name. */
extern const struct export_setting slurm_settings[];

/* Whether the setting is an option of sbatch by its own name; the others have a meaning here. */
bool slurm_setting_is_option(const char *name);

/*
 * ERROR_USAGE when a setting, or what the cluster file says in its place, cannot stand in the script, and says what can.
 * The container is pyxis, apptainer or none.
 */
int slurm_check_settings(const struct exporter *exporter, const struct export_wish *wish,
			 const char *container, struct error *err);

#endif
