/* SPDX-License-Identifier: MIT */
/* blob_upload.h - the bytes of a blob to a registry: sessions, chunks, and what to do when one is torn. */
#ifndef REGISTRY_CLIENT_BLOBS_BLOB_UPLOAD_H
#define REGISTRY_CLIENT_BLOBS_BLOB_UPLOAD_H

#include "registry-client/blobs/blob.h"

/* Begins with a session of an earlier run, a mount, or a new session. */
enum transfer_next blob_open(struct blob_request *blob);
/* After an answer in BLOB_POST, BLOB_READ, BLOB_PATCH, BLOB_PUT, BLOB_STATUS. */
enum transfer_next blob_upload_step(struct blob_request *blob, struct error *err);
/* After a transient failure, in any phase. */
void blob_upload_recover(struct transfer *transfer);

#endif
