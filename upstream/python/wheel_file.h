/* SPDX-License-Identifier: MIT */
/*
 * wheel_file.h - finds METADATA in a wheel of which only some ranges are read.
 *
 * A wheel is a zip archive; its list of files is at its end. Sources: PKWARE APPNOTE 6.3.10, sections
 * 4.3.7 (local header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (ends of it); PyPA
 * specifications, "Binary distribution format".
 */
#ifndef UPSTREAM_PYTHON_WHEEL_FILE_H
#define UPSTREAM_PYTHON_WHEEL_FILE_H

#include "core/arena.h"
#include "core/error.h"

#include <stdint.h>

struct wheel_directory {
	uint64_t start, bytes; /* of the list of files, in the archive */
};

struct wheel_entry {
	uint64_t start; /* of its local header, in the archive */
	uint32_t packed, unpacked;
	uint32_t name_bytes;
	bool is_deflated; /* false: stored */
};

/* The longest local header: 30 bytes, the name, and an extra field as long as wheels have it. */
#define WHEEL_LOCAL_BYTES(name_bytes) (30 + (uint64_t)(name_bytes) + 4096)

/* `tail` is the last bytes of an archive of `total` bytes. */
int wheel_find_directory(const void *tail, size_t length, uint64_t total, const char *what,
			 struct wheel_directory *directory, struct error *err);

/* The entry NAME.dist-info/METADATA at the top of the archive. */
int wheel_find_metadata(const void *directory, size_t length, uint64_t total, const char *what,
			struct wheel_entry *entry, struct error *err);

/*
 * The entry's bytes, in the arena with a NUL behind. `bytes` begin at entry.start and hold the local header and
 * the packed data.
 */
int wheel_unpack(const struct wheel_entry *entry, const void *bytes, size_t length,
		 const char *what, struct arena *arena, char **text, struct error *err);

#endif
