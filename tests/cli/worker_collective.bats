#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's collectives besides all-reduce: every path, type, operation and odd size. Loopback only; no timing is
# asserted. tests/long/worker_collective.bats tries more of each.

load worker_collective

@test "collectives: one to sixteen ranks, in shared memory and over TCP" {
	for ranks in 1 2 3 8 16; do
		each "$ALLREDUCE" --procs "$ranks" -b 4 -e 300000 -f 17
		each "$ALLREDUCE" --procs "$ranks" -b 4 -e 300000 -f 17 --no-shm
	done
}

@test "collectives: every type" {
	for type in f32 f16 bf16 f8e4m3 f8e5m2 f64 i32 i64 u8; do
		each "$ALLREDUCE" --procs 3 -b 8 -e 200000 -f 50 -d "$type"
		each "$ALLREDUCE" --procs 3 -b 8 -e 200000 -f 50 -d "$type" --no-shm
	done
}

@test "reduce_scatter: every operation" {
	while read -r type op; do
		reduces "$type" "$op"
	done <<<"f32 sum
bf16 prod
f8e4m3 min
i32 max
f32 avg
i32 avg"
}

@test "collectives: odd, zero and unaligned sizes" {
	sized -b 0 -e 200000 -f 47 # 0, 1, 47, 2209, 103823
	sized -b 13 -e 1100000 -f 17 # 13, 221, 3757, 63869, 1085773
}

@test "collectives: hosts of different sizes, and ranks that are not in the order of their hosts" {
	for names in "a b b b" "a b c a b"; do
		each mixed "$names" -b 64 -e 2M -f 32
	done
}

@test "hypercube: on every path, among powers of two" {
	ALL=(hypercube)
	for ranks in 1 2 8; do
		each "$ALLREDUCE" --procs "$ranks" -b 4 -e 300000 -f 17
		each "$ALLREDUCE" --procs "$ranks" -b 4 -e 300000 -f 17 --no-shm
	done
	each mixed "a b a b" -b 4 -e 300000 -f 17
	each mpi -n 4 "$ALLREDUCE" --backend mpi -b 4 -e 300000 -f 17
	run "$ALLREDUCE" --procs 3 --collective hypercube
	[ "$status" -eq 1 ]
	[[ "$output" == *"hypercube needs 1, 2, 4, 8"* ]]
}

@test "reduce: every operation" {
	ALL=(reduce)
	while read -r type op; do
		each "$ALLREDUCE" --procs 3 -r 2 -b 1K -e 200000 -f 50 -d "$type" -o "$op"
		each mixed "a a b" -r 2 -b 1K -e 200000 -f 50 -d "$type" -o "$op"
	done <<<"f32 avg
bf16 prod
i32 max"
}

@test "collectives with a root: from and to every rank" {
	ALL=(broadcast gather scatter)
	for root in 0 1 2 3 4; do
		each "$ALLREDUCE" --procs 5 -r "$root" -b 64 -e 1M -f 64
		each "$ALLREDUCE" --procs 5 -r "$root" -b 64 -e 1M -f 64 --no-shm
		each mixed "a b a c b" -r "$root" -b 64 -e 1M -f 64
	done
	run "$ALLREDUCE" --procs 2 --collective broadcast -r 2
	[ "$status" -eq 1 ]
	[[ "$output" == *"rank 2 does not exist"* ]]
}

@test "collectives: sizes, counts and bandwidths are those of nccl-tests" {
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1000 -e 1000 --collective all_gather --json
	[ "$status" -eq 0 ]
	# 250 elements: 62 a rank, cut to 60 (16 bytes are 4 elements)
	json 'd["collective"] == "all_gather" and [(r["bytes"], r["count"], r["op"]) for r in d["results"]] == [(960, 60, "none")] * 2'
	json 'all(abs(r["busbw"] - r["algbw"] * 0.75) < 1e-3 for r in d["results"])'
	json 'all(abs(r["algbw"] - r["bytes"] / r["usec"] / 1000) < 1e-3 for r in d["results"])'
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1000 -e 1000 --collective reduce_scatter -d f64 --json
	json '[(r["bytes"], r["count"], r["op"]) for r in d["results"]] == [(960, 30, "sum")] * 2'
	json 'all(abs(r["busbw"] - r["algbw"] * 0.75) < 1e-3 for r in d["results"])'
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1000 -e 1000 --collective alltoall -d u8 --json
	json '[(r["bytes"], r["count"], r["inplace"]) for r in d["results"]] == [(960, 240, False)]'
	json 'all(abs(r["busbw"] - r["algbw"] * 0.75) < 1e-3 for r in d["results"])'
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1000 -e 1000 --collective broadcast --json
	json '[(r["bytes"], r["count"]) for r in d["results"]] == [(1000, 250)] * 2'
	json 'all(r["busbw"] == r["algbw"] for r in d["results"])'
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1000 -e 1000 --collective sendrecv --json
	json '[(r["bytes"], r["count"], r["inplace"]) for r in d["results"]] == [(1000, 250, False)]'
	json 'all(r["busbw"] == r["algbw"] for r in d["results"])'
	# one byte more than a multiple: hypercube takes blocks of 4 elements, gather and scatter any; the root is in the table
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1001 -e 1001 --collective hypercube -d u8 --json
	json '[(r["bytes"], r["count"]) for r in d["results"]] == [(992, 248)] * 2'
	json 'all(abs(r["algbw"] - 0.75 * r["bytes"] / r["usec"] / 1000) < 1e-3 and r["busbw"] == r["algbw"] for r in d["results"])'
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1001 -e 1001 --collective scatter -d u8 --json
	json '[(r["bytes"], r["count"]) for r in d["results"]] == [(1000, 250)] * 2'
	json 'all(abs(r["busbw"] - r["algbw"] * 0.75) < 1e-3 for r in d["results"])'
}

@test "collectives: the table has nccl-tests' columns" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1K -e 1K --collective alltoall
	[ "$status" -eq 0 ]
	read -r -a field <<<"$(printf '%s\n' "$output" | grep -v '^#')"
	[ "${#field[@]}" -eq 13 ]
	[ "${field[0]} ${field[1]} ${field[3]} ${field[4]} ${field[8]} ${field[9]} ${field[12]}" = "1024 128 none -1 0 N/A N/A" ]
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1K -e 1K --collective broadcast -r 1
	read -r -a field <<<"$(printf '%s\n' "$output" | grep -v '^#')"
	[ "${field[1]} ${field[3]} ${field[4]} ${field[12]}" = "256 none 1 0" ]
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1K -e 1K --collective reduce -o max -r 1
	read -r -a field <<<"$(printf '%s\n' "$output" | grep -v '^#')"
	[ "${field[1]} ${field[3]} ${field[4]} ${field[12]}" = "256 max 1 0" ]
}

@test "collectives: a wrong element is found, with rank, host and index" {
	path=--json
	for name in "${ALL[@]}"; do
		run "$ALLREDUCE" --procs 3 "${COMMON[@]}" -b 6K -e 6K --collective "$name" -r 1 --fault-inject corrupt:1 \
			--host here "$path" --json
		[ "$status" -eq 2 ]
		json 'd["failure"]["rank"] == 1 and d["failure"]["host"] == "here"'
		case $name in reduce_scatter | scatter) index=256 ;; *) index=768 ;; esac
		json "d['failure']['index'] == $index and '$name f32' in d['reason']"
		[ "$path" = --json ] && path=--no-shm || path=--json # each path has a part of them
	done
}

@test "collectives: a rank that dies or hangs is named" {
	ALL=(reduce_scatter all_gather broadcast alltoall sendrecv gather)
	for name in "${ALL[@]}"; do
		run "$ALLREDUCE" --procs 3 "${COMMON[@]}" --collective "$name" -b 1M --fault-inject die:1
		[ "$status" -eq 7 ]
		[[ "$output" == *"peer lost: rank 1 ("* ]]
		run "$ALLREDUCE" --procs 3 "${COMMON[@]}" --collective "$name" -b 1M --fault-inject die:1 --no-shm
		[ "$status" -eq 7 ]
		[[ "$output" == *"peer lost: rank 1 ("* ]]
	done
	run "$ALLREDUCE" --procs 3 -n 2 --timeout 1 --fault-inject stop:1 --collective alltoall --no-shm
	[ "$status" -eq 4 ]
	[[ "$output" == *"in phase run: rank 1 ("*"does not answer"* ]]
}

@test "collectives: mpi backend" {
	each mpi -n 3 "$ALLREDUCE" --backend mpi -b 0 -e 100000 -f 57 -d bf16 -r 2
	run mpi -n 2 "$ALLREDUCE" --backend mpi "${COMMON[@]}" -b 64 -e 64 --collective all_gather --json
	json 'd["backend"] == "mpi" and all(r["algorithm"] == "MPI_Allgather" for r in d["results"])'
}

@test "collectives: --sgd and --find-slow beside them" {
	run "$ALLREDUCE" --procs 3 --no-shm "${COMMON[@]}" -e 64 --collective alltoall --sgd --steps 5 --find-slow --quiet
	[ "$status" -eq 0 ]
}

@test "collectives: usage errors" {
	run "$ALLREDUCE" --collective all_sum
	[ "$status" -eq 1 ]
	[[ "$output" == *"alltoallv or hypercube is needed"* ]]
	for flag in --graph --register; do
		run "$ALLREDUCE" --procs 2 "$flag"
		[ "$status" -eq 1 ]
		[[ "$output" == *"nccl"* ]]
	done
}
