#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# allreduce --health with the stand-ins of CUDA and NVML (images/simulated): healthy cards and broken ones. No number here
# is about a GPU.

load worker_health.bash

@test "healthy cards: each phase of each card, and it says that they are simulated" {
	health 0 "0 serial 1320921054321"
	lines 'host == {"host": "node01", "driver": "550.54.15", "simulated": True, "cards": 3} and all[-1] == {"end": True}'
	lines 'phases(1) == ["identity", "readings", "memory", "host", "burn", "after"]'
	lines 'c[0, "identity"]["serial"] == "1320921054321" and "serial" not in c[1, "identity"]'
	lines 'c[2, "identity"]["bus"] == "0000:12:00.0" and c[2, "identity"]["model"] == "NVIDIA H100 80GB HBM3"'
	lines 'c[1, "memory"]["copy_gbps"] == 2000 and c[1, "host"]["h2d_gbps"] == 50 and c[1, "host"]["alone"]'
	lines 'c[1, "burn"]["bf16_tflops"] == 500 and c[1, "burn"]["tflops"] == 50 and c[1, "burn"]["wrong"] == 0 and c[1, "burn"]["samples"] > 40'
	lines 'c[1, "after"]["xids"] == [] and c[1, "after"]["readings"]["ecc_volatile"] == 0'
}

@test "slow, throttled, wrong, with pending rows and an Xid: the card's own lines say so" {
	health 0 "0 fma 80" "0 mma 90" "0 throttle 4" "0 sm_mhz 1500" "1 capability 7" "1 memory 50" "1 remap_pending 1" "1 ecc 7" "2 wrong 3" "2 xid 79" "2 width 8"
	lines 'c[0, "burn"]["tflops"] == 40 and c[0, "burn"]["bf16_tflops"] == 450 and c[0, "burn"]["throttle"] == 4 and c[0, "burn"]["sm_mhz"] == 1500'
	lines '"bf16_tflops" not in c[1, "burn"] and c[1, "burn"]["tflops"] == 50'
	lines 'c[1, "memory"]["copy_gbps"] == 1000 and c[1, "readings"]["readings"]["remap_pending"] == 1'
	lines 'c[1, "readings"]["readings"]["ecc_aggregate"] == 7 and c[2, "after"]["readings"]["pcie_width"] == 8'
	lines 'c[2, "burn"]["wrong"] == 3 and c[2, "after"]["xids"] == [79] and c[0, "after"]["xids"] == []'
}

@test "a card without ECC: not supported, never 0" {
	health 0 "1 unsupported 1"
	lines '[c[1, "readings"]["readings"][k] for k in ("ecc_on", "ecc_volatile", "remap_failed")] == ["not supported"] * 3'
	lines 'c[0, "readings"]["readings"]["remap_failed"] == 0'
}

@test "cards that fell off the bus, before and meanwhile; MIG: the others go on" {
	health 0 "0 lost 1" "1 lost 2"
	lines 'c[0, "identity"]["lost"] and "GPU is lost" in c[0, "identity"]["error"]'
	lines 'c[1, "burn"]["lost"] and "719" in c[1, "burn"]["error"] and phases(2)[-1] == "after"'
	health 0 "1 mig 1"
	lines '"MIG" in c[1, "context"]["not_measured"] and "error" not in c[1, "context"] and (1, "memory") not in c and phases(2)[-1] == "after"'
}

@test "no driver, no GPU: status 5 with the reason" {
	rm "$BATS_TEST_TMPDIR/lib/libcuda.so.1" "$BATS_TEST_TMPDIR/lib/libnvidia-ml.so.1"
	health 5
	lines '"driver" in host["error"] and "no_nvml" in host and all[-1] == {"end": True}'
	[[ "$stderr" == *"gpu unusable"* ]]
}

@test "without NVML there are the measurements" {
	rm "$BATS_TEST_TMPDIR/lib/libnvidia-ml.so.1"
	health 0
	lines '"utility" in host["no_nvml"] and host["cards"] == 3'
	lines 'phases(0) == ["identity", "memory", "host", "burn"] and c[0, "burn"]["tflops"] == 50'
}

@test "pairs: each once, with its link and both ways; the slow one, and none with a card that is ill" {
	health 0 "0 peer2 50"
	lines '[(d["card"], d["peer"], d["link"], d["to_gbps"], d["from_gbps"], d["direct"]) for d in pairs] == [
		(0, 1, "NV18", 400, 400, True), (0, 2, "NV18", 200, 200, True), (1, 2, "NV18", 400, 400, True)]'
	health 0 "1 mig 1"
	lines '[(d["card"], d["peer"]) for d in pairs] == [(0, 2)] and not any("pairs_left_out" in d for d in all)'
}

@test "--find-slow knows what lies between two GPUs, as --health does" {
	cp "${BUILD:-build}/simulated-nccl.so" "$BATS_TEST_TMPDIR/lib/libnccl.so.2"
	echo >"$BATS_TEST_TMPDIR/health"
	run --separate-stderr env "LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib" "RINGUP_SIMULATED_SHARED=$BATS_TEST_TMPDIR" "$ALLREDUCE" \
		--backend nccl --procs 2 -n 1 -w 0 -b 8 -e 8 --find-slow --json
	echo "$output$stderr"
	json 'd["pairs"]["links"] == [["", "NV18"], ["NV18", ""]]'
	rm "$BATS_TEST_TMPDIR/lib/libnvidia-ml.so.1"
	run --separate-stderr env "LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib" "RINGUP_SIMULATED_SHARED=$BATS_TEST_TMPDIR" "$ALLREDUCE" \
		--backend nccl --procs 2 -n 1 -w 0 -b 8 -e 8 --find-slow --json
	json 'd["pairs"]["links"] == [["", ""]] * 2'
}
