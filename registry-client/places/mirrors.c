/* SPDX-License-Identifier: MIT */
#include "registry-client/places/mirrors.h"

#include "core/file.h"
#include "core/json.h"
#include "registry-client/limits.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int read_conf(const char *path, struct arena *arena, struct registry_entry **list,
		     struct error *err)
{
	size_t length;
	char *text;

	if (!file_exists(path))
		return 0;
	if (file_read(path, REGISTRIES_CONF_BYTES_MAX, arena, &text, &length, err) < 0)
		return error_of_input(err);
	if (strlen(text) != length)
		return error_set(err, ERROR_USAGE, "%s holds a NUL, which no text can hold", path);
	return registries_conf_parse(path, text, arena, list, err);
}

static int mirrors_read_folder(const char *folder, struct arena *arena,
			       struct registry_entry **list, struct error *err)
{
	const char **names;

	if (!file_exists(folder))
		return 0;
	if (folder_list(folder, ".conf", arena, &names, err) < 0)
		return -1;
	for (; *names; names++)
		if (read_conf(arena_printf(arena, "%s/%s", folder, *names), arena, list, err) < 0)
			return -1;
	return 0;
}

static int read_confs(struct arena *arena, struct registry_entry **list, struct error *err)
{
	const char *named = getenv("CONTAINERS_REGISTRIES_CONF");
	const char *own = path_expand(arena, NULL, "~/.config/containers/registries.conf");
	const char *machine = "/etc/containers/registries.conf";

	if (named && *named)
		return read_conf(named, arena, list, err);
	if (read_conf(file_exists(own) ? own : machine, arena, list, err) < 0 ||
	    mirrors_read_folder(arena_printf(arena, "%s.d", machine), arena, list, err) < 0)
		return -1;
	return mirrors_read_folder(arena_printf(arena, "%s.d", own), arena, list, err);
}

/* How much of the image's name the prefix covers; 0: it does not fit. */
static size_t mirrors_covers(const char *prefix, const char *name)
{
	size_t length = strlen(prefix), host = strcspn(name, "/");

	if (strncmp(prefix, "*.", 2) == 0)
		return host > length - 1 && strncmp(name + host - (length - 1), prefix + 1,
						    length - 1) == 0
			       ? host
			       : 0;
	return strncmp(prefix, name, length) == 0 && strchr("/:@", name[length]) ? length : 0;
}

static const struct registry_entry *mirrors_choose(const struct registry_entry *list,
						   const char *name)
{
	const struct registry_entry *best = NULL;

	for (; list; list = list->next) /* the last one read comes first */
		if (mirrors_covers(list->prefix, name) &&
		    (!best || strlen(list->prefix) > strlen(best->prefix)))
			best = list;
	return best;
}

static int mirrors_blocked(const struct registry_entry *entry, struct error *err)
{
	return error_set(err, ERROR_USAGE, "registries.conf blocks %s", entry->prefix);
}

/* Whether two names begin with the same HOST[:PORT]. */
static bool is_same_host(const char *a, const char *b)
{
	size_t length = strcspn(a, "/");

	return length == strcspn(b, "/") && strncmp(a, b, length) == 0;
}

int mirrors_admit(const struct reference *ref, struct arena *arena, bool *insecure,
		  struct error *err)
{
	const char *name = ref->repository ? reference_text(ref, arena) : ref->registry;
	const struct registry_entry *entry;
	struct registry_entry *list = NULL;

	*insecure = false;
	if (read_confs(arena, &list, err) < 0)
		return -1;
	entry = mirrors_choose(list, name);
	if (entry && entry->blocked)
		return mirrors_blocked(entry, err);
	/* when the name leads to another host, `insecure` is about that host */
	*insecure = entry && entry->insecure &&
		    (!*entry->location || mirrors_covers(entry->location, ref->registry) ||
		     is_same_host(entry->location, name));
	return 0;
}

/* Whether the address (without a port) lies in a network such as "10.0.0.0/8" or "fd00::/8". */
static bool is_in_network(const char *host, const char *network, struct arena *arena)
{
	const char *slash = strchr(network, '/');
	int family = strchr(network, ':') ? AF_INET6 : AF_INET;
	unsigned char own[16], base[16];
	char *end;
	unsigned long bits;

	if (!slash || inet_pton(family, host, own) != 1 ||
	    inet_pton(family, arena_strndup(arena, network, (size_t)(slash - network)), base) != 1)
		return false;
	bits = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || bits > (family == AF_INET ? 32 : 128))
		return false;
	for (size_t i = 0; i < bits; i++)
		if ((own[i / 8] ^ base[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

/* A file that only the daemon may read is treated as absent. */
static int read_docker(cJSON **json, struct error *err)
{
	const char *path = "/etc/docker/daemon.json";

	*json = NULL;
	return access(path, R_OK) == 0 ? json_read_input(path, json, err) : 0;
}

int mirrors_docker_insecure(const char *address, struct arena *arena, bool *insecure,
			    struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	size_t length = *address == '[' ? strcspn(address, "]") + 1 : strcspn(address, ":");
	const char *host = *address == '[' ? arena_strndup(arena, address + 1, length - 2)
					   : arena_strndup(arena, address, length);
	const cJSON *item;

	*insecure = false;
	if (read_docker(&json, err) < 0)
		return -1;
	cJSON_ArrayForEach (item, json_member(json, "insecure-registries"))
		*insecure = *insecure || (cJSON_IsString(item) &&
					  (strcmp(item->valuestring, address) == 0 ||
					   strcmp(item->valuestring, host) == 0 ||
					   is_in_network(host, item->valuestring, arena)));
	return 0;
}

/* Adds the image's name with another beginning. */
static int mirrors_add(struct mirrors *mirrors, const char *location, const char *rest,
		       bool plain_http, struct arena *arena, struct error *err)
{
	struct mirror *mirror = &mirrors->list[mirrors->count++];
	const char *name = arena_printf(arena, "%s%s", location, rest);

	*mirror = (struct mirror){.plain_http = plain_http, .is_mirror = true};
	if (reference_parse(name, arena, &mirror->ref, err) < 0)
		return error_wrap(err, "mirror %s", location);
	return 0;
}

static int add_url(struct mirrors *mirrors, const char *url, const char *rest, struct arena *arena,
		   struct error *err)
{
	const char *host = strstr(url, "://");
	char *location = arena_strdup(arena, host ? host + 3 : url);

	while (ends_with(location, "/"))
		location[strlen(location) - 1] = '\0';
	if (mirrors_add(mirrors, location, rest, starts_with(url, "http://"), arena, err) < 0)
		return -1;
	mirrors->list[mirrors->count - 1].has_scheme = host != NULL;
	return 0;
}

/* Adds Docker's own mirrors, which are only for Docker Hub. */
static int add_docker(struct mirrors *mirrors, const char *rest, struct arena *arena,
		      struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *item;

	if (read_docker(&json, err) < 0)
		return -1;
	cJSON_ArrayForEach (item, json_member(json, "registry-mirrors"))
		if (cJSON_IsString(item) && mirrors->count < MIRRORS_MAX &&
		    add_url(mirrors, item->valuestring, rest, arena, err) < 0)
			return -1;
	return 0;
}

static int mirrors_add_entry(struct mirrors *mirrors, const struct registry_entry *entry,
			     const char *name, bool has_digest, struct arena *arena,
			     struct error *err)
{
	const char *rest = name + mirrors_covers(entry->prefix, name);

	if (entry->blocked)
		return mirrors_blocked(entry, err);
	for (size_t i = 0; i < entry->mirror_count && mirrors->count < MIRRORS_MAX; i++) {
		const char *pulls = entry->mirrors[i].pulls;

		if ((!has_digest && (entry->by_digest_only || strcmp(pulls, "digest-only") == 0)) ||
		    (has_digest && strcmp(pulls, "tag-only") == 0))
			continue;
		if (mirrors_add(mirrors, entry->mirrors[i].location, rest,
				entry->mirrors[i].insecure, arena, err) < 0)
			return -1;
	}
	return 0;
}

int mirrors_find(const struct reference *ref, const char *hub, struct arena *arena,
		 struct mirrors *mirrors, struct error *err)
{
	const char *name = reference_text(ref, arena), *rest = strchr(name, '/');
	bool is_hub = strcmp(ref->registry, "docker.io") == 0, has_digest = ref->digest != NULL;
	const struct registry_entry *entry;
	struct registry_entry *list = NULL;

	*mirrors = (struct mirrors){.count = 0};
	if (is_hub && *hub && add_url(mirrors, hub, rest, arena, err) < 0)
		return -1;
	if (read_confs(arena, &list, err) < 0)
		return -1;
	entry = mirrors_choose(list, name);
	if (entry && mirrors_add_entry(mirrors, entry, name, has_digest, arena, err) < 0)
		return -1;
	if (is_hub && add_docker(mirrors, rest, arena, err) < 0)
		return -1;
	if (entry && *entry->location) {
		if (mirrors_add(mirrors, entry->location,
				name + mirrors_covers(entry->prefix, name), entry->insecure, arena,
				err) < 0)
			return -1;
		mirrors->list[mirrors->count - 1].is_mirror = false;
		return 0;
	}
	mirrors->list[mirrors->count++] =
		(struct mirror){.ref = *ref, .plain_http = entry && entry->insecure};
	return 0;
}
