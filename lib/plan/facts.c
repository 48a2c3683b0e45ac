/* SPDX-License-Identifier: MIT */
#include "plan/facts.h"

#include "core/foreign.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_REAL_MAX 9007199254740992.0 /* 2^53 */

/* NULL for one that has no member of its own. */
static void *facts_place(struct facts *facts, size_t row)
{
	size_t offset = fact_rows[row].offset;

	return offset == FACT_MORE ? NULL : (char *)facts + offset;
}

static void facts_clear(struct facts *facts, const char *host)
{
	*facts = (struct facts){.host = host};
	for (size_t i = 0; i < fact_row_count; i++)
		if (fact_rows[i].kind == FACT_TEXT && fact_rows[i].offset != FACT_MORE)
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

/* A number that is no member, as JSON and people get it. */
static const char *facts_number_text(double value, struct arena *arena)
{
	return value == (double)(int64_t)value ? arena_printf(arena, "%.0f", value)
					       : arena_printf(arena, "%.10g", value);
}

static void facts_set_more(struct facts *facts, size_t row, const char *value, struct arena *arena)
{
	if (!facts->more)
		facts->more = ARENA_ARRAY(arena, fact_row_count, const char *);
	facts->more[row] = fact_rows[row].kind == FACT_TEXT
				   ? arena_strdup(arena, value)
				   : facts_number_text(facts_bytes(strtod(value, NULL)), arena);
}

static void facts_set(struct facts *facts, size_t row, const char *value, struct arena *arena)
{
	if (fact_rows[row].offset == FACT_MORE)
		facts_set_more(facts, row, value, arena);
	else if (fact_rows[row].kind == FACT_TEXT)
		*(const char **)facts_place(facts, row) = arena_strdup(arena, value);
	else if (fact_rows[row].kind == FACT_WHOLE)
		*(int *)facts_place(facts, row) = facts_whole(strtol(value, NULL, 10));
	else if (fact_rows[row].kind == FACT_REAL)
		*(double *)facts_place(facts, row) = facts_bytes(strtod(value, NULL));
}

static const char *facts_more(const struct facts *facts, size_t row)
{
	return facts->more && facts->more[row] ? facts->more[row] : "";
}

const char *facts_text(const struct facts *facts, size_t row, struct arena *arena)
{
	const void *place = facts_place((struct facts *)facts, row);

	if (fact_rows[row].offset == FACT_MORE)
		return facts_more(facts, row);
	if (fact_rows[row].kind == FACT_TEXT)
		return *(const char *const *)place;
	if (fact_rows[row].kind == FACT_WHOLE)
		return arena_printf(arena, "%d", *(const int *)place);
	if (fact_rows[row].kind == FACT_SKEW)
		return arena_printf(arena, "%.1f", *(const double *)place);
	return facts_number_text(*(const double *)place, arena);
}

void facts_keep_details(struct facts *facts, const struct facts *before, struct arena *arena)
{
	for (size_t i = 0; i < fact_row_count; i++)
		if (fact_rows[i].offset == FACT_MORE && *facts_more(before, i) &&
		    !*facts_more(facts, i))
			facts_set_more(facts, i, facts_more(before, i), arena);
}

static void facts_set_line(struct facts *facts, const char *key, const char *value,
			   struct arena *arena)
{
	size_t row = fact_row(key);

	if (row != FACT_NONE)
		facts_set(facts, row, value, arena);
}

/* The host's clock minus this machine's: what is nearest to zero of all that the two readings allow. */
static double facts_skew(double first, double last, const struct probe_span *span)
{
	double most = first - span->asked, least = (last > 0 ? last : first) - span->answered;

	if (least > 0)
		return facts_real(least);
	return most < 0 ? facts_real(most) : 0;
}

int facts_parse(const char *host, const char *text, const struct probe_span *span,
		struct arena *arena, struct facts *facts, struct error *err)
{
	char *copy = arena_strdup(arena, text), *line;
	double first = 0, last = 0;

	foreign_make_utf8(copy); /* facts are kept as JSON */
	facts_clear(facts, arena_strdup(arena, host));
	while ((line = strsep(&copy, "\n"))) {
		char *equals = strchr(line, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (strcmp(line, "clock") == 0)
			first = strtod(equals + 1, NULL);
		else if (strcmp(line, "clock_at_end") == 0)
			last = strtod(equals + 1, NULL);
		else
			facts_set_line(facts, line, equals + 1, arena);
	}
	if (span && first > 0)
		facts->clock_skew_seconds = facts_skew(first, last, span);
	if (!*facts->kernel)
		return error_set(
			err, ERROR_FAILED,
			"the probe got no answer that it understands; is there a POSIX sh on the host?");
	return 0;
}

/* Members always stand there; a fact in `more` that is not known does not. */
static void facts_row_to_json(const struct facts *facts, size_t row, cJSON *json)
{
	const struct fact_row *r = &fact_rows[row];
	const void *place = facts_place((struct facts *)facts, row);

	if (r->offset == FACT_MORE && r->kind == FACT_TEXT)
		json_add_text(json, r->key, facts_more(facts, row));
	else if (r->offset == FACT_MORE && *facts_more(facts, row))
		cJSON_AddNumberToObject(json, r->key, strtod(facts_more(facts, row), NULL));
	else if (r->offset == FACT_MORE)
		return;
	else if (r->kind == FACT_TEXT)
		cJSON_AddStringToObject(json, r->key, *(const char *const *)place);
	else if (r->kind == FACT_WHOLE)
		cJSON_AddNumberToObject(json, r->key, *(const int *)place);
	else
		cJSON_AddNumberToObject(json, r->key, *(const double *)place);
}

cJSON *facts_to_json(const struct facts *facts)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "host", facts->host);
	for (size_t i = 0; i < fact_row_count; i++)
		facts_row_to_json(facts, i, json);
	return json;
}

static void facts_row_from_json(const cJSON *json, size_t row, struct arena *arena,
				struct facts *facts)
{
	const struct fact_row *r = &fact_rows[row];
	const cJSON *member = json_member(json, r->key);

	if (r->kind == FACT_TEXT && cJSON_IsString(member))
		facts_set(facts, row, json_text(json, r->key, arena), arena);
	else if (r->kind == FACT_WHOLE && r->offset != FACT_MORE)
		*(int *)facts_place(facts, row) = facts_whole(json_int(json, r->key, 0));
	else if (r->kind == FACT_REAL && r->offset != FACT_MORE)
		*(double *)facts_place(facts, row) = facts_bytes(json_number(json, r->key, 0));
	else if (r->kind != FACT_TEXT && r->offset == FACT_MORE && cJSON_IsNumber(member))
		facts_set_more(facts, row,
			       facts_number_text(facts_bytes(member->valuedouble), arena), arena);
}

int facts_from_json(const cJSON *json, struct arena *arena, struct facts *facts, struct error *err)
{
	const char *host = json_text(json, "host", arena);

	if (!host)
		return error_set(err, ERROR_USAGE, "a host in the facts file has no 'host'");
	facts_clear(facts, host);
	for (size_t i = 0; i < fact_row_count; i++)
		facts_row_from_json(json, i, arena, facts);
	facts->clock_skew_seconds = facts_real(json_number(json, "clock_skew_seconds", 0));
	return 0;
}
