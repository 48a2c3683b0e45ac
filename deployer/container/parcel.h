/* SPDX-License-Identifier: MIT */
/*
 * parcel.h - the files that ringup sends to a host, as one tar. Its digest says whether the host
 * has them already.
 */
#ifndef DEPLOYER_CONTAINER_PARCEL_H
#define DEPLOYER_CONTAINER_PARCEL_H

#include "core/digest.h"
#include "deployer/bringup/bringup.h"

struct parcel {
	char *tar; /* owned; it holds private keys */
	size_t tar_bytes, room_bytes;
	char digest
		[DIGEST_TEXT_BYTES]; /* of all names, modes and contents; in the tar as the file ssh/mesh */
};

/*
 * The digest of ssh/ (keys_files), registry-ca.crt when there is one, and bringup->programs. parcel->tar stays NULL: a host that
 * has the files needs none, and a thousand hosts would need much memory.
 */
int parcel_measure(struct member *member, const struct bringup *bringup, struct parcel *parcel,
		   struct error *err);

/* The same with the tar, which also has the file `owner` (owner.h). The parcel was measured, or is {0}, and has no tar. */
int parcel_make(struct member *member, const struct bringup *bringup, struct parcel *parcel,
		struct error *err);

/* A program for hosts without containers. Its digest stands for its content in the parcel's. */
struct parcel_program {
	const char *path; /* in the tar; NULL ends a list */
	const char *bytes;
	size_t length;
	char digest[DIGEST_TEXT_BYTES];
};

/* What such hosts need to run the worker and jobs, once for all of them: allreduce and ringup-job of `folder`, with-secret. */
int parcel_read_programs(const char *folder, struct arena *arena,
			 const struct parcel_program **programs, struct error *err);

/* Overwrites the tar and frees it. For _cleanup_. */
void parcel_release(struct parcel *parcel);

#endif
