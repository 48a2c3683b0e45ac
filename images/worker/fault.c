/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANK_MAX 1000000
#define HANG_SEC 120 /* then it ends by itself, so that nobody must clean up */

/* @form: as the help shows it; the part before the colon is the name. A phase may follow the rank
 * if there is one that it happens in by default. */
static const struct {
	const char *form;
	bool has_phase;
	enum phase phase;
} kinds[FAULT_COUNT] = {
	[FAULT_SLOW] = {.form = "slow:R"},
	[FAULT_CORRUPT] = {.form = "corrupt:R"},
	[FAULT_DIE] = {.form = "die:R[@PHASE]", .has_phase = true, .phase = PHASE_RUN},
	[FAULT_DROP] = {.form = "drop:R[@PHASE]", .has_phase = true, .phase = PHASE_JOIN},
	[FAULT_VERSION] = {.form = "version:R"},
	[FAULT_DRIFT] = {.form = "drift:R"},
	[FAULT_STOP] = {.form = "stop:R[@PHASE]", .has_phase = true, .phase = PHASE_RUN},
};

static const char link_form[] = "link:A-B";

static const char *const places[PHASE_COUNT] = {[PHASE_JOIN] = "join",
						[PHASE_VERSION] = "version",
						[PHASE_BOOTSTRAP] = "bootstrap",
						[PHASE_FIRST] = "first",
						[PHASE_RUN] = "run",
						[PHASE_PAIRS] = "pairs",
						[PHASE_ONE] = "one",
						[PHASE_SUM] = "sum",
						[PHASE_SERVER] = "server",
						[PHASE_ASYNC] = "async",
						[PHASE_LEAVE_ONE_OUT] = "leave-one-out"};

void fault_init(struct fault *fault)
{
	for (int kind = 0; kind < FAULT_COUNT; kind++) {
		fault->rank[kind] = -1;
		fault->at[kind] = kinds[kind].phase;
	}
	fault->link[0] = fault->link[1] = -1;
}

const char *fault_form(int index)
{
	if (index < FAULT_COUNT)
		return kinds[index].form;
	return index == FAULT_COUNT ? link_form : NULL;
}

/* The number of the fault whose name the @length bytes of @text are, FAULT_COUNT for a link; -1:
 * there is none. */
static int fault_find_kind(const char *text, size_t length)
{
	for (int i = 0; i <= FAULT_COUNT; i++)
		if (strcspn(fault_form(i), ":") == length &&
		    memcmp(fault_form(i), text, length) == 0)
			return i;
	return -1;
}

static int fault_find_place(const char *text, size_t length)
{
	for (int i = 0; i < PHASE_COUNT; i++)
		if (strlen(places[i]) == length && memcmp(places[i], text, length) == 0)
			return i;
	return -1;
}

static const char *parse_rank(const char *text, int *rank)
{
	char *end;
	long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;

	if (value < 0 || value > RANK_MAX)
		return NULL;
	*rank = (int)value;
	return end;
}

/* The "@PHASE" that may follow the rank of @kind; returns what comes after it, or NULL. */
static const char *parse_place(struct fault *fault, int kind, const char *text)
{
	size_t length = strcspn(text, ",");
	int place;

	if (*text != '@')
		return text;
	place = fault_find_place(text + 1, length - 1);
	if (place < 0 || !kinds[kind].has_phase)
		return NULL;
	fault->at[kind] = (enum phase)place;
	return text + length;
}

/* One "kind:R", "kind:R@PHASE" or "link:A-B"; returns what follows it, or NULL. */
static const char *fault_parse_one(struct fault *fault, const char *text)
{
	size_t length = strcspn(text, ":");
	int kind = fault_find_kind(text, length);

	if (text[length] != ':' || kind < 0)
		return NULL;
	if (kind < FAULT_COUNT) {
		text = parse_rank(text + length + 1, &fault->rank[kind]);
		return text ? parse_place(fault, kind, text) : NULL;
	}
	text = parse_rank(text + length + 1, &fault->link[0]);
	return text && *text == '-' ? parse_rank(text + 1, &fault->link[1]) : NULL;
}

int fault_parse(struct fault *fault, const char *text)
{
	while ((text = fault_parse_one(fault, text)) && *text == ',')
		text++;
	return text && *text == '\0' ? 0 : -1;
}

int fault_last_rank(const struct fault *fault)
{
	int last = fault->link[0] > fault->link[1] ? fault->link[0] : fault->link[1];

	for (int kind = 0; kind < FAULT_COUNT; kind++)
		if (fault->rank[kind] > last)
			last = fault->rank[kind];
	return last;
}

void fault_strike(const struct fault *fault, enum phase phase, int rank)
{
	if (fault_hits(fault, FAULT_DIE, rank) && fault->at[FAULT_DIE] == phase)
		raise(SIGKILL);
	if (fault_hits(fault, FAULT_STOP, rank) && fault->at[FAULT_STOP] == phase)
		raise(SIGSTOP);
	if (fault_hits(fault, FAULT_DROP, rank) && fault->at[FAULT_DROP] == phase) {
		sleep(HANG_SEC);
		_exit(STATUS_TIMEOUT);
	}
}

bool fault_hits(const struct fault *fault, enum fault_kind kind, int rank)
{
	return fault->rank[kind] == rank;
}

bool fault_hits_link(const struct fault *fault, int a, int b)
{
	return (fault->link[0] == a && fault->link[1] == b) ||
	       (fault->link[0] == b && fault->link[1] == a);
}
