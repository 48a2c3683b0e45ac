/* SPDX-License-Identifier: MIT */
/*
 * host_set.h - sets of hosts as pdsh, clush and Slurm write them.
 *
 *	node[01-08,12]      ranges, which keep their width; rack[1-4]-gpu[0-7] multiplies
 *	node[0-30/2]        every second one
 *	a,b                 both
 *	a!b  a&b            those of a that are not in b; those that are in both (clush); from left to right
 *	@NAME  @*           a group of cluster.yaml; all of its hosts
 *	^FILE               sets in a file, with blanks or line ends between; # begins a comment (pdsh)
 *	node*  node0?       the hosts of cluster.yaml that match
 *
 * Sources: clush(1) and nodeset(1) of ClusterShell 1.9, pdsh(1), Slurm's scontrol(1) "show hostlist".
 */
#ifndef PLAN_HOST_SET_H
#define PLAN_HOST_SET_H

#include "plan/cluster.h"

/*
 * Adds the names of plain names and ranges, with ',' between, each as often as it stands there. -1 with a
 * reason in *why (static text) when it is no such set, or names more than CLUSTER_HOSTS_MAX hosts.
 */
int host_set_expand(const char *set, struct words *names, const char **why);

/*
 * Adds the names of any set, each once. They need not be hosts of the cluster. ERROR_USAGE with the
 * set, or the file and line, and the reason.
 */
int host_set_names(const struct cluster *cluster, const char *set, struct words *names,
		   struct error *err);

/*
 * Adds the hosts of the cluster that the set names, by name or address, each once, in the set's order.
 * ERROR_USAGE when there is no such host.
 */
int host_set_of_cluster(const struct cluster *cluster, const char *set, struct words *names,
			struct error *err);

/* Takes names out of a list. */
void host_set_drop(struct words *names, const struct words *out);

/*
 * The shortest way to write the names: "node[01-08,12],login", in the arena. Expanding it gives
 * the same names. Names that differ in one number become a range; the numbers rise.
 */
const char *host_set_fold(const char *const *names, struct arena *arena);

/* The same as entries of a list: "node[01-08,12]" and "login". */
void host_set_fold_words(const char *const *names, struct words *entries);

#endif
