/* SPDX-License-Identifier: MIT */
/*
 * apt.h - the list of packages of an apt repository.
 *
 * Source: Debian's wiki, "RepositoryFormat", and deb-control(5): stanzas of `Field: value`, empty lines between.
 */
#ifndef UPSTREAM_APT_H
#define UPSTREAM_APT_H

#include "upstream/repository.h"

/* Adds the packages of amd64 and of all processors. */
int apt_read(const char *text, size_t length, const char *what, struct package_list *list,
	     struct error *err);

#endif
