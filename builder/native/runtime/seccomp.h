/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - which system calls a step may make: Docker's default profile, in the form that an OCI
 * runtime takes. The calls are rows of recipes/seccomp.csv, which names their source.
 */
#ifndef BUILDER_NATIVE_RUNTIME_SECCOMP_H
#define BUILDER_NATIVE_RUNTIME_SECCOMP_H

#include "core/arena.h"
#include "core/error.h"
#include "core/json.h"

/*
 * Whether the kernel and `runtime` ("crun" or "runc") can filter system calls. If not, *why is one
 * sentence (arena). It starts the runtime, which says whether it was built with libseccomp.
 */
bool seccomp_available(const char *runtime, struct arena *arena, const char **why);

/*
 * The profile for a step with these capabilities (a list that ends with NULL): "linux.seccomp" of
 * OCI runtime-spec 1.0, config-linux.md. The caller frees it.
 */
int seccomp_profile(const char *const *capabilities, cJSON **profile, struct error *err);

#endif
