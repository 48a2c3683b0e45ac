/* SPDX-License-Identifier: MIT */
#include "deployer/diagnosis/collectives.h"

#include "core/base.h"
#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 64
#define RANKS_MAX 4096 /* that are remembered */
#define RANKS_SHOWN 4

struct collectives_rank {
	const char *host;
	int rank;
	long queued;
};

struct collectives {
	struct arena *arena;
	char group[GROUP_BYTES]; /* of the first line; only its lines count */
	struct collectives_rank *ranks;
	size_t count;
};

struct collectives *collectives_new(struct arena *arena)
{
	struct collectives *said = ARENA_NEW(arena, struct collectives);

	said->arena = arena;
	return said;
}

/* Whether the line is of the group "PG ID 0 PG GUID 0(default_pg)". The first line says which group that is. */
static bool collectives_is_of_group(struct collectives *said, const char *line, const char *end)
{
	const char *from = memmem(line, (size_t)(end - line), "[PG ID ", 7), *to;

	if (!from)
		return false;
	to = memmem(from, (size_t)(end - from), " Rank ", 6);
	if (!to || to - from >= GROUP_BYTES)
		return false;
	if (!*said->group)
		memcpy(said->group, from, (size_t)(to - from));
	return strncmp(said->group, from, (size_t)(to - from)) == 0 && !said->group[to - from];
}

static struct collectives_rank *collectives_rank(struct collectives *said, int rank)
{
	for (size_t i = 0; i < said->count; i++)
		if (said->ranks[i].rank == rank)
			return &said->ranks[i];
	if (said->count == RANKS_MAX)
		return NULL;
	if (!said->ranks)
		said->ranks = ARENA_ARRAY(said->arena, RANKS_MAX, struct collectives_rank);
	said->ranks[said->count] = (struct collectives_rank){.rank = rank};
	return &said->ranks[said->count++];
}

/* `at` is behind "ast enqueued " of a line. */
static void collectives_take(struct collectives *said, const char *host, int rank, const char *at)
{
	static const char *const words[] = {"NCCL work: ", "work: "};
	struct collectives_rank *known;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t length = strlen(words[i]);
		char *end;
		long queued;

		if (strncmp(at, words[i], length) != 0)
			continue;
		queued = strtol(at + length, &end, 10);
		if (end == at + length || queued < 0)
			return;
		known = collectives_rank(said, rank);
		if (known) {
			known->host = host;
			known->queued = queued;
		}
		return;
	}
}

void collectives_feed(struct collectives *said, const char *host, int rank, const char *lines)
{
	static const char word[] = "ast enqueued ";

	for (const char *at = lines; rank >= 0 && (at = strstr(at, word)); at += strlen(word)) {
		const char *line = at;

		while (line > lines && line[-1] != '\n')
			line--;
		if (collectives_is_of_group(said, line, at))
			collectives_take(said, host, rank, at + strlen(word));
	}
}

static const char *collectives_many(long count, struct arena *arena)
{
	return arena_printf(arena, "%ld collective%s of NCCL", count, count == 1 ? "" : "s");
}

const char *collectives_behind(const struct collectives *said, struct arena *arena)
{
	_cleanup_(str_release) struct str who = STR_INIT;
	const struct collectives_rank *least = said->ranks, *most = said->ranks;
	size_t behind = 0;

	if (said->count < 2)
		return "";
	for (size_t i = 1; i < said->count; i++) {
		const struct collectives_rank *rank = &said->ranks[i];

		least = rank->queued < least->queued ? rank : least;
		most = rank->queued > most->queued ? rank : most;
	}
	if (least->queued == most->queued)
		return arena_printf(
			arena,
			"none of %zu ranks is behind: each had queued %s; the last one differs between them in kind or size, or their network hangs",
			said->count, collectives_many(most->queued, arena));
	for (size_t i = 0; i < said->count; i++)
		if (said->ranks[i].queued == least->queued && behind++ < RANKS_SHOWN)
			str_addf(&who, "%srank %d on %s", behind > 1 ? ", " : "",
				 said->ranks[i].rank, said->ranks[i].host);
	if (behind > RANKS_SHOWN)
		str_addf(&who, " and %zu more", behind - RANKS_SHOWN);
	return arena_printf(arena, "%s %s behind: %s had queued %s, and others %ld", who.text,
			    behind == 1 ? "is" : "are", behind == 1 ? "it" : "they",
			    collectives_many(least->queued, arena), most->queued);
}
