#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's collectives: all operations with all kinds of types, sizes beside powers of two, and hosts of all sizes.
# It takes minutes: `make test SUITES=long`.

load ../cli/worker_collective

@test "reduce_scatter: every operation with every kind of type" {
	for op in sum prod min max avg; do
		for type in f32 bf16 f8e4m3 i32; do
			reduces "$type" "$op"
		done
	done
}

@test "collectives: sizes beside powers of two" {
	for size in 3 49 2047 2049 65537 1048577 3000001; do
		sized -b "$size" -e "$size"
	done
}

@test "collectives: hosts of different sizes, and ranks that are not in the order of their hosts" {
	for names in "a b" "a a b b" "a b a b" "a b b b" "a b c a b" "a a a b c c"; do
		each mixed "$names" -b 64 -e 2M -f 32
	done
}

@test "collectives: mpi backend" {
	for ranks in 1 3; do
		for type in f32 bf16 f8e5m2 u8; do
			each mpi -n "$ranks" "$ALLREDUCE" --backend mpi -b 0 -e 100000 -f 57 -d "$type" -r $((ranks - 1))
		done
	done
}
