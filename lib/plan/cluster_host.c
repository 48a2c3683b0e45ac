/* SPDX-License-Identifier: MIT */
#include "plan/cluster.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535

bool cluster_host_word(const char *word)
{
	if (!isalnum((unsigned char)*word) && *word != '_' && *word != ':')
		return false;
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) && !strchr(".-_:", *word))
			return false;
	return true;
}

const struct host *cluster_host(const struct cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->host_count; i++)
		if (strcmp(cluster->hosts[i].name, name) == 0 ||
		    strcmp(cluster->hosts[i].address, name) == 0)
			return &cluster->hosts[i];
	return NULL;
}

/* Removes ":PORT" from the end of ADDRESS:PORT or [ADDRESS]:PORT. False when it is not a port. */
static bool split_port(char **address, int *port)
{
	char *text = *address, *close = strchr(text, ']'), *colon = strrchr(text, ':');

	if (*text == '[' && close) {
		*address = text + 1;
		*close = '\0';
		colon = close[1] == ':' ? close + 1 : NULL;
		if (!colon)
			return !close[1];
	} else if (!colon || strchr(text, ':') != colon) {
		return true;
	}
	*colon++ = '\0';
	if (!*colon || strlen(colon) > 5 || colon[strspn(colon, "0123456789")])
		return false;
	*port = (int)strtol(colon, NULL, 10);
	return *port > 0 && *port <= PORT_MAX;
}

int cluster_host_named(const struct cluster *cluster, const char *text, struct arena *arena,
		       struct host *host, struct error *err)
{
	const struct host *known = cluster_host(cluster, text);
	char *address = arena_strdup(arena, text), *at = strrchr(address, '@');
	int port;

	if (known) {
		*host = *known;
		return 0;
	}
	cluster_init_host(cluster, arena, host);
	if (at) {
		*at = '\0';
		host->user = address;
		host->user_given = true;
		address = at + 1;
	}
	port = host->port;
	if (!split_port(&address, &host->port) || !cluster_host_word(address) ||
	    !cluster_host_word(host->user))
		return error_set(err, ERROR_USAGE,
				 "'%s' is neither a host of %s nor [USER@]ADDRESS[:PORT]", text,
				 cluster->path);
	host->name = host->address = address;
	host->port_given = host->port != port;
	return 0;
}
