/* SPDX-License-Identifier: MIT */
#include "upstream/python/wheel_file.h"

#include "upstream/limits.h"

#include <isa-l/igzip_lib.h>
#include <string.h>

enum {
	END_BYTES = 22,
	END64_BYTES = 56,
	LOCATOR_BYTES = 20,
	CENTRAL_BYTES = 46,
	LOCAL_BYTES = 30,
	METHOD_STORED = 0,
	METHOD_DEFLATED = 8,
};

static uint64_t wheel_number(const unsigned char *at, size_t bytes)
{
	uint64_t number = 0;

	while (bytes--)
		number = number << 8 | at[bytes];
	return number;
}

static bool wheel_signed(const unsigned char *at, unsigned char a, unsigned char b)
{
	return at[0] == 'P' && at[1] == 'K' && at[2] == a && at[3] == b;
}

/* The zip64 record, when the locator before the end names one within the tail. */
static const unsigned char *wheel_end64(const unsigned char *tail, size_t end, size_t length,
					uint64_t total)
{
	const unsigned char *locator = tail + end - LOCATOR_BYTES;
	uint64_t at, base = total - length;

	if (end < LOCATOR_BYTES || !wheel_signed(locator, 6, 7))
		return NULL;
	at = wheel_number(locator + 8, 8);
	if (at < base || at - base > length || length - (at - base) < END64_BYTES ||
	    !wheel_signed(tail + (at - base), 6, 6))
		return NULL;
	return tail + (at - base);
}

int wheel_find_directory(const void *tail, size_t length, uint64_t total, const char *what,
			 struct wheel_directory *directory, struct error *err)
{
	const unsigned char *bytes = tail, *end64;
	size_t end = length < END_BYTES ? 0 : length - END_BYTES;

	if (length < END_BYTES || total < length)
		return error_set(err, ERROR_FAILED, "%.300s is no wheel: it is too short", what);
	while (end && !wheel_signed(bytes + end, 5, 6))
		end--;
	if (!wheel_signed(bytes + end, 5, 6))
		return error_set(err, ERROR_FAILED, "%.300s is no wheel: it does not end as a zip",
				 what);
	directory->bytes = wheel_number(bytes + end + 12, 4);
	directory->start = wheel_number(bytes + end + 16, 4);
	end64 = wheel_end64(bytes, end, length, total);
	if (end64) {
		directory->bytes = wheel_number(end64 + 40, 8);
		directory->start = wheel_number(end64 + 48, 8);
	}
	if (directory->bytes > PYPI_DIRECTORY_BYTES_MAX || directory->bytes < CENTRAL_BYTES ||
	    directory->start > total || total - directory->start < directory->bytes)
		return error_set(err, ERROR_FAILED, "%.300s: its list of files is damaged", what);
	return 0;
}

/* "torch-2.15.0.dist-info/METADATA", at the top */
static bool wheel_is_metadata(const char *name, size_t length)
{
	static const char suffix[] = ".dist-info/METADATA";
	size_t width = sizeof(suffix) - 1;

	return length > width && memcmp(name + length - width, suffix, width) == 0 &&
	       !memchr(name, '/', length - width);
}

static int wheel_take_entry(const unsigned char *at, uint64_t total, const char *what,
			    struct wheel_entry *entry, struct error *err)
{
	uint64_t method = wheel_number(at + 10, 2);

	*entry = (struct wheel_entry){
		.start = wheel_number(at + 42, 4),
		.packed = (uint32_t)wheel_number(at + 20, 4),
		.unpacked = (uint32_t)wheel_number(at + 24, 4),
		.name_bytes = (uint32_t)wheel_number(at + 28, 2),
		.is_deflated = method == METHOD_DEFLATED,
	};
	if (method != METHOD_STORED && method != METHOD_DEFLATED)
		return error_set(err, ERROR_FAILED, "%.300s: METADATA is packed in an unknown way",
				 what);
	if (entry->packed > METADATA_BYTES_MAX || entry->unpacked > METADATA_BYTES_MAX ||
	    entry->start >= total)
		return error_set(err, ERROR_FAILED, "%.300s: METADATA is larger than it may be",
				 what);
	return 0;
}

int wheel_find_metadata(const void *directory, size_t length, uint64_t total, const char *what,
			struct wheel_entry *entry, struct error *err)
{
	const unsigned char *at = directory;
	size_t left = length;

	for (size_t count = 0; left >= CENTRAL_BYTES && count < PYPI_ENTRIES_MAX; count++) {
		size_t name = wheel_number(at + 28, 2);
		size_t whole =
			CENTRAL_BYTES + name + wheel_number(at + 30, 2) + wheel_number(at + 32, 2);

		if (!wheel_signed(at, 1, 2) || whole > left)
			break;
		if (wheel_is_metadata((const char *)at + CENTRAL_BYTES, name))
			return wheel_take_entry(at, total, what, entry, err);
		at += whole;
		left -= whole;
	}
	return error_set(err, ERROR_FAILED, "%.300s holds no METADATA; is it a wheel?", what);
}

static int wheel_inflate(const unsigned char *in, size_t packed, unsigned char *out, size_t room)
{
	struct inflate_state state;

	isal_inflate_init(&state);
	state.crc_flag = ISAL_DEFLATE;
	state.next_in = (uint8_t *)(uintptr_t)in;
	state.avail_in = (uint32_t)packed;
	state.next_out = out;
	state.avail_out = (uint32_t)room;
	return isal_inflate_stateless(&state) == ISAL_DECOMP_OK && state.total_out == room ? 0 : -1;
}

int wheel_unpack(const struct wheel_entry *entry, const void *bytes, size_t length,
		 const char *what, struct arena *arena, char **text, struct error *err)
{
	const unsigned char *at = bytes;
	uint64_t head;

	if (length < LOCAL_BYTES || !wheel_signed(at, 3, 4))
		return error_set(err, ERROR_FAILED, "%.300s: METADATA is not where its list says",
				 what);
	head = LOCAL_BYTES + wheel_number(at + 26, 2) + wheel_number(at + 28, 2);
	if (head > length || length - head < entry->packed)
		return error_set(err, ERROR_FAILED, "%.300s: METADATA is cut off", what);
	*text = arena_alloc(arena, (size_t)entry->unpacked + 1);
	if (entry->is_deflated) {
		if (wheel_inflate(at + head, entry->packed, (unsigned char *)*text,
				  entry->unpacked) < 0)
			return error_set(err, ERROR_FAILED, "%.300s: METADATA is damaged", what);
	} else {
		if (entry->packed != entry->unpacked)
			return error_set(err, ERROR_FAILED, "%.300s: METADATA is damaged", what);
		memcpy(*text, at + head, entry->unpacked);
	}
	return 0;
}
