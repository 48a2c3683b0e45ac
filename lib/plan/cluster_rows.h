/* SPDX-License-Identifier: MIT */
/* cluster_rows.h - the part of cluster.yaml's keys that says who the hosts are and how to reach them. For cluster*.c only. */
#ifndef PLAN_CLUSTER_ROWS_H
#define PLAN_CLUSTER_ROWS_H

#include "plan/cluster.h"

/* One entry of `hosts`, a struct host; and `ssh`, a struct cluster_ssh. */
extern const struct yaml_row cluster_host_rows[];
extern const struct yaml_row cluster_ssh_rows[];

/* Checks of rows: a wish for GPUs (gpu_wish.h), the list of hosts, the groups, and the names of jobs. */
int cluster_check_gpus(const struct yaml_place *at, struct error *err);
int cluster_read_hosts(const struct yaml_place *at, struct error *err);
int cluster_check_groups(const struct yaml_place *at, struct error *err);
int cluster_check_jobs(const struct yaml_place *at, struct error *err);

#endif
