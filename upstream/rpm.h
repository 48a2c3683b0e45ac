/* SPDX-License-Identifier: MIT */
/*
 * rpm.h - the list of packages of an rpm repository: repodata/repomd.xml names primary.xml.gz.
 *
 * Source: createrepo_c, and the schema of rpm-metadata that openSUSE publishes (namespaces
 * http://linux.duke.edu/metadata/repo and .../common).
 */
#ifndef UPSTREAM_RPM_H
#define UPSTREAM_RPM_H

#include "upstream/repository.h"

/* Where the primary list is, below the repository: "repodata/HEX-primary.xml.gz". In the arena. */
int rpm_read_repomd(const char *text, size_t length, const char *what, struct arena *arena,
		    const char **href, struct error *err);

/* Adds the packages of x86_64 and of all processors; versions are "VERSION-RELEASE". */
int rpm_read_primary(const char *text, size_t length, const char *what, struct package_list *list,
		     struct error *err);

#endif
