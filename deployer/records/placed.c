/* SPDX-License-Identifier: MIT */
#include "deployer/records/placed.h"

#include "core/file.h"
#include "core/json.h"

#include <string.h>

static int placed_read(const struct cluster *cluster, struct arena *arena, cJSON **json,
		       struct error *err)
{
	const char *path = cluster_state_path(cluster, "hosts.json", arena);

	*json = NULL;
	if (file_exists(path)) {
		if (json_read(path, json, err) < 0)
			return error_advise(err, "remove it; 'ringup up' writes it anew");
		if (cJSON_IsArray(json_member(*json, "hosts")))
			return 0;
		cJSON_Delete(*json);
	}
	*json = json_document();
	cJSON_AddArrayToObject(*json, "hosts");
	return 0;
}

static bool placed_is(const cJSON *item, const struct host *host)
{
	const cJSON *address = json_member(item, "address");

	return cJSON_IsString(address) && strcmp(address->valuestring, host->address) == 0 &&
	       json_int(item, "port", 0) == host->port;
}

static void placed_take_out(cJSON *hosts, const struct host *host)
{
	for (int i = cJSON_GetArraySize(hosts) - 1; i >= 0; i--)
		if (placed_is(cJSON_GetArrayItem(hosts, i), host))
			cJSON_DeleteItemFromArray(hosts, i);
}

static void placed_put_in(cJSON *hosts, const struct member *member)
{
	const struct host *host = member->host;
	cJSON *item = cJSON_CreateObject();

	cJSON_AddItemToArray(hosts, item);
	cJSON_AddStringToObject(item, "name", host->name);
	cJSON_AddStringToObject(item, "address", host->address);
	cJSON_AddStringToObject(item, "user", host->user);
	cJSON_AddNumberToObject(item, "port", host->port);
	if (member->sshd_port && !cluster_sshd_port(member->fleet->cluster))
		cJSON_AddNumberToObject(item, "sshd_port", member->sshd_port);
}

static int placed_change(const struct fleet *fleet, bool puts_in, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL, *before = NULL;
	cJSON *hosts;

	if (placed_read(fleet->cluster, &arena, &json, err) < 0)
		return -1;
	before = cJSON_Duplicate(json, true);
	hosts = cJSON_GetObjectItem(json, "hosts");
	for (size_t i = 0; i < fleet->count; i++) {
		const struct host *host = fleet->members[i].host;

		if (fleet->members[i].failed || fleet->members[i].left_out)
			continue;
		placed_take_out(hosts, host);
		if (puts_in)
			placed_put_in(hosts, &fleet->members[i]);
	}
	if (cJSON_Compare(json, before, true))
		return 0;
	return json_write(cluster_state_path(fleet->cluster, "hosts.json", &arena), json, 0600,
			  err);
}

int placed_add(const struct fleet *fleet, struct error *err)
{
	return placed_change(fleet, true, err);
}

int placed_remove(const struct fleet *fleet, struct error *err)
{
	return placed_change(fleet, false, err);
}

int placed_read_ports(struct fleet *fleet, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *item;

	if (placed_read(fleet->cluster, &arena, &json, err) < 0)
		return -1;
	cJSON_ArrayForEach (item, json_member(json, "hosts")) {
		int port = json_int(item, "sshd_port", 0);

		for (size_t i = 0; i < fleet->count && port > 0 && port <= 65535; i++)
			if (placed_is(item, fleet->members[i].host))
				fleet->members[i].sshd_port = port;
	}
	return 0;
}

static bool placed_is_known(const cJSON *item, const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->host_count; i++)
		if (placed_is(item, &cluster->hosts[i]))
			return true;
	return false;
}

/* False for an entry that names no host: the file may have been changed by hand. */
static bool placed_host(const cJSON *item, const struct cluster *cluster, struct arena *arena,
			struct host *host)
{
	const char *name = json_text(item, "name", arena);
	const char *address = json_text(item, "address", arena);
	const char *user = json_text(item, "user", arena);
	int port = json_int(item, "port", 0);

	if (!name || !address || !user || !cluster_host_word(name) || !cluster_host_word(address) ||
	    !cluster_host_word(user) || port < 1 || port > 65535)
		return false;
	cluster_init_host(cluster, arena, host);
	host->name = name;
	host->address = address;
	host->user = user;
	host->port = port;
	return true;
}

int placed_departed(const struct cluster *cluster, struct arena *arena, struct host **hosts,
		    size_t *count, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *list, *item;

	*count = 0;
	if (placed_read(cluster, arena, &json, err) < 0)
		return -1;
	list = json_member(json, "hosts");
	*hosts = ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(list) + 1, struct host);
	cJSON_ArrayForEach (item, list)
		if (!placed_is_known(item, cluster) &&
		    placed_host(item, cluster, arena, &(*hosts)[*count]))
			++*count;
	return 0;
}
