/* SPDX-License-Identifier: MIT */
/*
 * slurm_text.h - what Slurm's commands print, taken apart. Nodes and jobs choose much of it, so it may be anything:
 * what cannot be read is "" or false.
 */
#ifndef DEPLOYER_SCHEDULER_SLURM_TEXT_H
#define DEPLOYER_SCHEDULER_SLURM_TEXT_H

#include "core/arena.h"

/*
 * The value of "KEY=" in a record of `scontrol -o show`: the text up to the next space. The first one counts, since a
 * job's own words come behind what Slurm says of it. "" where there is none, and for "(null)".
 */
const char *slurm_field(const char *record, const char *key, struct arena *arena);

/*
 * The same for a value of several words, as Reason: up to the next " Key=", which begins with a capital letter, or the end of the line.
 */
const char *slurm_sentence(const char *record, const char *key, struct arena *arena);

/*
 * A line of `srun --label`: " 3: text". Sets the task and returns the text, or NULL when it is no such line.
 */
const char *slurm_labelled(const char *line, int *task);

/*
 * srun's word on tasks that failed: "srun: error: node02: task 3: Exited with exit code 7", also with "tasks 1-3" and
 * with the name of a signal. The first task and its status (128 + N for signal N); false for other lines. `host` lives
 * in the arena.
 */
bool slurm_task_failed(const char *line, struct arena *arena, const char **host, int *task,
		       int *status);

/*
 * The GPUs in a list of generic resources: "gpu:h100:4(S:0-1),nic:2" has 4, and so have "gres/gpu=4" and
 * "gres/gpu=4,gres/gpu:h100=4", where the second one says which the four are.
 */
int slurm_gpus(const char *list);

#endif
