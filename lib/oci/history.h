/* SPDX-License-Identifier: MIT */
/*
 * history.h - taking build arguments out of an image's config.
 *
 * Docker's classic builder writes the build arguments of a RUN step before its command: history[]
 * .created_by is "|1 APT_MIRROR=http://10.0.0.254/ /bin/sh -c apt-get ..." (BuildKit: "RUN |1
 * ..."), and container_config.Cmd begins with "|1", "APT_MIRROR=...". A mirror that exists at build
 * time only would stay in the image for ever. Source: moby, builder/dockerfile/dispatchers.go,
 * prependEnvOnCmd.
 */
#ifndef OCI_HISTORY_H
#define OCI_HISTORY_H

#include "core/json.h"
#include "core/str.h"

/*
 * Drops the whole argument prefix from every entry whose arguments hold one of `names`
 * (NULL-terminated). True when anything changed. Nothing else is touched.
 */
bool history_redact(cJSON *config, const char *const *names);

/* The same for one created_by text; out gets the text without the prefix. */
bool history_redact_text(const char *created_by, const char *const *names, struct str *out);

#endif
