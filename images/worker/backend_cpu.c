/* SPDX-License-Identifier: MIT */
/* The CPU backend: shared memory among the ranks of a host, TCP among the hosts' leaders (their
 * lowest ranks). */
#include "backend.h"
#include "mesh.h"
#include "placement.h"
#include "ring.h"
#include "shm.h"

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
	bool has_ring, crowded;
};

static int cpu_probe(struct failure *err)
{
	(void)err;
	return 0;
}

static bool same_host(const struct member *a, const struct member *b)
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

		while (leader < rank && !same_host(&group->members[leader], &group->members[rank]))
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
static int exchange(const struct cpu *cpu, int value, int *all, struct failure *err)
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
		rc = exchange(cpu, fd, all, err);
	if (rc == 0) {
		attached = shm_attach(&cpu->shm, all) == 0;
		if (!attached)
			fprintf(stderr,
				"allreduce: rank %d (%s) cannot map its neighbours' memory; this "
				"host's ranks use TCP\n",
				cpu->group->rank, cpu->group->members[cpu->group->rank].host);
		rc = exchange(cpu, attached, all, err);
	}
	if (fd >= 0)
		close(fd);
	if (rc == 0) {
		split_hosts(cpu, all);
		count_hosts(cpu);
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

static int open_all(struct cpu *cpu, size_t bytes, struct failure *err)
{
	const struct group *group = cpu->group;

	cpu->crowded = placement_crowded(group);
	placement_bind(group);
	find_leaders(cpu);
	count_hosts(cpu);
	if (open_shm(cpu, bytes, err) < 0)
		return -1;
	if (cpu->leader_of[group->rank] != group->rank || cpu->leader_count == 1)
		return 0;
	cpu->has_ring = true;
	return ring_open(&cpu->ring, group, cpu->leaders, cpu->leader_count, cpu->crowded, err);
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

static const char *cpu_version(void)
{
	return "";
}

static const char *cpu_algorithm(void *state, size_t bytes)
{
	const struct cpu *cpu = state;
	bool small = bytes <= SHM_SMALL_BYTES;

	if (cpu->group->world == 1)
		return "copy";
	if (cpu->leader_count == 1)
		return small ? "shm slots" : "shm shares";
	if (cpu->leader_count == cpu->group->world)
		return ring_is_small(cpu->leader_count, bytes) ? "tcp gather" : "tcp ring";
	if (small)
		return "shm slots, tcp gather";
	return ring_is_small(cpu->leader_count, bytes) ? "shm shares, tcp gather"
						       : "shm shares, tcp ring";
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
	return shm_spread(&cpu->shm, to, bytes);
}

static int cpu_allreduce(void *state, const void *src, void *dst, size_t count, enum dtype type,
			 enum op op, struct failure *err)
{
	struct cpu *cpu = state;
	int from = src == shm_buffer(&cpu->shm, 0) ? 0 : 1,
	    to = dst == shm_buffer(&cpu->shm, 0) ? 0 : 1;
	int divisor = op == OP_AVG ? cpu->group->world : 1;

	if (count == 0)
		return 0;
	shm_next(&cpu->shm);
	if (cpu->local_count > 1 && cpu->leader_count == 1)
		return shm_allreduce(&cpu->shm, from, to, count, type, op, divisor);
	if (cpu->local_count > 1)
		return hierarchical(cpu, from, to, count, type, op, divisor, err);
	if (cpu->leader_count > 1)
		return ring_allreduce(&cpu->ring, src, dst, count, type, op, divisor, err);
	if (src != dst)
		memcpy(dst, src, count * dtype_bytes(type));
	return 0;
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
	.probe = cpu_probe,
	.version = cpu_version,
	.algorithm = cpu_algorithm,
	.open = cpu_open,
	.buffers = cpu_buffers,
	.allreduce = cpu_allreduce,
	.exchange = cpu_exchange,
	.close = cpu_close,
};
