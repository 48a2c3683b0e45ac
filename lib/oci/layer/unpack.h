/* SPDX-License-Identifier: MIT */
/*
 * unpack.h - the plain bytes of a layer that comes compressed, and its diffID, their digest.
 *
 * gzip by ISA-L, zstd by libzstd (RFC 8878). What unpacks to more than its budget (oci/budget.h) allows
 * is refused.
 */
#ifndef OCI_LAYER_UNPACK_H
#define OCI_LAYER_UNPACK_H

#include "core/digest.h"

enum packing { PACKING_NONE = 0, PACKING_GZIP, PACKING_ZSTD };

/* How the bytes are packed, by their first four. */
enum packing packing_of(const void *head, size_t length);

/* The OCI media type of a layer that is packed so. */
const char *packing_media_type(enum packing packing);

struct unpack;

/* PACKING_NONE: the bytes are the plain ones. */
struct unpack *unpack_new(enum packing packing);
/* The same, and the plain bytes are handed on piece by piece; `like`: digest_init_as. */
struct unpack *unpack_new_to(enum packing packing, const char *like,
			     void (*sink)(void *arg, const void *bytes, size_t length), void *arg);
void unpack_free(struct unpack **unpack);

/*
 * Counts the plain bytes in an image's budget, which is borrowed; before the first bytes. `packed_bytes`:
 * how many will come; 0: that is not known. Without this, each has a budget of its own, with defaults.
 */
struct budget;
void unpack_limit(struct unpack *unpack, struct budget *budget, uint64_t packed_bytes);

/* -1 when the data is damaged or a bomb. */
int unpack_add(struct unpack *unpack, const void *bytes, size_t length, struct error *err);

/* The diffID; -1 when the data ends too early. */
int unpack_finish(struct unpack *unpack, char diff_id[static DIGEST_TEXT_BYTES], struct error *err);

#endif
