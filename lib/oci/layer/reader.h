/* SPDX-License-Identifier: MIT */
/*
 * reader.h - the entries of one layer's tar file: plain, gzip or zstd.
 *
 * Every layer of the project is read here. A thread of its own unpacks and hashes the bytes
 * (stream.h) while libarchive's reader of the tar format gives the entries to the caller. Names are
 * UTF-8, whatever the locale of the caller is. Bytes and entries count in the image's budget, and the
 * header of one entry has a ceiling (oci/budget.h).
 *
 * An error of layer_reader_open names the file; those of the others do not, the caller does
 * (layer_reader_wrap). After an error, only layer_reader_close may follow.
 */
#ifndef OCI_LAYER_READER_H
#define OCI_LAYER_READER_H

#include "core/error.h"
#include "core/file.h"
#include "core/progress.h"

#include <archive.h>
#include <archive_entry.h>

struct layer_reader;

/*
 * Opens the file. `diff_id`: the digest that the plain bytes must have, which is valid; NULL: they
 * are not checked. `budget`: of the image; NULL: one for this layer, with defaults. `progress`: told how
 * many plain bytes were read; may be NULL. All are borrowed.
 */
struct budget;
int layer_reader_open(const char *path, const char *diff_id, struct budget *budget,
		      struct progress_step *progress, struct layer_reader **reader,
		      struct error *err);

/* The next entry, which is valid until the next call; *entry is NULL at the end of the tar. */
int layer_reader_next(struct layer_reader *reader, struct archive_entry **entry, struct error *err);

/*
 * The next bytes of the entry's content, and where they stand in the file: what lies between two
 * pieces is a hole. *length is 0 at the end. They are valid until the next call.
 */
int layer_reader_data(struct layer_reader *reader, const void **bytes, size_t *length,
		      uint64_t *offset, struct error *err);

/* Reads what follows the tar's end, and compares the digest of all plain bytes with the diffID. */
int layer_reader_finish(struct layer_reader *reader, struct error *err);

/* The error of a layer whose plain bytes have another digest than the config says. -1. */
int layer_diff_id_wrong(const char *digest, const char *diff_id, struct error *err);

/* Puts the path of the layer before an error, unless that is the person's Ctrl-C. -1. */
int layer_reader_wrap(const struct layer_reader *reader, struct error *err);

/* How many plain bytes the tar had so far. */
uint64_t layer_reader_bytes(const struct layer_reader *reader);

/* Ends the thread. For _cleanup_. */
void layer_reader_close(struct layer_reader **reader);

/* The entry's name made plain (path_plain; "" is the top). -1: it leads out of the layer. */
int layer_entry_path(struct archive_entry *entry, char path[static PATH_PLAIN_BYTES],
		     struct error *err);

#endif
