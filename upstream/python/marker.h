/* SPDX-License-Identifier: MIT */
/*
 * marker.h - environment markers of Python packages: `platform_system == "Linux" and extra == 'x'`.
 *
 * Source: PyPA specifications, "Dependency specifiers" (PEP 508).
 */
#ifndef UPSTREAM_PYTHON_MARKER_H
#define UPSTREAM_PYTHON_MARKER_H

#include "core/base.h"

/*
 * Whether the marker holds for CPython on Linux of x86_64 with the extra (""  for none). What is asked
 * of a version of Python or of the kernel counts as true: a need that some Python has is a need.
 * A marker that cannot be read does not hold.
 */
bool marker_holds(const char *marker, const char *extra);

#endif
