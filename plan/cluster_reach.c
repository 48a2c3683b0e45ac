/* SPDX-License-Identifier: MIT */
/* A machine that a person names on the command line. */
#include "plan/cluster.h"

#include <stdlib.h>
#include <string.h>

/* The port behind `colon`; 0 when it is none. */
static int port_of(const char *colon)
{
	size_t digits = strspn(colon + 1, "0123456789");
	int port =
		digits && digits < 6 && !colon[1 + digits] ? (int)strtol(colon + 1, NULL, 10) : 0;

	return port <= 65535 ? port : 0;
}

int cluster_reach(const struct cluster *cluster, const char *text, struct arena *arena,
		  struct host *host, struct error *err)
{
	const struct host *known = cluster_host(cluster, text);
	const char *at = strrchr(text, '@'), *place = at ? at + 1 : text;
	const char *bracket = *place == '[' ? strchr(place, ']') : NULL;
	const char *colon = strchr(bracket ? bracket : place, ':');
	const char *end = bracket ? bracket : colon ? colon : place + strlen(place);

	if (known) {
		*host = *known;
		return 0;
	}
	if (!bracket && colon && strchr(colon + 1, ':')) { /* an IPv6 address alone */
		end = place + strlen(place);
		colon = NULL;
	}
	*host = (struct host){.name = text,
			      .user = at ? arena_strndup(arena, text, (size_t)(at - text))
					 : cluster->ssh.user,
			      .port = colon ? port_of(colon) : 22,
			      .gpus = "",
			      .arch = ""};
	place += bracket != NULL;
	host->address = arena_strndup(arena, place, (size_t)(end - place));
	/* what begins with a dash would be an option of ssh */
	if (!*host->address || !*host->user || !host->port || *host->address == '-' ||
	    *host->user == '-' || strpbrk(host->address, " \t\n/@") ||
	    (bracket && bracket[1] && bracket[1] != ':'))
		return error_set(err, ERROR_USAGE,
				 "'%s' is no host of %s and not [USER@]ADDRESS[:PORT]", text,
				 cluster->path);
	return 0;
}
