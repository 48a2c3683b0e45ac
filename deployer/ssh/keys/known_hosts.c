/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/known_hosts.h"

#include "core/file.h"
#include "core/str.h"

#include <ctype.h>
#include <fnmatch.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_HOSTS_CEILING_BYTES (32 * MIB)
#define KNOWN_HOSTS_FILES_MAX 8

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

static void known_hosts_read_line(struct known_hosts *known, char *line, struct known_host_key key,
				  const char *name)
{
	bool is_authority = false;
	char *field = next_field(&line);

	if (field && strcmp(field, "@revoked") == 0) {
		key.revoked = true;
		field = next_field(&line);
	} else if (field && strcmp(field, "@cert-authority") == 0) {
		is_authority = true;
		field = next_field(&line);
	}
	if (!field || *field == '@' || *field == '#')
		return;
	key.type = next_field(&line);
	key.base64 = next_field(&line);
	if (!key.type || !key.base64 || !field_matches(field, name))
		return;
	if (is_authority)
		known->has_authority = true;
	else
		known->keys[known->count++] = key;
}

/* The file's text; "" where there is no file. */
static int known_hosts_read(const char *path, struct arena *arena, char **text, struct error *err)
{
	*text = arena_strdup(arena, "");
	if (access(path, F_OK) < 0)
		return 0;
	return file_read(path, KNOWN_HOSTS_CEILING_BYTES, arena, text, NULL, err);
}

int known_hosts_load(const char *const *paths, const char *name, struct arena *arena,
		     struct known_hosts *known, struct error *err)
{
	char *lower = arena_strdup(arena, name), *texts[KNOWN_HOSTS_FILES_MAX];
	size_t lines = 0;

	*known = (struct known_hosts){.path = paths[0]};
	for (char *p = lower; *p; p++) /* like ssh, which hashes names in lower case */
		*p = (char)tolower((unsigned char)*p);
	for (size_t i = 0; paths[i] && i < KNOWN_HOSTS_FILES_MAX; i++) {
		if (known_hosts_read(paths[i], arena, &texts[i], err) < 0)
			return -1;
		lines++;
		for (const char *p = texts[i]; *p; p++)
			lines += *p == '\n';
	}
	known->keys = ARENA_ARRAY(arena, lines, struct known_host_key);
	for (size_t i = 0; paths[i] && i < KNOWN_HOSTS_FILES_MAX; i++) {
		struct known_host_key key = {.path = paths[i]};
		char *line;

		for (key.line = 1; (line = strsep(&texts[i], "\n")); key.line++)
			known_hosts_read_line(known, line, key, lower);
	}
	return 0;
}

enum known_hosts_answer known_hosts_check(const struct known_hosts *known, const char *type,
					  const char *base64, const struct known_host_key **where)
{
	enum known_hosts_answer answer = KNOWN_HOSTS_UNKNOWN;

	for (size_t i = 0; i < known->count; i++) {
		const struct known_host_key *key = &known->keys[i];
		bool same = strcmp(key->type, type) == 0 && strcmp(key->base64, base64) == 0;

		if (key->revoked && same) {
			*where = key;
			return KNOWN_HOSTS_REVOKED;
		}
		if (same)
			answer = KNOWN_HOSTS_MATCH;
		else if (!key->revoked && answer != KNOWN_HOSTS_MATCH) {
			answer = KNOWN_HOSTS_CHANGED;
			*where = key;
		}
	}
	return answer;
}
