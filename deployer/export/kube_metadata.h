/* SPDX-License-Identifier: MIT */
/*
 * kube_metadata.h - which labels and annotations a person may give to a job's objects.
 *
 * Source: kubernetes.io/docs, "Labels and Selectors" and "Annotations".
 */
#ifndef DEPLOYER_EXPORT_KUBE_METADATA_H
#define DEPLOYER_EXPORT_KUBE_METADATA_H

#include "deployer/export/kube.h"

/*
 * ERROR_USAGE unless all values of the setting, "label" or "annotation", are KEY=VALUE, where KEY is [PREFIX/]NAME, is given
 * once, and is none that the export writes itself. A label's value is a name or empty; an annotation's is any text without
 * control characters.
 */
int kube_check_metadata(const struct kube *kube, const char *setting, struct error *err);

#endif
