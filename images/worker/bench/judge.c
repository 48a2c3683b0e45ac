/* SPDX-License-Identifier: MIT */
#include "bench/judge.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_BYTES ((size_t)64 << 20) /* of sweeps that are kept, at most ... */
#define KEEP_MOST 256
#define KEEP_LEAST 8
#define SHARE_MOST 0.75 /* one sweep proves little */
#define WORTH 1.1f	/* another place must be better by that */
#define NEAR 1.25f
#define CALM_TIMES 3 /* sweeps in which a pair came near its fastest time */

/* Of a pair's times: the fastest one where disturbance comes now and then; a later one where the
 * fastest is a stroke of luck, as over TCP on one machine. */
static const int places[] = {0, 10, 25, 50};
#define PLACES ((int)(sizeof(places) / sizeof(places[0])))

static size_t cells(const struct heat *heat)
{
	return (size_t)heat->world * (size_t)heat->world;
}

static struct pairs judge_pairs_of(const struct heat *heat, const float *usec)
{
	return (struct pairs){
		.world = heat->world, .host = heat->host, .link = heat->link, .usec = usec};
}

static int kept(const struct heat *heat)
{
	return heat->sweeps < heat->keep ? heat->sweeps : heat->keep;
}

void judge_init(struct heat *heat, int world, int *host)
{
	size_t room;

	heat->world = world;
	heat->host = host;
	heat->left_out = -1;
	room = KEEP_BYTES / (cells(heat) * sizeof(float));
	heat->keep = room > KEEP_MOST ? KEEP_MOST : room < KEEP_LEAST ? KEEP_LEAST : (int)room;
	heat->usec = calloc(cells(heat), sizeof(*heat->usec));
	heat->kept = calloc((size_t)heat->keep * cells(heat), sizeof(*heat->kept));
	if (!heat->usec || !heat->kept)
		abort();
}

void judge_add(struct heat *heat, const float *all)
{
	size_t world = (size_t)heat->world;
	float *sweep = heat->kept + (size_t)(heat->sweeps % heat->keep) * cells(heat);

	for (size_t a = 0; a < world; a++)
		for (size_t b = 0; b < world; b++) {
			float here = all[a * world + b], there = all[b * world + a];

			sweep[a * world + b] = here > there ? here : there;
		}
	heat->sweeps++;
}

static int judge_by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The value at @place (of 100) of the sorted @list. */
static float at_place(const float *list, int count, int place)
{
	return count > 0 ? list[(count - 1) * place / 100] : 0;
}

/* Each pair's time at the places, into @times ([PLACES][world * world]). */
static void take_times(const struct heat *heat, float *times)
{
	float list[KEEP_MOST];

	for (int a = 0; a < heat->world; a++)
		for (int b = a + 1; b < heat->world; b++) {
			size_t at = (size_t)a * (size_t)heat->world + (size_t)b;
			size_t mirror = (size_t)b * (size_t)heat->world + (size_t)a;
			int count = 0;

			if (heat->kept[at] <= 0) /* all sweeps have the same pairs */
				continue;
			for (int s = 0; s < kept(heat); s++) {
				list[count] = heat->kept[(size_t)s * cells(heat) + at];
				count += list[count] > 0;
			}
			qsort(list, (size_t)count, sizeof(*list), judge_by_value);
			for (size_t i = 0; i < (size_t)PLACES; i++)
				times[i * cells(heat) + at] = times[i * cells(heat) + mirror] =
					at_place(list, count, places[i]);
		}
}

/*
 * How much the faster half of the pairs differ: more than the half may be those of one slow rank.
 */
static float spread_of(const struct heat *heat, const float *times, float *list)
{
	const struct pairs pairs = judge_pairs_of(heat, times);
	uint8_t links[PAIRS_ACROSS + 1];
	int link_count = pairs_links(&pairs, links);
	float spread = 1;

	for (int i = 0; i < link_count; i++) {
		int count = 0;

		for (int a = 0; a < heat->world; a++)
			for (int b = a + 1; b < heat->world; b++) {
				float usec = times[a * heat->world + b];

				if (usec > 0 && pairs_link(&pairs, a, b) == links[i])
					list[count++] = usec;
			}
		qsort(list, (size_t)count, sizeof(*list), judge_by_value);
		if (count > 0)
			spread *= at_place(list, count, 50) / at_place(list, count, 10);
	}
	return spread;
}

static bool suspects(const struct heat *heat, const float *times)
{
	struct finding findings[FINDINGS_MAX];
	const struct pairs pairs = judge_pairs_of(heat, times);

	return blame_pairs(&pairs, findings) > 0;
}

/* Takes the times at the place where the pairs differ least. */
static void choose_times(struct heat *heat)
{
	float *times = calloc((size_t)PLACES * cells(heat), sizeof(*times)),
	      *list = calloc(cells(heat), sizeof(*list)), best;

	if (!times || !list)
		abort();
	take_times(heat, times);
	heat->place = 0;
	best = spread_of(heat, times, list);
	for (int i = 1; i < PLACES; i++) {
		float spread = spread_of(heat, times + (size_t)i * cells(heat), list);

		if (spread * WORTH < best) {
			best = spread;
			heat->place = i;
		}
	}
	memcpy(heat->usec, times + (size_t)heat->place * cells(heat), cells(heat) * sizeof(*times));
	heat->doubtful = false;
	for (int i = heat->place + 1; i < PLACES; i++)
		heat->doubtful = heat->doubtful || suspects(heat, times + (size_t)i * cells(heat));
	heat->place = places[heat->place];
	free(times);
	free(list);
}

/* How a pair is related to a finding. */
enum part { PART_NONE, PART_SUSPECT, PART_OTHER, PART_TOUCHED };

static enum part part_of(const struct heat *heat, const struct finding *finding, int a, int b)
{
	const struct pairs pairs = judge_pairs_of(heat, NULL);
	const int *host = heat->host;
	int rank = finding->rank, other = finding->other;

	if (pairs_link(&pairs, a, b) != finding->link)
		return PART_NONE;
	if (finding->kind == FINDING_HOST)
		return host[a] == host[rank] || host[b] == host[rank] ? PART_SUSPECT : PART_OTHER;
	if (finding->kind == FINDING_RANK)
		return a == rank || b == rank ? PART_SUSPECT : PART_OTHER;
	if (a == rank && b == other)
		return PART_SUSPECT;
	return a == rank || b == rank || a == other || b == other ? PART_TOUCHED : PART_OTHER;
}

/* The share of times in the kept sweeps that are below @line: of the suspect's pairs, or the
 * others.
 */
static double share_below(const struct heat *heat, const struct finding *finding, float line,
			  enum part part)
{
	uint64_t measured = 0, below = 0;

	for (int s = 0; s < kept(heat); s++) {
		const float *sweep = heat->kept + (size_t)s * cells(heat);

		for (int a = 0; a < heat->world; a++)
			for (int b = a + 1; b < heat->world; b++) {
				float usec = sweep[a * heat->world + b];

				if (usec <= 0 || part_of(heat, finding, a, b) != part)
					continue;
				measured++;
				below += usec < line;
			}
	}
	return measured > 0 ? (double)below / (double)measured : -1;
}

/* n times the divergence of two coins that show heads in a share @a and @b: the chance to see a or
 * less of b is at most exp(-that) (Chernoff's bound). */
static double divergence(double a, double b, int n)
{
	double sum = (1 - a) * log((1 - a) / (1 - b));

	return n * (a > 0 ? sum + a * log(a / b) : sum);
}

/* The chance that all this is an accident. */
static double chance(const struct heat *heat, const struct finding *finding)
{
	double pairs = (double)heat->world * (heat->world - 1) / 2;
	float line = (float)(BLAME_RATIO * finding->normal);
	double own = share_below(heat, finding, line, PART_SUSPECT),
	       others = share_below(heat, finding, line, PART_OTHER);

	if (others < 0) /* of three ranks, all pairs touch each other */
		others = share_below(heat, finding, line, PART_TOUCHED);
	others = others < SHARE_MOST ? others : SHARE_MOST;
	return own < others ? exp(-divergence(own, others, kept(heat))) * pairs : pairs;
}

/*
 * Whether nearly all pairs' fastest times have come again: before that nobody is known to be fast.
 */
static bool is_calm(const struct heat *heat)
{
	size_t measured = 0, calm = 0;

	for (size_t i = 0; i < cells(heat); i++) {
		int near = 0;

		if (heat->usec[i] <= 0)
			continue;
		for (int s = 0; s < kept(heat); s++)
			near += heat->kept[(size_t)s * cells(heat) + i] <= heat->usec[i] * NEAR;
		measured++;
		calm += near >= CALM_TIMES;
	}
	return calm * 10 >= measured * 9;
}

/*
 * Whether no pair takes much longer than the fastest one of its kind: then nothing can be hidden.
 */
static bool is_even(const struct heat *heat)
{
	const struct pairs pairs = judge_pairs_of(heat, heat->usec);
	float least[PAIRS_ACROSS + 1] = {0}, most[PAIRS_ACROSS + 1] = {0};

	for (int a = 0; a < heat->world; a++)
		for (int b = a + 1; b < heat->world; b++) {
			float usec = heat->usec[a * heat->world + b];
			uint8_t link = pairs_link(&pairs, a, b);

			if (usec <= 0 || link == PAIRS_UNKNOWN)
				continue;
			least[link] = least[link] <= 0 || usec < least[link] ? usec : least[link];
			most[link] = usec > most[link] ? usec : most[link];
		}
	for (int link = 0; link <= PAIRS_ACROSS; link++)
		if (most[link] > least[link] * (float)BLAME_RATIO)
			return false;
	return true;
}

/* How many sweeps it takes to be sure of one that is slow in all of them: chance() with its smallest result. */
static int sweeps_needed(const struct heat *heat)
{
	double pairs = (double)heat->world * (heat->world - 1) / 2,
	       needed = log(pairs / JUDGE_CHANCE) / -log(1 - SHARE_MOST);

	return needed > JUDGE_SWEEPS_SURE ? (int)needed + 1 : JUDGE_SWEEPS_SURE;
}

bool judge_enough(struct heat *heat, double seconds)
{
	const struct pairs pairs = judge_pairs_of(heat, heat->usec);
	int count, sure = 0;

	choose_times(heat);
	count = blame_pairs(&pairs, heat->findings);
	for (int i = 0; i < count; i++)
		if (heat->sweeps >= JUDGE_SWEEPS_SURE &&
		    chance(heat, &heat->findings[i]) < JUDGE_CHANCE)
			heat->findings[sure++] = heat->findings[i];
	heat->seconds = seconds;
	heat->finding_count = sure;
	heat->unsure = count - sure;
	if (heat->warm_up_seconds + seconds + seconds / heat->sweeps > JUDGE_SECONDS_LAST) {
		heat->unjudged = heat->sweeps < JUDGE_SWEEPS_SURE;
		return true;
	}
	if (heat->sweeps < JUDGE_SWEEPS_LEAST)
		return false;
	if (seconds > JUDGE_SECONDS_MOST && heat->sweeps >= sweeps_needed(heat))
		return true;
	if (heat->unsure > 0 || (sure > 0 && seconds < JUDGE_SECONDS_SURE))
		return false;
	if (sure > 0 || heat->doubtful)
		return sure > 0;
	return (heat->place == 0 && is_calm(heat)) || is_even(heat);
}

void heat_release(struct heat *heat)
{
	free(heat->usec);
	free(heat->host);
	free(heat->link);
	free(heat->kept);
}
