/* SPDX-License-Identifier: MIT */
/* limits.h - every ceiling of what comes from an upstream index, in one place. */
#ifndef UPSTREAM_LIMITS_H
#define UPSTREAM_LIMITS_H

#include "core/base.h"

/* Requests */
#define WEB_WIDTH 6 /* requests at the same time */
#define WEB_TRIES_MAX 3
#define WEB_REDIRECTS_MAX 5
#define WEB_FIRST_PAUSE_USEC 300000ULL

/* Python packages. The index of tensorflow has 1,800 files in 0.8 MiB (2026-11). */
#define PYPI_PAGE_BYTES_MAX (16 * MIB)
#define PYPI_FILES_MAX 50000
#define PYTORCH_BUILDS_MAX 64		    /* 20 builds for CUDA since 2018 */
#define PYPI_TAIL_BYTES (64 * KIB)	    /* of a wheel: where its directory's end is */
#define PYPI_DIRECTORY_BYTES_MAX (16 * MIB) /* torch 2.15: 1.3 MiB */
#define PYPI_ENTRIES_MAX 200000
#define METADATA_BYTES_MAX (1 * MIB)
#define METADATA_NEEDS_MAX 4096
#define MARKER_DEPTH_MAX 16

/* Package lists of NVIDIA's repositories. The largest is below 4 MiB packed (2026). */
#define PACKAGES_BYTES_MAX (32 * MIB)	    /* as it comes */
#define PACKAGES_TEXT_BYTES_MAX (128 * MIB) /* unpacked */
#define PACKAGES_MAX 100000
#define REPOMD_BYTES_MAX (1 * MIB)
#define XML_DEPTH_MAX 32

/* Open MPI's list of releases */
#define RELEASES_BYTES_MAX (4 * MIB)
#define RELEASES_MAX 2000
#define REDIST_BUILDS_MAX 64 /* archives of one cuDNN */

/* Words of an upstream that become cells or are shown */
#define NAME_BYTES_MAX 200
#define VERSION_BYTES_MAX 64
#define URL_BYTES_MAX 2000

#endif
