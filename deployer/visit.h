/* SPDX-License-Identifier: MIT */
/*
 * visit.h - compares one host with its wanted state. Bring-up acts on the result, and a dry run
 * prints it.
 */
#ifndef DEPLOYER_VISIT_H
#define DEPLOYER_VISIT_H

#include "deployer/container.h"
#include "deployer/parcel.h"

struct visit {
	struct member *m;
	const struct bringup *bringup;
	struct container container;
	struct parcel parcel;
	struct progress_step *step;
	bool files_differ, container_differs;
};

/*
 * Describes the container and files that v->bringup wants on v->m, and says what differs from the
 * probed state. Changes nothing. The caller calls visit_release, also after an error.
 */
int visit_compare(struct visit *v, struct error *err);
void visit_release(struct visit *v);

/* The arguments of remote/receive.sh for it. */
const char *const *visit_receive_arguments(const struct visit *v);

#endif
