#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's backend nccl on real GPUs: every test needs a driver, NCCL and at least one GPU, and fails without.

load ../cli/worker_helper

setup() {
	worker_setup
	unset RINGUP_TEST_ROOT
	gpus=$("$ALLREDUCE" --versions --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["driver"]["gpus"])')
	[ "$gpus" -ge 1 ]
	world=$((gpus > 1 ? gpus : 2))
	NCCL=(--backend nccl --timeout 60)
}

# worker FLAGS...: one rank per GPU; the output of rank 0's. One GPU has two ranks, which NCCL takes for two hosts: they
# exchange over sockets, and take turns on the GPU.
worker() {
	local port status=0 pid

	if [ "$gpus" -gt 1 ]; then
		"$ALLREDUCE" "${NCCL[@]}" --procs "$gpus" "$@"
		return
	fi
	port=$(free_port)
	export RINGUP_TEST_SHARED_GPU=1 NCCL_SOCKET_IFNAME=lo
	NCCL_HOSTID=b "$ALLREDUCE" "${NCCL[@]}" --rank 1 --world 2 --host b --root "127.0.0.1:$port" "$@" >/dev/null 2>&1 &
	pid=$!
	NCCL_HOSTID=a "$ALLREDUCE" "${NCCL[@]}" --rank 0 --world 2 --host a --root "127.0.0.1:$port" "$@" || status=$?
	kill -KILL "$pid" 2>/dev/null || true # a fault may have stopped it
	wait "$pid" 2>/dev/null || true
	return "$status"
}

@test "--versions names driver, CUDA, GPUs and NCCL" {
	run "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == "nccl "[0-9]* ]]
	[[ "${lines[2]}" == "driver "[0-9]*", CUDA "[0-9]*" GPUs ("* ]]
}

@test "every type and operation is verified" {
	# all that this NCCL has: fp8 from 2.24.3 on
	run worker -n 2 -w 1 -b 8 -e 20000 -f 50 -d all -o all --json
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	json 'd["backend"] == "nccl" and all(r["wrong"] == 0 for r in d["results"])'
	json 'len({(r["type"], r["op"]) for r in d["results"]}) in (50, 60)'
}

# passes FLAGS...: and it was the GPU that verified
passes() {
	run worker -n 2 -w 1 "$@" --json
	[ "$status" -eq 0 ] || { echo "$*: $output"; return 1; }
	json 'd["verdict"] == "pass" and d["checks"] == 1 and not any("on the host" in x["what"] for x in w)' || return 1
}

@test "every collective, also with buffers that are not aligned" {
	for name in all_reduce reduce_scatter all_gather broadcast alltoall sendrecv reduce gather scatter alltoallv hypercube; do
		[[ $name != hypercube || $((world & (world - 1))) -eq 0 ]] || continue
		passes --collective "$name" -b 3 -e 3M -f 64
		passes --collective "$name" -b 3 -e 3M -f 64 -d u8 -u 3 -r $((world - 1))
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

@test "one rank alone has a GPU and its figures" {
	run "$ALLREDUCE" "${NCCL[@]}" --procs 1 -b 8 -e 256M -f 32 -d bf16 --json
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	json 'd["world"] == 1 and all(r["wrong"] == 0 and r["usec"] > 0 for r in d["results"])'
}

@test "who hangs, drops out or dies is named, in every phase" {
	NCCL=(--backend nccl --timeout 10)
	for fault in stop drop die; do
		for phase in bootstrap first run pairs; do
			run worker -n 4 -e 1K --find-slow --fault-inject "$fault:1@$phase"
			[[ $status -eq 4 || $status -eq 7 ]] || { echo "$fault $phase: $status $output"; return 1; }
			[[ "$output" == *"rank 1 ("* ]] || { echo "$fault $phase: $output"; return 1; }
		done
	done
}

@test "odd and large sizes" {
	run worker -n 3 -b 1 -e 256M -f 7 -d u8 --json
	[ "$status" -eq 0 ]
	json 'd["verdict"] == "pass"'
}

@test "wrong data in device memory is found" {
	run worker -n 2 -b 4K -e 4K --fault-inject corrupt:0 --json
	[ "$status" -eq 2 ]
	json 'd["failure"]["index"] == 512'
}

@test "more ranks than GPUs: exit 5" {
	run "$ALLREDUCE" "${NCCL[@]}" --procs $((gpus + 1)) --quiet
	[ "$status" -eq 5 ]
}

@test "the pairs are tried, and the digits are learned" {
	run worker -n 2 -e 1M --find-slow --sgd --steps 50 --json
	[ "$status" -eq 0 ]
	json 'd["pairs"]["findings"] == [] and d["sgd"]["runs"][1]["name"] == "sum"'
}

@test "a rank that dies ends the run on all others" {
	run worker -n 20 --fault-inject "die:$((world - 1))"
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank $((world - 1)) ("* ]]
}

@test "the health of each GPU: it calculates right, and the driver answers" {
	run "$ALLREDUCE" --health --burn 2
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	python3 -c 'if True:
		import json, sys
		lines = [json.loads(line) for line in sys.stdin]
		burns = [line for line in lines if line.get("phase") == "burn"]
		assert lines[0]["cards"] == len(burns) == int(sys.argv[1]) and not lines[0]["simulated"]
		for burn in burns:
		    assert burn["wrong"] == 0 and 0 < burn["tflops"] < burn.get("bf16_tflops", 1e9), burn
		assert not any("error" in line or "hung" in line for line in lines)
	' "$gpus" <<<"$output" || { echo "$output"; return 1; }
}

# Four ranks on one GPU, which NVIDIA's MPS lets run at the same time: without it they take turns, and no time is a link's.
mps_ranks() {
	local port rank pids=() status=0
	port=$(free_port)
	export CUDA_MPS_PIPE_DIRECTORY=$BATS_TEST_TMPDIR/mps CUDA_MPS_LOG_DIRECTORY=$BATS_TEST_TMPDIR/mps
	export RINGUP_TEST_SHARED_GPU=1 NCCL_SOCKET_IFNAME=lo
	for rank in 1 2 3; do
		NCCL_HOSTID=h$rank "$ALLREDUCE" "${NCCL[@]}" --rank "$rank" --world 4 --host "h$rank" --root "127.0.0.1:$port" "$@" >/dev/null 2>&1 &
		pids+=($!)
	done
	NCCL_HOSTID=h0 "$ALLREDUCE" "${NCCL[@]}" --rank 0 --world 4 --host h0 --root "127.0.0.1:$port" "$@" || status=$?
	wait "${pids[@]}" || true
	return "$status"
}

@test "who is slow is named, and nobody where all are well" {
	command -v nvidia-cuda-mps-control >/dev/null || skip "this machine has no nvidia-cuda-mps-control"
	mkdir "$BATS_TEST_TMPDIR/mps"
	CUDA_MPS_PIPE_DIRECTORY=$BATS_TEST_TMPDIR/mps CUDA_MPS_LOG_DIRECTORY=$BATS_TEST_TMPDIR/mps nvidia-cuda-mps-control -d 3>&-
	run mps_ranks -n 2 -e 1K --find-slow --json
	healthy=$output healthy_status=$status
	run mps_ranks -n 2 -e 1K --find-slow --json --fault-inject slow:2
	echo quit | CUDA_MPS_PIPE_DIRECTORY=$BATS_TEST_TMPDIR/mps nvidia-cuda-mps-control
	echo "$healthy" "$output"
	[ "$healthy_status" -eq 0 ]
	[ "$status" -eq 8 ]
	json 'd["pairs"]["findings"][0]["rank"] == 2'
}
