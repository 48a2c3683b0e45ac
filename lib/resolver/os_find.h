/* SPDX-License-Identifier: MIT */
/* os_find.h - systems by the names that people have for them. */
#ifndef RESOLVER_OS_FIND_H
#define RESOLVER_OS_FIND_H

#include "resolver/request.h"

/* Whether the catalog has some release of the OS, for whatever processor. */
bool os_is_distribution(const struct model *model, const char *os);

/* The catalog's OSes of the same family and release ("ubi8' or 'rockylinux8"), or NULL. */
const char *os_nearest(const struct model *model, const char *os);

/*
 * Writes names as the catalog does: "==Ubuntu-20.04", "==ubuntu2004" and "==focal" become "==ubuntu20.04", and
 * "==rhel9" becomes "==ubi9" by the column `alias` of os.csv. The result lives in the model's arena.
 */
const char *os_tidy(const struct model *model, const char *words);

/*
 * The catalog's name of a host's own OS (facts: ID and VERSION_ID of os-release): "rockylinux9" of "rocky9.4". NULL:
 * no row is for it.
 */
const char *os_of_host(const struct catalog *catalog, const char *os);

/*
 * The OS of an image, by the name of its repository and its tag: "ubuntu22.04" of "ubuntu:jammy" and of
 * "nvidia/cuda:12.4.1-base-ubuntu22.04". The repositories are those of os.csv, distributions' own on Docker Hub, and
 * NVIDIA's. NULL: the name does not say.
 */
const char *os_of_image(const struct catalog *catalog, const char *name, struct arena *arena);

#endif
