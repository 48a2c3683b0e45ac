/* SPDX-License-Identifier: MIT */
#include "bench/blame.h"

#include <stdlib.h>

/* One kind of pairs: those with the same between them. */
struct view {
	const struct pairs *pairs;
	uint8_t link;
	bool across;
	float *times;	   /* [world] each rank's median, 0: it has too few partners */
	bool *slow;	   /* [world] */
	float *list;	   /* [world] scratch */
	float normal;	   /* median of all times */
	float pair_normal; /* the lower quartile of all pairs */
};

static int blame_by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The value at @place (of 100) of the sorted @list, the lower one of two; 0 of an empty list. */
static float quantile(float *list, int count, int place)
{
	qsort(list, (size_t)count, sizeof(*list), blame_by_value);
	return count > 0 ? list[(count - 1) * place / 100] : 0;
}

/* Time of the pair if it is of this kind and was measured, else 0. */
static float pair_time(const struct view *v, int a, int b)
{
	const struct pairs *p = v->pairs;

	if (a == b || pairs_link(p, a, b) != v->link)
		return 0;
	return p->usec[(size_t)a * (size_t)p->world + (size_t)b];
}

/* Collects @rank's times, except that with @without, into the scratch list. */
static int list_times(const struct view *v, int rank, int without)
{
	int count = 0;

	for (int other = 0; other < v->pairs->world; other++) {
		float usec = other == without ? 0 : pair_time(v, rank, other);

		if (usec > 0)
			v->list[count++] = usec;
	}
	return count;
}

/* Fills times, normal and slow. */
static void judge_ranks(struct view *v)
{
	int world = v->pairs->world, count = 0;
	float spread;

	for (int rank = 0; rank < world; rank++) {
		int partners = list_times(v, rank, -1);

		v->times[rank] = partners >= 2 ? quantile(v->list, partners, 50) : 0;
	}
	for (int rank = 0; rank < world; rank++)
		if (v->times[rank] > 0)
			v->list[count++] = v->times[rank];
	v->normal = quantile(v->list, count, 50);
	for (int i = 0; i < count; i++)
		v->list[i] =
			v->list[i] > v->normal ? v->list[i] - v->normal : v->normal - v->list[i];
	spread = quantile(v->list, count, 50);
	for (int rank = 0; rank < world; rank++)
		v->slow[rank] = v->times[rank] >= (float)BLAME_RATIO * v->normal && count >= 3 &&
				v->times[rank] - v->normal > BLAME_SPREADS * spread;
}

/* The upper median of @rank's times with others than @without: on a machine with two sockets half
 * of them are the slower ones by nature. */
static float upper_median(const struct view *v, int rank, int without)
{
	int count = list_times(v, rank, without);

	qsort(v->list, (size_t)count, sizeof(*v->list), blame_by_value);
	return count > 0 ? v->list[count / 2] : 0;
}

/* What the ends of a pair take with others, the slower end; with no others the lower quartile of
 * all pairs. */
static float others_time(const struct view *v, int a, int b)
{
	float of_a = upper_median(v, a, b), of_b = upper_median(v, b, a);
	float most = of_a > of_b ? of_a : of_b;

	return most > 0 ? most : v->pair_normal;
}

static int blame_add(struct finding *findings, int count, const struct finding *new)
{
	if (count < FINDINGS_MAX)
		findings[count++] = *new;
	return count;
}

static bool host_is_slow(const struct view *v, int rank)
{
	int ranks = 0;

	for (int other = 0; other < v->pairs->world; other++) {
		if (v->pairs->host[other] != v->pairs->host[rank])
			continue;
		if (!v->slow[other])
			return false;
		ranks++;
	}
	return ranks >= 2;
}

static int find_ranks(const struct view *v, struct finding *findings, int count)
{
	for (int rank = 0; rank < v->pairs->world; rank++) {
		struct finding new = {.kind = FINDING_RANK,
				      .rank = rank,
				      .other = -1,
				      .across = v->across,
				      .link = v->link,
				      .usec = (double)v->times[rank],
				      .normal = (double)v->normal};
		bool first = true;

		if (!v->slow[rank])
			continue;
		if (v->across && host_is_slow(v, rank)) {
			new.kind = FINDING_HOST;
			for (int other = 0; other < rank; other++)
				first = first && v->pairs->host[other] != v->pairs->host[rank];
		}
		for (int i = 0; i < count; i++) /* one sentence for each rank is enough */
			first = first &&
				!(findings[i].rank == rank && findings[i].kind != FINDING_LINK);
		if (first)
			count = blame_add(findings, count, &new);
	}
	return count;
}

/* Whether a slow link between the same hosts is among the findings. */
static bool known_link(const struct view *v, const struct finding *findings, int count, int a,
		       int b)
{
	const int *host = v->pairs->host;

	for (int i = 0; i < count; i++) {
		int c = findings[i].rank, d = findings[i].other;

		if (findings[i].kind == FINDING_LINK && v->across &&
		    ((host[a] == host[c] && host[b] == host[d]) ||
		     (host[a] == host[d] && host[b] == host[c])))
			return true;
	}
	return false;
}

/* Whether a pair that takes @usec cannot be slow against what @rank takes with others: the upper median without one is no less than the
 * lower one with it. So most pairs need no median of their own. */
static bool is_usual(const struct view *v, float usec, int rank)
{
	return (double)usec < BLAME_RATIO * (double)v->times[rank];
}

static int find_links(const struct view *v, struct finding *findings, int count)
{
	for (int a = 0; a < v->pairs->world; a++) {
		for (int b = a + 1; b < v->pairs->world; b++) {
			float usec = pair_time(v, a, b);
			struct finding new = {.kind = FINDING_LINK,
					      .rank = a,
					      .other = b,
					      .across = v->across,
					      .link = v->link,
					      .usec = (double)usec};

			if (usec <= 0 || v->slow[a] || v->slow[b] || is_usual(v, usec, a) ||
			    is_usual(v, usec, b))
				continue;
			new.normal = (double)others_time(v, a, b);
			if (new.usec >= BLAME_RATIO *new.normal &&
			    !known_link(v, findings, count, a, b))
				count = blame_add(findings, count, &new);
		}
	}
	return count;
}

/* The lower quartile of all pairs, if there are at least three to compare. */
static void judge_pairs(struct view *v)
{
	int world = v->pairs->world, count = 0;
	float *all = calloc((size_t)world * (size_t)world, sizeof(*all));

	if (!all)
		abort();
	for (int a = 0; a < world; a++)
		for (int b = a + 1; b < world; b++)
			if (pair_time(v, a, b) > 0)
				all[count++] = pair_time(v, a, b);
	v->pair_normal = count >= 3 ? quantile(all, count, 25) : 3e38f;
	free(all);
}

/* A slow rank explains its links: where a rank has one neighbour only, it was taken for a link. */
static int drop_explained(struct finding *findings, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		bool explained = false;

		for (int j = 0; j < count && findings[i].kind == FINDING_LINK; j++)
			explained = explained || (findings[j].kind == FINDING_RANK &&
						  (findings[j].rank == findings[i].rank ||
						   findings[j].rank == findings[i].other));
		if (explained)
			continue;
		findings[kept] = findings[i];
		kept++;
	}
	return kept;
}

static int slowest_first(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	double of_x = x->usec / x->normal, of_y = y->usec / y->normal;

	return (of_x < of_y) - (of_x > of_y);
}

int pairs_links(const struct pairs *pairs, uint8_t links[PAIRS_ACROSS + 1])
{
	bool there[PAIRS_ACROSS + 1] = {false};
	int count = 0;

	for (int a = 0; a < pairs->world; a++)
		for (int b = a + 1; b < pairs->world; b++)
			there[pairs_link(pairs, a, b)] = true;
	for (int link = 0; link <= PAIRS_ACROSS; link++)
		if (there[link] && link != PAIRS_UNKNOWN)
			links[count++] = (uint8_t)link;
	return count;
}

int blame_pairs(const struct pairs *pairs, struct finding *findings)
{
	size_t world = (size_t)pairs->world;
	uint8_t links[PAIRS_ACROSS + 1];
	int count = 0, link_count = pairs_links(pairs, links);

	for (int i = 0; i < link_count; i++) {
		struct view v = {
			.pairs = pairs, .link = links[i], .across = links[i] == PAIRS_ACROSS};

		v.times = calloc(world, sizeof(*v.times));
		v.slow = calloc(world, sizeof(*v.slow));
		v.list = calloc(world, sizeof(*v.list));
		if (!v.times || !v.slow || !v.list)
			abort();
		judge_ranks(&v);
		judge_pairs(&v);
		count = find_ranks(&v, findings, count);
		count = find_links(&v, findings, count);
		free(v.times);
		free(v.slow);
		free(v.list);
	}
	count = drop_explained(findings, count);
	qsort(findings, (size_t)count, sizeof(*findings), slowest_first);
	return count;
}
