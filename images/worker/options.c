/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "backend/backend.h"
#include "bench/find.h"
#include "collective/dtype.h"
#include "environment.h"
#include "sgd/sgd.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_SEC_MAX 86400
#define NAMES_BYTES 512
#define HELP_BYTES 1024
#define HELP_COLUMN 24	 /* where the help texts begin */
#define HELP_COLUMNS 104 /* where they end */
#define FIRST_LONG 256	 /* getopt_long() returns this plus the row's number, or a letter */

enum row_kind {
	ROW_FLAG,    /* no value; stores 1 */
	ROW_INTEGER, /* a number from `low` to `high` */
	ROW_REAL,    /* a number, 0 or more; a double */
	ROW_BYTES,   /* a size such as 64K; a uint64_t */
	ROW_TEXT,    /* a char[]; one of `names`, if there are any */
	ROW_NAME,    /* one of `names`, by its number, which `number_of` finds */
	ROW_OTHER,   /* what `take` makes of it */
	ROW_PRINT,   /* no value; `print` is called, and then the program ends */
};

/* One option. Everything that the program knows of it stands in its row. */
struct row {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	const char *argument;
	const char *help; /* NULL: it shares the line of the next row. %s: the names */
	const char
		*standard; /* the default, as one would write it; NULL: none, or `help` says it */
	enum row_kind kind;
	size_t offset, bytes; /* of the member of struct options */
	long low, high;
	const char *(*names)(int index); /* NULL after the last one */
	int (*number_of)(const char *text);
	int (*take)(struct options *options, const char *text); /* -1: not what is `wanted` */
	const char *wanted;
	void (*print)(void);
};

static const char *options_type(int index)
{
	return index < DTYPE_COUNT ? dtype_name((enum dtype)index) : NULL;
}

static const char *options_op(int index)
{
	return index < OP_COUNT ? op_name((enum op)index) : NULL;
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

static int options_take_root(struct options *o, const char *text)
{
	return net_split(text, o->root_host, sizeof(o->root_host), o->root_port,
			 sizeof(o->root_port));
}

static int options_take_fault(struct options *o, const char *text)
{
	return fault_parse(&o->fault, text);
}

static void options_help(void);

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
	{"timeout", 0, "S", "name whoever keeps the others waiting within this many seconds", "60",
	 ROW_INTEGER, AT(timeout_sec), .low = 1, .high = TIMEOUT_SEC_MAX},
	{"minbytes", 'b', "SIZE", "first size, with suffix K, M or G", "8",
	 ROW_BYTES, AT(workload.first_bytes)},
	{"maxbytes", 'e', "SIZE", "last size", "4M", ROW_BYTES, AT(workload.last_bytes)},
	{"stepfactor", 'f', "N", "factor from one size to the next", "2",
	 ROW_INTEGER, AT(workload.factor), .low = 2, .high = FACTOR_MAX},
	{"iters", 'n', "N", "timed iterations", "20",
	 ROW_INTEGER, AT(workload.iterations), .low = 1, .high = ITERATIONS_MAX},
	{"warmup_iters", 'w', "N", "untimed iterations before them", "5",
	 ROW_INTEGER, AT(workload.warmups), .low = 0, .high = ITERATIONS_MAX},
	{"datatype", 'd', "TYPE", "%s", "f32", ROW_NAME, AT(workload.type),
	 .names = options_type, .number_of = dtype_parse},
	{"op", 'o', "OP", "%s", "sum", ROW_NAME, AT(workload.op),
	 .names = options_op, .number_of = op_parse},
	{"collective", 0, "NAME", "%s", "all_reduce", ROW_NAME, AT(workload.collective),
	 .names = options_collective, .number_of = collective_parse},
	{"root-rank", 'r', "R", "the root of broadcast, reduce, gather and scatter", "0", ROW_INTEGER, AT(workload.root),
	 .low = 0, .high = WORLD_MAX - 1},
	{"graph", 0, NULL, "nccl: record the iterations as a CUDA graph and launch that",
	 .kind = ROW_FLAG, AT(workload.graph)},
	{"register", 0, NULL, "nccl: register the buffers with NCCL",
	 .kind = ROW_FLAG, AT(workload.registers)},
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
	{"versions", 0, NULL, "versions of this program, of NCCL and of the CUDA driver, or why there is none",
	 .kind = ROW_FLAG, AT(versions)},
	{"help", 'h', NULL, "this text", .kind = ROW_PRINT, .print = options_help},
	{"version", 0, NULL, "this program's version", .kind = ROW_PRINT, .print = options_version},
};
/* clang-format on */

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

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
		if (!suffix || end[1] != '\0' ||
		    *bytes > SIZE_MAX_BYTES >> 10 * (suffix - suffixes + 1))
			return -1;
		*bytes <<= 10 * (suffix - suffixes + 1);
	}
	return *bytes <= SIZE_MAX_BYTES ? 0 : -1;
}

/* The names of a row as a sentence has them: "a, b or c". */
static void options_list(const struct row *row, char text[NAMES_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; row->names(i) && used < NAMES_BYTES; i++) {
		const char *joint = i == 0 ? "" : row->names(i + 1) ? ", " : " or ";

		used += (size_t)snprintf(text + used, NAMES_BYTES - used, "%s%s", joint,
					 row->names(i));
	}
}

/* What a row says in the help. */
static void options_describe(const struct row *row, char text[HELP_BYTES])
{
	const char *gap = row->names ? strstr(row->help, "%s") : NULL;
	char names[NAMES_BYTES] = "";
	int before = gap ? (int)(gap - row->help) : (int)strlen(row->help);

	if (gap)
		options_list(row, names);
	snprintf(text, HELP_BYTES, "%.*s%s%s%s%s%s", before, row->help, names, gap ? gap + 2 : "",
		 row->standard ? " (default " : "", row->standard ? row->standard : "",
		 row->standard ? ")" : "");
}

/* Prints @text, of which each line begins at HELP_COLUMN; @column is where the first one stands. */
static void options_wrap(int column, const char *text)
{
	bool first = true;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (first || column + 1 + length > HELP_COLUMNS) {
			printf("%s%*s", first ? "" : "\n",
			       first ? HELP_COLUMN - column : HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else {
			putchar(' ');
			column++;
		}
		printf("%.*s", length, text);
		column += length;
		text += length + (text[length] == ' ');
		first = false;
	}
	putchar('\n');
}

/* One option as one writes it; returns how many columns that takes. */
static int options_show(const struct row *row)
{
	int column = row->letter ? printf("-%c, ", row->letter) : 0;

	return column + printf("--%s%s%s", row->name, row->argument ? " " : "",
			       row->argument ? row->argument : "");
}

static void options_help(void)
{
	char text[HELP_BYTES];

	fputs("usage: allreduce [--procs K] [--rank R --world N --root HOST:PORT] [OPTION...]\n"
	      "\n"
	      "All-reduce and other collectives among N ranks: speed, correctness, and who is to blame.\n"
	      "\n",
	      stdout);
	for (int i = 0; i < ROWS; i++) {
		int column = printf("  ");

		for (; !rows[i].help; i++)
			column += options_show(&rows[i]) + printf(" ");
		column += options_show(&rows[i]);
		options_describe(&rows[i], text);
		options_wrap(column, text);
	}
	fputs("\n"
	      "Ranks on several hosts share a secret in $RINGUP_SECRET or in the file $RINGUP_SECRET_FILE. The time\n"
	      "of a size is the average over the iterations of the slowest rank's time; GB are 1e9 bytes; sizes and\n"
	      "busbw are those of nccl-tests.\n"
	      "\n"
	      "exit status: 0 pass, 1 usage, 2 wrong data, 3 below --min-busbw or --min-percent, 4 timeout, 5 GPU, driver or NCCL\n"
	      "unusable, 6 versions differ, 7 peer lost, 8 slow host or link\n",
	      stdout);
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
		return options_size(text, member) == 0
			       ? 0
			       : options_bad_value(row, text, "a size such as 8 or 64K is needed",
						   err);
	case ROW_TEXT:
		return options_text(row, text, member, err);
	case ROW_NAME:
		number = row->number_of(text);
		if (number < 0)
			return options_bad_value(row, text, NULL, err);
		options_store(member, row->bytes, (uint64_t)number);
		return 0;
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
	o->rank = o->world = o->root_listener = -1;
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
	if (o->workload.registers && !options_registers(backend)) {
		snprintf(why, sizeof(why), "it registers no buffers; %s does",
			 options_who(options_registers));
		return options_bad(err, "--register with --backend", o->backend, why);
	}
	return 0;
}

/* Fills the gaps and refuses combinations that make no sense. */
static int options_complete(struct options *o, struct failure *err)
{
	int ranks_here = o->procs > 0 ? o->procs : 1;
	const char *problem;

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
	problem = collective_problem((enum collective_kind)o->workload.collective, o->world);
	if (problem)
		return failure_set(err, STATUS_USAGE, -1, "", "--collective with %d ranks: %s",
				   o->world, problem);
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

enum options_result options_parse(int argc, char **argv, struct options *options,
				  struct failure *err)
{
	struct words words;
	int opt;

	options_set_defaults(options);
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
	return options_complete(options, err) < 0 ? OPTIONS_BAD : OPTIONS_RUN;
}
