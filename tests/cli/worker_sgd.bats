#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's training (--sgd): same weights on all ranks, the loss of one rank, and the digits are learned.

load worker_helper

setup() {
	worker_setup
	SGD=(--sgd -n 1 -w 0 -e 8 --timeout 30)
}

@test "digits are learned: nine of ten unknown ones are read right" {
	run "$ALLREDUCE" --procs 3 "${SGD[@]}" --json
	[ "$status" -eq 0 ]
	json 'd["sgd"]["steps"] == 200 and list(way) == ["one", "sum", "server", "async"]'
	json 'all(w["test_right"] > 0.88 and w["loss"] < 0.1 for w in way.values())'
	json '[w["learners"] for w in way.values()] == [1, 3, 2, 2]'
}

@test "all-reduce and server do the sums of one rank, on every path" {
	same_sums 1 --json
	same_sums 3 --json
	same_sums 3 --no-shm
}

@test "over three hosts" {
	port=$(free_port)
	for host in 1 2; do
		"$ALLREDUCE" --rank $((host * 2)) --procs 2 --world 6 --host "host$host" --root "127.0.0.1:$port" &
	done
	run "$ALLREDUCE" --rank 0 --procs 2 --world 6 --host host0 --root "127.0.0.1:$port" "${SGD[@]}" --steps 20
	[ "$status" -eq 0 ]
	[[ "$output" == *"# sgd: 20 steps of 128 handwritten digits"*" on every rank after 'sum'"* ]]
	wait
}

@test "the same weights again in another run of as many ranks" {
	run "$ALLREDUCE" --procs 3 "${SGD[@]}" --steps 20 --json
	first=$(printf '%s' "$output" | python3 -c 'import json, sys; print(json.load(sys.stdin)["sgd"]["weights"])')
	run "$ALLREDUCE" --procs 3 "${SGD[@]}" --steps 20 --json
	json "d['sgd']['weights'] == '$first'"
}

@test "a rank whose weights drift is named: exit 2" {
	run "$ALLREDUCE" --procs 3 "${SGD[@]}" --steps 10 --host here --fault-inject drift:2 --json
	[ "$status" -eq 2 ]
	json 'd["verdict"] == "wrong data" and d["failure"]["rank"] == 2'
	json '"rank 2 (here) has other weights than rank 0" in d["reason"]'
}

@test "mpi backend" {
	run mpi -n 2 "$ALLREDUCE" --backend mpi \
		"${SGD[@]}" --steps 10 --json
	[ "$status" -eq 0 ]
	json 'd["backend"] == "mpi" and way["sum"]["learners"] == 2'
}

@test "--steps: a number is needed" {
	for steps in 0 x 1e3 -1; do
		run "$ALLREDUCE" --sgd --steps "$steps"
		[ "$status" -eq 1 ] || { echo "$steps: $status"; return 1; }
	done
	run "$ALLREDUCE" --procs 2 -e 8 --json
	[[ "$output" == *'"sgd": null'* ]]
}
