/* SPDX-License-Identifier: MIT */
#include "core/progress_event.h"

#include "core/arena.h"
#include "core/foreign.h"
#include "core/json.h"

#include <stdlib.h>

static bool are_on;

void progress_events(void)
{
	are_on = true;
}

bool progress_events_on(void)
{
	return are_on;
}

static cJSON *progress_event_begin(const char *event)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "event", event);
	return json;
}

static void progress_event_end(cJSON *json, struct str *line)
{
	_cleanup_(json_free) cJSON *whole = json;
	_cleanup_(free_pointer) char *text = cJSON_PrintUnformatted(whole);

	if (!text)
		oom();
	foreign_add_json(line, text);
	str_add_char(line, '\n');
}

void event_step(struct str *line, const struct event_step *step, const bool *ended)
{
	cJSON *json = progress_event_begin(step->digest ? "blob" : "step");

	if (step->digest)
		cJSON_AddStringToObject(json, "digest", step->digest);
	else
		cJSON_AddStringToObject(json, "name", step->name);
	cJSON_AddStringToObject(json, "state", step->state);
	if (step->digest) {
		cJSON_AddNumberToObject(json, "bytes_done", (double)step->done_bytes);
		cJSON_AddNumberToObject(json, "bytes_total", (double)step->total_bytes);
	}
	cJSON_AddNumberToObject(json, "seconds", step->seconds);
	cJSON_AddBoolToObject(json, "ended", ended != NULL);
	if (ended)
		cJSON_AddBoolToObject(json, "ok", *ended);
	progress_event_end(json, line);
}

void event_total(struct str *line, const struct progress_total *total, bool at_end)
{
	cJSON *json = progress_event_begin("total");

	for (enum progress_count i = 0; i < PROGRESS_COUNTS; i++)
		cJSON_AddNumberToObject(json, progress_count_name(i), (double)total->counts[i]);
	cJSON_AddNumberToObject(json, "bytes_per_second", total->bytes_per_s);
	cJSON_AddNumberToObject(json, "seconds", total->seconds);
	if (total->seconds_left >= 0)
		cJSON_AddNumberToObject(json, "seconds_left", total->seconds_left);
	cJSON_AddBoolToObject(json, "ended", at_end);
	progress_event_end(json, line);
}

void event_retry(struct str *line, const char *what, int try, int tries_max, double pause_s,
		 const char *why)
{
	cJSON *json = progress_event_begin("retry");

	cJSON_AddStringToObject(json, "what", what);
	cJSON_AddNumberToObject(json, "try", try);
	cJSON_AddNumberToObject(json, "tries_max", tries_max);
	cJSON_AddNumberToObject(json, "pause_seconds", pause_s);
	cJSON_AddStringToObject(json, "why", why);
	progress_event_end(json, line);
}

void event_text(struct str *line, const char *event, const char *text)
{
	cJSON *json = progress_event_begin(event);

	cJSON_AddStringToObject(json, "text", text);
	progress_event_end(json, line);
}
