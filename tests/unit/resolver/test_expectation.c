/* SPDX-License-Identifier: MIT */
/* What the hardware should give, host by host, with the real catalog's links. */
#include "tests/unit/support.h"

#include "resolver/links/bound.h"
#include "resolver/links/expectation.h"
#include "resolver/links/link_notes.h"

#include <math.h>

#define V100 "Tesla V100-SXM2-16GB"
#define H100 "NVIDIA H100 80GB HBM3"
#define A100P "NVIDIA A100-PCIE-40GB"
#define TWICE(x) x ";" x
#define FOUR(x) TWICE(x) ";" TWICE(x)
#define EIGHT(x) FOUR(x) ";" FOUR(x)
#define IB(n, rate) "mlx5_" #n " 1 ACTIVE InfiniBand 0000:0" #n ":00.0 " rate
#define ROCE(n, rate) "mlx5_" #n " 1 ACTIVE Ethernet 0000:0" #n ":00.0 " rate
#define EDR "100 Gb/sec (4X EDR)"
#define HDR "200 Gb/sec (4X HDR)"
#define NDR "400 Gb/sec (4X NDR)"

struct host_row {
	const char *gpus, *nvlinks, *pci_links, *ports;
	int mbit, slots;
	const char *nics, *gids, *ib_hca;
};

struct row {
	const char *name, *backend;
	double busbw; /* 0: none */
	const char *because;
	struct host_row hosts[3]; /* those with slots */
};

static const struct row rows[] = {
	/* one host, NVLink: data sheets' figure per direction */
	{"v100", "nccl", 150, "NVLink of Tesla V100 SXM2, 6 links", {{EIGHT(V100), .slots = 8}}},
	{"h100", "nccl", 450, "NVLink of H100 SXM5, 18 links", {{EIGHT(H100), .slots = 8}}},
	{"a100",
	 "nccl",
	 300,
	 "A100 SXM4",
	 {{EIGHT("NVIDIA A100-SXM4-80GB"), EIGHT("12"), .slots = 8}}},
	{"b200", "nccl", 900, "B200", {{EIGHT("NVIDIA B200"), .slots = 8}}},
	{"h200", "nccl", 450, "H200", {{EIGHT("NVIDIA H200"), .slots = 8}}},
	{"p100", "nccl", 80, "P100", {{FOUR("Tesla P100-SXM2-16GB"), .slots = 4}}},
	{"gb200 in one host", "nccl", 900, "GB200", {{FOUR("NVIDIA GB200"), .slots = 4}}},
	{"two links down", "nccl", 400, "16 links", {{TWICE(H100), "18;16", .slots = 2}}},
	{"all links down",
	 "nccl",
	 63.015392,
	 "PCIe of H100 SXM5",
	 {{TWICE(H100), "0;0", .slots = 2}}},
	{"half of the mesh", "nccl", 0, "4 of 8 GPUs take part", {{EIGHT(V100), .slots = 4}}},
	/* bridges: two GPUs, and only when the host says that they are there */
	{"no bridge known", "nccl", 31.507696, "PCIe of A100 PCIe", {{TWICE(A100P), .slots = 2}}},
	{"bridge", "nccl", 300, "NVLink of A100 PCIe", {{TWICE(A100P), "12;12", .slots = 2}}},
	{"one bridge of three", "nccl", 100, "4 links", {{TWICE(A100P), "4;4", .slots = 2}}},
	{"two bridged pairs", "nccl", 31.507696, "PCIe", {{FOUR(A100P), FOUR("12"), .slots = 4}}},
	{"a40", "nccl", 56.25, "A40", {{TWICE("NVIDIA A40"), "4;4", .slots = 2}}},
	/* one host, PCIe: the catalog's link, else what the host says of the slowest */
	{"t4",
	 "nccl",
	 15.75384,
	 "PCIe of Tesla T4, 8 GT/s on 16",
	 {{FOUR("Tesla T4"), .slots = 4}}},
	{"l4", "nccl", 31.507696, "L4", {{TWICE("NVIDIA L4"), .slots = 2}}},
	{"l40s", "nccl", 31.507696, "L40S", {{TWICE("NVIDIA L40S"), .slots = 2}}},
	{"v100 pcie", "nccl", 15.75384, "V100 PCIe", {{TWICE("Tesla V100-PCIE-32GB"), .slots = 2}}},
	{"h100 pcie", "nccl", 63.015392, "H100 PCIe", {{TWICE("NVIDIA H100 PCIe"), .slots = 2}}},
	{"narrow link",
	 "nccl",
	 7.87692,
	 "8 GT/s on 8 lanes",
	 {{TWICE("Tesla T4"), "0;0",
	   "0000:17:00.0 gpu 2.5x16 8.0x16 16.0x16;0000:18:00.0 gpu 2.5x8 8.0x16 16.0x16",
	   .slots = 2}}},
	{"old slot",
	 "nccl",
	 15.75384,
	 "8 GT/s on 16 lanes",
	 {{TWICE("NVIDIA L4"), "0;0", "0000:17:00.0 gpu 2.5x16 16.0x16 8x16", .slots = 2}}},
	{"a PCIe that nobody has",
	 "nccl",
	 0,
	 "no PCIe of 128 GT/s",
	 {{TWICE("NVIDIA L4"), "0;0", "0000:17:00.0 gpu 2.5x16 128x16 128x16", .slots = 2}}},
	{"unknown GPU, but its links are known",
	 "nccl",
	 31.507696,
	 "PCIe of Brand New",
	 {{TWICE("Brand New"), "0;0", "0000:17:00.0 gpu 16.0x16 16.0x16 16.0x16", .slots = 2}}},
	{"unknown GPU", "nccl", 0, "does not know the links of X1", {{TWICE("X1"), .slots = 2}}},
	{"plain H100", "nccl", 0, "does not know", {{TWICE("NVIDIA H100"), .slots = 2}}},
	{"no GPU", "nccl", 0, "no GPU of n1 is known", {{.slots = 2}}},
	{"mixed GPUs", "nccl", 0, "the GPUs of n1 differ", {{H100 ";Tesla T4", .slots = 2}}},
	/* other backends in one host, one rank */
	{"memory", "cpu", 0, "through memory", {{.slots = 8, .mbit = 10000}}},
	{"mpi", "mpi", 0, "through memory", {{EIGHT(H100), .slots = 8}}},
	{"one rank", "nccl", 0, "one rank alone", {{H100, .slots = 1}}},
	/* several hosts, sockets: the interface */
	{"1G",
	 "nccl",
	 0.125,
	 "1 Gbit/s Ethernet (eth0), on each host",
	 {{.slots = 1, .mbit = 1000}, {.slots = 1, .mbit = 1000}}},
	{"25G and 10G",
	 "mpi",
	 1.25,
	 "10 Gbit/s Ethernet (eth0), slowest host n2",
	 {{.slots = 1, .mbit = 25000}, {.slots = 1, .mbit = 10000}, {.slots = 1, .mbit = 25000}}},
	{"a bond of three",
	 "mpi",
	 9.375,
	 "75 Gbit/s",
	 {{.slots = 1, .mbit = 75000}, {.slots = 1, .mbit = 75000}}},
	{"cpu, one rank per host",
	 "cpu",
	 1.25,
	 "10 Gbit/s",
	 {{.slots = 1, .mbit = 10000}, {.slots = 1, .mbit = 10000}}},
	{"cpu sums up inside of hosts",
	 "cpu",
	 1.875,
	 "times 1.50",
	 {{.slots = 2, .mbit = 10000}, {.slots = 2, .mbit = 10000}}},
	{"cpu on three hosts",
	 "cpu",
	 1.5625,
	 "times 1.25",
	 {{.slots = 2, .mbit = 10000}, {.slots = 2, .mbit = 10000}, {.slots = 2, .mbit = 10000}}},
	{"virtual", "cpu", 0, "eth0 of n1 is virtual", {{.slots = 1}, {.slots = 1, .mbit = 10000}}},
	{"virtual, the second",
	 "cpu",
	 0,
	 "n2 is virtual",
	 {{.slots = 1, .mbit = 10}, {.slots = 1}}},
	{"virtio",
	 "cpu",
	 0,
	 "eth0 of n1 does not say",
	 {{.slots = 1, .nics = "eth0 0 -"}, {.slots = 1}}},
	/* several hosts, InfiniBand and RoCE: all active ports */
	{"edr",
	 "nccl",
	 12.5,
	 "1 x 100 Gbit/s InfiniBand (4X EDR), on each host",
	 {{.slots = 1, .ports = IB(0, EDR)}, {.slots = 1, .ports = IB(0, EDR)}}},
	{"8 x ndr",
	 "nccl",
	 400,
	 "8 x 400 Gbit/s InfiniBand (4X NDR)",
	 {{EIGHT(H100), .slots = 8, .ports = EIGHT(IB(0, NDR))},
	  {EIGHT(H100), .slots = 8, .ports = EIGHT(IB(0, NDR))}}},
	{"one port fewer",
	 "nccl",
	 75,
	 "3 x 200 Gbit/s InfiniBand (4X HDR), slowest host n2",
	 {{.slots = 1, .ports = FOUR(IB(0, HDR))},
	  {.slots = 1, .ports = IB(0, HDR) ";" TWICE(IB(1, HDR))}}},
	{"sdr: 8b/10b",
	 "nccl",
	 1,
	 "10 Gbit/s InfiniBand (4X SDR)",
	 {{.slots = 1, .ports = IB(0, "10 Gb/sec (4X SDR)")},
	  {.slots = 1, .ports = IB(0, "10 Gb/sec (4X SDR)")}}},
	{"ddr",
	 "nccl",
	 2,
	 "DDR",
	 {{.slots = 1, .ports = IB(0, "20 Gb/sec (4X DDR)")},
	  {.slots = 1, .ports = IB(0, "20 Gb/sec (4X DDR)")}}},
	{"qdr",
	 "nccl",
	 4,
	 "QDR",
	 {{.slots = 1, .ports = IB(0, "40 Gb/sec (4X QDR)")},
	  {.slots = 1, .ports = IB(0, "40 Gb/sec (4X QDR)")}}},
	{"fdr: 64b/66b",
	 "nccl",
	 6.81818,
	 "FDR",
	 {{.slots = 1, .ports = IB(0, "56 Gb/sec (4X FDR)")},
	  {.slots = 1, .ports = IB(0, "56 Gb/sec (4X FDR)")}}},
	{"fdr10",
	 "nccl",
	 5,
	 "FDR10",
	 {{.slots = 1, .ports = IB(0, "40 Gb/sec (4X FDR10)")},
	  {.slots = 1, .ports = IB(0, "40 Gb/sec (4X FDR10)")}}},
	{"hdr100",
	 "nccl",
	 12.5,
	 "2X HDR",
	 {{.slots = 1, .ports = IB(0, "100 Gb/sec (2X HDR)")},
	  {.slots = 1, .ports = IB(0, "100 Gb/sec (2X HDR)")}}},
	{"roce: Ethernet's own rate",
	 "nccl",
	 1.25,
	 "1 x 10 Gbit/s Ethernet",
	 {{.slots = 1, .ports = ROCE(0, "10 Gb/sec (1X QDR)")},
	  {.slots = 1, .ports = ROCE(0, "10 Gb/sec (1X QDR)")}}},
	{"4 x roce",
	 "nccl",
	 50,
	 "4 x 100 Gbit/s Ethernet, slowest host n1",
	 {{.slots = 1, .ports = FOUR(ROCE(0, EDR))}, {.slots = 1, .ports = FOUR(ROCE(0, HDR))}}},
	{"mixed ports",
	 "nccl",
	 25,
	 "2 InfiniBand and RoCE ports, on each host",
	 {{.slots = 1, .ports = IB(0, EDR) ";" ROCE(1, EDR)},
	  {.slots = 1, .ports = IB(0, EDR) ";" ROCE(1, EDR)}}},
	/* ports of the storage and of the management: slower ones, those without an address, those that NCCL may not take */
	{"8 x ndr and storage",
	 "nccl",
	 400,
	 "8 x 400 Gbit/s InfiniBand (4X NDR), without 2 slower, on each host",
	 {{.slots = 1, .ports = ROCE(8, EDR) ";" EIGHT(IB(0, NDR)) ";" IB(9, HDR)},
	  {.slots = 1, .ports = ROCE(8, EDR) ";" EIGHT(IB(0, NDR)) ";" IB(9, HDR)}}},
	{"roce without an address",
	 "nccl",
	 25,
	 "2 x 100 Gbit/s Ethernet, on each host",
	 {{.slots = 1,
	   .ports = FOUR(ROCE(0, EDR)) ";" TWICE(ROCE(1, EDR)),
	   .gids = "mlx5_1 1 3 v2 10.0.0.1;mlx5_0 2 3 v2 10.0.0.2;mlx5_00 1 3 v2 10.0.0.3"},
	  {.slots = 1, .ports = TWICE(ROCE(0, EDR))}}},
	{"an address has nothing to do with InfiniBand",
	 "nccl",
	 12.5,
	 "InfiniBand",
	 {{.slots = 1, .ports = IB(0, EDR), .gids = "mlx5_1 1 3 v2 10.0.0.1"},
	  {.slots = 1, .ports = IB(0, EDR)}}},
	{"NCCL_IB_HCA: prefixes",
	 "nccl",
	 50,
	 "2 x 200 Gbit/s",
	 {{.slots = 1, .ports = TWICE(IB(0, HDR)) ";" IB(1, NDR), .ib_hca = "rocep,mlx5_0"},
	  {.slots = 1, .ports = TWICE(IB(0, HDR))}}},
	{"NCCL_IB_HCA: exact names and ports",
	 "nccl",
	 25,
	 "1 x 200 Gbit/s",
	 {{.slots = 1,
	   .ports = IB(0, HDR) ";" IB(1, HDR) ";" IB(2, HDR),
	   .ib_hca = "=mlx5_0:2,mlx5_1:1,mlx5"},
	  {.slots = 1, .ports = IB(0, HDR)}}},
	{"NCCL_IB_HCA: all but",
	 "nccl",
	 25,
	 "1 x 200 Gbit/s",
	 {{.slots = 1, .ports = IB(0, HDR) ";" IB(1, HDR), .ib_hca = "^=mlx5_1"},
	  {.slots = 1, .ports = IB(0, HDR)}}},
	{"NCCL_IB_HCA: none is left",
	 "nccl",
	 1.25,
	 "10 Gbit/s Ethernet (eth0)",
	 {{.slots = 1, .mbit = 10000, .ports = IB(0, HDR), .ib_hca = "rocep"},
	  {.slots = 1, .mbit = 10000, .ports = IB(0, HDR)}}},
	{"a port that is down does not count",
	 "nccl",
	 1.25,
	 "10 Gbit/s Ethernet (eth0)",
	 {{.slots = 1, .mbit = 10000, .ports = "mlx5_0 1 DOWN InfiniBand - 100 Gb/sec (4X EDR)"},
	  {.slots = 1, .mbit = 10000}}},
	{"no IB on one host",
	 "nccl",
	 1.25,
	 "slowest host n2",
	 {{.slots = 1, .ports = IB(0, EDR)}, {.slots = 1, .mbit = 10000}}},
	{"a rate of the future",
	 "nccl",
	 0,
	 "rate of mlx5_0 port 1",
	 {{.slots = 1, .ports = IB(0, "9999 Gb/sec (4X ZDR)")}, {.slots = 1}}},
	{"mpi and InfiniBand",
	 "mpi",
	 0,
	 "MPI goes on n1",
	 {{.slots = 1, .mbit = 10000, .ports = IB(0, EDR)}, {.slots = 1, .mbit = 10000}}},
	{"cpu takes no InfiniBand",
	 "cpu",
	 1.25,
	 "Ethernet (eth0)",
	 {{.slots = 1, .mbit = 10000, .ports = IB(0, EDR)},
	  {.slots = 1, .mbit = 10000, .ports = IB(0, EDR)}}},
	/* several hosts whose GPUs are slower than the network */
	{"t4 behind 400G",
	 "nccl",
	 15.75384,
	 "PCIe of Tesla T4, 8 GT/s on 16 lanes, slowest host n1",
	 {{TWICE("Tesla T4"), .slots = 2, .ports = IB(0, NDR)},
	  {EIGHT(H100), .slots = 8, .ports = IB(0, NDR)}}},
	{"one GPU each: its PCIe link",
	 "nccl",
	 15.75384,
	 "PCIe of Tesla V100 SXM2",
	 {{V100, .slots = 1, .ports = IB(0, NDR)}, {V100, .slots = 1, .ports = IB(0, NDR)}}},
	{"racks of NVLink",
	 "nccl",
	 0,
	 "NVLink may join",
	 {{FOUR("NVIDIA GB200"), .slots = 4, .ports = IB(0, NDR)},
	  {FOUR("NVIDIA GB200"), .slots = 4, .ports = IB(0, NDR)}}},
};

static struct facts facts_of(const struct host_row *row, size_t index)
{
	static const char *const names[] = {"n1", "n2", "n3"};

	return (struct facts){.host = names[index],
			      .interface = "eth0",
			      .gpus = row->gpus ? row->gpus : "",
			      .nvlinks = row->nvlinks ? row->nvlinks : "",
			      .pci_links = row->pci_links ? row->pci_links : "",
			      .infiniband_ports = row->ports ? row->ports : "",
			      .nics = row->nics ? row->nics : "",
			      .interface_mbit = row->mbit};
}

static void set_gids(struct facts *facts, const char *gids, struct arena *arena)
{
	facts->more = ARENA_ARRAY(arena, fact_row_count, const char *);
	facts->more[fact_row("roce_gids")] = gids;
}

static void load(struct scratch *s, struct catalog *catalog)
{
	struct error err = {0};

	assert_fine(catalog_load(arena_printf(&s->arena, "%s/recipes/catalog", source_root(s)),
				 &s->arena, catalog, &err));
}

static void test_rows(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog;

	load(s, &catalog);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct expectation_host hosts[3];
		struct report_expected expected;
		struct facts facts[3];
		size_t count = 0;

		for (; count < 3 && rows[i].hosts[count].slots; count++) {
			facts[count] = facts_of(&rows[i].hosts[count], count);
			set_gids(&facts[count], rows[i].hosts[count].gids, &s->arena);
			hosts[count] =
				(struct expectation_host){&facts[count], rows[i].hosts[count].slots,
							  1, rows[i].hosts[count].ib_hca};
		}
		expectation_find(&catalog, rows[i].backend, "all_reduce", hosts, count, &s->arena,
				 &expected);
		if (fabs(expected.busbw - rows[i].busbw) > 1e-4)
			fail_msg("%s: %g GB/s (%s), not %g", rows[i].name, expected.busbw,
				 expected.because, rows[i].busbw);
		if (!strstr(expected.because, rows[i].because))
			fail_msg("%s: \"%s\" does not hold \"%s\"", rows[i].name, expected.because,
				 rows[i].because);
		if (rows[i].busbw > 0)
			assert_has(expected.source, "nccl-tests-performance");
		else
			assert_string_equal(expected.source, "");
	}
}

static void test_no_links_in_the_catalog(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog = {0};
	struct facts facts = facts_of(&(struct host_row){.gpus = TWICE(H100)}, 0);
	struct expectation_host host = {&facts, 2, 0, NULL};
	struct report_expected expected;

	expectation_find(&catalog, "nccl", "all_reduce", &host, 1, &s->arena, &expected);
	assert_true(expected.busbw == 0);
	assert_has(expected.because, "link.csv");
}

/* nvidia-smi's names find the row that is meant, and no other. */
static void test_names(void **state)
{
	struct scratch *s = *state;
	static const char *const pairs[][2] = {
		{V100, "Tesla V100 SXM2"},
		{"Tesla V100S-PCIE-32GB", "Tesla V100S PCIe"},
		{"NVIDIA A100 80GB PCIe", "A100 PCIe"},
		{A100P, "A100 PCIe"},
		{H100, "H100 SXM5"},
		{"NVIDIA H100 NVL", "H100 NVL"},
		{"NVIDIA H200 NVL", "H200 NVL"},
		{"NVIDIA H200", "H200"},
		{"NVIDIA L4", "L4"},
		{"NVIDIA L40", "L40"},
		{"NVIDIA GeForce RTX 3090 Ti", "RTX 3090"},
		{"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
		{"Quadro RTX 6000", "Quadro RTX 6000"},
		{"NVIDIA RTX A6000", "RTX A6000"},
		{"NVIDIA GH200 480GB", ""},
		{"NVIDIA H100", ""},
		{"", ""},
	};
	struct catalog catalog;

	load(s, &catalog);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		int row = gpu_link_row(&catalog, pairs[i][0]);
		const char *version = row < 0 ? ""
					      : table_cell(catalog_table(&catalog, "gpu_link"),
							   (size_t)row, "version");

		if (strcmp(version, pairs[i][1]) != 0)
			fail_msg("%s: '%s', not '%s'", pairs[i][0], version, pairs[i][1]);
	}
}

/* A report against the facts of its hosts: slots are the ranks that it has there. */
static void test_judge(void **state)
{
	struct scratch *s = *state;
	struct report_row sizes[] = {{.busbw = 0.5}, {.busbw = 1}, {.busbw = 0.75}};
	struct report_rank ranks[] = {{0, "n1"}, {1, "n2"}, {2, "n2"}};
	struct report report = {.backend = "mpi",
				.collective = "all_gather",
				.row_count = 3,
				.rows = sizes,
				.rank_count = 3,
				.ranks = ranks};
	struct facts facts[] = {facts_of(&(struct host_row){.mbit = 10000}, 0),
				facts_of(&(struct host_row){.mbit = 10000}, 1),
				facts_of(&(struct host_row){.mbit = 100}, 2)};
	struct catalog catalog;

	load(s, &catalog);
	expectation_judge(&catalog, facts, 3, NULL, &s->arena, &report);
	assert_true(report.expected.busbw == 1.25); /* n3 takes no part */
	assert_true(report.expected.percent == 80);
	expectation_judge(&catalog, facts, 0, NULL, &s->arena, &report);
	assert_true(report.expected.percent == 80); /* said once */
	report.expected = (struct report_expected){0};
	expectation_judge(&catalog, facts, 1, NULL, &s->arena, &report);
	assert_has(report.expected.because, "no facts of the host n2");
}

/* The rest of the table in expectation.h. n1 has the ranks 0 and 3, n2 the ranks 1 and 2, n3 rank
 * 4; each NIC 1.25. */
static void test_collectives(void **state)
{
	struct scratch *s = *state;
	struct report_row sizes[] = {{.busbw = 0.5}};
	struct report_rank ranks[] = {{0, "n1"}, {1, "n2"}, {2, "n2"}, {3, "n1"}, {4, "n3"}};
	static const struct {
		const char *collective, *backend;
		double busbw;
		const char *because;
	} cases[] = {
		{"alltoall", "cpu", 1.25 * 4 / (2 * 3), "times 0.67, as each host's ranks share"},
		{"alltoall", "mpi", 1.25 * 4 / (2 * 3), "slowest host n1"},
		{"sendrecv", "cpu", 1.25 / 2, "slowest host n1; times 0.50"},
		{"all_reduce", "cpu", 1.25 * 3 * 4 / (2 * 5), "on each host; times 1.20"},
		{"all_gather", "cpu", 1.25 * 4 / 4, "slowest host n3"},
		{"reduce_scatter", "cpu", 1.25 * 4 / 4, "slowest host n3"},
		{"broadcast", "cpu", 1.25, "on each host"},
		{"reduce_scatter", "mpi", 1.25, "on each host"},
	};
	struct facts facts[3];
	struct catalog catalog;

	load(s, &catalog);
	for (size_t i = 0; i < 3; i++)
		facts[i] = facts_of(&(struct host_row){.mbit = 10000}, i);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct report report = {.backend = cases[i].backend,
					.collective = cases[i].collective,
					.row_count = 1,
					.rows = sizes,
					.rank_count = 5,
					.ranks = ranks};

		expectation_judge(&catalog, facts, 3, NULL, &s->arena, &report);
		if (fabs(report.expected.busbw - cases[i].busbw) > 1e-6)
			fail_msg("%s, %s: %g, not %g", cases[i].collective, cases[i].backend,
				 report.expected.busbw, cases[i].busbw);
		assert_has(report.expected.because, cases[i].because);
	}
}

static void test_notes(void **state)
{
	struct scratch *s = *state;
	static const struct {
		struct host_row host;
		const char *note; /* NULL: none */
	} cases[] = {
		{{.pci_links = "0000:17:00.0 gpu 2.5x16 16.0x16 16.0x16"}, NULL},
		{{.pci_links = "0000:17:00.0 gpu 16.0x8 16.0x16 16.0x16"},
		 "runs on 8 of 16 PCIe lanes, though its slot has 16"},
		{{.pci_links = "0000:3b:00.0 nic 8.0x4 8.0x8 8.0x4"},
		 "NIC 0000:3b:00.0 runs on 4 of its 8 PCIe lanes: its slot has no more"},
		{{.nics = "a 10000 0000:3b:00.0;b 1000 0000:3b:00.1"},
		 "b runs at 1000 Mbit/s, a of the same card at 10000"},
		{{.nics = "a 10000 0000:3b:00.0;b 1000 0000:3c:00.0"}, NULL},
		{{.nics = "a 10000 0000:3b:00.0;b 0 0000:3b:00.1"}, NULL},
		{{.nics = "a 10000 -;b 1000 -"}, NULL},
		{{.ports =
			  "m 1 ACTIVE InfiniBand 0000:3b:00.0 100 Gb/sec (4X EDR);m 2 ACTIVE InfiniBand 0000:3b:00.0 10 Gb/sec (4X SDR)"},
		 "m port 2 runs at 10 Gbit/s, m port 1"},
		{{.ports =
			  "m 1 ACTIVE InfiniBand 0000:3b:00.0 100 Gb/sec (4X EDR);m 2 DOWN InfiniBand 0000:3b:00.0 10 Gb/sec (4X SDR)"},
		 NULL},
		{{.gpus = TWICE(H100), .nvlinks = "18;16"},
		 "has 16 of the 18 NVLinks of H100 SXM5"},
		{{.gpus = TWICE(H100), .nvlinks = "18;18"}, NULL},
		{{.gpus = TWICE(A100P), .nvlinks = "0;0"}, NULL},
		{{.gpus = TWICE("X1"), .nvlinks = "0;0"}, NULL},
		{{.nics = "a;b c;;", .pci_links = "x;0000:17:00.0 gpu x16 y z", .ports = "p q"},
		 NULL},
	};
	struct catalog catalog;

	load(s, &catalog);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct facts facts = facts_of(&cases[i].host, 0);
		struct words notes = WORDS_INIT(&s->arena);

		link_notes(&catalog, &facts, &notes);
		if (notes.count != (cases[i].note != NULL))
			fail_msg("case %zu: %zu notes", i, notes.count);
		if (cases[i].note) {
			assert_has(notes.list[0], "n1: ");
			assert_has(notes.list[0], cases[i].note);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_rows),  SCRATCH_TEST(test_no_links_in_the_catalog),
		SCRATCH_TEST(test_names), SCRATCH_TEST(test_judge),
		SCRATCH_TEST(test_notes), SCRATCH_TEST(test_collectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
