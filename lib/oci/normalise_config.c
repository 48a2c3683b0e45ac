/* SPDX-License-Identifier: MIT */
#include "oci/normalise.h"

#include <string.h>
#include <time.h>

#define CHECKSUM_DIGITS 64 /* of a SHA-256 */

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
