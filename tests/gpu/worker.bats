#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's backend nccl on real GPUs: every test needs a driver, NCCL and at least one GPU, and fails without.

load ../cli/worker_helper

setup() {
	worker_setup
	unset RINGUP_TEST_ROOT
	gpus=$("$ALLREDUCE" --versions --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["driver"]["gpus"])')
	[ "$gpus" -ge 1 ]
	NCCL=(--backend nccl --procs "$gpus" --timeout 60)
}

@test "--versions names driver, CUDA, GPUs and NCCL" {
	run "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == "nccl "[0-9]* ]]
	[[ "${lines[2]}" == "driver "[0-9]*", CUDA "[0-9]*" GPUs ("* ]]
}

@test "every type and operation is verified" {
	for type in f32 f16 bf16 f64 i32 i64 u8; do
		for op in sum prod min max avg; do
			run "$ALLREDUCE" "${NCCL[@]}" -n 2 -w 1 -b 8 -e 20000 -f 50 -d "$type" -o "$op" --json
			[ "$status" -eq 0 ] || { echo "$type $op: $output"; return 1; }
			json 'd["backend"] == "nccl" and all(r["wrong"] == 0 for r in d["results"])'
		done
	done
}

@test "odd and large sizes" {
	run "$ALLREDUCE" "${NCCL[@]}" -n 3 -b 1 -e 256M -f 7 -d u8 --json
	[ "$status" -eq 0 ]
	json 'd["verdict"] == "pass"'
}

@test "wrong data in device memory is found" {
	run "$ALLREDUCE" "${NCCL[@]}" -n 2 -b 4K -e 4K --fault-inject corrupt:0 --json
	[ "$status" -eq 2 ]
	json 'd["failure"]["index"] == 512'
}

@test "more ranks than GPUs: exit 5" {
	run "$ALLREDUCE" --backend nccl --procs $((gpus + 1)) --timeout 60 --quiet
	[ "$status" -eq 5 ]
}

@test "the pairs are tried, and the digits are learned" {
	run "$ALLREDUCE" "${NCCL[@]}" -n 2 -e 1M --find-slow --sgd --steps 50 --json
	[ "$status" -eq 0 ]
	json 'd["pairs"]["findings"] == [] and d["sgd"]["runs"][1]["name"] == "sum"'
}

@test "a rank that dies ends the run on all others" {
	run "$ALLREDUCE" "${NCCL[@]}" -n 20 --fault-inject "die:$((gpus - 1))"
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank $((gpus - 1)) ("* ]]
}
