#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The all-reduce worker, where it takes long: large sizes, and what is compiled anew.

load ../cli/worker_helper

setup() {
	worker_setup
}

@test "mpi backend: large sizes over TCP, which MPI sends only while it is called" {
	beside_other_work mpi -n 4 --mca btl self,tcp --mca btl_tcp_if_include lo "$ALLREDUCE" --backend mpi -b 2M -e 16M -n 20 --timeout 40 --quiet
}

@test "it builds and runs with what gcc 4.8 has, CentOS 7's" {
	old_gcc -O3
}

# backend_extra RANK: a program with one more backend, whose file is all that was added to the sources
backend_extra() {
	local sources=$BATS_TEST_TMPDIR/worker
	rm -rf "$sources"
	cp -R "$BATS_TEST_DIRNAME/../../images/worker" "$sources"
	mkdir "$sources/backend/extra"
	cat >"$sources/backend/extra/backend_extra.c" <<-END
		#include "backend/backend.h"
		static int probe(struct failure *err)
		{
			return failure_set(err, STATUS_GPU, -1, "", "it is not here");
		}
		const struct backend backend_extra = {.name = "extra", .auto_rank = $1, .probe = probe};
	END
	CC=$BATS_TEST_TMPDIR/cc MPICC=none CFLAGS=-O0 sh "$sources/build.sh" "$BATS_TEST_TMPDIR/out"
}

# compiler: "cc", which compiles each source but the new backend's only once
compiler() {
	cat >"$BATS_TEST_TMPDIR/cc" <<-'END'
		#!/bin/bash
		kept=$BATS_TEST_TMPDIR/kept-${!#//\//.}
		[[ " $* " == *" -c "* && $* != */extra/* ]] || exec gcc "$@"
		while [[ $1 != -o ]]; do words+=("$1") && shift; done
		[[ -e $kept ]] || gcc "${words[@]}" -o "$kept" "$3"
		cp "$kept" "$2"
	END
	chmod +x "$BATS_TEST_TMPDIR/cc"
	export BATS_TEST_TMPDIR
}

@test "a backend is one file, and auto is the one with the lowest rank" {
	compiler
	backend_extra 20
	run "$BATS_TEST_TMPDIR/out/allreduce" --help
	[[ "$output" == *"auto, cpu, extra, mpi or nccl (default auto)"* ]]
	run "$BATS_TEST_TMPDIR/out/allreduce" --backend nothing
	[[ "$output" == *"--backend 'nothing': auto, cpu, extra, mpi or nccl is needed"* ]]
	run "$BATS_TEST_TMPDIR/out/allreduce" --backend extra -e 8
	[ "$status" -eq 5 ]
	[[ "$output" == *"it is not here"* ]]
	"$BATS_TEST_TMPDIR/out/allreduce" -e 8
	backend_extra 5
	run "$BATS_TEST_TMPDIR/out/allreduce" -e 8
	[ "$status" -eq 5 ]
	[[ "$output" == *"it is not here"* ]]
	backend_extra 0
	"$BATS_TEST_TMPDIR/out/allreduce" -e 8
}

@test "training: all-reduce and server do the sums of one rank, for other numbers of ranks" {
	for ranks in 2 4 7; do
		same_sums $ranks --json
		same_sums $ranks --no-shm
	done
}

@test "every collective through device memory, in every kind of type" {
	standin_setup
	STANDIN=$BATS_TEST_TMPDIR/standin
	mkdir "$STANDIN"
	standin_build "$STANDIN"
	for type in float bf16 i64 u8; do
		for ranks in 1 2 3 4; do
			through_device_memory $type $ranks
		done
	done
}

# most_memory WORDS...: the memory of the largest process, in buffers of 16 MiB
most_memory() {
	LD_LIBRARY_PATH=$STANDIN python3 - "$@" <<-'END'
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 / 16)
	END
}

@test "checks on the GPU take no memory of the host's, and those on the host as much as a buffer" {
	local on_gpu on_host
	standin_setup
	STANDIN=$BATS_TEST_TMPDIR/standin
	mkdir "$STANDIN"
	standin_build "$STANDIN"
	set -- "$ALLREDUCE" --backend nccl --procs 2 -n 1 -w 0 -b 16M -e 16M --collective broadcast
	on_gpu=$(most_memory "$@")
	on_host=$(STANDIN_MODULE=222 most_memory "$@")
	# what the stand-ins call the GPU's memory is two buffers of the process
	python3 -c "assert $on_gpu >= 2 and 0.9 < $on_host - $on_gpu < 1.3, ($on_gpu, $on_host)"
	for what in zero missing doubled last; do
		wrong_is_found $what
		STANDIN_MODULE=222 wrong_is_found $what
	done
	STANDIN_MODULE=222 through_device_memory bf16 3
}

@test "a thousand ranks on one machine come to a verdict" {
	run "$ALLREDUCE" --procs 1000 -b 8 -e 64 -f 8 -n 2 -w 1 --timeout 120
	[ "$status" -eq 0 ]
	[[ "$output" == *"# verdict: pass" ]]
}
