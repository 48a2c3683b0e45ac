/* SPDX-License-Identifier: MIT */
/*
 * All patterns are looked for at once, after Wu and Manber ("A fast algorithm for multi-pattern
 * searching", 1994): each alternative has an anchor of ANCHOR_BYTES, and the last BLOCK_BYTES of the
 * window say how far the next anchor can be at least. Only where an anchor stands is the pattern
 * itself compared with the line.
 */
#include "deployer/diagnosis/diagnosis.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/str.h"
#include "core/table.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANCHOR_BYTES 8
#define BLOCK_BYTES 3
#define SHIFT_MAX (ANCHOR_BYTES - BLOCK_BYTES + 1)
#define HASH_BITS 15
#define STARS_MAX 9
#define STATUSES_MAX 8
#define LINE_BYTES 8192 /* of a longer line only so much around an anchor is looked at */
#define SHOWN_BYTES 300
#define WORD_BYTES 200
#define NONE SIZE_MAX

enum diagnosis_kind { KIND_CAUSE, KIND_ABORT, KIND_SIGN, KIND_HINT, KIND_ECHO, KIND_WARNING };
static const char *const kind_names[] = {"cause", "abort", "sign", "hint", "echo", "warning"};
#define KIND_COUNT ARRAY_LEN(kind_names)

struct diagnosis_piece {
	const char *text;
	size_t length;
};

/* piece * piece * piece; an empty piece stands before a star at the start and after one at the end */
struct diagnosis_pattern {
	size_t row, piece_count;
	struct diagnosis_piece pieces[STARS_MAX + 1];
	const char *anchor; /* ANCHOR_BYTES in one of the pieces */
	size_t next;	    /* the next pattern with the same hash, or NONE */
};

struct diagnosis_row {
	const char *id, *cause, *fix, *source;
	enum diagnosis_kind kind;
	int statuses[STATUSES_MAX];
	size_t status_count;
};

struct diagnoses {
	struct diagnosis_row *rows;
	struct diagnosis_pattern *patterns;
	size_t row_count, pattern_count;
	uint8_t shift[1 << HASH_BITS];
	size_t first[1 << HASH_BITS]; /* by the hash of an anchor's end, or NONE */
};

struct diagnosis_found {
	size_t order;		  /* 0: not found */
	enum diagnosis_kind kind; /* the row's, or KIND_HINT: diagnosis_kind_of_line */
	bool by_status;		  /* and not by a line, which says more */
	struct diagnosis result;
};

struct diagnosing {
	const struct diagnoses *table;
	struct arena *arena;
	struct diagnosis_found *found; /* a row's, by its number */
	size_t found_count;
	bool *explained; /* by rank: a line of it says a cause */
	size_t explained_count;
	size_t *tried; /* by pattern: the line that it was last compared with */
	size_t line;
};

/* A line that has an anchor, or LINE_BYTES of it, and the best that fits so far. */
struct diagnosis_line {
	const char *start, *end;
	const struct diagnosis_pattern *best;
};

static size_t diagnosis_hash(const char *block)
{
	const unsigned char *b = (const unsigned char *)block;
	uint32_t value = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;

	return (value * 0x9e3779b1U) >> (32 - HASH_BITS);
}

/* ---- reading the table ---- */

/* The cell's row, for errors. */
struct diagnosis_place {
	const struct table *table;
	size_t row;
	struct error *err;
};

static int diagnosis_row_error(const struct diagnosis_place *at, const char *what)
{
	return error_set(at->err, ERROR_USAGE, "%s:%zu: %s", at->table->path,
			 at->table->lines[at->row], what);
}

static int diagnosis_split_pattern(struct diagnosis_pattern *pattern, const char *text,
				   size_t length, const struct diagnosis_place *at)
{
	const char *end = text + length;

	for (const char *star; text; text = star ? star + 1 : NULL) {
		struct diagnosis_piece *piece = &pattern->pieces[pattern->piece_count];

		if (pattern->piece_count++ > STARS_MAX)
			return diagnosis_row_error(at, "a pattern with more than nine stars");
		star = memchr(text, '*', (size_t)(end - text));
		*piece = (struct diagnosis_piece){text, (size_t)((star ? star : end) - text)};
		if (piece->length >= ANCHOR_BYTES && !pattern->anchor)
			pattern->anchor = text;
	}
	if (!pattern->anchor)
		return diagnosis_row_error(at, "a pattern without eight bytes in a row");
	return 0;
}

/* Alternatives are added to the table's patterns, which have room: see diagnosis_pattern_ceiling. */
static int diagnosis_add_patterns(struct diagnoses *table, const char *text,
				  const struct diagnosis_place *at)
{
	while (text && *text) {
		const char *bar = strstr(text, " | ");
		struct diagnosis_pattern *pattern = &table->patterns[table->pattern_count++];

		pattern->row = at->row;
		if (diagnosis_split_pattern(pattern, text,
					    bar ? (size_t)(bar - text) : strlen(text), at) < 0)
			return -1;
		text = bar ? bar + 3 : NULL;
	}
	return 0;
}

static int diagnosis_add_statuses(struct diagnosis_row *row, const char *text,
				  const struct diagnosis_place *at)
{
	while (*text) {
		char *end;
		long status = strtol(text, &end, 10);

		if (end == text || status < 1 || status > 255 || (*end && *end != ';') ||
		    row->status_count == STATUSES_MAX)
			return diagnosis_row_error(
				at, "'status' is at most eight numbers from 1 to 255");
		row->statuses[row->status_count++] = (int)status;
		text = *end ? end + 1 : end;
	}
	return 0;
}

static int diagnosis_add_kind(struct diagnosis_row *row, const char *text,
			      const struct diagnosis_place *at)
{
	for (row->kind = 0; row->kind < KIND_COUNT; row->kind++)
		if (strcmp(text, kind_names[row->kind]) == 0)
			return 0;
	return diagnosis_row_error(at, "'kind' is none of cause, abort, sign, hint, echo, warning");
}

/* Every $N of the sentence has its star in each of the row's patterns. */
static int diagnosis_check_words(const struct diagnoses *table, const char *text,
				 const struct diagnosis_place *at)
{
	if (!*text)
		return diagnosis_row_error(at, "a cell is empty that must not be");
	for (const char *p = strchr(text, '$'); p; p = strchr(p + 1, '$')) {
		if (p[1] < '1' || p[1] > '9' || table->rows[at->row].status_count)
			return diagnosis_row_error(at, "'$' without the number of a star");
		for (size_t i = table->pattern_count; i > 0; i--) {
			const struct diagnosis_pattern *pattern = &table->patterns[i - 1];

			if (pattern->row != at->row)
				break;
			if (pattern->piece_count <= (size_t)(p[1] - '0'))
				return diagnosis_row_error(at, "'$' with the number of no star");
		}
	}
	return 0;
}

static int diagnosis_check_id(const struct diagnoses *table, const struct diagnosis_place *at)
{
	if (!*table->rows[at->row].id)
		return diagnosis_row_error(at, "no id");
	for (size_t i = 0; i < at->row; i++)
		if (strcmp(table->rows[i].id, table->rows[at->row].id) == 0)
			return diagnosis_row_error(at, "a second row of this id");
	return 0;
}

static int diagnosis_add_row(struct diagnoses *table, const struct diagnosis_place *at)
{
	struct diagnosis_row *row = &table->rows[at->row];
	size_t patterns_before = table->pattern_count;

	row->id = table_cell(at->table, at->row, "id");
	row->cause = table_cell(at->table, at->row, "cause");
	row->fix = table_cell(at->table, at->row, "fix");
	row->source = table_cell(at->table, at->row, "source");
	if (diagnosis_check_id(table, at) < 0 ||
	    diagnosis_add_kind(row, table_cell(at->table, at->row, "kind"), at) < 0 ||
	    diagnosis_add_statuses(row, table_cell(at->table, at->row, "status"), at) < 0 ||
	    diagnosis_add_patterns(table, table_cell(at->table, at->row, "pattern"), at) < 0 ||
	    diagnosis_check_words(table, row->cause, at) < 0 ||
	    diagnosis_check_words(table, row->fix, at) < 0 ||
	    diagnosis_check_words(table, row->source, at) < 0)
		return -1;
	if (!row->status_count && table->pattern_count == patterns_before)
		return diagnosis_row_error(at, "neither a pattern nor a status");
	return 0;
}

/* No row has more alternatives than bars and one. */
static size_t diagnosis_pattern_ceiling(const struct table *table)
{
	size_t count = table->row_count;

	for (size_t i = 0; i < table->row_count; i++)
		for (const char *p = table_cell(table, i, "pattern"); (p = strchr(p, '|')); p++)
			count++;
	return count;
}

/* How far the window may move: never past a place where some anchor can still begin. */
static void diagnosis_build_index(struct diagnoses *table)
{
	memset(table->shift, SHIFT_MAX, sizeof(table->shift));
	for (size_t i = 0; i < ARRAY_LEN(table->first); i++)
		table->first[i] = NONE;
	for (size_t i = table->pattern_count; i > 0; i--) {
		struct diagnosis_pattern *pattern = &table->patterns[i - 1];

		for (size_t at = 0; at + BLOCK_BYTES <= ANCHOR_BYTES; at++) {
			uint8_t *shift = &table->shift[diagnosis_hash(pattern->anchor + at)];
			uint8_t least = (uint8_t)(ANCHOR_BYTES - BLOCK_BYTES - at);

			*shift = least < *shift ? least : *shift;
			if (least)
				continue;
			pattern->next = table->first[diagnosis_hash(pattern->anchor + at)];
			table->first[diagnosis_hash(pattern->anchor + at)] = i - 1;
		}
	}
}

int diagnoses_parse(const char *path, char *text, size_t length, struct arena *arena,
		    const struct diagnoses **result, struct error *err)
{
	struct diagnoses *table = ARENA_NEW(arena, struct diagnoses);
	struct table cells;

	if (table_parse(path, text, length, arena, &cells, err) < 0)
		return -1;
	table->row_count = cells.row_count;
	table->rows = ARENA_ARRAY(arena, cells.row_count + 1, struct diagnosis_row);
	table->patterns =
		ARENA_ARRAY(arena, diagnosis_pattern_ceiling(&cells) + 1, struct diagnosis_pattern);
	for (size_t i = 0; i < cells.row_count; i++) {
		struct diagnosis_place at = {&cells, i, err};

		if (diagnosis_add_row(table, &at) < 0)
			return -1;
	}
	diagnosis_build_index(table);
	*result = table;
	return 0;
}

int diagnoses_load(struct arena *arena, const struct diagnoses **table, struct error *err)
{
	const char *path;
	size_t length;
	char *text;

	if (share_path(arena, "recipes/job-failures.csv", &path, err) < 0)
		return -1;
	if (file_read(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return error_of_input(err);
	return diagnoses_parse(path, text, length, arena, table, err);
}

/* ---- matching ---- */

struct diagnosing *diagnosing_new(const struct diagnoses *table, struct arena *arena)
{
	struct diagnosing *job = ARENA_NEW(arena, struct diagnosing);

	job->table = table;
	job->arena = arena;
	job->found = ARENA_ARRAY(arena, table->row_count + 1, struct diagnosis_found);
	job->tried = ARENA_ARRAY(arena, table->pattern_count + 1, size_t);
	return job;
}

/*
 * Whether all pieces stand in the line, in their order; where each is goes to `places`. Taking the first
 * place of each is enough: what fits behind a later one fits behind the first one, too.
 */
static bool diagnosis_fits(const struct diagnosis_pattern *pattern,
			   const struct diagnosis_line *line, const char *places[STARS_MAX + 1])
{
	const char *from = line->start;

	for (size_t i = 0; i < pattern->piece_count; i++) {
		const struct diagnosis_piece *piece = &pattern->pieces[i];

		places[i] = memmem(from, (size_t)(line->end - from), piece->text, piece->length);
		if (!places[i])
			return false;
		from = places[i] + piece->length;
	}
	return true;
}

static bool diagnosis_is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_./:+@%=-", c));
}

/* Adds the first word of the text, or its last one. A full stop or colon at its end is none of it. */
static void diagnosis_add_word(struct str *out, const char *start, const char *end, bool is_last)
{
	const char *stop;

	if (is_last) {
		while (end > start && !diagnosis_is_word_byte(end[-1]))
			end--;
		for (stop = end; stop > start && diagnosis_is_word_byte(stop[-1]);)
			stop--;
		start = stop;
	} else {
		while (start < end && !diagnosis_is_word_byte(*start))
			start++;
	}
	for (stop = start;
	     stop < end && diagnosis_is_word_byte(*stop) && stop - start < WORD_BYTES;)
		stop++;
	while (stop > start && (stop[-1] == '.' || stop[-1] == ':'))
		stop--;
	if (stop == start)
		str_add(out, "?");
	str_add_bytes(out, start, (size_t)(stop - start));
}

/* The sentence with the words of the line put in. */
static const char *diagnosis_fill_words(struct arena *arena, const char *text,
					const struct diagnosis_pattern *pattern,
					const char *const *places,
					const struct diagnosis_line *line)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (; *text; text++) {
		size_t star;

		if (*text != '$') {
			str_add_char(&out, *text);
			continue;
		}
		star = (size_t)(*++text - '0'); /* between piece star - 1 and piece star */
		if (star == 1 && !pattern->pieces[0].length)
			diagnosis_add_word(&out, line->start, places[1], true);
		else
			diagnosis_add_word(
				&out, places[star - 1] + pattern->pieces[star - 1].length,
				star + 1 == pattern->piece_count && !pattern->pieces[star].length
					? line->end
					: places[star],
				false);
	}
	return arena_strdup(arena, out.text);
}

/* The line for a person: a long one from where the pattern begins. */
static const char *diagnosis_shown_line(struct arena *arena, const struct diagnosis_line *line,
					const char *match)
{
	_cleanup_(str_release) struct str plain = STR_INIT;
	const char *start = line->end - line->start > SHOWN_BYTES ? match : line->start;
	size_t rest = (size_t)(line->end - start), length = rest < SHOWN_BYTES ? rest : SHOWN_BYTES;
	char *text = arena_strndup(arena, start, length);

	for (char *nul; (nul = memchr(text, '\0', length));)
		*nul = '?';
	foreign_add_plain(&plain, text);
	str_trim(&plain);
	return foreign_clean_line(arena_strdup(arena, plain.text + strspn(plain.text, " \t")));
}

static struct diagnosis *diagnosis_add_found(struct diagnosing *job, size_t row, const char *host,
					     int rank)
{
	const struct diagnosis_row *from = &job->table->rows[row];
	struct diagnosis_found *found = &job->found[row];

	found->order = ++job->found_count;
	found->kind = from->kind;
	found->result = (struct diagnosis){
		.id = from->id,
		.cause = from->cause,
		.fix = from->fix,
		.source = from->source,
		.host = foreign_clean_line(arena_strdup(job->arena, host ? host : "")),
		.rank = rank,
		.is_weak = from->kind >= KIND_HINT,
	};
	return &found->result;
}

/* Remembers that a line of the rank says a cause: its exit status says nothing more then. */
static void diagnosis_explain(struct diagnosing *job, int rank)
{
	if (rank < 0)
		return;
	if ((size_t)rank >= job->explained_count) {
		size_t count = 2 * (size_t)rank + 64;
		bool *ranks = ARENA_ARRAY(job->arena, count, bool);

		if (job->explained_count)
			memcpy(ranks, job->explained, job->explained_count * sizeof(*ranks));
		job->explained = ranks;
		job->explained_count = count;
	}
	job->explained[rank] = true;
}

static bool diagnosis_is_explained(const struct diagnosing *job, int rank)
{
	return rank >= 0 && (size_t)rank < job->explained_count && job->explained[rank];
}

static bool diagnosis_has_before(const struct diagnosis_line *line, const char *match,
				 const char *word)
{
	return memmem(line->start, (size_t)(match - line->start), word, strlen(word));
}

/* What the line is worth. A warning of Python or torch is no end, nor is a connection that is tried again. */
static enum diagnosis_kind diagnosis_kind_of_line(enum diagnosis_kind of_row,
						  const struct diagnosis_line *line,
						  const char *match)
{
	if (diagnosis_has_before(line, match, "Warning: ") ||
	    diagnosis_has_before(line, match, "Retrying (Retry(") ||
	    diagnosis_has_before(line, line->end, "(Triggered internally at "))
		return of_row < KIND_HINT ? KIND_HINT : of_row;
	return of_row;
}

/* The line is over: the first row that fits it is taken, unless an earlier line had the same and was worth as much. */
static void diagnosis_take_line(struct diagnosing *job, const struct diagnosis_line *line,
				const char *host, int rank)
{
	const char *places[STARS_MAX + 1];
	const struct diagnosis_pattern *best = line->best;
	enum diagnosis_kind kind;
	struct diagnosis_found *found;
	struct diagnosis *result;
	const char *match;

	if (!best || !diagnosis_fits(best, line, places))
		return;
	match = places[best->pieces[0].length ? 0 : 1];
	/* a line of source in a traceback: the exception itself comes later and says the same with its values */
	if (diagnosis_has_before(line, match, "    raise "))
		return;
	found = &job->found[best->row];
	kind = diagnosis_kind_of_line(job->table->rows[best->row].kind, line, match);
	if (kind == KIND_CAUSE)
		diagnosis_explain(job, rank);
	if (found->order && (found->by_status ? found->kind < kind : found->kind <= kind))
		return;
	result = diagnosis_add_found(job, best->row, host, rank);
	found->kind = kind;
	found->by_status = false;
	result->is_weak = kind >= KIND_HINT;
	result->cause = diagnosis_fill_words(job->arena, result->cause, best, places, line);
	result->fix = diagnosis_fill_words(job->arena, result->fix, best, places, line);
	result->line = diagnosis_shown_line(job->arena, line, match);
}

static bool diagnosis_is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* The line around an anchor, with not more than LINE_BYTES / 2 on either side. */
static struct diagnosis_line diagnosis_line_around(const char *anchor, const char *text,
						   const char *end)
{
	struct diagnosis_line line = {anchor, anchor + ANCHOR_BYTES, NULL};

	while (line.start > text && anchor - line.start < LINE_BYTES / 2 &&
	       !diagnosis_is_line_end(line.start[-1]))
		line.start--;
	while (line.end < end && line.end - anchor < LINE_BYTES / 2 &&
	       !diagnosis_is_line_end(*line.end))
		line.end++;
	return line;
}

/* Compares the patterns that may have their anchor here, each once per line. */
static void diagnosis_try_patterns(struct diagnosing *job, size_t hash, const char *anchor,
				   struct diagnosis_line *line)
{
	const struct diagnoses *table = job->table;
	const char *places[STARS_MAX + 1];

	for (size_t i = table->first[hash]; i != NONE; i = table->patterns[i].next) {
		const struct diagnosis_pattern *pattern = &table->patterns[i];

		if (job->tried[i] == job->line || (line->best && line->best <= pattern) ||
		    memcmp(anchor, pattern->anchor, ANCHOR_BYTES) != 0)
			continue;
		job->tried[i] = job->line;
		if (diagnosis_fits(pattern, line, places))
			line->best = pattern;
	}
}

static bool diagnosis_has_anchor(const struct diagnoses *table, size_t hash, const char *anchor)
{
	for (size_t i = table->first[hash]; i != NONE; i = table->patterns[i].next)
		if (memcmp(anchor, table->patterns[i].anchor, ANCHOR_BYTES) == 0)
			return true;
	return false;
}

static void diagnosis_feed(struct diagnosing *job, const char *host, int rank, const char *lines,
			   size_t length)
{
	const struct diagnoses *table = job->table;
	const char *end = lines + length;
	struct diagnosis_line line = {NULL, lines, NULL};

	for (const char *at = lines; end - at >= ANCHOR_BYTES;) {
		size_t hash = diagnosis_hash(at + ANCHOR_BYTES - BLOCK_BYTES);

		if (table->shift[hash]) {
			at += table->shift[hash];
			continue;
		}
		if (diagnosis_has_anchor(table, hash, at)) {
			if (at + ANCHOR_BYTES > line.end) {
				diagnosis_take_line(job, &line, host, rank);
				line = diagnosis_line_around(at, lines, end);
				job->line++;
			}
			diagnosis_try_patterns(job, hash, at, &line);
		}
		at++;
	}
	diagnosis_take_line(job, &line, host, rank);
}

void diagnosing_feed(struct diagnosing *job, const char *host, int rank, const char *lines,
		     size_t length)
{
	_cleanup_(str_release) struct str text = STR_INIT, plain = STR_INIT;

	if (!memchr(lines, '\033', length)) {
		diagnosis_feed(job, host, rank, lines, length);
		return;
	}
	/* colours may stand between the words of a message */
	str_add_bytes(&text, lines, length);
	nuls_replace(text.text, text.length, '?');
	foreign_add_plain(&plain, text.text);
	diagnosis_feed(job, host, rank, plain.text ? plain.text : "", plain.length);
}

void diagnosing_end(struct diagnosing *job, int rank, const char *last_lines)
{
	struct diagnosing *last = diagnosing_new(job->table, job->arena);

	diagnosing_feed(last, NULL, rank, last_lines, strlen(last_lines));
	for (size_t i = 0; i < job->table->row_count; i++) {
		struct diagnosis_found *found = &job->found[i];

		if (found->order && !found->by_status && found->result.rank == rank)
			found->result.is_old = !last->found[i].order;
	}
}

void diagnosing_status(struct diagnosing *job, const char *host, int rank, int status)
{
	for (size_t i = 0; i < job->table->row_count; i++) {
		const struct diagnosis_row *row = &job->table->rows[i];

		if (row->kind == KIND_CAUSE && diagnosis_is_explained(job, rank))
			continue;
		for (size_t k = 0; k < row->status_count; k++) {
			const char *name = status > 128 ? sigdescr_np(status - 128) : NULL;

			if (row->statuses[k] != status ||
			    (job->found[i].order && job->found[i].kind <= row->kind))
				continue;
			job->found[i].by_status = true;
			diagnosis_add_found(job, i, host, rank)->line =
				arena_printf(job->arena, "exit status %d%s%s", status,
					     name ? ": " : "", name ? name : "");
		}
	}
}

/* ---- the answer ---- */

/* Whether `a` stands before `b`: what is old comes last. */
static bool diagnosis_is_before(const struct diagnosis_found *a, const struct diagnosis_found *b)
{
	return a->result.is_old == b->result.is_old ? a->order < b->order : b->result.is_old;
}

/* The first one of the kind, or the next one after `last`; NULL: no more. */
static const struct diagnosis_found *diagnosis_next_found(const struct diagnosing *job,
							  enum diagnosis_kind kind,
							  const struct diagnosis_found *last)
{
	const struct diagnosis_found *next = NULL;

	for (size_t i = 0; i < job->table->row_count; i++) {
		const struct diagnosis_found *found = &job->found[i];

		if (found->order && found->kind == kind &&
		    (!last || diagnosis_is_before(last, found)) &&
		    (!next || diagnosis_is_before(found, next)))
			next = found;
	}
	return next;
}

/* Whether something better is known than this one. */
static bool diagnosis_is_beaten(const struct diagnosing *job, const struct diagnosis_found *found,
				enum diagnosis_kind kind)
{
	return found->by_status &&
	       (diagnosis_next_found(job, KIND_ABORT, NULL) ||
		(kind == KIND_CAUSE && diagnosis_is_explained(job, found->result.rank)));
}

size_t diagnosing_best(const struct diagnosing *job, struct diagnosis best[static DIAGNOSIS_BEST])
{
	size_t count = 0;

	for (enum diagnosis_kind kind = 0; kind < KIND_COUNT; kind++) {
		const struct diagnosis_found *found = NULL;

		if (kind >= KIND_ECHO && count)
			break;
		while (count < DIAGNOSIS_BEST && (found = diagnosis_next_found(job, kind, found)))
			if (!diagnosis_is_beaten(job, found, kind))
				best[count++] = found->result;
	}
	return count;
}

bool diagnosing_abort(const struct diagnosing *job, struct diagnosis *said)
{
	const struct diagnosis_found *found = NULL;

	while ((found = diagnosis_next_found(job, KIND_ABORT, found)))
		if (found->result.rank >= 0) {
			*said = found->result;
			return true;
		}
	return false;
}

bool diagnoses_is_echo(const struct diagnoses *table, const char *lines, struct arena *arena)
{
	struct diagnosing *job = diagnosing_new(table, arena);

	diagnosing_feed(job, NULL, DIAGNOSIS_NO_RANK, lines, strlen(lines));
	for (enum diagnosis_kind kind = 0; kind < KIND_HINT; kind++)
		if (diagnosis_next_found(job, kind, NULL))
			return false;
	return diagnosis_next_found(job, KIND_ECHO, NULL);
}

bool diagnoses_knows(const struct diagnoses *table, const char *line, struct arena *arena)
{
	struct diagnosing *job = diagnosing_new(table, arena);

	diagnosing_feed(job, NULL, DIAGNOSIS_NO_RANK, line, strlen(line));
	return job->found_count;
}
