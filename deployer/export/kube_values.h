/* SPDX-License-Identifier: MIT */
/*
 * kube_values.h - whether the values of settings, and what the cluster file says in their place, are such as an API server
 * takes: what it would refuse only when the manifest is applied is said at once.
 *
 * Sources: kubernetes.io/docs, "Object Names and IDs", "Resource Management for Pods and Containers" (quantities, extended
 * resources) and "Volumes".
 */
#ifndef DEPLOYER_EXPORT_KUBE_VALUES_H
#define DEPLOYER_EXPORT_KUBE_VALUES_H

#include "deployer/export/kube.h"

/* ERROR_USAGE names the setting or, where the pods are to have them, the volume, and says what is needed. */
int kube_check_values(const struct kube *kube, bool has_volumes, struct error *err);

/* CPUs of a quantity that has been checked, "1500m" or "1.5"; 0 for "". */
double kube_cpus(const char *quantity);

#endif
