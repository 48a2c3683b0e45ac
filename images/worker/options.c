/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "backend/backend.h"
#include "bench/find.h"
#include "collective/dtype.h"
#include "sgd/sgd.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITERATIONS_MAX 100000
#define TIMEOUT_SEC_MAX 86400
#define BYTES_MAX (UINT64_C(1) << 40)

static const char help[] =
	"usage: allreduce [--procs K] [--rank R --world N --root HOST:PORT] [OPTION...]\n"
	"\n"
	"All-reduce and other collectives among N ranks: speed, correctness, and who is to blame.\n"
	"\n"
	"  --procs K             start K ranks here: all of them (no --rank), or ranks R..R+K-1 of N\n"
	"  --rank R --world N    this is rank R of N; without them the launcher's environment is read\n"
	"                        (Open MPI, Hydra, Slurm, torchrun, RANK and WORLD_SIZE, the index of a\n"
	"                        Kubernetes Job)\n"
	"  --root HOST:PORT      where rank 0 listens and the others connect\n"
	"  --bind ADDR           address of this rank's data sockets (default: the one that leads to the root)\n"
	"  --host NAME           host name to go by (default: the machine's)\n"
	"  --backend NAME        auto, cpu, mpi or nccl (default auto)\n"
	"  --no-shm              TCP even between ranks of one host\n"
	"  --timeout S           who keeps the others waiting is named within so many seconds (default 60)\n"
	"  -b, --minbytes SIZE   first size, with suffix K, M or G (default 8)\n"
	"  -e, --maxbytes SIZE   last size (default 4M)\n"
	"  -f, --stepfactor N    from one size to the next (default 2)\n"
	"  -n, --iters N         timed iterations (default 20)\n"
	"  -w, --warmup_iters N  iterations before them (default 5)\n"
	"  -d, --datatype TYPE   f32, f16, bf16, f8e4m3, f8e5m2, f64, i32, i64, u8 (default f32)\n"
	"  -o, --op OP           sum, prod, min, max, avg (default sum)\n"
	"  --collective NAME     all_reduce, reduce_scatter, all_gather, broadcast, alltoall or sendrecv\n"
	"                        (default all_reduce)\n"
	"  -r, --root-rank R     who broadcasts (default 0)\n"
	"  --graph               nccl: record the iterations as a CUDA graph and launch that\n"
	"  --register            nccl: register the buffers with NCCL\n"
	"  --min-busbw GB/s      fail if the largest size is slower than this\n"
	"  --expect GB/s         what the hardware should give; the fastest size is compared\n"
	"  --min-percent P       fail below P % of --expect\n"
	"  --find-slow           let all pairs of ranks exchange data too, and name what is slow\n"
	"  --sgd                 train a small network on handwritten digits too: alone, by all-reduce, by a\n"
	"                        parameter server\n"
	"  --steps N             steps of each training (default 200)\n"
	"  --json                one JSON document instead of the table\n"
	"  --quiet               the verdict only\n"
	"  --fault-inject LIST   slow:R, corrupt:R, die:R, drop:R, version:R, drift:R, stop:R, link:A-B\n"
	"                        (comma-separated); die, drop and stop also in a phase, as in stop:1@pairs\n"
	"  --versions            this program's, NCCL's and the CUDA driver's, or why there is none\n"
	"  --help, --version\n"
	"\n"
	"Ranks on several hosts share a secret in $RINGUP_SECRET or in the file $RINGUP_SECRET_FILE. The time\n"
	"of a size is the average over the iterations of the slowest rank's time; GB are 1e9 bytes; sizes and\n"
	"busbw are those of nccl-tests.\n"
	"\n"
	"exit status: 0 pass, 1 usage, 2 wrong data, 3 below --min-busbw or --min-percent, 4 timeout, 5 GPU, driver or NCCL\n"
	"unusable, 6 versions differ, 7 peer lost, 8 slow host or link\n";

enum {
	OPT_PROCS = 256,
	OPT_RANK,
	OPT_WORLD,
	OPT_ROOT,
	OPT_BIND,
	OPT_HOST,
	OPT_BACKEND,
	OPT_NO_SHM,
	OPT_TIMEOUT,
	OPT_MIN_BUSBW,
	OPT_EXPECT,
	OPT_MIN_PERCENT,
	OPT_JSON,
	OPT_QUIET,
	OPT_FAULT,
	OPT_FIND_SLOW,
	OPT_COLLECTIVE,
	OPT_GRAPH,
	OPT_REGISTER,
	OPT_SGD,
	OPT_STEPS,
	OPT_HELP,
	OPT_VERSION,
	OPT_VERSIONS
};

static const struct option longs[] = {
	{"procs", required_argument, NULL, OPT_PROCS},
	{"rank", required_argument, NULL, OPT_RANK},
	{"world", required_argument, NULL, OPT_WORLD},
	{"root", required_argument, NULL, OPT_ROOT},
	{"bind", required_argument, NULL, OPT_BIND},
	{"host", required_argument, NULL, OPT_HOST},
	{"backend", required_argument, NULL, OPT_BACKEND},
	{"no-shm", no_argument, NULL, OPT_NO_SHM},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"minbytes", required_argument, NULL, 'b'},
	{"maxbytes", required_argument, NULL, 'e'},
	{"stepfactor", required_argument, NULL, 'f'},
	{"iters", required_argument, NULL, 'n'},
	{"warmup_iters", required_argument, NULL, 'w'},
	{"datatype", required_argument, NULL, 'd'},
	{"op", required_argument, NULL, 'o'},
	{"collective", required_argument, NULL, OPT_COLLECTIVE},
	{"graph", no_argument, NULL, OPT_GRAPH},
	{"register", no_argument, NULL, OPT_REGISTER},
	{"root-rank", required_argument, NULL, 'r'},
	{"min-busbw", required_argument, NULL, OPT_MIN_BUSBW},
	{"expect", required_argument, NULL, OPT_EXPECT},
	{"min-percent", required_argument, NULL, OPT_MIN_PERCENT},
	{"json", no_argument, NULL, OPT_JSON},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"find-slow", no_argument, NULL, OPT_FIND_SLOW},
	{"sgd", no_argument, NULL, OPT_SGD},
	{"steps", required_argument, NULL, OPT_STEPS},
	{"fault-inject", required_argument, NULL, OPT_FAULT},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{"versions", no_argument, NULL, OPT_VERSIONS},
	{NULL, 0, NULL, 0},
};

int options_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno != 0 || end == text || strspn(text, "0123456789") == 0)
		return -1;
	if (*end != '\0') {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1] != '\0' || *bytes > BYTES_MAX >> 10 * (suffix - suffixes + 1))
			return -1;
		*bytes <<= 10 * (suffix - suffixes + 1);
	}
	return *bytes <= BYTES_MAX ? 0 : -1;
}

static int options_bad(struct failure *err, const char *what, const char *text, const char *wanted)
{
	return failure_set(err, STATUS_USAGE, -1, "", "%s '%s': %s; see allreduce --help", what,
			   text, wanted);
}

static int parse_int(const char *name, const char *text, long low, long high, int *out,
		     struct failure *err)
{
	char *end, wanted[64];
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && value >= low && value <= high) {
		*out = (int)value;
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "a number from %ld to %ld is needed", low, high);
	return options_bad(err, name, text, wanted);
}

static int parse_text(const char *name, const char *text, char *out, size_t bytes,
		      struct failure *err)
{
	if (!*text || strlen(text) >= bytes)
		return options_bad(err, name, text, "empty or too long");
	snprintf(out, bytes, "%s", text);
	return 0;
}

static int parse_real(const char *name, const char *text, double *out, struct failure *err)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*out) || *out < 0)
		return options_bad(err, name, text, "a number, 0 or more, is needed");
	return 0;
}

/* The benchmark's own options. */
static int parse_workload(int opt, const char *text, struct workload *w, struct failure *err)
{
	int number = 0, rc = 0;

	switch (opt) {
	case 'b':
		return options_size(text, &w->first_bytes) < 0
			       ? options_bad(err, "-b", text, "a size such as 8 or 64K is needed")
			       : 0;
	case 'e':
		return options_size(text, &w->last_bytes) < 0
			       ? options_bad(err, "-e", text, "a size such as 8 or 64K is needed")
			       : 0;
	case 'f':
		rc = parse_int("-f", text, 2, 1024, &number, err);
		w->factor = (uint32_t)number;
		return rc;
	case 'n':
		rc = parse_int("-n", text, 1, ITERATIONS_MAX, &number, err);
		w->iterations = (uint32_t)number;
		return rc;
	case 'w':
		rc = parse_int("-w", text, 0, ITERATIONS_MAX, &number, err);
		w->warmups = (uint32_t)number;
		return rc;
	case 'd':
		number = dtype_parse(text);
		w->type = (uint32_t)number;
		return number < 0
			       ? options_bad(
					 err, "-d", text,
					 "f32, f16, bf16, f8e4m3, f8e5m2, f64, i32, i64 or u8 is needed")
			       : 0;
	case OPT_COLLECTIVE:
		number = collective_parse(text);
		w->collective = (uint32_t)number;
		return number < 0
			       ? options_bad(
					 err, "--collective", text,
					 "all_reduce, reduce_scatter, all_gather, broadcast, alltoall or sendrecv is needed")
			       : 0;
	case 'r':
		rc = parse_int("-r", text, 0, WORLD_MAX - 1, &number, err);
		w->root = (uint32_t)number;
		return rc;
	default:
		number = op_parse(text);
		w->op = (uint32_t)number;
		return number < 0 ? options_bad(err, "-o", text,
						"sum, prod, min, max or avg is needed")
				  : 0;
	}
}

static int parse_root(const char *text, struct options *o, struct failure *err)
{
	if (net_split(text, o->root_host, sizeof(o->root_host), o->root_port,
		      sizeof(o->root_port)) < 0)
		return options_bad(err, "--root", text, "HOST:PORT is needed");
	return 0;
}

static int options_parse_one(int opt, const char *text, struct options *o, struct failure *err)
{
	switch (opt) {
	case OPT_PROCS:
		return parse_int("--procs", text, 1, 1024, &o->procs, err);
	case OPT_RANK:
		return parse_int("--rank", text, 0, WORLD_MAX - 1, &o->rank, err);
	case OPT_WORLD:
		return parse_int("--world", text, 1, WORLD_MAX, &o->world, err);
	case OPT_ROOT:
		return parse_root(text, o, err);
	case OPT_BIND:
		return parse_text("--bind", text, o->bind, sizeof(o->bind), err);
	case OPT_HOST:
		return parse_text("--host", text, o->host, sizeof(o->host), err);
	case OPT_BACKEND:
		return parse_text("--backend", text, o->backend, sizeof(o->backend), err);
	case OPT_TIMEOUT:
		return parse_int("--timeout", text, 1, TIMEOUT_SEC_MAX, &o->timeout_sec, err);
	case OPT_MIN_BUSBW:
		return parse_real("--min-busbw", text, &o->min_busbw, err);
	case OPT_EXPECT:
		return parse_real("--expect", text, &o->expect.busbw, err);
	case OPT_MIN_PERCENT:
		return parse_real("--min-percent", text, &o->expect.min_percent, err);
	case OPT_FAULT:
		if (fault_parse(&o->fault, text) < 0)
			return options_bad(err, "--fault-inject", text,
					   "kind:RANK is needed, such as corrupt:1");
		return 0;
	case OPT_NO_SHM:
		o->no_shm = true;
		return 0;
	case OPT_FIND_SLOW:
		o->workload.find_slow = true;
		return 0;
	case OPT_GRAPH:
		o->workload.graph = true;
		return 0;
	case OPT_REGISTER:
		o->workload.registers = true;
		return 0;
	case OPT_SGD:
		o->sgd = true;
		return 0;
	case OPT_STEPS:
		return parse_int("--steps", text, 1, SGD_STEPS_MAX, &o->steps, err);
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case OPT_VERSIONS:
		o->versions = true;
		return 0;
	default:
		return parse_workload(opt, text, &o->workload, err);
	}
}

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->rank = o->world = o->root_listener = -1;
	o->timeout_sec = 60;
	o->steps = 200;
	snprintf(o->backend, sizeof(o->backend), "auto");
	o->workload = (struct workload){.first_bytes = 8,
					.last_bytes = 4 << 20,
					.factor = 2,
					.iterations = 20,
					.warmups = 5,
					.type = DTYPE_F32,
					.op = OP_SUM};
	fault_init(&o->fault);
	if (gethostname(o->host, sizeof(o->host) - 1) < 0)
		snprintf(o->host, sizeof(o->host), "localhost");
}

static int check_backend(const struct options *o, struct failure *err)
{
	const struct backend *backend = backend_find(o->backend);

	if (!backend)
		return options_bad(err, "--backend", o->backend,
				   "auto, cpu, mpi or nccl is needed");
	if (o->workload.graph && !backend->record)
		return options_bad(err, "--graph with --backend", o->backend,
				   "it has no graphs; nccl has");
	if (o->workload.registers && !backend->registers)
		return options_bad(err, "--register with --backend", o->backend,
				   "it registers no buffers; nccl does");
	return 0;
}

/* Fills the gaps and refuses combinations that make no sense. */
static int options_complete(struct options *o, struct failure *err)
{
	int ranks_here = o->procs > 0 ? o->procs : 1;

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
	if ((int)o->workload.root >= o->world)
		return failure_set(err, STATUS_USAGE, -1, "",
				   "-r: rank %u does not exist in a world of %d", o->workload.root,
				   o->world);
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
	return check_backend(o, err);
}

/* What getopt_long() did not take. A letter may stand among others, so @word is not always it. */
static void options_refuse(int opt, const char *word, struct failure *err)
{
	const char letter[] = {'-', (char)optopt, '\0'};

	if (opt == ':')
		options_bad(err, "option", word, "it needs a value");
	else if (optopt >= OPT_PROCS)
		options_bad(err, "option", word, "it takes no value");
	else
		options_bad(err, "option", optopt ? letter : word, "unknown");
}

enum options_result options_parse(int argc, char **argv, struct options *options,
				  struct failure *err)
{
	int opt;

	set_defaults(options);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":b:e:f:n:w:d:o:r:h", longs, NULL)) != -1) {
		if (opt == 'h' || opt == OPT_HELP) {
			fputs(help, stdout);
			return OPTIONS_DONE;
		}
		if (opt == OPT_VERSION) {
			puts("allreduce " ALLREDUCE_VERSION);
			return OPTIONS_DONE;
		}
		if (opt == '?' || opt == ':') {
			options_refuse(opt, argv[optind - 1], err);
			return OPTIONS_BAD;
		}
		if (options_parse_one(opt, optarg, options, err) < 0)
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		options_bad(err, "argument", argv[optind], "not expected");
		return OPTIONS_BAD;
	}
	if (options->versions)
		return OPTIONS_VERSIONS;
	return options_complete(options, err) < 0 ? OPTIONS_BAD : OPTIONS_RUN;
}
