/* SPDX-License-Identifier: MIT */
#include "deployer/container/parcel.h"

#include "core/file.h"
#include "core/secret.h"
#include "core/tarball.h"

#include <stdlib.h>
#include <string.h>

#define WORKER_CEILING_BYTES (64 * MIB)

struct packer {
	struct tarball tarball;
	struct digest digest;
	struct arena *arena;
	struct error *err;
};

static int parcel_pack(struct packer *p, const char *path, const void *bytes, size_t length,
		       mode_t mode)
{
	digest_add(&p->digest, path, strlen(path) + 1);
	digest_add(&p->digest, &mode, sizeof(mode));
	digest_add(&p->digest, &length, sizeof(length));
	digest_add(&p->digest, bytes, length);
	return tarball_add(&p->tarball, path, bytes, length, mode, p->err);
}

static int pack_file(struct packer *p, const char *folder, const char *name)
{
	const char *path = arena_printf(p->arena, "%s/%s", folder, name);
	size_t length;
	char *bytes;

	if (file_read(path, WORKER_CEILING_BYTES, p->arena, &bytes, &length, p->err) < 0)
		return -1;
	return parcel_pack(p, arena_printf(p->arena, "bin/%s", name), bytes, length, 0755);
}

/* What a host without containers needs to run the worker and jobs. */
static int pack_worker(struct packer *p, const struct bringup *bringup)
{
	const char *entry;

	if (share_path(p->arena, "images/entry", &entry, p->err) < 0 ||
	    pack_file(p, entry, "with-secret") < 0)
		return -1;
	if (pack_file(p, bringup->worker_folder, "allreduce") < 0)
		return -1;
	return pack_file(p, bringup->worker_folder, "ringup-job");
}

static int pack_key_file(struct packer *p, const struct key_file *file)
{
	const char *path = arena_printf(p->arena, "ssh/%s", file->name);
	const char *text = file->text ? file->text : secret_reveal(file->secret);

	return parcel_pack(p, path, text, strlen(text), file->mode);
}

static int pack_all(struct packer *p, struct member *m, const struct bringup *bringup)
{
	struct key_file files[KEY_FILES_MAX];

	keys_files(m->fleet, &bringup->keys, m, p->arena, files);
	for (size_t i = 0; files[i].name; i++)
		if (pack_key_file(p, &files[i]) < 0)
			return -1;
	if (bringup->registry_ca && parcel_pack(p, "registry-ca.crt", bringup->registry_ca,
						strlen(bringup->registry_ca), 0644) < 0)
		return -1;
	return m->engine->has_containers ? 0 : pack_worker(p, bringup);
}

/* Adds to the tar. Unlike realloc, it leaves no copy of the keys in freed memory. */
static ssize_t parcel_write(void *cookie, const char *bytes, size_t length)
{
	struct parcel *parcel = cookie;

	if (parcel->tar_bytes + length > parcel->room_bytes) {
		size_t room = (parcel->tar_bytes + length) * 2;
		char *larger = xmalloc(room);

		if (parcel->tar)
			memcpy(larger, parcel->tar, parcel->tar_bytes);
		secret_wipe_bytes(parcel->tar, parcel->tar_bytes);
		free(parcel->tar);
		parcel->tar = larger;
		parcel->room_bytes = room;
	}
	memcpy(parcel->tar + parcel->tar_bytes, bytes, length);
	parcel->tar_bytes += length;
	return (ssize_t)length;
}

/* A stream into the parcel without a buffer of its own. */
static FILE *parcel_open(struct parcel *parcel)
{
	FILE *out = fopencookie(parcel, "w", (cookie_io_functions_t){.write = parcel_write});

	if (!out)
		oom();
	setvbuf(out, NULL, _IONBF, 0);
	return out;
}

int parcel_make(struct member *m, const struct bringup *bringup, struct parcel *parcel,
		struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct packer p = {.arena = &arena, .err = err};
	const char *owner = owner_text(&m->fleet->owner, &arena);
	FILE *out;
	int rc;

	*parcel = (struct parcel){0};
	out = parcel_open(parcel);
	digest_init(&p.digest);
	rc = tarball_init(&p.tarball, out, "the files for a host", err);
	if (rc == 0)
		rc = pack_all(&p, m, bringup);
	digest_finish(&p.digest, parcel->digest);
	if (rc == 0)
		rc = tarball_add(&p.tarball, "ssh/mesh", parcel->digest, strlen(parcel->digest),
				 0644, err);
	if (rc == 0) /* not in the digest: it has the time */
		rc = tarball_add(&p.tarball, "owner", owner, strlen(owner), 0600, err);
	if (rc == 0)
		rc = tarball_finish(&p.tarball, err);
	tarball_release(&p.tarball);
	fclose(out);
	return rc;
}

void parcel_release(struct parcel *parcel)
{
	secret_wipe_bytes(parcel->tar, parcel->tar_bytes);
	free(parcel->tar);
	*parcel = (struct parcel){0};
}
