/* SPDX-License-Identifier: MIT */
/*
 * reference.h - the name of an image in a registry: HOST[:PORT]/PATH[:TAG][@DIGEST].
 *
 * Source of the grammar: OCI distribution specification 1.1, "Pulling manifests" (path and tag
 * expressions), and the Docker rule that the first part is a registry only when it holds a '.' or a
 * ':' or is "localhost". ringup deploys to private registries, so a registry is always required.
 * "docker.io/NAME" is "docker.io/library/NAME", as in Docker.
 */
#ifndef PLAN_REFERENCE_H
#define PLAN_REFERENCE_H

#include "core/arena.h"
#include "core/error.h"

struct reference {
	const char *registry;	/* "10.0.0.254:5000" */
	const char *repository; /* "team/train" */
	const char *tag;	/* NULL when none was written */
	const char *digest;	/* "sha256:...", or NULL */
};

/* ERROR_USAGE says what is wrong with the text. Parts live in the arena. */
int reference_parse(const char *text, struct arena *arena, struct reference *ref,
		    struct error *err);

/* HOST/PATH@DIGEST when there is a digest, else HOST/PATH:TAG ("latest" when there is neither). */
const char *reference_text(const struct reference *ref, struct arena *arena);

/* What goes after /manifests/ in a URL: the digest, else the tag, else "latest". */
const char *reference_target(const struct reference *ref);

/* 127.0.0.0/8, ::1 or localhost: such registries may answer in plain HTTP. */
bool reference_is_loopback(const char *registry);

#endif
