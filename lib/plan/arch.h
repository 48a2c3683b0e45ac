/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the processors that stacks are for, under the names that people and programs have for them.
 *
 * The names are those of `uname -m`: "x86_64" and "aarch64". Go and container images say amd64 and
 * arm64; NVIDIA's repositories for Arm servers say sbsa (Server Base System Architecture).
 */
#ifndef PLAN_ARCH_H
#define PLAN_ARCH_H

/* What a stack is for when nothing says otherwise. */
#define ARCH_DEFAULT "x86_64"

/* "aarch64" of "arm64", "sbsa" or itself; NULL: no stack is for such a processor. A static text. */
const char *arch_by_name(const char *name);

/* "x86_64 and aarch64", for sentences. */
#define ARCH_LIST "x86_64 and aarch64"

/* "arm64", "amd64": the name in container images; for arch_by_name's names. */
const char *arch_of_image(const char *arch);

/* "aarch64" of the platform "linux/arm64"; NULL: no stack is for such a platform. A static text. */
const char *arch_of_platform(const char *platform);

#endif
