/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "options_row.h"
#include "backend/backend.h"
#include "bench/find.h"
#include "collective/dtype.h"
#include "environment.h"
#include "perf.h"
#include "sgd/sgd.h"
#include "workload.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TIMEOUT_SEC_MAX 86400
#define OPTIONS_ALL "all"
#define STEP_BYTES (UINT64_C(1) << 20) /* -i, where neither -i nor -f is given */
#define FIRST_LONG 256 /* getopt_long() returns this plus the row's number, or a letter */

static const char *options_type(int index)
{
	if (index == DTYPE_COUNT)
		return OPTIONS_ALL;
	return index < DTYPE_COUNT ? dtype_name((enum dtype)index) : NULL;
}

static int options_parse_type(const char *text)
{
	return strcmp(text, OPTIONS_ALL) == 0 ? (int)DTYPE_COUNT : dtype_parse(text);
}

static const char *options_op(int index)
{
	if (index == OP_COUNT)
		return OPTIONS_ALL;
	return index < OP_COUNT ? op_name((enum op)index) : NULL;
}

static int options_parse_op(const char *text)
{
	return strcmp(text, OPTIONS_ALL) == 0 ? (int)OP_COUNT : op_parse(text);
}

static const char *options_collective(int index)
{
	return index < COLLECTIVE_COUNT ? collective_name((enum collective_kind)index) : NULL;
}

static const char *options_backend(int index)
{
	const struct backend *backend = index > 0 ? backend_at(index - 1) : NULL;

	if (index == 0)
		return BACKEND_AUTO;
	return backend ? backend->name : NULL;
}

/* nccl-tests' --root is the number of a rank. */
static int options_take_rank(struct options *o, const char *text)
{
	char *end;
	unsigned long rank;

	o->workload.root = ROOT_ALL;
	if (strcmp(text, "all") == 0 || strcmp(text, "-1") == 0)
		return 0;
	rank = strtoul(text, &end, 10);
	o->workload.root = (uint32_t)rank;
	return *end == '\0' && *text >= '0' && *text <= '9' && rank < WORLD_MAX ? 0 : -1;
}

static int options_take_root(struct options *o, const char *text)
{
	if (o->perf && !strchr(text, ':'))
		return options_take_rank(o, text);
	return net_split(text, o->root_host, sizeof(o->root_host), o->root_port,
			 sizeof(o->root_port));
}

/* Both are the same where each rank is a process of its own. */
static int options_take_parallel(struct options *o, const char *text)
{
	(void)o;
	return strcmp(text, "0") == 0 || strcmp(text, "1") == 0 ? 0 : -1;
}

/* 0 is nccl-tests' word for never. */
static int options_take_timeout(struct options *o, const char *text)
{
	char *end;
	long seconds = strtol(text, &end, 10);

	if (end == text || *end != '\0' || seconds < !o->perf || seconds > TIMEOUT_SEC_MAX)
		return -1;
	o->timeout_sec = seconds > 0 ? (int)seconds : TIMEOUT_SEC_MAX;
	return 0;
}

static int options_take_file(struct options *o, const char *text)
{
	size_t length = strlen(text);

	if (length < 6 || length >= sizeof(o->output_file) ||
	    strcasecmp(text + length - 5, ".json") != 0)
		return -1;
	snprintf(o->output_file, sizeof(o->output_file), "%s", text);
	return 0;
}

static int options_take_fault(struct options *o, const char *text)
{
	return fault_parse(&o->fault, text);
}

static void options_version(void)
{
	puts("allreduce " ALLREDUCE_VERSION);
}

#define AT(member)                                  \
	.offset = offsetof(struct options, member), \
	.bytes = sizeof(((struct options *)NULL)->member)

/* clang-format off */
static const struct row rows[] = {
	{"procs", 0, "K", "start K ranks here: all of them (no --rank), or ranks R..R+K-1 of N",
	 .kind = ROW_INTEGER, AT(procs), .low = 1, .high = WORLD_MAX},
	{"rank", 0, "R", NULL, .kind = ROW_INTEGER, AT(rank), .low = 0, .high = WORLD_MAX - 1},
	{"world", 0, "N", "this is rank R of N; without them the launcher's environment is read (%s)",
	 .kind = ROW_INTEGER, AT(world), .low = 1, .high = WORLD_MAX, .names = environment_name},
	{"root", 0, "HOST:PORT", "where rank 0 listens and the others connect",
	 .kind = ROW_OTHER, .take = options_take_root, .wanted = "HOST:PORT is needed"},
	{"bind", 0, "ADDR",
	 "address of this rank's data sockets (default: the one that leads to the root)",
	 .kind = ROW_TEXT, AT(bind)},
	{"host", 0, "NAME", "host name to use (default: the machine's)",
	 .kind = ROW_TEXT, AT(host)},
	{"backend", 0, "NAME", "%s", BACKEND_AUTO, ROW_TEXT, AT(backend), .names = options_backend},
	{"no-shm", 0, NULL, "use TCP even between ranks of one host", .kind = ROW_FLAG, AT(no_shm)},
	{"timeout", 'T', "S", "name whoever keeps the others waiting within this many seconds", "60",
	 ROW_OTHER, .take = options_take_timeout, .wanted = "a number of seconds from 1 to 86400 is needed"},
	{"ngpus", 'g', "N", "as --procs: this many ranks here, times -t",
	 .kind = ROW_INTEGER, AT(gpus), .low = 1, .high = WORLD_MAX},
	{"nthreads", 't', "N", "this many times -g ranks here; each is a process",
	 .kind = ROW_INTEGER, AT(threads), .low = 1, .high = WORLD_MAX},
	{"minbytes", 'b', "SIZE", "first size, with suffix K, M or G", "8",
	 ROW_BYTES, AT(workload.first_bytes)},
	{"maxbytes", 'e', "SIZE", "last size", "4M", ROW_BYTES, AT(workload.last_bytes)},
	{"stepfactor", 'f', "N", "factor from one size to the next, 1: steps of -i (default 2, with -i 1)",
	 .kind = ROW_INTEGER, AT(factor), .low = 1, .high = FACTOR_MAX},
	{"stepbytes", 'i', "SIZE", "step from one size to the next, where the factor is 1 (default 1M)",
	 .kind = ROW_BYTES, AT(workload.step_bytes), .low = 1},
	{"iters", 'n', "N", "timed iterations", "20",
	 ROW_INTEGER, AT(workload.iterations), .low = 1, .high = ITERATIONS_MAX},
	{"warmup_iters", 'w', "N", "untimed iterations before them", "5",
	 ROW_INTEGER, AT(workload.warmups), .low = 0, .high = ITERATIONS_MAX},
	{"agg_iters", 'm', "N", "collectives of an iteration, put into the queue as one", "1",
	 ROW_INTEGER, AT(workload.aggregate), .low = 1, .high = ITERATIONS_MAX},
	{"run_cycles", 'N', "N", "measure all sizes so often; 0: until a result is wrong or a signal ends it", "1",
	 ROW_INTEGER, AT(workload.cycles), .low = 0, .high = CYCLES_MAX},
	{"check", 'c', "N", "checks after the timed iterations, beside one before; 0: nothing is checked", "1",
	 ROW_INTEGER, AT(workload.checks), .low = 0, .high = ITERATIONS_MAX},
	{"datatype", 'd', "TYPE", "%s", "f32", ROW_NAME, AT(workload.type),
	 .names = options_type, .number_of = options_parse_type},
	{"op", 'o', "OP", "%s; mulsum is for nccl: each rank's input counts once or twice", "sum", ROW_NAME, AT(workload.op),
	 .names = options_op, .number_of = options_parse_op},
	{"collective", 0, "NAME", "%s", "all_reduce", ROW_NAME, AT(workload.collective),
	 .names = options_collective, .number_of = collective_parse},
	{"root-rank", 'r', "R", "the root of broadcast, reduce, gather and scatter, or all", "0",
	 ROW_OTHER, .take = options_take_rank, .wanted = "the number of a rank or all is needed"},
	{"average", 'a', "N",
	 "time of a size: 0 rank 0's, 1 the average, 2 the least, 3 the most of the ranks' averages, 4 the average of each iteration's slowest rank",
	 "4", ROW_INTEGER, AT(workload.average), .low = 0, .high = AVERAGE_COUNT - 1},
	{"blocking", 'z', "N", "after each iteration: 0 go on, 1 wait for it and all ranks, 2 wait for it", "0",
	 ROW_INTEGER, AT(workload.blocking), .low = 0, .high = BLOCKING_COUNT - 1},
	{"report_cputime", 'C', "0|1", "1: the time until the host has put its work into the queue", "0",
	 ROW_INTEGER, AT(workload.host_time), .low = 0, .high = 1},
	{"report_timestamps", 'S', "0|1", "1: the time of day in each line", "0",
	 ROW_INTEGER, AT(stamps), .low = 0, .high = 1},
	{"per_iter_timing", 'I', "0|1", "1: least, most, p99 and spread of the iterations in each line", "0",
	 ROW_INTEGER, AT(spreads), .low = 0, .high = 1},
	{"output_file", 'J', "FILE", "write nccl-tests' JSON document there too; FILE ends in .json",
	 .kind = ROW_OTHER, .take = options_take_file, .wanted = "a name that ends in .json is needed"},
	{"parallel_init", 'p', "0|1", "both are the same: each rank is a process", "0",
	 ROW_OTHER, .take = options_take_parallel, .wanted = "0 or 1 is needed"},
	{"graph", 0, NULL, "nccl: record the iterations as a CUDA graph and launch that",
	 .kind = ROW_FLAG, AT(workload.graph)},
	{"cudagraph", 'G', "N", "nccl: the same, launched N times; 0: no graph", "0",
	 ROW_INTEGER, AT(workload.graph), .low = 0, .high = ITERATIONS_MAX},
	{"register", 0, NULL, "nccl: register the buffers with NCCL",
	 .kind = ROW_FLAG, AT(workload.registers)},
	{"local_register", 'R', "0|1|2", "nccl: 1 the same, 2 as symmetric windows", "0",
	 ROW_INTEGER, AT(workload.registers), .low = 0, .high = REGISTERS_COUNT - 1},
	{"unalign", 'u', "N", "nccl: the buffers begin N elements after an aligned address", "0",
	 ROW_INTEGER, AT(workload.unalign), .low = 0, .high = UNALIGN_MAX},
	{"cta_policy", 'x', "0|1|2", "nccl: NCCL_CTA_POLICY of every rank, unless it is set already; 0: nothing is set", "0",
	 ROW_INTEGER, AT(workload.cta_policy), .low = 0, .high = CTA_POLICY_MAX},
	{"stream_null", 'y', "0", "", .kind = ROW_ZERO,
	 .wanted = "the default stream waits for all others, and the worker needs one of its own to see who hangs"},
	{"device_implementation", 'D', "0", "", .kind = ROW_ZERO,
	 .wanted = "kernels of nccl-tests' own take NCCL's place there, and NCCL is what is measured here"},
	{"device_cta_count", 'V', "0", "", .kind = ROW_ZERO,
	 .wanted = "it is for kernels of nccl-tests' own (-D)"},
	{"memory_report", 'M', "0", "", .kind = ROW_ZERO,
	 .wanted = "nvidia-smi says what memory of the GPUs is in use"},
	{"min-busbw", 0, "GB/s", "fail if the largest size is slower than this",
	 .kind = ROW_REAL, AT(min_busbw)},
	{"expect", 0, "GB/s", "what the hardware should give; the fastest size is compared",
	 .kind = ROW_REAL, AT(expect.busbw)},
	{"min-percent", 0, "P", "fail below P % of --expect",
	 .kind = ROW_REAL, AT(expect.min_percent)},
	{"find-slow", 0, NULL, "let all pairs of ranks exchange data too, and name what is slow",
	 .kind = ROW_FLAG, AT(workload.find_slow)},
	{"sgd", 0, NULL,
	 "train a small network on handwritten digits too: alone, by all-reduce, by a parameter server",
	 .kind = ROW_FLAG, AT(sgd)},
	{"steps", 0, "N", "steps of each training", "200",
	 ROW_INTEGER, AT(steps), .low = 1, .high = SGD_STEPS_MAX},
	{"json", 0, NULL, "one JSON document instead of the table", .kind = ROW_FLAG, AT(json)},
	{"quiet", 0, NULL, "the verdict only", .kind = ROW_FLAG, AT(quiet)},
	{"fault-inject", 0, "LIST",
	 "faults on purpose, separated by commas: %s; a phase as in stop:1@pairs",
	 .kind = ROW_OTHER, .names = fault_form, .take = options_take_fault,
	 .wanted = "kind:RANK is needed, such as corrupt:1"},
	{"health", 0, NULL,
	 "look at each GPU of this machine and measure it, without ranks; prints lines of JSON",
	 .kind = ROW_FLAG, AT(health)},
	{"burn", 0, "S", "how long --health lets the GPUs calculate, in seconds; 0: not at all", "5",
	 ROW_INTEGER, AT(burn_sec), .low = 0, .high = 600},
	{"versions", 0, NULL, "versions of this program, of NCCL and of the CUDA driver, or why there is none",
	 .kind = ROW_FLAG, AT(versions)},
	{"programs", 0, NULL, "names of nccl-tests that a link to this program may have", .kind = ROW_PRINT,
	 .print = perf_print},
	{"help", 'h', NULL, "this text", .kind = ROW_PRINT, .print = options_help},
	{"version", 0, NULL, "this program's version", .kind = ROW_PRINT, .print = options_version},
};
/* clang-format on */

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

const struct row *options_row_at(int index)
{
	return index < ROWS ? &rows[index] : NULL;
}

int options_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	uint64_t unit = 1;
	long double value;
	char *end;

	if (strspn(text, "0123456789") == 0)
		return -1;
	value = strtold(text, &end);
	if (strspn(text, "0123456789.") != (size_t)(end - text))
		return -1;
	if (*end != '\0') {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1] != '\0')
			return -1;
		unit <<= 10 * (suffix - suffixes + 1);
	}
	if (value * (long double)unit > (long double)SIZE_MAX_BYTES)
		return -1;
	*bytes = (uint64_t)(value * (long double)unit);
	return 0;
}

static int options_bad(struct failure *err, const char *what, const char *text, const char *wanted)
{
	return failure_set(err, STATUS_USAGE, -1, "", "%s '%s': %s; see allreduce --help", what,
			   text, wanted);
}

/* @text is no value of the row's. */
static int options_bad_value(const struct row *row, const char *text, const char *wanted,
			     struct failure *err)
{
	char what[32], names[NAMES_BYTES], all[NAMES_BYTES + 16];

	if (row->letter)
		snprintf(what, sizeof(what), "-%c", row->letter);
	else
		snprintf(what, sizeof(what), "--%s", row->name);
	if (!wanted) {
		options_list(row, names);
		snprintf(all, sizeof(all), "%s is needed", names);
	}
	return options_bad(err, what, text, wanted ? wanted : all);
}

/* Stores @value in a member of @bytes: a bool, an int, a uint32_t or a uint64_t. */
static void options_store(void *member, size_t bytes, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	if (bytes == sizeof(bool))
		*(bool *)member = value != 0;
	else if (bytes == sizeof(word))
		memcpy(member, &word, sizeof(word));
	else
		memcpy(member, &value, sizeof(value));
}

static int options_zero(const struct row *row, const char *text, struct failure *err)
{
	char wanted[NAMES_BYTES];

	snprintf(wanted, sizeof(wanted), "not possible here: %s", row->wanted);
	return strcmp(text, "0") == 0 ? 0 : options_bad_value(row, text, wanted, err);
}

static int options_integer(const struct row *row, const char *text, void *member,
			   struct failure *err)
{
	char *end, wanted[64];
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && value >= row->low && value <= row->high) {
		options_store(member, row->bytes, (uint64_t)value);
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "a number from %ld to %ld is needed", row->low, row->high);
	return options_bad_value(row, text, wanted, err);
}

static int options_real(const struct row *row, const char *text, double *member,
			struct failure *err)
{
	char *end;

	*member = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*member) || *member < 0)
		return options_bad_value(row, text, "a number, 0 or more, is needed", err);
	return 0;
}

static bool options_is_name(const struct row *row, const char *text)
{
	for (int i = 0; row->names(i); i++)
		if (strcmp(text, row->names(i)) == 0)
			return true;
	return false;
}

static int options_text(const struct row *row, const char *text, char *member, struct failure *err)
{
	if (row->names && !options_is_name(row, text))
		return options_bad_value(row, text, NULL, err);
	if (!*text || strlen(text) >= row->bytes)
		return options_bad_value(row, text, "empty or too long", err);
	snprintf(member, row->bytes, "%s", text);
	return 0;
}

/* Puts the value @text, NULL for a flag, where the row says. */
static int options_take(const struct row *row, const char *text, struct options *o,
			struct failure *err)
{
	void *member = (char *)o + row->offset;
	int number;

	switch (row->kind) {
	case ROW_FLAG:
		options_store(member, row->bytes, 1);
		return 0;
	case ROW_INTEGER:
		return options_integer(row, text, member, err);
	case ROW_REAL:
		return options_real(row, text, member, err);
	case ROW_BYTES:
		if (options_size(text, member) == 0 &&
		    *(const uint64_t *)member >= (uint64_t)row->low)
			return 0;
		return options_bad_value(row, text, "a size such as 8 or 64K is needed", err);
	case ROW_TEXT:
		return options_text(row, text, member, err);
	case ROW_NAME:
		number = row->number_of(text);
		if (number < 0)
			return options_bad_value(row, text, NULL, err);
		options_store(member, row->bytes, (uint64_t)number);
		return 0;
	case ROW_ZERO:
		return options_zero(row, text, err);
	case ROW_OTHER:
		return row->take(o, text) == 0 ? 0 : options_bad_value(row, text, row->wanted, err);
	case ROW_PRINT:
		break;
	}
	return 0;
}

static void options_set_defaults(struct options *o)
{
	struct failure err;

	memset(o, 0, sizeof(*o));
	o->rank = o->world = o->root_listener = o->color = -1;
	fault_init(&o->fault);
	if (gethostname(o->host, sizeof(o->host) - 1) < 0)
		snprintf(o->host, sizeof(o->host), "localhost");
	for (int i = 0; i < ROWS; i++)
		if (rows[i].standard && options_take(&rows[i], rows[i].standard, o, &err) < 0)
			abort();
}

/* The first backend that can do it, for a hint. */
static const char *options_who(bool (*can)(const struct backend *backend))
{
	for (int i = 0; backend_at(i); i++)
		if (can(backend_at(i)))
			return backend_at(i)->name;
	return "none";
}

static bool options_has_graphs(const struct backend *backend)
{
	return backend->record != NULL;
}

static bool options_registers(const struct backend *backend)
{
	return backend->registers;
}

static bool options_premultiplies(const struct backend *backend)
{
	return backend->premultiplies;
}

static int options_check_backend(const struct options *o, struct failure *err)
{
	const struct backend *backend = backend_find(o->backend);
	char why[96];

	if (!backend)
		return options_bad(err, "--backend", o->backend, "this program has none; name one");
	if (o->workload.graph && !options_has_graphs(backend)) {
		snprintf(why, sizeof(why), "it has no graphs; %s has",
			 options_who(options_has_graphs));
		return options_bad(err, "--graph with --backend", o->backend, why);
	}
	if (o->workload.op == OP_MULSUM && !options_premultiplies(backend)) {
		snprintf(why, sizeof(why), "it is for %s", options_who(options_premultiplies));
		return options_bad(err, "-o mulsum with --backend", o->backend, why);
	}
	if (o->workload.registers && !options_registers(backend)) {
		snprintf(why, sizeof(why), "it registers no buffers; %s does",
			 options_who(options_registers));
		return options_bad(err, "--register with --backend", o->backend, why);
	}
	if ((o->workload.unalign || o->workload.cta_policy) && !options_registers(backend)) {
		snprintf(why, sizeof(why), "it is for %s", options_who(options_registers));
		return options_bad(err,
				   o->workload.unalign ? "-u with --backend" : "-x with --backend",
				   o->backend, why);
	}
	return 0;
}

/* What -t, -g, -i and -f mean together. */
static int options_combine(struct options *o, struct failure *err)
{
	long ranks = (o->threads > 0 ? (long)o->threads : 1) * (o->gpus > 0 ? o->gpus : 1);

	if ((o->threads > 0 || o->gpus > 0) && o->procs > 0)
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"--procs and -g or -t: both say how many ranks start here; see allreduce --help");
	if (ranks > WORLD_MAX)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-t times -g: %ld ranks: %d are possible", ranks, WORLD_MAX);
	if (ranks > 1)
		o->procs = (int)ranks;
	o->workload.factor = o->factor > 0			     ? (uint32_t)o->factor
			     : o->perf || o->workload.step_bytes > 0 ? 1
								     : 2;
	if (o->workload.step_bytes == 0)
		o->workload.step_bytes = STEP_BYTES;
	if (o->workload.graph && o->workload.blocking)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-G and -z: a graph cannot be waited for in its middle");
	if (o->workload.graph && o->spreads)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-G and -I: nothing is known of a graph's iterations");
	return o->perf ? perf_environment(o, err) : 0;
}

/* Fills the gaps and refuses combinations that make no sense. */
static int options_complete(struct options *o, struct failure *err)
{
	int ranks_here;
	const char *problem;

	if (options_combine(o, err) < 0)
		return -1;
	ranks_here = o->procs > 0 ? o->procs : 1;
	if (environment_apply(o, err) < 0 || expect_check(&o->expect, err) < 0)
		return -1;
	if (o->rank < 0 && o->world > ranks_here)
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"--world %d: --rank is needed too, or --procs with the same number; see allreduce --help",
			o->world);
	o->rank = o->rank < 0 ? 0 : o->rank;
	o->world = o->world < 0 ? o->rank + ranks_here : o->world;
	if (o->world > WORLD_MAX)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "a world of %d ranks: %d are possible", o->world, WORLD_MAX);
	if (o->rank + ranks_here > o->world)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "rank %d does not exist in a world of %d",
				   o->rank + ranks_here - 1, o->world);
	if (o->world > ranks_here && o->root_host[0] == '\0')
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"other processes have ranks too: say where rank 0 listens with --root HOST:PORT");
	if (o->workload.first_bytes > o->workload.last_bytes)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-b is larger than -e; see allreduce --help");
	if (o->workload.root != ROOT_ALL && (int)o->workload.root >= o->world)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-r: rank %u does not exist in a world of %d", o->workload.root,
				   o->world);
	problem = collective_problem((enum collective_kind)o->workload.collective, o->world);
	if (problem)
		return failure_set(err, STATUS_USAGE, -1, "", "--collective with %d ranks: %s",
				   o->world, problem);
	if (!workload_fits(&o->workload, o->world))
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"these sizes, types, operations, roots and cycles are more than %d results; take fewer",
			RESULTS_MAX);
	if (fault_last_rank(&o->fault) >= o->world)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "--fault-inject: rank %d does not exist in a world of %d",
				   fault_last_rank(&o->fault), o->world);
	if (o->workload.find_slow && o->world > FIND_WORLD_MAX)
		return failure_set(
			err, STATUS_USAGE, -1, "",
			"--find-slow takes no more than %d ranks: try parts of the cluster",
			FIND_WORLD_MAX);
	o->workload.sgd_steps = o->sgd ? (uint32_t)o->steps : 0;
	return options_check_backend(o, err);
}

/* getopt_long()'s tables, made from the rows. */
struct words {
	struct option longs[ROWS + 1];
	char letters[2 * ROWS + 2];
};

static bool options_has_value(const struct row *row)
{
	return row->kind != ROW_FLAG && row->kind != ROW_PRINT;
}

static void options_words(struct words *words)
{
	char *letter = words->letters;

	memset(words, 0, sizeof(*words));
	*letter++ = ':';
	for (int i = 0; i < ROWS; i++) {
		words->longs[i] = (struct option){
			rows[i].name, options_has_value(&rows[i]) ? required_argument : no_argument,
			NULL, FIRST_LONG + i};
		if (!rows[i].letter)
			continue;
		*letter++ = rows[i].letter;
		if (options_has_value(&rows[i]))
			*letter++ = ':';
	}
}

/* The row of what getopt_long() returned. */
static const struct row *options_row(int opt)
{
	int i = 0;

	if (opt >= FIRST_LONG)
		return &rows[opt - FIRST_LONG];
	while (rows[i].letter != opt)
		i++;
	return &rows[i];
}

/* What getopt_long() did not take. A letter may stand among others, so @word is not always it. */
static void options_refuse(int opt, const char *word, struct failure *err)
{
	const char letter[] = {'-', (char)optopt, '\0'};

	if (opt == ':')
		options_bad(err, "option", word, "it needs a value");
	else if (optopt >= FIRST_LONG)
		options_bad(err, "option", word, "it takes no value");
	else
		options_bad(err, "option", optopt ? letter : word, "unknown");
}

/* A script that starts the program by another loader says what it is called itself. */
static const char *options_program(const char *word)
{
	const char *name = getenv("RINGUP_PROGRAM");

	return name && *name ? name : word;
}

enum options_result options_parse(int argc, char **argv, struct options *options,
				  struct failure *err)
{
	struct words words;
	int opt;

	options_set_defaults(options);
	options->started = time(NULL);
	options->words = argv;
	options->word_count = argc;
	if (argc > 0 && perf_collective(options_program(argv[0])) >= 0)
		perf_set_defaults(options, perf_collective(options_program(argv[0])));
	options_words(&words);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, words.letters, words.longs, NULL)) != -1) {
		const struct row *row;

		if (opt == '?' || opt == ':') {
			options_refuse(opt, argv[optind - 1], err);
			return OPTIONS_BAD;
		}
		row = options_row(opt);
		if (row->kind == ROW_PRINT) {
			row->print();
			return OPTIONS_DONE;
		}
		if (options_take(row, optarg, options, err) < 0)
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		options_bad(err, "argument", argv[optind], "not expected");
		return OPTIONS_BAD;
	}
	if (options->versions)
		return OPTIONS_VERSIONS;
	if (options->health)
		return OPTIONS_HEALTH;
	return options_complete(options, err) < 0 ? OPTIONS_BAD : OPTIONS_RUN;
}
