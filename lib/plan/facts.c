/* SPDX-License-Identifier: MIT */
#include "plan/facts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_REAL_MAX 9007199254740992.0 /* 2^53 */

/* One row per fact: its name on the wire and in JSON, and where it goes. */
static const struct {
	const char *name;
	size_t offset;
	enum { TEXT, WHOLE, REAL } kind;
} rows[] = {
#define ROW(member, kind)                                     \
	{                                                     \
#member, offsetof(struct facts, member), kind \
	}
	ROW(hostname, TEXT),
	ROW(os, TEXT),
	ROW(kernel, TEXT),
	ROW(arch, TEXT),
	ROW(glibc, TEXT),
	ROW(gcc, TEXT),
	ROW(python, TEXT),
	ROW(engine, TEXT),
	ROW(engine_version, TEXT),
	ROW(engine_error, TEXT),
	ROW(runtime_gpu, TEXT),
	ROW(driver, TEXT),
	ROW(gpus, TEXT),
	ROW(gpu_uuids, TEXT),
	ROW(gpu_error, TEXT),
	ROW(simulated, TEXT),
	ROW(address, TEXT),
	ROW(interface, TEXT),
	ROW(interface_cidr, TEXT),
	ROW(infiniband, TEXT),
	ROW(infiniband_ports, TEXT),
	ROW(nics, TEXT),
	ROW(pci_links, TEXT),
	ROW(nvlinks, TEXT),
	ROW(interface_mbit, WHOLE),
	ROW(data_root, TEXT),
	ROW(cpus, WHOLE),
	ROW(memory_bytes, REAL),
	ROW(disk_free_bytes, REAL),
	ROW(clock_skew_seconds, REAL),
#undef ROW
};

static void *facts_place(struct facts *facts, size_t row)
{
	return (char *)facts + rows[row].offset;
}

static void facts_clear(struct facts *facts, const char *host)
{
	*facts = (struct facts){.host = host};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].kind == TEXT)
			*(const char **)facts_place(facts, i) = "";
}

/*
 * A host may say anything, and a double that is no number or beyond an integer cannot become one:
 * C leaves undefined what then happens. More than 2^53 is not exact anyhow.
 */
static double facts_real(double value)
{
	return value >= -FACTS_REAL_MAX && value <= FACTS_REAL_MAX ? value : 0;
}

static double facts_bytes(double value)
{
	return value >= 0 ? facts_real(value) : 0;
}

static int facts_whole(long value)
{
	return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (int)value;
}

static void facts_set(struct facts *facts, const char *name, const char *value, struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		if (rows[i].kind == TEXT)
			*(const char **)facts_place(facts, i) = arena_strdup(arena, value);
		else if (rows[i].kind == WHOLE)
			*(int *)facts_place(facts, i) = facts_whole(strtol(value, NULL, 10));
		else
			*(double *)facts_place(facts, i) = facts_bytes(strtod(value, NULL));
	}
}

int facts_parse(const char *host, const char *text, double controller_time, struct arena *arena,
		struct facts *facts, struct error *err)
{
	char *copy = arena_strdup(arena, text), *line;

	facts_clear(facts, arena_strdup(arena, host));
	while ((line = strsep(&copy, "\n"))) {
		char *equals = strchr(line, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (strcmp(line, "clock") == 0)
			facts->clock_skew_seconds =
				facts_real(strtod(equals + 1, NULL) - controller_time);
		else
			facts_set(facts, line, equals + 1, arena);
	}
	if (!*facts->kernel)
		return error_set(
			err, ERROR_FAILED,
			"the probe got no answer that it understands; is there a POSIX sh on the host?");
	return 0;
}

cJSON *facts_to_json(const struct facts *facts)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "host", facts->host);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const void *value = (const char *)facts + rows[i].offset;

		if (rows[i].kind == TEXT)
			cJSON_AddStringToObject(json, rows[i].name, *(const char *const *)value);
		else if (rows[i].kind == WHOLE)
			cJSON_AddNumberToObject(json, rows[i].name, *(const int *)value);
		else
			cJSON_AddNumberToObject(json, rows[i].name, *(const double *)value);
	}
	return json;
}

int facts_from_json(const cJSON *json, struct arena *arena, struct facts *facts, struct error *err)
{
	const char *host = json_text(json, "host", arena);

	if (!host)
		return error_set(err, ERROR_USAGE, "a host in the facts file has no 'host'");
	facts_clear(facts, host);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = json_text(json, rows[i].name, arena);

		if (rows[i].kind == TEXT && text)
			*(const char **)facts_place(facts, i) = text;
		else if (rows[i].kind == WHOLE)
			*(int *)facts_place(facts, i) =
				facts_whole(json_int(json, rows[i].name, 0));
		else if (rows[i].kind == REAL)
			*(double *)facts_place(facts, i) =
				facts_bytes(json_number(json, rows[i].name, 0));
	}
	facts->clock_skew_seconds = facts_real(json_number(json, "clock_skew_seconds", 0));
	return 0;
}
