/* SPDX-License-Identifier: MIT */
#include "oci/normalise.h"

#include "core/arena.h"
#include "core/clock.h"
#include "oci/budget.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <string.h>
#include <time.h>

#define WRITE_BLOCK_BYTES (128 * 1024)
#define CHECKSUM_DIGITS 64 /* of a SHA-256 */

struct normaliser {
	normalise_source *next;
	void *arg;
	int64_t newest_s;
	struct packer *packer;
	struct digest plain;
	struct archive *in, *out;
	bool at_end;
	struct budget *budget, own;
	uint64_t in_bytes, out_bytes, header_bytes;
	bool has_entry, in_header; /* libarchive reads the next entry's header */
	struct error *err;
};

static int normalise_failed(struct normaliser *n, struct archive *archive)
{
	const char *why = archive_error_string(archive);

	if (n->err->kind)
		return -1;
	return error_set(n->err, ERROR_FAILED, "a layer is no tar file: %s", why ? why : "unknown");
}

static la_ssize_t normalise_read_some(struct archive *in, void *arg, const void **bytes)
{
	struct normaliser *n = arg;
	size_t length = 0;

	if (n->at_end)
		return 0;
	if (n->next(n->arg, bytes, &length, n->err) < 0) {
		archive_set_error(in, EIO, "it cannot be read");
		return -1;
	}
	n->at_end = !length;
	digest_add(&n->plain, *bytes, length);
	n->in_bytes += length;
	n->header_bytes += n->in_header ? length : 0;
	if (n->header_bytes > BUDGET_HEADER_BYTES_MAX) {
		archive_set_error(in, EIO, "the header of an entry is larger than %d MiB",
				  (int)(BUDGET_HEADER_BYTES_MAX / MIB));
		return -1;
	}
	return (la_ssize_t)length;
}

static la_ssize_t normalise_write_some(struct archive *out, void *arg, const void *bytes,
				       size_t length)
{
	struct normaliser *n = arg;

	if (packer_add(n->packer, bytes, length, n->err) == 0)
		return (la_ssize_t)length;
	archive_set_error(out, EIO, "the layer cannot be written");
	return -1;
}

static void clean(struct normaliser *n, struct archive_entry *entry)
{
	int64_t mtime = archive_entry_mtime(entry);

	archive_entry_set_mtime(entry, mtime > n->newest_s ? n->newest_s : mtime, 0);
	archive_entry_unset_atime(entry);
	archive_entry_unset_ctime(entry);
	archive_entry_unset_birthtime(entry);
	archive_entry_set_uname(entry, NULL);
	archive_entry_set_gname(entry, NULL);
}

/* Zeros for a hole, which took no bytes to write. */
static int normalise_fill(struct normaliser *n, uint64_t left)
{
	static const char zeros[64 * 1024];

	while (left) {
		size_t part = left < sizeof(zeros) ? left : sizeof(zeros);

		n->out_bytes += part;
		if (interrupt_check(n->err) < 0 ||
		    budget_take(n->budget, n->in_bytes, n->out_bytes, part, n->err) < 0)
			return -1;
		if (archive_write_data(n->out, zeros, part) < 0)
			return normalise_failed(n, n->out);
		left -= part;
	}
	return 0;
}

static int normalise_copy_data(struct normaliser *n)
{
	la_int64_t offset, done = 0;
	const void *bytes;
	size_t length;
	int rc;

	while ((rc = archive_read_data_block(n->in, &bytes, &length, &offset)) == ARCHIVE_OK) {
		if (offset > done && normalise_fill(n, (uint64_t)(offset - done)) < 0)
			return -1;
		if (archive_write_data(n->out, bytes, length) < 0)
			return normalise_failed(n, n->out);
		done = offset + (la_int64_t)length;
	}
	return rc == ARCHIVE_EOF ? 0 : normalise_failed(n, n->in);
}

static int normalise_next(struct normaliser *n, struct archive_entry **entry)
{
	int rc;

	/* what is left of the last entry's content does not count as the next one's header */
	if (n->has_entry)
		archive_read_data_skip(n->in);
	n->in_header = true;
	n->header_bytes = 0;
	rc = archive_read_next_header(n->in, entry);
	n->in_header = false;
	n->has_entry = rc == ARCHIVE_OK || rc == ARCHIVE_WARN;
	return rc;
}

static int copy_entries(struct normaliser *n)
{
	struct archive_entry *entry;
	int rc;

	while ((rc = normalise_next(n, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
		if (budget_take_entry(n->budget, entry, n->err) < 0)
			return -1;
		clean(n, entry);
		if (archive_write_header(n->out, entry) != ARCHIVE_OK)
			return normalise_failed(n, n->out);
		if (archive_entry_size(entry) > 0 && normalise_copy_data(n) < 0)
			return -1;
	}
	if (rc != ARCHIVE_EOF)
		return normalise_failed(n, n->in);
	return archive_write_close(n->out) == ARCHIVE_OK ? 0 : normalise_failed(n, n->out);
}

/* What follows the tar's end counts for the digest. */
static int normalise_drain(struct normaliser *n)
{
	const void *bytes;

	while (!n->at_end)
		if (normalise_read_some(n->in, n, &bytes) < 0)
			return -1;
	return 0;
}

static int normalise_run(struct normaliser *n)
{
	archive_read_support_format_tar(n->in);
	archive_read_support_format_empty(n->in);
	archive_write_set_format_pax_restricted(n->out);
	archive_write_set_bytes_per_block(n->out, WRITE_BLOCK_BYTES);
	archive_write_set_bytes_in_last_block(n->out, 1);
	if (archive_read_open(n->in, n, NULL, normalise_read_some, NULL) != ARCHIVE_OK)
		return normalise_failed(n, n->in);
	if (archive_write_open(n->out, n, NULL, normalise_write_some, NULL) != ARCHIVE_OK)
		return normalise_failed(n, n->out);
	return copy_entries(n) < 0 ? -1 : normalise_drain(n);
}

int layer_normalise(normalise_source *next, void *arg, int64_t newest_s, struct packer *packer,
		    struct budget *budget, char plain[static DIGEST_TEXT_BYTES], struct error *err)
{
	struct normaliser n = {.next = next,
			       .arg = arg,
			       .newest_s = newest_s,
			       .packer = packer,
			       .in = archive_read_new(),
			       .out = archive_write_new(),
			       .err = err};
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before;
	int rc;

	if (!n.in || !n.out || !utf8)
		oom();
	budget_init(&n.own, NULL, NULL);
	n.budget = budget ? budget : &n.own;
	digest_init(&n.plain);
	before = uselocale(utf8);
	rc = normalise_run(&n);
	archive_read_free(n.in);
	archive_write_free(n.out);
	uselocale(before);
	freelocale(utf8);
	if (rc == 0)
		digest_finish(&n.plain, plain);
	digest_release(&n.plain);
	return rc;
}

/* --- the config ---------------------------------------------------------------------------- */

void config_time(int64_t seconds, char text[static 40])
{
	time_t time = (time_t)seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(text, 40, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void normalise_config_set_text(cJSON *object, const char *name, const char *text)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (item)
		cJSON_ReplaceItemInObjectCaseSensitive(object, name, cJSON_CreateString(text));
	else
		cJSON_AddStringToObject(object, name, text);
}

/*
 * Docker's classic builder writes a checksum of what was copied: "#(nop) COPY dir:HEX in /bin". It
 * covers how the context came as well (as a tar or as a folder), and the layer has a digest of its
 * own.
 */
static void drop_checksums(char *text)
{
	static const char *const kinds[] = {" dir:", " file:", " multi:"};

	if (!strstr(text, "#(nop) COPY ") && !strstr(text, "#(nop) ADD "))
		return;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (char *at = text; (at = strstr(at, kinds[i]));) {
			size_t digits;

			at += strlen(kinds[i]) - 1;
			digits = strspn(at + 1, "0123456789abcdef");
			if (digits == CHECKSUM_DIGITS)
				memmove(at, at + 1 + digits, strlen(at + 1 + digits) + 1);
		}
}

void config_normalise(cJSON *config, int64_t created_s)
{
	static const char *const traces[] = {"container", "container_config", "docker_version",
					     "id",	  "parent",	      "parent_id"};
	static const char *const names[] = {"Hostname", "Domainname", "Image"};
	cJSON *settings = cJSON_GetObjectItemCaseSensitive(config, "config"), *entry;
	char created[40];

	for (size_t i = 0; i < ARRAY_LEN(traces); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(config, traces[i]);
	for (size_t i = 0; settings && i < ARRAY_LEN(names); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(settings, names[i]);
	config_time(created_s, created);
	normalise_config_set_text(config, "created", created);
	cJSON_ArrayForEach (entry, cJSON_GetObjectItemCaseSensitive(config, "history")) {
		cJSON *text = cJSON_GetObjectItemCaseSensitive(entry, "created_by");

		normalise_config_set_text(entry, "created", created);
		if (cJSON_IsString(text))
			drop_checksums(text->valuestring);
	}
}
