/* SPDX-License-Identifier: MIT */
#include "plan/expectation.h"

#include "plan/bound.h"

#include <string.h>

/* What the rule itself comes from. */
#define RULE_SOURCE "nccl-tests-performance"

static void expect_nothing(struct report_expected *expected, const char *because)
{
	*expected = (struct report_expected){.because = because, .source = ""};
}

static void expect(struct report_expected *expected, double busbw, const char *because,
		   const char *source, struct arena *arena)
{
	*expected = (struct report_expected){
		.busbw = busbw,
		.because = because,
		.source = *source ? arena_printf(arena, "%s;" RULE_SOURCE, source) : RULE_SOURCE,
	};
}

static void expect_bound(struct report_expected *expected, const struct bound *bound,
			 struct arena *arena)
{
	if (bound->gbytes > 0)
		expect(expected, bound->gbytes, bound->because, bound->source, arena);
	else
		expect_nothing(expected, bound->because);
}

static void expect_one_host(const struct catalog *catalog, const char *backend,
			    const struct expectation_host *host, struct arena *arena,
			    struct report_expected *expected)
{
	struct bound bound;

	if (strcmp(backend, "nccl") != 0) {
		expect_nothing(expected, "inside one host this backend goes through memory, and "
					 "what that should give is not known");
		return;
	}
	bound = bound_gpus(catalog, host->facts, host->slots, arena);
	expect_bound(expected, &bound, arena);
}

/* The host with the slowest bound, or the first of which it is unknown. */
struct slowest {
	struct bound bound;
	const struct facts *facts;
	bool all_alike;
};

static void keep_slowest(struct slowest *slowest, const struct bound *bound,
			 const struct facts *facts)
{
	bool first = !slowest->facts;

	slowest->all_alike = first || (slowest->all_alike &&
				       strcmp(slowest->bound.because, bound->because) == 0);
	if (first || (slowest->bound.gbytes > 0 && bound->gbytes < slowest->bound.gbytes)) {
		slowest->bound = *bound;
		slowest->facts = facts;
	}
}

/*
 * The backend cpu sums up inside of each host first, so its h hosts exchange what n ranks would,
 * and no more than 2(h-1)/h of the data leaves a host. The bus bandwidth counts 2(n-1)/n.
 */
static double share_factor(const char *backend, size_t hosts, int ranks)
{
	double h = (double)hosts, n = ranks;

	return strcmp(backend, "cpu") == 0 ? h * (n - 1) / ((h - 1) * n) : 1;
}

static const char *sentence(const struct slowest *slowest, double factor, struct arena *arena)
{
	const char *where = slowest->all_alike
				    ? "on each host"
				    : arena_printf(arena, "slowest host %s", slowest->facts->host);

	if (factor > 1.005)
		return arena_printf(arena, "%s, %s; times %.2f, as each host sums up its own ranks",
				    slowest->bound.because, where, factor);
	return arena_printf(arena, "%s, %s", slowest->bound.because, where);
}

/* What the GPUs of a host give the ring on its way through: the network need not be the slowest. */
static void consider_gpus(const struct catalog *catalog, const struct expectation_host *host,
			  struct slowest *slowest, struct arena *arena)
{
	struct bound gpus = bound_gpus(catalog, host->facts, host->slots, arena);

	if (gpus.gbytes > 0 && gpus.gbytes < slowest->bound.gbytes) {
		slowest->bound = gpus;
		slowest->facts = host->facts;
		slowest->all_alike = false;
	}
}

static void expect_several_hosts(const struct catalog *catalog, const char *backend,
				 const struct expectation_host *hosts, size_t count, int ranks,
				 struct arena *arena, struct report_expected *expected)
{
	bool on_gpus = strcmp(backend, "nccl") == 0;
	double factor = share_factor(backend, count, ranks);
	struct slowest slowest = {0};

	for (size_t i = 0; i < count; i++) {
		struct bound bound = bound_network(catalog, hosts[i].facts, backend, arena);

		if (on_gpus && bound_is_rack(catalog, hosts[i].facts)) {
			expect_nothing(expected, "NVLink may join these hosts, and whether it does "
						 "is not known");
			return;
		}
		keep_slowest(&slowest, &bound, hosts[i].facts);
	}
	for (size_t i = 0; on_gpus && slowest.bound.gbytes > 0 && i < count; i++)
		consider_gpus(catalog, &hosts[i], &slowest, arena);
	if (slowest.bound.gbytes > 0)
		expect(expected, slowest.bound.gbytes * factor, sentence(&slowest, factor, arena),
		       slowest.bound.source, arena);
	else
		expect_nothing(expected, slowest.bound.because);
}

void expectation_find(const struct catalog *catalog, const char *backend,
		      const struct expectation_host *hosts, size_t count, struct arena *arena,
		      struct report_expected *expected)
{
	int ranks = 0;

	for (size_t i = 0; i < count; i++)
		ranks += hosts[i].slots;
	if (ranks < 2)
		expect_nothing(expected, "one rank alone exchanges nothing");
	else if (!catalog_table(catalog, "link") || !catalog_table(catalog, "gpu_link"))
		expect_nothing(expected, "the catalog has no links (link.csv, gpu_link.csv)");
	else if (count == 1)
		expect_one_host(catalog, backend, hosts, arena, expected);
	else
		expect_several_hosts(catalog, backend, hosts, count, ranks, arena, expected);
}

bool expectation_holds(const char *collective, const char *backend)
{
	static const char *const rings[] = {"all_reduce", "reduce_scatter", "all_gather",
					    "broadcast"};
	size_t known = strcmp(backend, "cpu") == 0 ? 1 : ARRAY_LEN(rings);

	for (size_t i = 0; i < known; i++)
		if (strcmp(collective, rings[i]) == 0)
			return true;
	return false;
}

/* Counts the ranks per host; the name of one without facts, or NULL. */
static const char *count_slots(const struct report *report, struct expectation_host *hosts,
			       size_t count)
{
	for (size_t i = 0; i < report->rank_count; i++) {
		size_t h = 0;

		while (h < count && strcmp(hosts[h].facts->host, report->ranks[i].host) != 0)
			h++;
		if (h == count)
			return report->ranks[i].host;
		hosts[h].slots++;
	}
	return NULL;
}

void expectation_judge(const struct catalog *catalog, const struct facts *facts, size_t count,
		       struct arena *arena, struct report *report)
{
	struct expectation_host *hosts = ARENA_ARRAY(arena, count + 1, struct expectation_host);
	struct report_expected *expected = &report->expected;
	const char *stranger;
	size_t used = 0;

	if (expected->because)
		return;
	if (!expectation_holds(report->collective, report->backend)) {
		expect_nothing(expected,
			       arena_printf(arena,
					    "what %s of the backend %s should give is not known",
					    report->collective, report->backend));
		return;
	}
	for (size_t i = 0; i < count; i++)
		hosts[i].facts = &facts[i];
	stranger = count_slots(report, hosts, count);
	if (stranger) {
		expect_nothing(expected,
			       arena_printf(arena, "there are no facts of the host %s", stranger));
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (hosts[i].slots)
			hosts[used++] = hosts[i];
	expectation_find(catalog, report->backend, hosts, used, arena, expected);
	if (expected->busbw > 0)
		expected->percent = 100 * report_peak(report) / expected->busbw;
}
