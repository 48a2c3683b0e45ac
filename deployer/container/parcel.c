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
	FILE *out; /* of the tar; NULL: only the digest is wanted */
	struct error *err;
};

/* Without `what` the content counts, and otherwise what stands for it. */
static int parcel_pack(struct packer *p, const char *path, const void *bytes, size_t length,
		       mode_t mode, const char *what)
{
	digest_add(&p->digest, path, strlen(path) + 1);
	digest_add(&p->digest, &mode, sizeof(mode));
	digest_add(&p->digest, &length, sizeof(length));
	digest_add(&p->digest, what ? what : bytes, what ? strlen(what) : length);
	return p->out ? tarball_add(&p->tarball, path, bytes, length, mode, p->err) : 0;
}

static int parcel_read(const char *folder, const char *name, struct arena *arena,
		       struct parcel_program *program, struct error *err)
{
	const char *path = arena_printf(arena, "%s/%s", folder, name);
	char *bytes;

	if (file_read(path, WORKER_CEILING_BYTES, arena, &bytes, &program->length, err) < 0)
		return -1;
	program->path = arena_printf(arena, "bin/%s", name);
	program->bytes = bytes;
	digest_of(bytes, program->length, program->digest);
	return 0;
}

int parcel_read_programs(const char *folder, struct arena *arena,
			 const struct parcel_program **programs, struct error *err)
{
	struct parcel_program *list = ARENA_ARRAY(arena, 4, struct parcel_program);
	const char *entry;

	if (share_path(arena, "images/entry", &entry, err) < 0 ||
	    parcel_read(entry, "with-secret", arena, &list[0], err) < 0 ||
	    parcel_read(folder, "allreduce", arena, &list[1], err) < 0 ||
	    parcel_read(folder, "ringup-job", arena, &list[2], err) < 0)
		return -1;
	*programs = list;
	return 0;
}

static int pack_key_file(struct packer *p, const struct key_file *file)
{
	const char *path = arena_printf(p->arena, "ssh/%s", file->name);
	const char *text = file->text ? file->text : secret_reveal(file->secret);

	return parcel_pack(p, path, text, strlen(text), file->mode, NULL);
}

static int pack_all(struct packer *p, struct member *m, const struct bringup *bringup)
{
	struct key_file files[KEY_FILES_MAX];

	keys_files(m->fleet, &bringup->keys, m, p->arena, files);
	for (size_t i = 0; files[i].name; i++)
		if (pack_key_file(p, &files[i]) < 0)
			return -1;
	if (bringup->registry_ca && parcel_pack(p, "registry-ca.crt", bringup->registry_ca,
						strlen(bringup->registry_ca), 0644, NULL) < 0)
		return -1;
	for (const struct parcel_program *f = bringup->programs; f && f->path; f++)
		if (parcel_pack(p, f->path, f->bytes, f->length, 0755, f->digest) < 0)
			return -1;
	return 0;
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

int parcel_measure(struct member *m, const struct bringup *bringup, struct parcel *parcel,
		   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct packer p = {.arena = &arena, .err = err};
	int rc;

	*parcel = (struct parcel){0};
	digest_init(&p.digest);
	rc = pack_all(&p, m, bringup);
	digest_finish(&p.digest, parcel->digest);
	return rc;
}

int parcel_make(struct member *m, const struct bringup *bringup, struct parcel *parcel,
		struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct packer p = {.arena = &arena, .err = err, .out = parcel_open(parcel)};
	const char *owner = owner_text(&m->fleet->owner, &arena);
	int rc;

	digest_init(&p.digest);
	rc = tarball_init(&p.tarball, p.out, "the files for a host", err);
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
	fclose(p.out);
	return rc;
}

void parcel_release(struct parcel *parcel)
{
	secret_wipe_bytes(parcel->tar, parcel->tar_bytes);
	free(parcel->tar);
	*parcel = (struct parcel){0};
}
