/* SPDX-License-Identifier: MIT */
/*
 * rank_tag.h - which rank printed a line, where the ranks of a node, or of mpirun, print into one log. What starts them puts
 * it before each line, when the job is followed (launcher_node.tags):
 *
 *   [default3]:text              torch.distributed.run with --tee (torch/distributed/elastic/multiprocessing/api.py), and
 *                                the shell that starts the ranks of `env` (export/node.c): the rank's number on its node
 *   [1,3]<stdout>:text           mpirun --tag-output of Open MPI 4 (mpirun(1)); of Open MPI 5 with the name of its job in
 *   [prterun-a-7@1,3]<stderr>: text    place of the first number: the rank's number among all
 */
#ifndef DEPLOYER_SCHEDULER_RANK_TAG_H
#define DEPLOYER_SCHEDULER_RANK_TAG_H

#include "core/base.h"

/*
 * Takes the tag off the line. Returns the text behind it, in the line, and sets *rank; *is_of_node tells whether that is the
 * rank's number on its node or among all. NULL when the line has no tag; then *rank says nothing.
 */
const char *rank_tag(const char *line, int *rank, bool *is_of_node);

#endif
