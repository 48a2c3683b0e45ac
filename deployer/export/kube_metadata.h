/* SPDX-License-Identifier: MIT */
/*
 * kube_metadata.h - which labels and annotations a person may give to a job's objects.
 *
 * Source: kubernetes.io/docs, "Labels and Selectors" and "Annotations".
 */
#ifndef DEPLOYER_EXPORT_KUBE_METADATA_H
#define DEPLOYER_EXPORT_KUBE_METADATA_H

#include "deployer/export/kube.h"

/* A name of at most 63 letters, digits and ._-, that begins and ends with a letter or a digit, and a key: [PREFIX/]NAME. */
bool kube_is_name(const char *text, size_t length);
bool kube_is_key(const char *text, size_t length);

/*
 * ERROR_USAGE unless all values of the setting, "label" or "annotation", are KEY=VALUE, where KEY is [PREFIX/]NAME, is given
 * once, and is none that the export writes itself. A label's value is a name or empty; an annotation's is any text without
 * control characters.
 */
int kube_check_metadata(const struct kube *kube, const char *setting, struct error *err);

#endif
