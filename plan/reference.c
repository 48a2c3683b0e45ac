/* SPDX-License-Identifier: MIT */
#include "plan/reference.h"

#include "core/digest.h"
#include "core/str.h"

#include <ctype.h>
#include <string.h>

#define REPOSITORY_LENGTH_MAX 255
#define TAG_LENGTH_MAX 128

static int bad(const char *text, const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "'%.200s' is not an image reference: %s; write HOST[:PORT]/NAME[:TAG]",
			 text, why);
}

/* One path part: lower-case letters and digits, with single '.', '_', '-', "__" or dashes between.
 */
static bool part_is_valid(const char *part, size_t length)
{
	bool separator = true;

	for (size_t i = 0; i < length; i++) {
		bool alnum = islower((unsigned char)part[i]) || isdigit((unsigned char)part[i]);

		if (!alnum && (!strchr("._-", part[i]) || (separator && i == 0)))
			return false;
		separator = !alnum;
	}
	return length > 0 && !separator;
}

static bool repository_is_valid(const char *path)
{
	if (strlen(path) > REPOSITORY_LENGTH_MAX)
		return false;
	for (;;) {
		size_t length = strcspn(path, "/");

		if (!part_is_valid(path, length))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

static bool tag_is_valid(const char *tag)
{
	if (!*tag || *tag == '.' || *tag == '-' || strlen(tag) > TAG_LENGTH_MAX)
		return false;
	for (; *tag; tag++)
		if (!isalnum((unsigned char)*tag) && !strchr("._-", *tag))
			return false;
	return true;
}

static bool registry_is_valid(const char *registry)
{
	if (!strpbrk(registry, ".:") && strcmp(registry, "localhost") != 0)
		return false;
	return registry[strspn(registry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789.-:[]")] == '\0';
}

int reference_parse(const char *text, struct arena *arena, struct reference *ref, struct error *err)
{
	char *rest = arena_strdup(arena, text), *slash, *colon, *at;

	*ref = (struct reference){0};
	slash = strchr(rest, '/');
	if (!slash)
		return bad(text, "no registry before the name", err);
	*slash = '\0';
	ref->registry = rest;
	ref->repository = slash + 1;
	at = strchr(slash + 1, '@');
	if (at) {
		*at = '\0';
		ref->digest = at + 1;
	}
	colon = strrchr(slash + 1, ':');
	if (colon) {
		*colon = '\0';
		ref->tag = colon + 1;
	}
	if (!registry_is_valid(ref->registry))
		return bad(text, "the part before the first '/' names no registry", err);
	if (!repository_is_valid(ref->repository))
		return bad(text, "the name takes lower-case letters, digits and single . _ - /",
			   err);
	if (ref->tag && !tag_is_valid(ref->tag))
		return bad(text, "the tag takes letters, digits and . _ -, 128 at most", err);
	if (ref->digest && !digest_is_valid(ref->digest))
		return bad(text, "the digest is not sha256: and 64 hex digits", err);
	return 0;
}

const char *reference_target(const struct reference *ref)
{
	if (ref->digest)
		return ref->digest;
	return ref->tag ? ref->tag : "latest";
}

const char *reference_text(const struct reference *ref, struct arena *arena)
{
	return arena_printf(arena, "%s/%s%s%s", ref->registry, ref->repository,
			    ref->digest ? "@" : ":", reference_target(ref));
}

bool reference_is_loopback(const char *registry)
{
	return starts_with(registry, "127.") || starts_with(registry, "[::1]") ||
	       strcmp(registry, "localhost") == 0 || starts_with(registry, "localhost:");
}
