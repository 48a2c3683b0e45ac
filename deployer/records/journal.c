/* SPDX-License-Identifier: MIT */
#include "deployer/records/journal.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/json.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void journal_add(const struct member *member, const char *action, const char *detail)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	const char *path = cluster_state_path(member->fleet->cluster, "journal.jsonl", &arena);
	_cleanup_(fd_close) int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600);
	_cleanup_(free_pointer) char *text = NULL;
	char now[24];

	if (fd < 0)
		return;
	clock_iso8601(now);
	cJSON_AddStringToObject(json, "time", now);
	cJSON_AddStringToObject(json, "host", member->host->name);
	cJSON_AddStringToObject(json, "action", action);
	json_add_text(json, "detail", detail);
	text = cJSON_PrintUnformatted(json);
	if (text) /* one write: lines of several threads do not mix */
		dprintf(fd, "%s\n", text);
}
