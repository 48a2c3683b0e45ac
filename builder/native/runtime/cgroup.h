/* SPDX-License-Identifier: MIT */
/* cgroup.h - the cgroups that a runtime makes for the containers of a build. */
#ifndef BUILDER_NATIVE_RUNTIME_CGROUP_H
#define BUILDER_NATIVE_RUNTIME_CGROUP_H

/*
 * Removes the cgroups of containers named ringup-WORK-*, which a killed runtime left. WORK is the
 * name of a work folder whose build has died. Those with processes stay.
 */
void cgroup_forget(const char *work);

#endif
