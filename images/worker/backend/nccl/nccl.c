/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* dlinfo, GLOB_BRACE */
#include "backend/nccl/nccl.h"
#include "backend/library.h"
#include "rendezvous/control.h"

#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libnccl.so.2"
#define WHEEL "nvidia/nccl/lib/" LIBRARY
#define PATTERN_BYTES (PATH_MAX + 128)

static const struct {
	const char *symbol;
	size_t offset;
	bool optional;
} symbols[] = {
#define SYMBOL(name, optional)                               \
	{                                                    \
#name, offsetof(struct nccl, name), optional \
	}
	SYMBOL(ncclGetVersion, false),
	SYMBOL(ncclGetErrorString, false),
	SYMBOL(ncclGetUniqueId, false),
	SYMBOL(ncclCommInitRank, false),
	SYMBOL(ncclCommGetAsyncError, false),
	SYMBOL(ncclCommAbort, false),
	SYMBOL(ncclCommDestroy, false),
	SYMBOL(ncclAllReduce, false),
	SYMBOL(ncclReduceScatter, false),
	SYMBOL(ncclAllGather, false),
	SYMBOL(ncclBroadcast, false),
	SYMBOL(ncclReduce, false),
	SYMBOL(ncclGroupStart, false),
	SYMBOL(ncclGroupEnd, false),
	SYMBOL(ncclSend, true),
	SYMBOL(ncclRecv, true),
	SYMBOL(ncclCommFinalize, true),
	SYMBOL(ncclGetLastError, true),
	SYMBOL(ncclMemAlloc, true),
	SYMBOL(ncclMemFree, true),
	SYMBOL(ncclCommRegister, true),
	SYMBOL(ncclCommDeregister, true),
	SYMBOL(ncclRedOpCreatePreMulSum, true),
	SYMBOL(ncclRedOpDestroy, true),
	SYMBOL(ncclCommWindowRegister, true),
	SYMBOL(ncclCommWindowDeregister, true),
#undef SYMBOL
};

/* Opens the first file that @pattern (of glob(), with braces) names; NULL if there is none. */
static void *open_match(const char *pattern)
{
	glob_t found = {.gl_pathc = 0};
	void *handle = NULL;

	if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && !handle; i++)
			handle = library_open(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
	globfree(&found);
	return handle;
}

/* A Python that is installed below @prefix. */
static void *open_prefix(const char *prefix)
{
	char pattern[PATTERN_BYTES];

	if (!prefix || prefix[0] != '/')
		return NULL;
	snprintf(pattern, sizeof(pattern), "%s/{lib,lib64}/python3*/{site,dist}-packages/" WHEEL,
		 prefix);
	return open_match(pattern);
}

/* Calls @open for each folder of the list @name of the environment, separated by colons. */
static void *open_list(const char *name, void *(*open)(const char *folder))
{
	const char *list = getenv(name);
	char folder[PATH_MAX];
	void *handle = NULL;

	while (list && *list && !handle) {
		size_t length = strcspn(list, ":");

		snprintf(folder, sizeof(folder), "%.*s", (int)length, list);
		handle = open(folder);
		list += length + (list[length] == ':');
	}
	return handle;
}

static void *open_packages(const char *folder)
{
	char path[PATTERN_BYTES];

	snprintf(path, sizeof(path), "%s/" WHEEL, folder);
	return *folder == '/' ? open_match(path) : NULL;
}

/* The virtual environment whose programs lie in @folder: its python3 is a link to that of another prefix. */
static void *open_environment(const char *folder)
{
	char path[PATTERN_BYTES], prefix[PATH_MAX];

	snprintf(path, sizeof(path), "%s/../pyvenv.cfg", folder);
	if (*folder != '/' || access(path, R_OK) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/..", folder);
	return realpath(path, prefix) ? open_prefix(prefix) : NULL;
}

/* The Python whose program lies in @folder: PREFIX/bin/python3, links followed. */
static void *open_program(const char *folder)
{
	char path[PATTERN_BYTES], program[PATH_MAX], *slash;
	void *handle = open_environment(folder);

	if (handle)
		return handle;

	snprintf(path, sizeof(path), "%s/python3", folder);
	if (!realpath(path, program))
		return NULL;
	for (int up = 0; up < 2; up++) {
		slash = strrchr(program, '/');
		if (slash)
			*slash = '\0';
	}
	return open_prefix(program);
}

static void *open_wheel(void)
{
	char local[PATH_MAX];
	const char *home = getenv("HOME");
	void *handle = open_prefix(getenv("VIRTUAL_ENV"));

	snprintf(local, sizeof(local), "%s/.local", home ? home : "");
	if (!handle)
		handle = open_prefix(getenv("CONDA_PREFIX"));
	if (!handle)
		handle = open_list("PYTHONPATH", open_packages);
	if (!handle)
		handle = open_list("PATH", open_program);
	if (!handle)
		handle = open_prefix("/usr/local");
	if (!handle)
		handle = open_prefix("/usr");
	return handle ? handle : open_prefix(local);
}

static void *open_named(const char *named)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", named,
		 stat(named, &st) == 0 && S_ISDIR(st.st_mode) ? "/" LIBRARY : "");
	return library_open(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_in(const char *folder)
{
	char path[PATTERN_BYTES];

	snprintf(path, sizeof(path), "%s/" LIBRARY, folder);
	return *folder == '/' && access(path, F_OK) == 0 ? library_open(path, RTLD_NOW | RTLD_LOCAL)
							 : NULL;
}

/* As the loader does for a framework whose wheel names its own folder. */
static void *open_framework(void)
{
	void *handle = open_list("LD_LIBRARY_PATH", open_in);

	return handle ? handle : open_wheel();
}

/* Without a name: the library, or NULL with why not. That of a file which is there and does not load counts. */
static void *open_found(char *why, size_t why_bytes)
{
	void *handle = open_framework();
	const char *said = handle ? NULL : library_error();

	snprintf(why, why_bytes, "%s", said ? said : "");
	if (!handle)
		handle = library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	said = handle ? NULL : library_error();
	if (said && !why[0] && strstr(said, "No such file"))
		said = "no " LIBRARY
		       " on the loader's path, nor a pip wheel of it in a Python here; install NCCL or set $RINGUP_NCCL to the file";
	if (said && !why[0])
		snprintf(why, why_bytes, "%s", said);
	if (!handle)
		handle = open_prefix("/opt/*");
	said = handle ? NULL : library_error();
	if (said)
		snprintf(why, why_bytes, "%s", said);
	return handle;
}

/* The library, or NULL with why not. */
static void *open_library(char *why, size_t why_bytes)
{
	const char *named = getenv("RINGUP_NCCL");
	void *handle;

	if (!named || !*named)
		return open_found(why, why_bytes);
	handle = open_named(named);
	if (!handle)
		snprintf(why, why_bytes, "$RINGUP_NCCL: %s", library_error());
	return handle;
}

int nccl_open(struct nccl *nccl, struct failure *err)
{
	char why[384] = "";
	struct link_map *map = NULL;
	void *handle = open_library(why, sizeof(why));
	int rc;

	memset(nccl, 0, sizeof(*nccl));
	if (!handle)
		return failure_set(err, STATUS_GPU, -1, "", "NCCL cannot be loaded: %s", why);
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map)
		snprintf(nccl->path, sizeof(nccl->path), "%s", map->l_name);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(handle, symbols[i].symbol);

		if (!symbol && !symbols[i].optional)
			return failure_set(
				err, STATUS_GPU, -1, "",
				"%.256s is too old: it has no %s; NCCL 2.4 or newer is needed",
				nccl->path, symbols[i].symbol);
		memcpy((char *)nccl + symbols[i].offset, &symbol, sizeof(symbol));
	}
	rc = nccl->ncclGetVersion(&nccl->version);
	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_GPU, -1, "", "ncclGetVersion: %s",
			   nccl->ncclGetErrorString(rc));
}

/* NCCL_VERSION() of nccl.h: until 2.8 the minor number had two digits, later it has three. */
void nccl_version_text(int version, char text[16])
{
	int unit = version < 10000 ? 1000 : 10000;

	snprintf(text, 16, "%d.%d.%d", version / unit % 100, version % unit / 100, version % 100);
}

/* The worker's collectives as NCCL's calls. */

#define GRAPH_VERSION 20900 /* NCCL_VERSION(2, 9, 0) */
#define POLICY_VERSION 22700
#define AVG_VERSION 21000
#define MULSUM_VERSION 21100
#define FP8_VERSION 22403 /* 2.24.3 */
#define FP8_CAPABILITY 90

/* ncclDataType_t and ncclRedOp_t of nccl.h. */
static const int types[DTYPE_COUNT] = {
	[DTYPE_U8] = 1,	     [DTYPE_I32] = 2, [DTYPE_I64] = 4,	[DTYPE_F16] = 6,
	[DTYPE_F32] = 7,     [DTYPE_F64] = 8, [DTYPE_BF16] = 9, [DTYPE_F8E4M3] = 10,
	[DTYPE_F8E5M2] = 11, [DTYPE_I8] = 0,  [DTYPE_U32] = 3,	[DTYPE_U64] = 5,
};
static const int ops[OP_COUNT] = {
	[OP_SUM] = 0, [OP_PROD] = 1, [OP_MAX] = 2, [OP_MIN] = 3, [OP_AVG] = 4};
#define SCALAR_ON_HOST 1 /* ncclScalarHostImmediate */

static bool uses_send(enum collective_kind kind)
{
	return kind == ALLTOALL || kind == ALLTOALLV || kind == SENDRECV || kind == GATHER ||
	       kind == SCATTER || kind == HYPERCUBE;
}

/* What came when (release notes of NCCL; nccl-tests asks for the same). */
static int too_old(const struct nccl *nccl, const char *lacks, const char *word, const char *needed,
		   struct failure *err)
{
	char version[16];

	nccl_version_text(nccl->version, version);
	return failure_set(err, STATUS_GPU, -1, "", "NCCL %s has no %s (%s): %s or newer is needed",
			   version, lacks, word, needed);
}

int nccl_can(const struct nccl *nccl, const struct workload *w, const struct group *group,
	     struct failure *err)
{
	enum collective_kind kind = (enum collective_kind)w->collective;
	enum dtype type = (enum dtype)w->type;
	bool averages = collective_reduces(kind) && w->op == OP_AVG;
	bool is_fp8 = type == DTYPE_F8E4M3 || type == DTYPE_F8E5M2;
	int world = group->world;
	char word[48];

	/* "FP8 reduction support begins with sm90 capable devices" (src/enqueue.cc of NCCL 2.24) */
	if (is_fp8 && collective_reduces(kind) && group->limits.capability &&
	    group->limits.capability < FP8_CAPABILITY)
		return failure_set(
			err, STATUS_GPU, -1, "",
			"NCCL reduces fp8 on GPUs of compute capability 9.0 and newer, and one has %u.%u; use -d half or bfloat16",
			group->limits.capability / 10, group->limits.capability % 10);
	if (is_fp8 && nccl->version < FP8_VERSION)
		return too_old(nccl, "fp8", type == DTYPE_F8E4M3 ? "-d f8e4m3" : "-d f8e5m2",
			       "2.24.3", err);
	if (type == DTYPE_BF16 && nccl->version < AVG_VERSION)
		return too_old(nccl, "bfloat16", "-d bf16", "2.10", err);
	if (averages && nccl->version < AVG_VERSION)
		return too_old(nccl, "average", "-o avg", "2.10", err);
	if (collective_reduces(kind) && w->op == OP_MULSUM &&
	    (nccl->version < MULSUM_VERSION || !nccl->ncclRedOpCreatePreMulSum ||
	     !nccl->ncclRedOpDestroy))
		return too_old(nccl, "sum of multiplied inputs", "-o mulsum", "2.11", err);
	if (w->graph && nccl->version < GRAPH_VERSION)
		return too_old(nccl, "support of CUDA graphs", "--graph", "2.9", err);
	if (w->cta_policy && nccl->version < POLICY_VERSION)
		return too_old(nccl, "CTA policies", "-x", "2.27", err);
	snprintf(word, sizeof(word), "--collective %s", collective_name(kind));
	if (uses_send(kind) && (!nccl->ncclSend || !nccl->ncclRecv))
		return too_old(nccl, "send and receive", word, "2.7", err);
	if (averages && type < DTYPE_COUNT && dtype_is_float(type) &&
	    dtype_round(type, 1.0 / world) == 0)
		return failure_set(
			err, STATUS_GPU, -1, "",
			"NCCL's average of %s among %d ranks is always 0, since 1/%d is too small for that type; use -o sum",
			dtype_name(type), world, world);
	return 0;
}

const char *nccl_call(enum collective_kind kind)
{
	static const char *const calls[COLLECTIVE_COUNT] = {[ALL_REDUCE] = "ncclAllReduce",
							    [REDUCE_SCATTER] = "ncclReduceScatter",
							    [ALL_GATHER] = "ncclAllGather",
							    [BROADCAST] = "ncclBroadcast",
							    [REDUCE] = "ncclReduce"};

	return calls[kind] ? calls[kind] : "ncclSend, ncclRecv";
}

static bool good(int rc)
{
	return rc == 0 || rc == NCCL_IN_PROGRESS;
}

int nccl_shift(const struct nccl *nccl, int to, const void *out, int from, void *in, size_t bytes,
	       void *comm, void *stream)
{
	int rc = nccl->ncclGroupStart();

	if (good(rc))
		rc = nccl->ncclSend(out, bytes, types[DTYPE_U8], to, comm, stream);
	if (good(rc))
		rc = nccl->ncclRecv(in, bytes, types[DTYPE_U8], from, comm, stream);
	return good(rc) ? nccl->ncclGroupEnd() : rc;
}

/* Calls inside of a group, until one fails. */
struct parts {
	const struct nccl *nccl;
	void *comm, *stream;
	enum dtype type;
	int rc;
};

static void nccl_send_part(struct parts *p, const void *from, size_t count, int to)
{
	if (good(p->rc))
		p->rc = p->nccl->ncclSend(from, count, types[p->type], to, p->comm, p->stream);
}

static void nccl_recv_part(struct parts *p, void *to, size_t count, int from)
{
	if (good(p->rc))
		p->rc = p->nccl->ncclRecv(to, count, types[p->type], from, p->comm, p->stream);
}

/* Blocks between any two ranks, or between the root and each rank. */
static void nccl_blocks(struct parts *p, const struct collective *call, int rank, int world)
{
	size_t count = call->count, bytes = count * dtype_bytes(call->type);
	const char *src = call->src;
	char *dst = call->dst;

	for (int peer = 0; peer < world; peer++) {
		size_t at = (size_t)peer * bytes;

		if (call->kind == ALLTOALLV)
			count = alltoallv_count(call->count, rank, peer, world);
		if (call->kind == GATHER ? peer == call->root
					 : call->kind != SCATTER || rank == call->root)
			nccl_send_part(p, call->kind == GATHER ? src : src + at, count, peer);
		if (call->kind == SCATTER ? peer == call->root
					  : call->kind != GATHER || rank == call->root)
			nccl_recv_part(p, call->kind == SCATTER ? dst : dst + at, count, peer);
	}
}

/* One exchange of the hypercube. In the first one a rank also sends its own block to its place. */
static void nccl_step(struct parts *p, const struct collective *call, int rank, int world, int mask)
{
	size_t bytes = call->count * dtype_bytes(call->type);
	char *all = call->dst, *own = all + (size_t)rank * bytes;
	int have = rank & ~(mask - 1);

	if (mask == 1 && own != call->src) {
		nccl_send_part(p, call->src, call->count, rank);
		nccl_recv_part(p, own, call->count, rank);
	}
	if (mask >= world)
		return;
	nccl_send_part(p, mask == 1 ? call->src : all + (size_t)have * bytes,
		       call->count * (size_t)mask, rank ^ mask);
	nccl_recv_part(p, all + (size_t)(have ^ mask) * bytes, call->count * (size_t)mask,
		       rank ^ mask);
}

static int nccl_in_parts(const struct nccl *nccl, const struct collective *call, int rank,
			 int world, void *comm, void *stream)
{
	struct parts p = {.nccl = nccl, .comm = comm, .stream = stream, .type = call->type};
	int mask = 1;

	do {
		p.rc = nccl->ncclGroupStart();
		if (call->kind == HYPERCUBE)
			nccl_step(&p, call, rank, world, mask);
		else
			nccl_blocks(&p, call, rank, world);
		if (good(p.rc))
			p.rc = nccl->ncclGroupEnd();
		mask *= 2;
	} while (call->kind == HYPERCUBE && mask < world && good(p.rc));
	return p.rc;
}

int nccl_make_mulsum(const struct nccl *nccl, enum dtype type, int rank, void *comm, int *mulsum)
{
	unsigned char scalar[ELEMENT_BYTES_MAX];

	dtype_store(type, scalar, pattern_scalar(rank));
	return nccl->ncclRedOpCreatePreMulSum(mulsum, scalar, types[type], SCALAR_ON_HOST, comm);
}

int nccl_collective(const struct nccl *nccl, const struct collective *call, int mulsum, int rank,
		    int world, void *comm, void *stream)
{
	int type = types[call->type], op = call->op == OP_MULSUM ? mulsum : ops[call->op];

	switch (call->kind) {
	case REDUCE_SCATTER:
		return nccl->ncclReduceScatter(call->src, call->dst, call->count, type, op, comm,
					       stream);
	case ALL_GATHER:
		return nccl->ncclAllGather(call->src, call->dst, call->count, type, comm, stream);
	case BROADCAST:
		return nccl->ncclBroadcast(call->src, call->dst, call->count, type, call->root,
					   comm, stream);
	case REDUCE:
		return nccl->ncclReduce(call->src, call->dst, call->count, type, op, call->root,
					comm, stream);
	case ALLTOALL:
	case ALLTOALLV:
	case GATHER:
	case SCATTER:
	case HYPERCUBE:
		return nccl_in_parts(nccl, call, rank, world, comm, stream);
	case SENDRECV:
		return nccl_shift(nccl, (rank + 1) % world, call->src, (rank + world - 1) % world,
				  call->dst, call->count * dtype_bytes(call->type), comm, stream);
	case ALL_REDUCE:
	case COLLECTIVE_COUNT:
		break;
	}
	return nccl->ncclAllReduce(call->src, call->dst, call->count, type, op, comm, stream);
}

/* Rank 0: do all ranks have the same NCCL? */
static int compare_versions(const struct group *group, const int *all, struct failure *err)
{
	char ours[16], theirs[16];

	for (int rank = 1; rank < group->world; rank++) {
		if (all[rank] == all[0])
			continue;
		nccl_version_text(all[0], ours);
		nccl_version_text(all[rank], theirs);
		return failure_set(
			err, STATUS_VERSION, rank, group->members[rank].host,
			"versions differ: rank 0 (%s) has NCCL %s, rank %d (%s) has NCCL %s; deploy one image to all hosts",
			group->members[0].host, ours, rank, group->members[rank].host, theirs);
	}
	return 0;
}

static int make_id(const struct nccl *nccl, const struct group *group, struct nccl_id *id,
		   struct failure *err)
{
	int rc = nccl->ncclGetUniqueId(id);

	if (rc == 0)
		return 0;
	return failure_set(err, STATUS_GPU, 0, group->members[0].host,
			   "rank 0 (%s): ncclGetUniqueId: %s; run again with NCCL_DEBUG=INFO",
			   group->members[0].host, nccl->ncclGetErrorString(rc));
}

int nccl_meet(const struct nccl *nccl, const struct group *group, struct nccl_id *id,
	      struct failure *err)
{
	int *all = calloc((size_t)group->world, sizeof(*all)), rc;

	if (!all)
		abort();
	rc = control_gather(group->control, &nccl->version, sizeof(nccl->version), all, err);
	if (rc == 0 && group->rank == 0)
		rc = compare_versions(group, all, err);
	free(all);
	if (rc == 0 && group->rank == 0)
		rc = make_id(nccl, group, id, err);
	return rc < 0 ? -1 : control_share(group->control, id, sizeof(*id), err);
}
