/* SPDX-License-Identifier: MIT */
/* kube_operator.h - what the jobs of Kubeflow's operators share, and the MPIJob (export_kubernetes.c names the sources). */
#ifndef DEPLOYER_EXPORT_KUBE_OPERATOR_H
#define DEPLOYER_EXPORT_KUBE_OPERATOR_H

#include "deployer/export/kube.h"

/* Adds runPolicy: the limits, for so many pods. Of them `least` are what Volcano waits for; 0: all. */
void kube_add_policy(const struct kube *kube, int pods, int least);

/* Adds the begin of a role's pods, before kube_add_template. */
void kube_begin_replicas(const struct kube *kube, const char *role, int count);

/* Whether lines of several ranks come in one log, and somebody follows them. */
bool kube_has_tags(const struct export_wish *wish);

/* Adds the MPIJob; a writer of export_kubernetes.c. ERROR_USAGE as export_node. */
int kube_write_mpi(const struct kube *kube, struct error *err);

#endif
