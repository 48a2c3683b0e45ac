/* SPDX-License-Identifier: MIT */
/* cgroup.h - the cgroups that a runtime makes for the containers of a build. */
#ifndef BUILDER_NATIVE_RUNTIME_CGROUP_H
#define BUILDER_NATIVE_RUNTIME_CGROUP_H

/*
 * Removes the cgroups of containers named ringup-WORK-*, where WORK is the name of a work folder
 * whose build is dead: a runtime that was killed left them. Those with processes stay.
 */
void cgroup_forget(const char *work);

#endif
