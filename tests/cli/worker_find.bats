#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's slow-finder (--find-slow): nobody is blamed without a reason; faults put in on purpose are in tests/long.

load worker_helper

setup() {
	worker_setup
	FIND=(--find-slow -n 2 -w 1 -e 8 --timeout 30)
}

@test "nobody is blamed when nothing is slow" {
	for ranks in 1 2 3 5 8; do
		for path in --json --no-shm; do
			run "$ALLREDUCE" --procs "$ranks" "${FIND[@]}" "$path"
			[ "$status" -eq 0 ] || { echo "$ranks $path: $output"; return 1; }
		done
	done
}

@test "the pair matrix: symmetric, nothing on the diagonal" {
	run "$ALLREDUCE" --procs 5 "${FIND[@]}" --json
	[ "$status" -eq 0 ]
	json 'd["pairs"]["bytes"] == 1 << 20 and d["pairs"]["sweeps"] >= 6 and d["pairs"]["findings"] == [] and d["pairs"]["leave_one_out"] is None'
	json 'all(d["pairs"]["usec"][a][b] == d["pairs"]["usec"][b][a] for a in range(5) for b in range(5))'
	json 'all((d["pairs"]["usec"][a][b] is None) == (a == b) for a in range(5) for b in range(5))'
	run "$ALLREDUCE" --procs 3 "${FIND[@]}"
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -cE '^#   [012]( +[0-9.]+| +-){3}$')" -eq 3 ]
	[[ "$output" == *"# no rank and no link is slow"* ]]
	run "$ALLREDUCE" --procs 2 "${FIND[@]}"
	[[ "$output" == *"nothing to compare it with"* ]]
}

@test "without --find-slow there is no matrix" {
	run "$ALLREDUCE" --procs 2 -e 8 --json
	[ "$status" -eq 0 ]
	json 'd["pairs"] is None'
}

@test "a rank that dies or hangs while pairs are tried is named" {
	run "$ALLREDUCE" --procs 3 "${FIND[@]}" --fault-inject die:1
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank 1 ("* ]]
}

@test "mpi backend: pairs by MPI_Sendrecv" {
	run mpi -n 3 "$ALLREDUCE" --backend mpi \
		"${FIND[@]}" --json
	[ "$status" -eq 0 ]
	json 'd["backend"] == "mpi" and len(d["pairs"]["usec"]) == 3'
}

@test "--fault-inject link: two ranks are needed" {
	for list in link:1 link:1- link:-1 link:a-b link:1-2x slow:1,link; do
		run "$ALLREDUCE" --fault-inject "$list"
		[ "$status" -eq 1 ] || { echo "$list: $status"; return 1; }
	done
}
