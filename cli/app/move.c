/* SPDX-License-Identifier: MIT */
#include "cli/app/move.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/progress_event.h"
#include "core/str.h"

#include <string.h>

/* A move waits for its registry most of the time, and all of them share one set of connections. */
#define MOVES_AT_ONCE 8

/* One image on its way. */
struct move {
	struct place from, to;
	struct moved moved;
	struct error err;
	bool is_done;
	struct arena arena; /* its thread's */
};

struct moves {
	struct context *ctx;
	const struct move_options *options;
	struct crew *crew;
	struct move *list;
	size_t count;
	struct budget_limits limits;
	bool are_several; /* by the way they were written: one source to a prefix counts */
};

static const char *place_text(const struct place *place, struct arena *arena)
{
	if (place->kind == PLACE_REGISTRY)
		return reference_text(&place->ref, arena);
	if (place->kind == PLACE_LAYOUT && place->name)
		return arena_printf(arena, "oci:%s:%s", place->path, place->name);
	return place->text;
}

/* PREFIX/ and the image's own name, or its own name in the layout. */
static int set_target(struct move *move, const char *where, bool is_prefix, struct arena *arena,
		      struct error *err)
{
	const char *name;

	if (place_own_name(&move->from, arena, &name, err) < 0)
		return -1;
	if (is_prefix)
		return place_parse(arena_printf(arena, "%s%s", where, name), arena, &move->to, err);
	if (place_parse(where, arena, &move->to, err) < 0)
		return -1;
	if (move->to.kind != PLACE_LAYOUT || move->to.name)
		return error_set(
			err, ERROR_USAGE,
			"'%s' is a place for one image; several go to HOST/PREFIX/ or oci:DIR",
			where);
	move->to.name = name;
	return 0;
}

static int check_targets(const struct moves *moves, struct arena *arena, struct error *err)
{
	for (size_t i = 0; i < moves->count; i++)
		for (size_t k = 0; k < i; k++) {
			const char *text = place_text(&moves->list[i].to, arena);

			if (strcmp(text, place_text(&moves->list[k].to, arena)) == 0)
				return error_set(
					err, ERROR_USAGE,
					"%s and %s would both become %s; move one of them by itself, under another name",
					moves->list[k].from.text, moves->list[i].from.text, text);
		}
	return 0;
}

static int plan(const char *const *words,
		int (*check)(const struct place *from, const struct place *to, struct error *err),
		struct arena *arena, struct moves *moves, struct error *err)
{
	const char *where;
	size_t count = 0;
	bool is_prefix;

	while (words[count])
		count++;
	where = words[--count];
	is_prefix = ends_with(where, "/") && !strchr(where, '@') && !starts_with(where, "oci:") &&
		    !starts_with(where, "docker-") && !starts_with(where, "rootfs:");
	*moves = (struct moves){.list = ARENA_ARRAY(arena, count + 1, struct move),
				.count = count,
				.are_several = is_prefix || count > 1};
	for (size_t i = 0; i < count; i++) {
		struct move *move = &moves->list[i];

		if (place_parse(words[i], arena, &move->from, err) < 0)
			return -1;
		if (moves->are_several ? set_target(move, where, is_prefix, arena, err) < 0
				       : place_parse(where, arena, &move->to, err) < 0)
			return -1;
		if (check && check(&move->from, &move->to, err) < 0)
			return -1;
	}
	return check_targets(moves, arena, err);
}

static void move_print_line(const struct move *move, struct arena *arena)
{
	const struct moved *moved = &move->moved;
	char bytes[32];

	if (move->is_done)
		say("%s %s: %zu of %zu blobs, %s in %.1f s\n", place_text(&move->to, arena),
		    moved->digest, moved->blobs_moved, moved->blobs_total,
		    format_bytes(bytes, moved->bytes_moved), moved->seconds);
}

static void add_move(cJSON *json, const struct move *move, struct arena *arena)
{
	const struct moved *moved = &move->moved;
	cJSON *blobs;

	cJSON_AddStringToObject(json, "source", place_text(&move->from, arena));
	cJSON_AddStringToObject(json, "target", place_text(&move->to, arena));
	if (!move->is_done) {
		cJSON_AddStringToObject(json, "error", move->err.text);
		return;
	}
	cJSON_AddStringToObject(json, "digest", moved->digest);
	blobs = cJSON_AddObjectToObject(json, "blobs");
	cJSON_AddNumberToObject(blobs, "total", (double)moved->blobs_total);
	cJSON_AddNumberToObject(blobs, "moved", (double)moved->blobs_moved);
	cJSON_AddNumberToObject(blobs, "mounted", (double)moved->blobs_mounted);
	cJSON_AddNumberToObject(json, "bytes", (double)moved->bytes_moved);
	cJSON_AddNumberToObject(json, "bytes_resumed", (double)moved->bytes_resumed);
	cJSON_AddNumberToObject(json, "seconds", moved->seconds);
}

static void move_print_json(const struct moves *moves, const struct progress_total *total,
			    struct arena *arena)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = NULL, *sums;

	if (moves->are_several)
		list = cJSON_AddArrayToObject(json, "images");
	for (size_t i = 0; i < moves->count; i++) {
		cJSON *image = list ? cJSON_CreateObject() : json;

		add_move(image, &moves->list[i], arena);
		if (list)
			cJSON_AddItemToArray(list, image);
	}
	sums = cJSON_AddObjectToObject(json, "totals");
	for (enum progress_count i = 0; i < PROGRESS_COUNTS; i++)
		cJSON_AddNumberToObject(sums, progress_count_name(i), (double)total->counts[i]);
	cJSON_AddNumberToObject(sums, "bytes_per_second", total->bytes_per_s);
	cJSON_AddNumberToObject(sums, "seconds", total->seconds);
	json_print(stdout, json);
}

/* Standard output is the archive itself. */
static bool is_on_stdout(const struct moves *moves)
{
	return moves->list[0].to.kind == PLACE_ARCHIVE && strcmp(moves->list[0].to.path, "-") == 0;
}

static void move_own(void *arg, size_t index)
{
	struct moves *moves = arg;
	struct move *move = &moves->list[index];
	struct mover mover = {*moves->ctx, moves->options, moves->crew};

	mover.ctx.arena = &move->arena;
	move->is_done = interrupt_check(&move->err) == 0 &&
			mover_move(&mover, &move->from, &move->to, &move->moved, &move->err) == 0;
	if (!moves->are_several || move->err.kind == ERROR_INTERRUPTED)
		return;
	if (!move->is_done)
		log_error(arena_printf(&move->arena, "%s: %s", move->from.text, move->err.text));
	else if (!moves->ctx->json)
		move_print_line(move, &move->arena);
}

/* Runs all side by side. *failed: how many failed. The error of a single image becomes `err`. */
static int run_all(struct moves *moves, size_t *failed, struct error *err)
{
	pool_each(moves->count, MOVES_AT_ONCE, move_own, moves);
	*failed = 0;
	for (size_t i = 0; i < moves->count; i++) {
		const struct move *move = &moves->list[i];

		*failed += !move->is_done;
		if (!moves->are_several || move->err.kind == ERROR_INTERRUPTED) {
			*err = move->err;
			return move->is_done ? 0 : -1;
		}
	}
	return 0;
}

static int run_and_print(struct moves *moves, struct error *err)
{
	struct arena *arena = moves->ctx->arena;
	struct progress_total total;
	bool prints = !is_on_stdout(moves);
	size_t failed;
	int rc;

	progress_total_begin();
	rc = run_all(moves, &failed, err);
	progress_total_end(&total);
	if (rc < 0)
		return -1;
	if (moves->ctx->json && prints)
		move_print_json(moves, &total, arena);
	else if (!moves->are_several && prints)
		move_print_line(&moves->list[0], arena);
	return failed ? error_set(err, ERROR_FAILED,
				  "%zu of %zu images failed, the others are there", failed,
				  moves->count)
		      : 0;
}

/* What is unpacked on the way counts against limits; most moves unpack nothing. */
static int move_limit(struct moves *moves, struct error *err)
{
	bool unpacks = moves->options->limits.max_unpacked || moves->options->limits.max_entries;

	for (size_t i = 0; i < moves->count; i++)
		unpacks = unpacks || moves->list[i].from.kind == PLACE_ARCHIVE ||
			  moves->list[i].from.kind == PLACE_DAEMON ||
			  moves->list[i].to.kind == PLACE_ROOTFS;
	if (unpacks && limits_read(moves->ctx, &moves->options->limits, &moves->limits, err) < 0)
		return -1;
	for (size_t i = 0; i < moves->count; i++)
		moves->list[i].from.limits = moves->list[i].to.limits = &moves->limits;
	return 0;
}

/* Reads cluster.yaml, before there are threads that ask for it, when a registry is among the places. */
static int move_read_cluster(const struct moves *moves, struct error *err)
{
	const struct cluster *ignored;

	for (size_t i = 0; i < moves->count; i++)
		if (moves->list[i].from.kind == PLACE_REGISTRY ||
		    moves->list[i].to.kind == PLACE_REGISTRY)
			return context_cluster_or_defaults(moves->ctx, &ignored, err);
	return 0;
}

int move_images(struct context *ctx, const struct move_options *options, const char *const *words,
		int (*check)(const struct place *from, const struct place *to, struct error *err),
		struct error *err)
{
	_cleanup_(crew_release) struct crew crew;
	struct moves moves;
	int rc;

	crew_init(&crew, ctx->arena);
	if (options->all && options->platform)
		return error_set(err, ERROR_USAGE, "--all and --platform exclude each other");
	if (plan(words, check, ctx->arena, &moves, err) < 0)
		return -1;
	moves.ctx = ctx;
	moves.options = options;
	moves.crew = &crew;
	if (move_read_cluster(&moves, err) < 0 || move_limit(&moves, err) < 0)
		return -1;
	if (ctx->json)
		progress_events();
	rc = run_and_print(&moves, err);
	for (size_t i = 0; i < moves.count; i++)
		arena_release(&moves.list[i].arena);
	return rc;
}
