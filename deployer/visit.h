/* SPDX-License-Identifier: MIT */
/*
 * visit.h - one host compared with what is wanted: what bring-up acts on, and what a dry run
 * prints.
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
 * Describes the wanted container and files of v->m under v->bringup, and says what differs from the
 * probed state. Touches nothing. visit_release ends it, also after an error.
 */
int visit_compare(struct visit *v, struct error *err);
void visit_release(struct visit *v);

#endif
