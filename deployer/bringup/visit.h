/* SPDX-License-Identifier: MIT */
/*
 * visit.h - compares one host with its wanted state. Bring-up acts on the result, and a dry run
 * prints it.
 */
#ifndef DEPLOYER_BRINGUP_VISIT_H
#define DEPLOYER_BRINGUP_VISIT_H

#include "deployer/container/container.h"
#include "deployer/container/parcel.h"

struct visit {
	struct member *m;
	const struct bringup *bringup;
	struct container container;
	struct parcel parcel;
	struct progress_step *step;
	bool files_differ, container_differs;
	bool is_first; /* nothing of the cluster was on the host */
};

/*
 * Describes the container and files that v->bringup wants on v->m, and says what differs from the
 * probed state. Changes nothing. The caller calls visit_release, also after an error.
 */
int visit_compare(struct visit *v, struct error *err);
void visit_release(struct visit *v);

/* Adds what the error of the engine means; `what` was tried (struct engine_attempt). Returns -1. */
int visit_explain(const struct visit *visit, int what, struct error *err);

/*
 * The arguments of remote/receive.sh for it. `keeps`: the old container may be put back, so its files
 * are kept.
 */
const char *const *visit_receive_arguments(const struct visit *v, bool keeps);

#endif
