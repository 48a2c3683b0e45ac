/* SPDX-License-Identifier: MIT */
#include "plan/reference.h"

#include "core/digest.h"
#include "core/str.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#define REPOSITORY_LENGTH_MAX 255
#define TAG_LENGTH_MAX 128

static int reference_bad(const char *text, const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "'%.200s' is not an image reference: %s; write HOST[:PORT]/NAME[:TAG]",
			 text, why);
}

/*
 * The length of a separator at `text`: one '.', one or two '_', or any number of '-'; 0 when none.
 */
static size_t separator_length(const char *text)
{
	size_t dashes = strspn(text, "-");

	if (*text == '.')
		return 1;
	if (*text == '_')
		return text[1] == '_' ? 2 : 1;
	return dashes;
}

/* One path part: [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)* */
static bool part_is_valid(const char *part, size_t length)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	const char *p = part;

	for (;;) {
		size_t letters = strspn(p, alnum), separator;

		if (!letters)
			return false;
		p += letters;
		if (p >= part + length)
			return true;
		separator = separator_length(p);
		if (!separator)
			return false;
		p += separator;
	}
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

/* The length of the host: up to the port's colon, or the end. */
static size_t host_length(const char *registry)
{
	const char *bracket = registry[0] == '[' ? strchr(registry, ']') : NULL;

	return bracket ? (size_t)(bracket + 1 - registry) : strcspn(registry, ":");
}

/* A host with a dot or in brackets, or localhost, or any host with a port. */
static bool registry_is_valid(const char *registry)
{
	size_t host = host_length(registry), port = strlen(registry) - host;
	const char *digits = registry + host + 1;

	if (!host || (registry[0] != '[' && !isalnum((unsigned char)registry[0])))
		return false;
	if (port && (registry[host] != ':' || port < 2 || port > 6 ||
		     digits[strspn(digits, "0123456789")] != '\0'))
		return false;
	if (!port && !strchr(registry, '.') && registry[0] != '[' &&
	    strcmp(registry, "localhost") != 0)
		return false;
	return strspn(registry,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") >=
	       host;
}

/*
 * Gives Docker Hub, which has two names, one of them. A repository without a folder is in
 * "library".
 */
static void name_hub(struct reference *ref, struct arena *arena)
{
	if (strcmp(ref->registry, "index.docker.io") == 0)
		ref->registry = "docker.io";
	if (strcmp(ref->registry, "docker.io") == 0 && !strchr(ref->repository, '/'))
		ref->repository = arena_printf(arena, "library/%s", ref->repository);
}

int reference_parse(const char *text, struct arena *arena, struct reference *ref, struct error *err)
{
	char *rest = arena_strdup(arena, text), *slash, *colon, *at;

	*ref = (struct reference){0};
	slash = strchr(rest, '/');
	if (!slash)
		return reference_bad(text, "no registry before the name", err);
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
		return reference_bad(text, "the part before the first '/' names no registry", err);
	name_hub(ref, arena);
	if (!repository_is_valid(ref->repository))
		return reference_bad(
			text, "the name takes lower-case letters, digits and single . _ - /", err);
	if (ref->tag && !tag_is_valid(ref->tag))
		return reference_bad(text, "the tag takes letters, digits and . _ -, 128 at most",
				     err);
	if (ref->digest && !digest_is_valid(ref->digest))
		return reference_bad(
			text, "the digest is not sha256: and 64, or sha512: and 128, hex digits",
			err);
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
	size_t length = host_length(registry);
	struct in_addr v4;
	char host[64];

	if (length >= sizeof(host) || (registry[length] && registry[length] != ':'))
		return false;
	memcpy(host, registry, length);
	host[length] = '\0';
	if (inet_pton(AF_INET, host, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) == 127;
	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}
