/* SPDX-License-Identifier: MIT */
/* lab_state.h - what the lab remembers between runs, and the cluster.yaml that it writes. */
#ifndef DEPLOYER_LAB_LAB_STATE_H
#define DEPLOYER_LAB_LAB_STATE_H

#include "deployer/lab/lab.h"

/* A path in the lab's folder. */
const char *lab_path(const struct lab *lab, const char *relative, struct arena *arena);

/* A key pair at RELATIVE, made when missing. */
int lab_key(const struct lab *lab, const char *relative, struct arena *arena, struct error *err);

/*
 * The indexes of the hosts that "node02=VALUE" (one) or "VALUE" (all) of an option means, from *first to *last, and the value, which
 * is a part of the text. ERROR_USAGE with the option for a host that the lab does not have.
 */
int lab_hosts_meant(const struct lab *lab, const char *option, const char *text, int *first,
		    int *last, const char **value, struct arena *arena, struct error *err);

/* The first Debian archive that apt uses here: "deb URI" lines or deb822 "URIs:", by `apt-get
 * indextargets`. In the arena; NULL where this machine is no Debian. */
const char *lab_machine_apt(struct arena *arena);

void lab_load(const char *cluster_path, struct arena *arena, struct lab *lab);

int lab_save(const struct lab *lab, struct error *err);

/* Whether the file is as the lab wrote it. */
bool lab_owns_cluster(const struct lab *lab, const char *path);

/* Writes cluster.yaml and notes its digest in the lab. A file that a person has changed stays. */
int lab_write_cluster(struct lab *lab, const char *path, struct arena *arena, struct error *err);

#endif
