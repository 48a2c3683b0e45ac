/* SPDX-License-Identifier: MIT */
#include "backend/cpu/shm.h"
#include "backend/cpu/segment.h"
#include "host/memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define CACHE_BYTES (8L << 20) /* last-level cache, where the system does not say */
/* A larger value is not believed: virtual machines report all caches of their host. */
#define CACHE_BYTES_MAX (64L << 20)
#define SPINS 400   /* a few microseconds */
#define YIELDS 1000 /* cost next to nothing while nobody else wants the core */
#define YIELDS_CROWDED 256
#define PAIR_SPINS 4000 /* a pair that has its cores to itself: as long as a copy may take */
#define SLEEP_NSEC 20000000

/* Reduced at a time: input and result stay in the first-level cache. */
#define SHM_BLOCK_BYTES 16384

/* A flag on its own cache line, with how many wait for it in the kernel. */
struct line {
	_Alignas(64) _Atomic uint32_t value;
	_Atomic uint32_t sleepers;
	unsigned char data[SHM_SMALL_BYTES]; /* slots only: shares the first line with the flag */
};

struct flag {
	_Alignas(64) _Atomic uint32_t value;
	_Atomic uint32_t sleepers;
};

struct shm_area {
	uint8_t run_id[RUN_ID_BYTES];
	struct flag flags[SHM_FLAGS];
	struct line slots[2];	/* inputs of odd and even operations */
	struct line results[2]; /* leader only */
	_Alignas(4096) unsigned char buffers[];
};

static void relax(void)
{
#if defined(__x86_64__)
	_mm_pause();
#endif
}

static bool reached(_Atomic uint32_t *value, uint32_t wanted)
{
	return (int32_t)(atomic_load_explicit(value, memory_order_acquire) - wanted) >= 0;
}

/* Sets a flag to @number and wakes who sleeps for it. */
static void shm_post(_Atomic uint32_t *value, _Atomic uint32_t *sleepers, uint32_t number)
{
	atomic_store(value, number);
	if (atomic_load(sleepers) > 0)
		syscall(SYS_futex, value, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Sleeps until *value reaches @wanted or the run has failed. */
static int sleep_until(const struct shm *shm, _Atomic uint32_t *value, _Atomic uint32_t *sleepers,
		       uint32_t wanted)
{
	const struct timespec most = {.tv_nsec = SLEEP_NSEC};
	int rc = 0;

	atomic_fetch_add(sleepers, 1);
	while (rc == 0) {
		uint32_t now = atomic_load(value);

		if ((int32_t)(now - wanted) >= 0)
			break;
		syscall(SYS_futex, value, FUTEX_WAIT, now, &most, NULL, 0);
		rc = control_failed(shm->group->control) ? -1 : 0;
	}
	atomic_fetch_sub(sleepers, 1);
	return rc;
}

static int await_number(const struct shm *shm, int index, _Atomic uint32_t *value,
			_Atomic uint32_t *sleepers, uint32_t wanted)
{
	int rc;

	for (int i = 0; i < shm->spins; i++) {
		if (reached(value, wanted))
			return 0;
		relax();
	}
	for (int i = 0; i < shm->yields; i++) {
		if (reached(value, wanted))
			return 0;
		sched_yield();
	}
	control_awaits(shm->group->control, shm->ranks[index], 0);
	rc = sleep_until(shm, value, sleepers, wanted);
	control_awaits(shm->group->control, -1, 0);
	return rc;
}

/* Waits until a flag of rank @index (of `ranks`) has the current operation's number. -1 if the run
 * has failed. */
static int shm_await(const struct shm *shm, int index, _Atomic uint32_t *value,
		     _Atomic uint32_t *sleepers)
{
	return await_number(shm, index, value, sleepers, shm->sequence);
}

/* The same with this rank's own @flag, with that of one rank and with those of all others. */
static void shm_post_flag(const struct shm *shm, enum shm_flag flag)
{
	struct flag *f = &shm->areas[shm->me]->flags[flag];

	shm_post(&f->value, &f->sleepers, shm->sequence);
}

static int shm_await_flag(const struct shm *shm, int index, enum shm_flag flag)
{
	struct flag *f = &shm->areas[index]->flags[flag];

	return shm_await(shm, index, &f->value, &f->sleepers);
}

static int shm_await_all(const struct shm *shm, enum shm_flag flag)
{
	for (int i = 0; i < shm->count; i++)
		if (i != shm->me && shm_await_flag(shm, i, flag) < 0)
			return -1;
	return 0;
}

/* Buffer 0 or 1 of rank @index (of `ranks`). */
static void *shm_buffer_of(const struct shm *shm, int index, int which)
{
	return shm->areas[index]->buffers + (size_t)which * shm->buffer_bytes;
}

void *shm_buffer(const struct shm *shm, int which)
{
	return shm_buffer_of(shm, shm->me, which);
}

void shm_next(struct shm *shm)
{
	shm->sequence++;
}

/* Copies to memory that will not be read soon, without first fetching what it held.
 * shm_stream_end() comes before others may read it. */
static void shm_stream_copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
	__m128i *out = to;
	const __m128i *in = from;
	size_t vectors = (((uintptr_t)to | (uintptr_t)from) & 15) == 0 ? bytes / sizeof(*out) : 0;

	for (size_t i = 0; i < vectors; i++)
		_mm_stream_si128(&out[i], _mm_load_si128(&in[i]));
	memcpy(out + vectors, in + vectors, bytes - vectors * sizeof(*out));
#else
	memcpy(to, from, bytes);
#endif
}

static void shm_stream_end(void)
{
#if defined(__x86_64__)
	_mm_sfence();
#endif
}

/* One reduction to do: everybody's buffer `from` into the buffers `to` of `outputs` ranks, from number `first`
 * on. */
struct job {
	int from, to, first, outputs;
	enum dtype type;
	reduce_fn *reduce;
	int divisor;
	bool stream;
};

static void shm_reduce_block(const struct shm *shm, const struct job *job, size_t offset,
			     size_t count)
{
	size_t bytes = count * dtype_bytes(job->type);

#define INPUT(index) ((unsigned char *)shm_buffer_of(shm, index, job->from) + offset)
	job->reduce(shm->scratch, INPUT(0), INPUT(1), count);
	for (int i = 2; i < shm->count; i++)
		job->reduce(shm->scratch, shm->scratch, INPUT(i), count);
#undef INPUT
	if (job->divisor > 1)
		dtype_scale(job->type, shm->scratch, count, job->divisor);
	for (int i = job->first; i < job->first + job->outputs; i++) {
		unsigned char *out = (unsigned char *)shm_buffer_of(shm, i, job->to) + offset;

		if (job->stream)
			shm_stream_copy(out, shm->scratch, bytes);
		else
			memcpy(out, shm->scratch, bytes);
	}
}

/* Reduces this rank's share of @count elements. Shares are whole cache lines. */
static void reduce_share(const struct shm *shm, const struct job *job, size_t count)
{
	size_t element_bytes = dtype_bytes(job->type), line = 64 / element_bytes;
	size_t lines = (count + line - 1) / line,
	       each = (lines + (size_t)shm->count - 1) / (size_t)shm->count;
	size_t begin = each * (size_t)shm->me * line, end = begin + each * line;
	size_t block = SHM_BLOCK_BYTES / element_bytes;

	if (end > count)
		end = count;
	for (size_t at = begin; at < end; at += block)
		shm_reduce_block(shm, job, at * element_bytes, end - at < block ? end - at : block);
	if (job->stream)
		shm_stream_end();
}

static int reduce_large(struct shm *shm, const struct job *job, size_t count)
{
	shm_post_flag(shm, SHM_READY);
	if (shm_await_all(shm, SHM_READY) < 0)
		return -1;
	reduce_share(shm, job, count);
	shm_post_flag(shm, SHM_DONE);
	return 0;
}

/* Posts the input and reduces all slots into @out. Slots alternate: one may be written again only
 * when everybody has read it, and whoever posted the operation in between has. */
int shm_collect(struct shm *shm, int from, void *out, size_t count, enum dtype type, enum op op)
{
	struct line *own = &shm->areas[shm->me]->slots[shm->sequence & 1];
	reduce_fn *reduce = dtype_reducer(type, op);
	size_t bytes = count * dtype_bytes(type);

	memcpy(own->data, shm_buffer(shm, from), bytes);
	shm_post(&own->value, &own->sleepers, shm->sequence);
	if (!out)
		return 0;
	for (int i = 0; i < shm->count; i++) {
		struct line *slot = &shm->areas[i]->slots[shm->sequence & 1];

		if (i != shm->me && shm_await(shm, i, &slot->value, &slot->sleepers) < 0)
			return -1;
		if (i == 0)
			memcpy(shm->scratch, slot->data, bytes);
		else
			reduce(shm->scratch, shm->scratch, slot->data, count);
	}
	memcpy(out, shm->scratch, bytes);
	return 0;
}

int shm_allreduce(struct shm *shm, int from, int to, size_t count, enum dtype type, enum op op,
		  int divisor)
{
	size_t bytes = count * dtype_bytes(type);
	struct job job = {.from = from,
			  .to = to,
			  .outputs = shm->count,
			  .type = type,
			  .reduce = dtype_reducer(type, op),
			  .divisor = divisor,
			  .stream = bytes >= shm->stream_bytes};

	if (bytes <= SHM_SMALL_BYTES) {
		if (shm_collect(shm, from, shm_buffer(shm, to), count, type, op) < 0)
			return -1;
		if (divisor > 1)
			dtype_scale(type, shm_buffer(shm, to), count, divisor);
		return 0;
	}
	if (reduce_large(shm, &job, count) < 0)
		return -1;
	return shm_await_all(shm, SHM_DONE);
}

void shm_publish(struct shm *shm, const void *result, size_t bytes)
{
	struct line *line = &shm->areas[0]->results[shm->sequence & 1];

	memcpy(line->data, result, bytes);
	shm_post(&line->value, &line->sleepers, shm->sequence);
}

int shm_receive(struct shm *shm, void *out, size_t bytes)
{
	struct line *line = &shm->areas[0]->results[shm->sequence & 1];

	if (shm_await(shm, 0, &line->value, &line->sleepers) < 0)
		return -1;
	memcpy(out, line->data, bytes);
	return 0;
}

int shm_reduce(struct shm *shm, int from, int to, size_t count, enum dtype type, enum op op)
{
	struct job job = {.from = from,
			  .to = to,
			  .outputs = 1,
			  .type = type,
			  .reduce = dtype_reducer(type, op),
			  .divisor = 1};

	if (reduce_large(shm, &job, count) < 0)
		return -1;
	return shm->me == 0 ? shm_await_all(shm, SHM_DONE) : 0;
}

int shm_spread(struct shm *shm, int which, size_t offset, void *dst, size_t bytes)
{
	if (shm->me == 0) {
		shm_post_flag(shm, SHM_FINAL);
		return shm_await_all(shm, SHM_TAKEN);
	}
	if (shm_await_flag(shm, 0, SHM_FINAL) < 0)
		return -1;
	memcpy(dst, (unsigned char *)shm_buffer_of(shm, 0, which) + offset, bytes);
	shm_post_flag(shm, SHM_TAKEN);
	return 0;
}

/* The collectives other than all-reduce. */
static size_t block_bytes(const struct collective *call)
{
	return call->count * dtype_bytes(call->type);
}

static size_t input_bytes(const struct shm *shm, const struct collective *call)
{
	return block_bytes(call) * (size_t)collective_blocks(call->kind, shm->group->world);
}

/* Neighbour @index's input. In place it lies where this rank's lies, except that in an all-gather
 * each rank's input is its own block. */
static const unsigned char *input_of(const struct shm *shm, const struct collective *call,
				     int index)
{
	bool second = call->src != shm_buffer(shm, 0);
	size_t offset = 0;

	if (second && (call->kind == ALL_GATHER || call->kind == HYPERCUBE || call->kind == GATHER))
		offset = (size_t)shm->ranks[index] * block_bytes(call);
	return (unsigned char *)shm_buffer_of(shm, index, second) + offset;
}

static void shm_copy(void *to, const void *from, size_t bytes, bool stream)
{
	if (to == from)
		return;
	if (stream)
		shm_stream_copy(to, from, bytes);
	else
		memcpy(to, from, bytes);
}

/* Copies what this rank gets from the @input of @source. */
static void shm_take_from(const struct shm *shm, const struct collective *call, int source,
			  const unsigned char *input, bool stream)
{
	const struct group *group = shm->group;
	size_t bytes = block_bytes(call), mine = (size_t)group->rank * bytes;
	unsigned char *dst = call->dst, *place = dst + (size_t)source * bytes;

	stream = stream && bytes * (size_t)shm->count >= shm->stream_bytes;
	switch (call->kind) {
	case ALL_GATHER:
	case HYPERCUBE:
		shm_copy(place, input, bytes, stream);
		break;
	case GATHER:
		if (group->rank == call->root)
			shm_copy(place, input, bytes, stream);
		break;
	case SCATTER:
		if (source == call->root)
			shm_copy(dst, input + mine, bytes, stream);
		break;
	case ALLTOALL:
		shm_copy(place, input + mine, bytes, stream);
		break;
	case ALLTOALLV:
		shm_copy(place, input + mine,
			 alltoallv_count(call->count, source, group->rank, group->world) *
				 dtype_bytes(call->type),
			 stream);
		break;
	case BROADCAST:
		if (source == call->root)
			shm_copy(dst, input, bytes, stream);
		break;
	case SENDRECV:
		if ((source + 1) % group->world == group->rank)
			shm_copy(dst, input, bytes, stream);
		break;
	case ALL_REDUCE:
	case REDUCE:
	case REDUCE_SCATTER:
	case COLLECTIVE_COUNT:
		break;
	}
}

void shm_take(const struct shm *shm, const struct collective *call, int index)
{
	shm_take_from(shm, call, shm->ranks[index], input_of(shm, call, index), true);
}

void shm_bring(const struct shm *shm, const struct collective *call, int index, void *dst)
{
	shm_copy(dst, input_of(shm, call, index), input_bytes(shm, call), false);
}

int shm_enter(struct shm *shm)
{
	shm_post_flag(shm, SHM_READY);
	return shm_await_all(shm, SHM_READY);
}

int shm_leave(struct shm *shm)
{
	shm_stream_end();
	shm_post_flag(shm, SHM_DONE);
	return shm_await_all(shm, SHM_DONE);
}

/* Reduces @count elements at @offset (bytes) of everybody's block for this rank. */
static void shm_reduce_own(const struct shm *shm, const struct collective *call, size_t offset,
			   size_t count, int divisor)
{
	reduce_fn *reduce = dtype_reducer(call->type, call->op);
	size_t own = (size_t)shm->group->rank * block_bytes(call) + offset;

	reduce(shm->scratch, input_of(shm, call, 0) + own, input_of(shm, call, 1) + own, count);
	for (int i = 2; i < shm->count; i++)
		reduce(shm->scratch, shm->scratch, input_of(shm, call, i) + own, count);
	if (divisor > 1)
		dtype_scale(call->type, shm->scratch, count, divisor);
	memcpy((unsigned char *)call->dst + offset, shm->scratch, count * dtype_bytes(call->type));
}

static void take_all(const struct shm *shm, const struct collective *call, int divisor)
{
	size_t element_bytes = dtype_bytes(call->type), most = SHM_BLOCK_BYTES / element_bytes;

	if (call->kind != REDUCE_SCATTER) {
		for (int i = 0; i < shm->count; i++)
			shm_take(shm, call, (shm->me + i) % shm->count);
		return;
	}
	for (size_t at = 0; at < call->count; at += most)
		shm_reduce_own(shm, call, at * element_bytes,
			       call->count - at < most ? call->count - at : most, divisor);
}

/* All inputs go through the slots. Each rank waits for all others, even for those that it takes
 * nothing from, so that a slot may be written again in the operation after the next one. */
static int through_slots(struct shm *shm, const struct collective *call, int divisor)
{
	struct line *own = &shm->areas[shm->me]->slots[shm->sequence & 1];
	size_t bytes = block_bytes(call),
	       mine = call->kind == REDUCE_SCATTER ? (size_t)shm->group->rank * bytes : 0;
	reduce_fn *reduce = dtype_reducer(call->type, call->op);
	bool reduces = call->kind == REDUCE_SCATTER ||
		       (call->kind == REDUCE && shm->group->rank == call->root);

	memcpy(own->data, call->src, input_bytes(shm, call));
	shm_post(&own->value, &own->sleepers, shm->sequence);
	for (int i = 0; i < shm->count; i++) {
		struct line *slot = &shm->areas[i]->slots[shm->sequence & 1];

		if (i != shm->me && shm_await(shm, i, &slot->value, &slot->sleepers) < 0)
			return -1;
		shm_take_from(shm, call, shm->ranks[i], slot->data, false);
		if (reduces && i == 0)
			memcpy(shm->scratch, slot->data + mine, bytes);
		else if (reduces)
			reduce(shm->scratch, shm->scratch, slot->data + mine, call->count);
	}
	if (!reduces)
		return 0;
	if (divisor > 1)
		dtype_scale(call->type, shm->scratch, call->count, divisor);
	memcpy(call->dst, shm->scratch, bytes);
	return 0;
}

/* Each rank reduces its share into the root's output. */
static int reduce_for_root(struct shm *shm, const struct collective *call, int divisor)
{
	struct job job = {.from = call->src != shm_buffer(shm, 0),
			  .to = call->dst != shm_buffer(shm, 0),
			  .outputs = 1,
			  .type = call->type,
			  .reduce = dtype_reducer(call->type, call->op),
			  .divisor = divisor,
			  .stream = block_bytes(call) >= shm->stream_bytes};

	while (shm->ranks[job.first] != call->root)
		job.first++;
	if (reduce_large(shm, &job, call->count) < 0)
		return -1;
	return shm_await_all(shm, SHM_DONE);
}

int shm_collective(struct shm *shm, const struct collective *call, int divisor)
{
	if (input_bytes(shm, call) <= SHM_SMALL_BYTES)
		return through_slots(shm, call, divisor);
	if (call->kind == REDUCE)
		return reduce_for_root(shm, call, divisor);
	if (shm_enter(shm) < 0)
		return -1;
	take_all(shm, call, divisor);
	return shm_leave(shm);
}

/* Posts @number as this rank's @flag and waits until the neighbour has done the same. */
static int shm_meet(const struct shm *shm, int index, enum shm_flag flag, uint32_t number)
{
	struct flag *own = &shm->areas[shm->me]->flags[flag],
		    *other = &shm->areas[index]->flags[flag];

	shm_post(&own->value, &own->sleepers, number);
	return await_number(shm, index, &other->value, &other->sleepers, number);
}

int shm_exchange(struct shm *shm, int index, size_t bytes, uint32_t number)
{
	struct shm pair = *shm; /* it only spins: yielding would hand the core to other programs */

	pair.spins = PAIR_SPINS;
	pair.yields = 0;
	if (shm_meet(&pair, index, SHM_OFFER, number) < 0)
		return -1;
	memcpy(shm_buffer_of(shm, shm->me, 1), shm_buffer_of(shm, index, 0), bytes);
	return shm_meet(&pair, index, SHM_GOT, number);
}

/* Maps a segment of all ranks, @fd, or with -1 memory of this rank's own for one; returns -1 with errno. */
static int map_segment(struct shm *shm, int fd, size_t bytes)
{
	int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (segment == MAP_FAILED)
		return -1;
	shm->segment = segment;
	shm->segment_bytes = bytes;
	for (size_t i = 0; i < bytes / shm->area_bytes; i++)
		shm->areas[i] = (void *)((unsigned char *)segment + i * shm->area_bytes);
	return 0;
}

/* Results bypass the cache once all ranks' inputs and outputs together do not fit into it. */
static size_t stream_from(int ranks)
{
	long cache = CACHE_BYTES;

#ifdef _SC_LEVEL3_CACHE_SIZE
	if (sysconf(_SC_LEVEL3_CACHE_SIZE) > 0)
		cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
	return (size_t)(cache < CACHE_BYTES_MAX ? cache : CACHE_BYTES_MAX) / (2 * (size_t)ranks);
}

/* A memfd may be larger than the memory; better to refuse than to be killed while filling it. */
static bool fits_in_memory(const struct shm *shm)
{
	bool fits = shm->area_bytes < memory_limit() / (unsigned)shm->count;

	errno = ENOMEM;
	return fits;
}

static int lacks_memory(const struct shm *shm, struct failure *err)
{
	int rank = shm->group->rank;
	const char *host = shm->group->members[rank].host;

	return failure_set(err, STATUS_USAGE, rank, host,
			   "rank %d (%s) has no memory for two buffers of %zu bytes: %s; lower -e",
			   rank, host, shm->buffer_bytes, strerror(errno));
}

int shm_create(struct shm *shm, const struct group *group, const int *ranks, int count,
	       size_t bytes, bool crowded, int *fd, struct failure *err)
{
	memset(shm, 0, sizeof(*shm));
	shm->group = group;
	shm->ranks = ranks;
	shm->count = count;
	while (ranks[shm->me] != group->rank)
		shm->me++;
	shm->buffer_bytes = (bytes + 4095) & ~(size_t)4095;
	shm->area_bytes = sizeof(struct shm_area) + 2 * shm->buffer_bytes;
	shm->areas = calloc((size_t)count, sizeof(struct shm_area *));
	shm->scratch = segment_private(SHM_BLOCK_BYTES);
	if (!shm->areas)
		abort();
	shm->stream_bytes = stream_from(count);
	shm->spins = crowded ? 0 : SPINS;
	shm->yields = crowded ? YIELDS_CROWDED : YIELDS;
	*fd = -1;
	if (shm->me > 0)
		return 0;
	*fd = fits_in_memory(shm) ? segment_create(shm->area_bytes * (size_t)count) : -1;
	if (*fd < 0 || map_segment(shm, *fd, shm->area_bytes * (size_t)count) < 0)
		return lacks_memory(shm, err);
	memcpy(shm->areas[0]->run_id, group->run_id, sizeof(group->run_id));
	return 0;
}

int shm_attach(struct shm *shm, const int *fds)
{
	int leader = shm->ranks[0], fd, rc = -1;
	size_t bytes = shm->area_bytes * (size_t)shm->count;

	if (shm->me == 0)
		return 0;
	fd = segment_open(shm->group->members[leader].pid, fds[leader]);
	if (fd < 0)
		return -1;
	if (lseek(fd, 0, SEEK_END) == (off_t)bytes)
		rc = map_segment(shm, fd, bytes);
	close(fd);
	if (rc == 0 &&
	    memcmp(shm->areas[0]->run_id, shm->group->run_id, sizeof(shm->group->run_id)) == 0)
		return 0;
	if (rc == 0)
		munmap(shm->segment, shm->segment_bytes);
	shm->segment = NULL;
	return -1;
}

int shm_alone(struct shm *shm, struct failure *err)
{
	if (shm->segment)
		shm->areas[0] = shm->areas[shm->me];
	else if (map_segment(shm, -1, shm->area_bytes) < 0)
		return lacks_memory(shm, err);
	shm->me = 0;
	shm->count = 1;
	return 0;
}

void shm_release(struct shm *shm)
{
	if (shm->segment)
		munmap(shm->segment, shm->segment_bytes);
	free(shm->areas);
	free(shm->scratch);
	memset(shm, 0, sizeof(*shm));
}
