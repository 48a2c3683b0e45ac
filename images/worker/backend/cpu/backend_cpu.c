/* SPDX-License-Identifier: MIT */
/* The CPU backend: shared memory among the ranks of a host, TCP among the hosts' leaders (their
 * lowest ranks). */
#include "backend/backend.h"
#include "backend/cpu/ring.h"
#include "backend/cpu/shm.h"
#include "host/hardware.h"
#include "host/placement.h"
#include "net/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cpu {
	const struct group *group;
	int *leader_of; /* [world] leader of each rank */
	int *locals;	/* ranks of this host, the leader first */
	int *leaders;	/* one rank per host */
	int local_count, leader_count;
	struct shm shm;
	struct ring ring;
	struct mesh mesh;
	bool has_ring, crowded, unattached;
};

static int cpu_probe(struct failure *err)
{
	(void)err;
	return 0;
}

static bool cpu_same_host(const struct member *a, const struct member *b)
{
	return !a->private_memory && !b->private_memory && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->kernel, b->kernel) == 0;
}

/* Each rank's leader is the lowest rank it may share memory with, or itself. */
static void find_leaders(struct cpu *cpu)
{
	const struct group *group = cpu->group;

	for (int rank = 0; rank < group->world; rank++) {
		int leader = 0;

		while (leader < rank &&
		       !cpu_same_host(&group->members[leader], &group->members[rank]))
			leader++;
		cpu->leader_of[rank] = leader;
	}
}

/* Fills the lists of locals and leaders from leader_of. */
static void count_hosts(struct cpu *cpu)
{
	cpu->local_count = cpu->leader_count = 0;
	for (int rank = 0; rank < cpu->group->world; rank++) {
		if (cpu->leader_of[rank] == rank)
			cpu->leaders[cpu->leader_count++] = rank;
		if (cpu->leader_of[rank] == cpu->leader_of[cpu->group->rank])
			cpu->locals[cpu->local_count++] = rank;
	}
}

/* Everybody's @value to everybody, into @all ([world]). */
static int cpu_exchange_all(const struct cpu *cpu, int value, int *all, struct failure *err)
{
	size_t bytes = (size_t)cpu->group->world * sizeof(*all);

	if (control_gather(cpu->group->control, &value, sizeof(value), all, err) < 0)
		return -1;
	return control_share(cpu->group->control, all, bytes, err);
}

/* Hosts whose ranks cannot share memory are taken apart: each of their ranks becomes a leader. */
static void split_hosts(struct cpu *cpu, const int *attached)
{
	for (int rank = 0; rank < cpu->group->world; rank++)
		if (!attached[rank])
			for (int other = 0; other < cpu->group->world; other++)
				if (cpu->leader_of[other] == cpu->leader_of[rank] && other != rank)
					cpu->leader_of[other] = -1 - cpu->leader_of[other];
	for (int rank = 0; rank < cpu->group->world; rank++)
		if (cpu->leader_of[rank] < 0 || !attached[rank])
			cpu->leader_of[rank] = rank;
}

static int open_shm(struct cpu *cpu, size_t bytes, struct failure *err)
{
	int fd = -1, rc, attached, *all = calloc((size_t)cpu->group->world, sizeof(*all));

	if (!all)
		abort();
	rc = shm_create(&cpu->shm, cpu->group, cpu->locals, cpu->local_count, bytes, cpu->crowded,
			&fd, err);
	if (rc == 0)
		rc = cpu_exchange_all(cpu, fd, all, err);
	if (rc == 0) {
		attached = shm_attach(&cpu->shm, all) == 0;
		cpu->unattached = !attached;
		rc = cpu_exchange_all(cpu, attached, all, err);
	}
	if (fd >= 0)
		close(fd);
	if (rc == 0) {
		split_hosts(cpu, all);
		count_hosts(cpu);
		if (cpu->local_count == 1)
			rc = shm_alone(&cpu->shm, err);
	}
	free(all);
	return rc;
}

static void cpu_close(void *state)
{
	struct cpu *cpu = state;

	shm_release(&cpu->shm);
	if (cpu->has_ring)
		ring_release(&cpu->ring);
	mesh_release(&cpu->mesh);
	free(cpu->leader_of);
	free(cpu->locals);
	free(cpu->leaders);
	free(cpu);
}

static bool is_local(const struct cpu *cpu, int rank)
{
	return cpu->leader_of[rank] == cpu->leader_of[cpu->group->rank];
}

/* Whether data of the group's collective goes straight between this rank and @other. */
static bool are_pair(const struct group *group, int other)
{
	const struct workload *w = &group->workload;
	int next = (group->rank + 1) % group->world,
	    last = (group->rank + group->world - 1) % group->world;

	switch ((enum collective_kind)w->collective) {
	case GATHER:
	case SCATTER:
		return w->root == (uint32_t)group->rank || w->root == (uint32_t)other;
	case SENDRECV:
		return other == next || other == last;
	default:
		return true;
	}
}

/* Links to those of other hosts that this rank exchanges data with in the group's collective. */
static int open_pairs(struct cpu *cpu, struct failure *err)
{
	const struct group *group = cpu->group;
	int rc;
	bool *needed = calloc((size_t)group->world, sizeof(*needed));

	if (!needed)
		abort();
	for (int rank = 0; rank < group->world; rank++)
		needed[rank] = !is_local(cpu, rank) && are_pair(group, rank);
	rc = control_barrier(group->control, err);
	if (rc == 0)
		rc = mesh_link_set(&cpu->mesh, needed, err);
	free(needed);
	return rc;
}

static int open_ring(struct cpu *cpu, struct failure *err)
{
	if (cpu->leader_of[cpu->group->rank] != cpu->group->rank || cpu->leader_count == 1)
		return 0;
	cpu->has_ring = true;
	return ring_open(&cpu->ring, cpu->group, cpu->leaders, cpu->leader_count, cpu->leader_of,
			 cpu->crowded, err);
}

/* Among several hosts: does data go straight between the two ranks that it is of? */
static bool cpu_goes_straight(enum collective_kind kind)
{
	return kind == ALLTOALL || kind == ALLTOALLV || kind == SENDRECV || kind == GATHER ||
	       kind == SCATTER;
}

static int open_all(struct cpu *cpu, size_t bytes, struct failure *err)
{
	const struct group *group = cpu->group;

	if (placement_crowded(group, &cpu->crowded, err) < 0)
		return -1;
	placement_bind(group);
	find_leaders(cpu);
	count_hosts(cpu);
	if (open_shm(cpu, bytes, err) < 0 || open_ring(cpu, err) < 0)
		return -1;
	if (cpu_goes_straight((enum collective_kind)group->workload.collective))
		return open_pairs(cpu, err);
	return 0;
}

static int cpu_open(const struct group *group, size_t bytes, void **state, struct failure *err)
{
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	size_t world = (size_t)group->world;

	if (!cpu)
		abort();
	cpu->group = group;
	mesh_init(&cpu->mesh, group);
	cpu->leader_of = calloc(world, sizeof(int));
	cpu->locals = calloc(world, sizeof(int));
	cpu->leaders = calloc(world, sizeof(int));
	if (!cpu->leader_of || !cpu->locals || !cpu->leaders)
		abort();
	if (open_all(cpu, bytes, err) < 0) {
		cpu_close(cpu);
		return -1;
	}
	*state = cpu;
	return 0;
}

static void cpu_warn(void *state, struct warnings *warnings)
{
	const struct cpu *cpu = state;
	struct warning *new = NULL;

	hardware_check_network(cpu->group, warnings);
	if (cpu->unattached)
		new = warning_add(warnings, "start a host's ranks in one container, as one user",
				  "this host's ranks use TCP, not shared memory");
	if (new)
		snprintf(new->why, sizeof(new->why), "rank %d cannot map its neighbours' memory",
			 cpu->group->rank);
}

static const char *cpu_version(void)
{
	return "";
}

static const char *cpu_algorithm(void *state, enum collective_kind kind, size_t bytes)
{
	const struct cpu *cpu = state;
	int hosts = cpu->leader_count;
	bool small = bytes <= SHM_SMALL_BYTES, spread = hosts == cpu->group->world;

	if (cpu->group->world == 1)
		return "copy";
	if (hosts == 1)
		return small ? "shm slots" : "shm shares";
	if (cpu_goes_straight(kind))
		return spread ? "tcp pairs" : "shm shares, tcp pairs";
	if (kind == BROADCAST && ring_is_tree(bytes))
		return spread ? "tcp tree" : "shm shares, tcp tree";
	if (kind == BROADCAST ||
	    !ring_is_small(hosts,
			   kind == ALL_GATHER || kind == HYPERCUBE ? bytes / (size_t)hosts : bytes))
		return spread ? "tcp ring" : "shm shares, tcp ring";
	if (small && (kind == ALL_REDUCE || kind == REDUCE) && !spread)
		return "shm slots, tcp gather";
	return spread ? "tcp gather" : "shm shares, tcp gather";
}

static void cpu_buffers(void *state, void **send, void **recv)
{
	struct cpu *cpu = state;

	*send = shm_buffer(&cpu->shm, 0);
	*recv = shm_buffer(&cpu->shm, 1);
}

/* This host's ranks and others: reduce here, all-reduce among the leaders, spread here. */
static int hierarchical_small(struct cpu *cpu, int from, int to, size_t count, enum dtype type,
			      enum op op, int divisor, struct failure *err)
{
	void *out = shm_buffer(&cpu->shm, to);
	size_t bytes = count * dtype_bytes(type);

	if (cpu->shm.me > 0) {
		shm_collect(&cpu->shm, from, NULL, count, type, op);
		return shm_receive(&cpu->shm, out, bytes);
	}
	if (shm_collect(&cpu->shm, from, out, count, type, op) < 0 ||
	    ring_allreduce(&cpu->ring, out, out, count, type, op, divisor, err) < 0)
		return -1;
	shm_publish(&cpu->shm, out, bytes);
	return 0;
}

static int hierarchical(struct cpu *cpu, int from, int to, size_t count, enum dtype type,
			enum op op, int divisor, struct failure *err)
{
	void *out = shm_buffer(&cpu->shm, to);
	size_t bytes = count * dtype_bytes(type);

	if (bytes <= SHM_SMALL_BYTES)
		return hierarchical_small(cpu, from, to, count, type, op, divisor, err);
	if (shm_reduce(&cpu->shm, from, to, count, type, op) < 0)
		return -1;
	if (cpu->shm.me == 0 &&
	    ring_allreduce(&cpu->ring, out, out, count, type, op, divisor, err) < 0)
		return -1;
	return shm_spread(&cpu->shm, to, 0, out, bytes);
}

static int allreduce(struct cpu *cpu, const struct collective *call, int divisor,
		     struct failure *err)
{
	int from = call->src != shm_buffer(&cpu->shm, 0),
	    to = call->dst != shm_buffer(&cpu->shm, 0);

	if (cpu->leader_count == 1)
		return shm_allreduce(&cpu->shm, from, to, call->count, call->type, call->op,
				     divisor);
	if (cpu->local_count > 1)
		return hierarchical(cpu, from, to, call->count, call->type, call->op, divisor, err);
	return ring_allreduce(&cpu->ring, call->src, call->dst, call->count, call->type, call->op,
			      divisor, err);
}

/* From here on: collectives among several hosts. */

/* Each leader collects its ranks' blocks where they belong. */
static int cpu_all_gather(struct cpu *cpu, const struct collective *call, size_t bytes,
			  struct failure *err)
{
	unsigned char *all = shm_buffer(&cpu->shm, 1);

	if (cpu->local_count > 1 && shm_enter(&cpu->shm) < 0)
		return -1;
	for (int i = 0; i < cpu->local_count && cpu->shm.me == 0; i++)
		shm_bring(&cpu->shm, call, i, all + (size_t)cpu->locals[i] * bytes);
	if (cpu->has_ring && ring_allgather(&cpu->ring, all, bytes, err) < 0)
		return -1;
	if (cpu->local_count == 1)
		return 0;
	return shm_spread(&cpu->shm, 1, 0, all, bytes * (size_t)cpu->group->world);
}

/* The leaders reduce whole vectors in their second buffers and hand out the blocks. */
static int cpu_reduce_scatter(struct cpu *cpu, const struct collective *call, int divisor,
			      struct failure *err)
{
	int world = cpu->group->world, from = call->src != shm_buffer(&cpu->shm, 0);
	size_t bytes = call->count * dtype_bytes(call->type);
	unsigned char *all = shm_buffer(&cpu->shm, 1),
		      *own = all + (size_t)cpu->group->rank * bytes;
	const void *src = cpu->local_count > 1 ? all : call->src;

	if (cpu->local_count > 1 &&
	    shm_reduce(&cpu->shm, from, 1, call->count * (size_t)world, call->type, call->op) < 0)
		return -1;
	if (cpu->has_ring && ring_reduce_scatter(&cpu->ring, src, all, call->count, call->type,
						 call->op, divisor, err) < 0)
		return -1;
	if (cpu->local_count > 1 &&
	    shm_spread(&cpu->shm, 1, (size_t)(own - all), call->dst, bytes) < 0)
		return -1;
	if (cpu->has_ring && own != call->dst)
		memmove(call->dst, own, bytes);
	return 0;
}

static int cpu_broadcast(struct cpu *cpu, const struct collective *call, size_t bytes,
			 struct failure *err)
{
	int root = 0, leader = cpu->leader_of[call->root];

	if (cpu->local_count > 1 && shm_enter(&cpu->shm) < 0)
		return -1;
	for (int i = 0; i < cpu->local_count && cpu->shm.me == 0; i++)
		if (cpu->locals[i] == call->root)
			shm_bring(&cpu->shm, call, i, call->dst);
	while (cpu->leaders[root] != leader)
		root++;
	if (cpu->has_ring && ring_broadcast(&cpu->ring, call->dst, bytes, root, err) < 0)
		return -1;
	if (cpu->local_count == 1)
		return 0;
	return shm_spread(&cpu->shm, 1, 0, call->dst, bytes);
}

/* Everybody's block to the root (@to_root), or the root's blocks to everybody, between hosts. */
static int cpu_root_moves(struct cpu *cpu, const struct collective *call, bool to_root,
			  size_t bytes, struct failure *err)
{
	int me = cpu->group->rank;
	const unsigned char *src = call->src;
	unsigned char *dst = call->dst;

	if (me != call->root && is_local(cpu, call->root))
		return 0;
	if (me != call->root)
		return mesh_shift(&cpu->mesh, to_root ? call->root : -1, src,
				  to_root ? -1 : call->root, dst, bytes, err);
	for (int peer = 0; peer < cpu->group->world; peer++)
		if (!is_local(cpu, peer) &&
		    mesh_shift(&cpu->mesh, to_root ? -1 : peer, src + (size_t)peer * bytes,
			       to_root ? peer : -1, dst + (size_t)peer * bytes, bytes, err) < 0)
			return -1;
	return 0;
}

/* What this rank and those of other hosts have for each other goes straight between them. */
static int across_hosts(struct cpu *cpu, const struct collective *call, size_t bytes,
			struct failure *err)
{
	int world = cpu->group->world, me = cpu->group->rank;
	int next = (me + 1) % world, last = (me + world - 1) % world;
	const unsigned char *src = call->src;
	unsigned char *dst = call->dst;

	if (call->kind == SENDRECV)
		return mesh_shift(&cpu->mesh, is_local(cpu, next) ? -1 : next, src,
				  is_local(cpu, last) ? -1 : last, dst, bytes, err);
	if (call->kind == GATHER || call->kind == SCATTER)
		return cpu_root_moves(cpu, call, call->kind == GATHER, bytes, err);
	for (int round = 0; round < world; round++) {
		int peer = (round + world - me) % world;
		size_t used = call->kind == ALLTOALL
				      ? bytes
				      : alltoallv_count(call->count, me, peer, world) *
						dtype_bytes(call->type);

		if (!is_local(cpu, peer) &&
		    mesh_exchange(&cpu->mesh, peer, src + (size_t)peer * bytes,
				  dst + (size_t)peer * bytes, used, err) < 0)
			return -1;
	}
	return 0;
}

static int direct(struct cpu *cpu, const struct collective *call, size_t bytes, struct failure *err)
{
	bool shared = cpu->local_count > 1;

	if (shared && shm_enter(&cpu->shm) < 0)
		return -1;
	for (int i = 0; i < cpu->local_count; i++)
		shm_take(&cpu->shm, call, (cpu->shm.me + i) % cpu->local_count);
	if (across_hosts(cpu, call, bytes, err) < 0)
		return -1;
	return shared ? shm_leave(&cpu->shm) : 0;
}

static int among_hosts(struct cpu *cpu, const struct collective *call, int divisor,
		       struct failure *err)
{
	size_t bytes = call->count * dtype_bytes(call->type);

	switch (call->kind) {
	case REDUCE_SCATTER:
		return cpu_reduce_scatter(cpu, call, divisor, err);
	case ALL_GATHER:
	case HYPERCUBE:
		return cpu_all_gather(cpu, call, bytes, err);
	case BROADCAST:
		return cpu_broadcast(cpu, call, bytes, err);
	case REDUCE:
	case ALL_REDUCE:
		return allreduce(cpu, call, divisor, err);
	case ALLTOALL:
	case ALLTOALLV:
	case SENDRECV:
	case GATHER:
	case SCATTER:
	case COLLECTIVE_COUNT:
		break;
	}
	return direct(cpu, call, bytes, err);
}

static int cpu_collective(void *state, const struct collective *call, struct failure *err)
{
	struct cpu *cpu = state;
	int world = cpu->group->world;
	int divisor = collective_reduces(call->kind) && call->op == OP_AVG ? world : 1;

	if (call->count == 0)
		return 0;
	if (world == 1) {
		if (call->src != call->dst)
			memcpy(call->dst, call->src, call->count * dtype_bytes(call->type));
		return 0;
	}
	shm_next(&cpu->shm);
	if (call->kind == ALL_REDUCE)
		return allreduce(cpu, call, divisor, err);
	if (cpu->leader_count == 1)
		return shm_collective(&cpu->shm, call, divisor);
	return among_hosts(cpu, call, divisor, err);
}

static int cpu_exchange(void *state, int peer, size_t bytes, uint32_t number, struct failure *err)
{
	struct cpu *cpu = state;

	for (int i = 0; i < cpu->local_count; i++)
		if (cpu->locals[i] == peer)
			return shm_exchange(&cpu->shm, i, bytes, number);
	return mesh_exchange(&cpu->mesh, peer, shm_buffer(&cpu->shm, 0), shm_buffer(&cpu->shm, 1),
			     bytes, err);
}

const struct backend backend_cpu = {
	.name = "cpu",
	.auto_rank = 10,
	.probe = cpu_probe,
	.version = cpu_version,
	.algorithm = cpu_algorithm,
	.open = cpu_open,
	.buffers = cpu_buffers,
	.warn = cpu_warn,
	.collective = cpu_collective,
	.exchange = cpu_exchange,
	.close = cpu_close,
};
