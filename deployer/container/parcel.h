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
 * Packs ssh/ (keys_files), registry-ca.crt when there is one, and bin/ (worker and with-secret) for
 * an engine without containers, and the file `owner` (owner.h).
 */
int parcel_make(struct member *member, const struct bringup *bringup, struct parcel *parcel,
		struct error *err);

/* Overwrites the tar and frees it. For _cleanup_. */
void parcel_release(struct parcel *parcel);

#endif
