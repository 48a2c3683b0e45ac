/* SPDX-License-Identifier: MIT */
#include "resolver/links/expectation.h"

#include "resolver/links/bound.h"

#include <string.h>

/* The source of the rule itself. */
#define RULE_SOURCE "nccl-tests-performance"

static bool expectation_is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

static void expect_nothing(struct report_expected *expected, const char *because)
{
	*expected = (struct report_expected){.because = because, .source = ""};
}

static void expectation_expect(struct report_expected *expected, double busbw, const char *because,
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
		expectation_expect(expected, bound->gbytes, bound->because, bound->source, arena);
	else
		expect_nothing(expected, bound->because);
}

static void expect_one_host(const struct catalog *catalog, const char *backend,
			    const struct expectation_host *host, struct arena *arena,
			    struct report_expected *expected)
{
	struct bound bound;

	if (!expectation_is(backend, "nccl")) {
		expect_nothing(
			expected,
			"inside one host this backend goes through memory, and what that should give is not known");
		return;
	}
	bound = bound_gpus(catalog, host->facts, host->slots, arena);
	expect_bound(expected, &bound, arena);
}

/* The measured operation, and its number of ranks. */
struct run {
	const char *backend, *collective;
	int ranks;
	size_t hosts;
};

/*
 * The host with the slowest bound, or the first host whose bound is unknown. bound.gbytes is the
 * bus bandwidth: `factor` times the bandwidth of the NICs.
 */
struct slowest {
	struct bound bound;
	double factor;
	const struct facts *facts;
	bool all_alike;
};

static void keep_slowest(struct slowest *slowest, const struct bound *bound, double factor,
			 const struct facts *facts)
{
	bool first = !slowest->facts;

	slowest->all_alike = first || (slowest->all_alike && slowest->factor == factor &&
				       expectation_is(slowest->bound.because, bound->because));
	if (first ||
	    (slowest->bound.gbytes > 0 && bound->gbytes * factor < slowest->bound.gbytes)) {
		slowest->bound = *bound;
		slowest->bound.gbytes *= factor;
		slowest->factor = factor;
		slowest->facts = facts;
	}
}

/* Bus bandwidth divided by the data rate of a host's NICs: the table in the header. */
static double share_factor(const struct run *run, const struct expectation_host *host)
{
	double n = run->ranks, k = host->slots, h = (double)run->hosts;
	bool cpu = expectation_is(run->backend, "cpu");

	if (expectation_is(run->collective, "alltoall"))
		return (n - 1) / (k * (n - k));
	if (expectation_is(run->collective, "sendrecv"))
		return host->leaving > 0 ? 1.0 / host->leaving : 1;
	if (cpu && expectation_is(run->collective, "all_reduce"))
		return h * (n - 1) / ((h - 1) * n);
	if (cpu && !expectation_is(run->collective, "broadcast"))
		return (n - 1) / (n - k);
	return 1;
}

static const char *sentence(const struct slowest *slowest, struct arena *arena)
{
	const char *where = slowest->all_alike
				    ? "on each host"
				    : arena_printf(arena, "slowest host %s", slowest->facts->host);
	const char *why = slowest->factor > 1 ? "as each host's ranks send it together"
					      : "as each host's ranks share that";

	if (slowest->factor > 0.995 && slowest->factor < 1.005)
		return arena_printf(arena, "%s, %s", slowest->bound.because, where);
	return arena_printf(arena, "%s, %s; times %.2f, %s", slowest->bound.because, where,
			    slowest->factor, why);
}

/*
 * Takes the GPUs' own links into account, because the network need not be the slowest. In an
 * alltoall a GPU has data for k-1 of the n-1 others on its host.
 */
static void consider_gpus(const struct catalog *catalog, const struct run *run,
			  const struct expectation_host *host, struct slowest *slowest,
			  struct arena *arena)
{
	struct bound gpus = bound_gpus(catalog, host->facts, host->slots, arena);

	if (expectation_is(run->collective, "sendrecv") && host->leaving == host->slots)
		return;
	if (expectation_is(run->collective, "alltoall") && host->slots > 1)
		gpus.gbytes *= (double)(run->ranks - 1) / (host->slots - 1);
	if (gpus.gbytes > 0 && gpus.gbytes < slowest->bound.gbytes) {
		slowest->bound = gpus;
		slowest->factor = 1;
		slowest->facts = host->facts;
		slowest->all_alike = false;
	}
}

static void expect_several_hosts(const struct catalog *catalog, const struct run *run,
				 const struct expectation_host *hosts, struct arena *arena,
				 struct report_expected *expected)
{
	bool on_gpus = expectation_is(run->backend, "nccl");
	struct slowest slowest = {0};

	for (size_t i = 0; i < run->hosts; i++) {
		struct bound bound = bound_network(catalog, hosts[i].facts, run->backend,
						   hosts[i].ib_hca ? hosts[i].ib_hca : "", arena);

		if (on_gpus && bound_is_rack(catalog, hosts[i].facts)) {
			expect_nothing(
				expected,
				"NVLink may join these hosts, and whether it does is not known");
			return;
		}
		keep_slowest(&slowest, &bound, share_factor(run, &hosts[i]), hosts[i].facts);
	}
	for (size_t i = 0; on_gpus && slowest.bound.gbytes > 0 && i < run->hosts; i++)
		consider_gpus(catalog, run, &hosts[i], &slowest, arena);
	if (slowest.bound.gbytes > 0)
		expectation_expect(expected, slowest.bound.gbytes, sentence(&slowest, arena),
				   slowest.bound.source, arena);
	else
		expect_nothing(expected, slowest.bound.because);
}

void expectation_find(const struct catalog *catalog, const char *backend, const char *collective,
		      const struct expectation_host *hosts, size_t count, struct arena *arena,
		      struct report_expected *expected)
{
	struct run run = {.backend = backend, .collective = collective, .hosts = count};

	for (size_t i = 0; i < count; i++)
		run.ranks += hosts[i].slots;
	if (run.ranks < 2)
		expect_nothing(expected, "one rank alone exchanges nothing");
	else if (!catalog_table(catalog, "link") || !catalog_table(catalog, "gpu_link"))
		expect_nothing(expected, "the catalog has no links (link.csv, gpu_link.csv)");
	else if (count == 1)
		expect_one_host(catalog, backend, hosts, arena, expected);
	else
		expect_several_hosts(catalog, &run, hosts, arena, expected);
}

/* Counts the ranks per host. Returns the name of a host without facts, or NULL. */
static const char *count_slots(const struct report *report, struct expectation_host *hosts,
			       size_t count)
{
	for (size_t i = 0; i < report->rank_count; i++) {
		const char *next;
		size_t h = 0;

		while (h < count && strcmp(hosts[h].facts->host, report->ranks[i].host) != 0)
			h++;
		if (h == count)
			return report->ranks[i].host;
		hosts[h].slots++;
		next = report->ranks[(i + 1) % report->rank_count].host;
		hosts[h].leaving += !expectation_is(next, report->ranks[i].host);
	}
	return NULL;
}

void expectation_judge(const struct catalog *catalog, const struct facts *facts, size_t count,
		       const char *ib_hca, struct arena *arena, struct report *report)
{
	struct expectation_host *hosts = ARENA_ARRAY(arena, count + 1, struct expectation_host);
	struct report_expected *expected = &report->expected;
	const char *stranger;
	size_t used = 0;

	if (expected->because)
		return;
	for (size_t i = 0; i < count; i++)
		if (facts[i].simulated && *facts[i].simulated) {
			expect_nothing(expected, "the GPUs are simulated");
			return;
		}
	for (size_t i = 0; i < count; i++)
		hosts[i] = (struct expectation_host){.facts = &facts[i], .ib_hca = ib_hca};
	stranger = count_slots(report, hosts, count);
	if (stranger) {
		expect_nothing(expected,
			       arena_printf(arena, "there are no facts of the host %s", stranger));
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (hosts[i].slots)
			hosts[used++] = hosts[i];
	expectation_find(catalog, report->backend, report->collective, hosts, used, arena,
			 expected);
	if (expected->busbw > 0)
		expected->percent = 100 * report_peak(report) / expected->busbw;
}
