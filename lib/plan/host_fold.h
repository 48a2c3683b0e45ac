/* SPDX-License-Identifier: MIT */
/* host_fold.h - names of hosts as one short text that cluster_expand_set reads back. */
#ifndef PLAN_HOST_FOLD_H
#define PLAN_HOST_FOLD_H

#include "core/words.h"

/*
 * "node[01-03,07],login" for node01 node02 node03 node07 login: neighbours in the list that differ in
 * their last number only become a range, of the same width. In the arena.
 */
const char *hosts_fold(const char *const *names, struct arena *arena);

/* The same as entries of a list: "node[01-03,07]" and "login". */
void hosts_fold_words(const char *const *names, struct words *entries);

#endif
