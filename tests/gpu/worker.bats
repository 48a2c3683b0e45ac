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
	# all that this NCCL has: fp8 from 2.24.3 on
	run "$ALLREDUCE" "${NCCL[@]}" -n 2 -w 1 -b 8 -e 20000 -f 50 -d all -o all --json
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	json 'd["backend"] == "nccl" and all(r["wrong"] == 0 for r in d["results"])'
	json 'len({(r["type"], r["op"]) for r in d["results"]}) in (50, 60)'
}

# passes FLAGS...: and it was the GPU that verified
passes() {
	run "$ALLREDUCE" "${NCCL[@]}" -n 2 -w 1 "$@" --json
	[ "$status" -eq 0 ] || { echo "$*: $output"; return 1; }
	json 'd["verdict"] == "pass" and d["checks"] == 1 and not any("on the host" in x["what"] for x in w)' || return 1
}

@test "every collective, also with buffers that are not aligned" {
	for name in all_reduce reduce_scatter all_gather broadcast alltoall sendrecv reduce gather scatter alltoallv hypercube; do
		[[ $name != hypercube || $((gpus & (gpus - 1))) -eq 0 ]] || continue
		passes --collective "$name" -b 3 -e 3M -f 64
		passes --collective "$name" -b 3 -e 3M -f 64 -d u8 -u 3 -r $((gpus - 1))
	done
}

@test "graphs, registered buffers, symmetric windows, policies" {
	nccl=$("$ALLREDUCE" --versions --json | python3 -c 'import json, sys; v = json.load(sys.stdin)["nccl"]["version"].split("."); print("%d%02d" % (int(v[0]), int(v[1])))')
	passes -b 8 -e 1M -f 16 --graph
	passes -b 8 -e 1M -f 16 -G 3
	[ "$nccl" -lt 219 ] || passes -b 8 -e 1M -f 16 --register
	[ "$nccl" -lt 227 ] || passes -b 8 -e 1M -f 16 -R 2
	[ "$nccl" -lt 227 ] || passes -b 8 -e 1M -f 16 -x 1
}

@test "who hangs, drops out or dies is named, in every phase" {
	[ "$gpus" -ge 2 ] || { run "$ALLREDUCE" "${NCCL[@]}" -e 8; return "$status"; } # one rank has nobody to wait for
	for fault in stop drop die; do
		for phase in bootstrap first run pairs; do
			run timeout -s KILL 60 "$ALLREDUCE" --backend nccl --procs "$gpus" --timeout 10 -n 4 -e 1K --find-slow \
				--fault-inject "$fault:1@$phase"
			[[ $status -eq 4 || $status -eq 7 ]] || { echo "$fault $phase: $status $output"; return 1; }
			[[ "$output" == *"rank 1 ("* ]] || { echo "$fault $phase: $output"; return 1; }
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
