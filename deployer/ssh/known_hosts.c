/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/known_hosts.h"

#include "core/file.h"
#include "core/str.h"

#include <ctype.h>
#include <fnmatch.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_HOSTS_CEILING_BYTES (32 * MIB)

const char *known_hosts_name(const char *address, int port, struct arena *arena)
{
	return port == 22 ? address : arena_printf(arena, "[%s]:%d", address, port);
}

/* "|1|SALT|HASH": HASH is HMAC-SHA1 of the name under SALT, both in base64. */
static bool hashed_name_matches(const char *field, const char *name)
{
	unsigned char salt[64], wanted[64], got[EVP_MAX_MD_SIZE];
	char part[128];
	const char *middle = strchr(field + 3, '|');
	unsigned int got_length = 0;
	size_t length;

	if (!middle)
		return false;
	length = (size_t)(middle - field - 3);
	if (length >= 64 || strlen(middle + 1) >= 64)
		return false;
	memcpy(part, field + 3, length);
	part[length] = '\0';
	if (EVP_DecodeBlock(salt, (unsigned char *)part, (int)length) < 20 ||
	    EVP_DecodeBlock(wanted, (const unsigned char *)middle + 1, (int)strlen(middle + 1)) <
		    20)
		return false;
	HMAC(EVP_sha1(), salt, 20, (const unsigned char *)name, strlen(name), got, &got_length);
	return got_length == 20 && memcmp(got, wanted, 20) == 0;
}

/* One pattern of the list; wildcards are '*' and '?' only, brackets are literal. */
static bool pattern_matches(const char *pattern, const char *name)
{
	char escaped[1024];
	size_t used = 0;

	for (; *pattern && used + 3 < sizeof(escaped); pattern++) {
		if (strchr("[]\\", *pattern))
			escaped[used++] = '\\';
		escaped[used++] = *pattern;
	}
	escaped[used] = '\0';
	return fnmatch(escaped, name, FNM_CASEFOLD) == 0;
}

static bool field_matches(char *field, const char *name)
{
	bool matched = false;
	char *pattern;

	if (starts_with(field, "|1|"))
		return hashed_name_matches(field, name);
	while ((pattern = strsep(&field, ","))) {
		if (*pattern == '!' && pattern_matches(pattern + 1, name))
			return false;
		if (*pattern != '!' && pattern_matches(pattern, name))
			matched = true;
	}
	return matched;
}

/* The next field, or NULL; any run of blanks stands between two. */
static char *next_field(char **line)
{
	char *field;

	*line += strspn(*line, " \t\r");
	if (!**line)
		return NULL;
	field = *line;
	*line += strcspn(*line, " \t\r");
	if (**line)
		*(*line)++ = '\0';
	return field;
}

static void known_hosts_read_line(struct known_hosts *known, char *line, int number,
				  const char *name)
{
	struct known_host_key key = {.line = number};
	char *field = next_field(&line);

	if (field && strcmp(field, "@revoked") == 0) {
		key.revoked = true;
		field = next_field(&line);
	}
	if (!field || *field == '@' || *field == '#')
		return;
	key.type = next_field(&line);
	key.base64 = next_field(&line);
	if (key.type && key.base64 && field_matches(field, name))
		known->keys[known->count++] = key;
}

int known_hosts_load(const char *path, const char *address, int port, struct arena *arena,
		     struct known_hosts *known, struct error *err)
{
	char *name = arena_strdup(arena, known_hosts_name(address, port, arena));
	size_t lines = 1;
	int number = 0;
	char *text, *line;

	*known = (struct known_hosts){.path = path};
	for (char *p = name; *p; p++) /* like ssh, which hashes names in lower case */
		*p = (char)tolower((unsigned char)*p);
	if (access(path, F_OK) < 0)
		return 0;
	if (file_read(path, KNOWN_HOSTS_CEILING_BYTES, arena, &text, NULL, err) < 0)
		return -1;
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	known->keys = ARENA_ARRAY(arena, lines, struct known_host_key);
	while ((line = strsep(&text, "\n")))
		known_hosts_read_line(known, line, ++number, name);
	return 0;
}

enum known_hosts_answer known_hosts_check(const struct known_hosts *known, const char *type,
					  const char *base64, int *line)
{
	enum known_hosts_answer answer = KNOWN_HOSTS_UNKNOWN;

	for (size_t i = 0; i < known->count; i++) {
		const struct known_host_key *key = &known->keys[i];
		bool same = strcmp(key->type, type) == 0 && strcmp(key->base64, base64) == 0;

		if (key->revoked && same) {
			*line = key->line;
			return KNOWN_HOSTS_REVOKED;
		}
		if (same)
			answer = KNOWN_HOSTS_MATCH;
		else if (!key->revoked && answer != KNOWN_HOSTS_MATCH) {
			answer = KNOWN_HOSTS_CHANGED;
			*line = key->line;
		}
	}
	return answer;
}
