#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# GPUs that are not there, on hosts with Docker: what the probe sees, what the engine really got, and what the ranks see.

load ../lab/helper
load ../lab/gpus

setup_file() {
	lab_begin
	ringup -q lab up --hosts 2 --gpus 4xH100,node02=2xA100 --nvlink 3>&- 4>&-
	own_image
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

@test "probe: GPUs are counted by product" {
	ringup probe >out 2>err
	grep -E '^node01 .* 4x NVIDIA H100 80GB HBM3$' out
	grep -E '^node02 .* 2x NVIDIA A100-SXM4-80GB$' out
	[ "$(grep -c 'simulated GPUs' err)" = 1 ]
	rm out err
}

@test "accelerator auto and no stack: containers get all GPUs of their hosts, as the engine says, not only our words" {
	ringup -f own.yaml up >out 2>&1 3>&- 4>&- || { cat out; false; }
	[ "$(grep -c 'simulated GPUs' out)" = 1 ]
	[ "$(granted node01 devices) $(granted node02 devices)" = "all all" ]
	[ "$(granted node01 capabilities)" = compute,utility ]
	[ "$(granted node02 uuids)" = "$(uuid node02 0),$(uuid node02 1)" ]
	[ "$(in_container node01 nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)" = "4 NVIDIA H100 80GB HBM3" ]
	[ "$(in_container node02 nvidia-smi -L | wc -l)" = 2 ]
	rm out
}

@test "one rank for each GPU, and --gpus gives each GPUs of its own" {
	uuids
	[ "$(ringup -q -f own.yaml run --gpus 1 -- sh -c 'echo $RANK $CUDA_VISIBLE_DEVICES' | sort)" = "$(printf '%s\n' \
		"[0 node01] 0 $a0" "[1 node01] 1 $a1" "[2 node01] 2 $a2" "[3 node01] 3 $a3" "[4 node02] 4 $b0" "[5 node02] 5 $b1")" ]
	[ "$(ringup -q -f own.yaml run --gpus 2 -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort)" = "$(printf '%s\n' \
		"[0 node01] $a0,$a1" "[1 node01] $a2,$a3" "[2 node02] $b0,$b1")" ]
	fails 2 -f own.yaml run --gpus 4 --ppn 1 -- true
	says "2 ranks with 4 GPUs each are more than the hosts have room for (1 ranks)" "node02 2"
}

@test "bench on simulated GPUs says so, and has no expectation" {
	ringup --json -f own.yaml bench -- -b 1K -e 1K -n 1 >bench.json 2>/dev/null
	jq -e '.simulated and .backend == "nccl (simulated)" and .verdict == "pass" and .expected.busbw == null and
		.expected.because == "the GPUs are simulated" and ([.ranks[].host] | group_by(.) | map(length)) == [4, 2]' bench.json
	ringup --json -f own.yaml bench -- --backend cpu -b 1K -e 1K -n 1 2>err >/dev/null
	grep -F "the hosts have 6 GPUs, and this was measured on CPUs" err
	ringup --json -f own.yaml status 2>/dev/null | jq -e .simulated
	rm bench.json err
}

@test "gpus: indexes on one host and a number on the other" {
	gives node01 3,1 node02 1
	ringup -q -f gpus.yaml up 3>&- 4>&-
	uuids
	[ "$(granted node01 devices) $(granted node02 devices)" = "3,1 $b0" ]
	[ "$(granted node01 uuids)" = "$(uuid node01 3),$(uuid node01 1)" ]
	[ "$(ringup -q -f gpus.yaml run --gpus 1 -- sh -c 'echo $RANK $CUDA_VISIBLE_DEVICES' | sort)" = \
		"$(printf '%s\n' "[0 node01] 0 $a1" "[1 node01] 1 $a3" "[2 node02] 2 $b0")" ]
	[ "$(ringup --json -f gpus.yaml bench -- -b 1K -e 1K -n 1 2>/dev/null | jq '.ranks | length')" = 3 ]
}

@test "gpus: UUIDs on one host and none on the other" {
	gives node01 "$(uuid node01 2)" node02 none
	ringup -q -f gpus.yaml up 3>&- 4>&-
	[ "$(granted node01 devices)" = "$(uuid node01 2)" ]
	[ "$(in_container node01 nvidia-smi -L | wc -l)" = 1 ]
	run in_container node02 sh -c 'ls /dev/nvidia* /run/ringup-simulated'
	[ "$status" != 0 ]
}

# other GPUS [PORT]: a second cluster on node01, in a folder of its own, and what its `up` says.
other() {
	mkdir -p other/.ringup
	chmod 700 other/.ringup
	cp .ringup/auth.json other/.ringup
	sed "s/^name:.*/name: other/; s/sshd_port: [0-9]*/sshd_port: ${2:-9555}/; s,\.ringup/lab,$LAB/.ringup/lab,g; /name: node02/d
		s/{name: node01,/{name: node01, gpus: \"$1\",/" own.yaml >other/cluster.yaml
	(cd other && ringup up 3>&- 4>&-)
}

# holders: who has which GPU of node01, a line each.
holders() {
	ringup --json -f gpus.yaml ps --gpus 2>/dev/null | jq -r '.gpus[] | select(.host == "node01") | .gpu + " " + (.holder // "free")' |
		sed 's/ ([^)]*) since .*//'
}

@test "gpus as a number: two clusters have each their own, and a third one is told who has the rest" {
	gives node01 3 node02 1
	ringup -q -f gpus.yaml up 3>&- 4>&-
	[ "$(ringup -f gpus.yaml up 2>&1 3>&- 4>&- | grep -o '0 changed')" = "0 changed" ]
	ringup -q -f gpus.yaml status >/dev/null 2>&1
	run other 2
	[ "$status" = 1 ]
	[[ $output = *"gpus: 2 asks for 2 GPUs, and 1 of 4 are free; GPU 0,1,2: the container of cluster lab"* ]]
	run other 1 9435
	[ "$status" = 1 ]
	[[ $output = *"port 9435 on "*" is taken by sshd (process "*") of the container ringup-lab: end that"* ]]
	other 1 >/dev/null 2>&1
	[ "$(granted node01 devices)" = "$(uuid node01 3)" ]
	[ "$(holders)" = "$(printf '%s\n' "0 the container of cluster lab" "1 the container of cluster lab" \
		"2 the container of cluster lab" "3 the container of cluster other")" ]
	# a job gets GPUs of its own cluster's container only
	[ "$(ringup -q -f gpus.yaml run --gpus 1 -n 4 -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | sed 's/.* //' | sort)" = \
		"$({ for i in 0 1 2; do uuid node01 $i; done; uuid node02 0; } | sort)" ]
	(cd other && ringup -q down --purge 3>&- 4>&-)
	[ "$(holders | tail -n 1)" = "3 free" ]
	# fewer GPUs, and a container that somebody removes: what is not used is free
	gives node01 1 node02 1
	ringup -q -f gpus.yaml up 3>&- 4>&-
	inside node01 docker rm -f ringup-lab >/dev/null
	rm -r other
}

@test "gpus that a host does not have: it fails before anything changes, and the others go on" {
	local before
	before=$(container_lines node02)
	gives node01 3,1 node02 9,10
	fails 4 -f gpus.yaml up
	says "node02: the GPU 9 is asked for" "it has 2" "1 of 2 hosts failed"
	gives node01 3,1 node02 4
	fails 4 -f gpus.yaml up
	says "node02: 4 GPUs are asked for, and the host has 2"
	gives node01 3,1 node02 GPU-00000000-0000-0000-0000-000000000000
	fails 4 -f gpus.yaml up
	says "node02: the GPU GPU-00000000-0000-0000-0000-000000000000 is asked for"
	same containers "$before" "$(container_lines node02)"
}

@test "a driver that does not answer: the host fails with nvidia-smi's words, and is no host without GPUs" {
	local fault=.ringup/lab/node02/gpus/fault before
	echo mismatch >$fault
	fails 4 -f own.yaml up
	says "node02: its GPUs cannot be used" "Driver/library version mismatch" "reboot"
	echo lost 1 >$fault
	fails 4 -f own.yaml up
	says node02 "Unable to determine the device handle for GPU 0000:" "GPU is lost"
	# nothing is known to differ, and nothing is stopped that would not start again
	ringup --json -f own.yaml status 2>/dev/null | jq -e '[.hosts[].differs] == ["", ""]'
	before=$(container_lines node02)
	fails 4 -f own.yaml restart
	says "node02: its GPUs cannot be used" "GPU is lost" "1 of 2 hosts failed"
	same containers "$before" "$(container_lines node02)"
	ringup --json -f own.yaml doctor --no-tries >out 2>err || true
	jq -e '[.findings[].id] | index("gpu-lost") and (index("gpus-mixed") or index("stack-misfit") | not)' out
	rm $fault out err
	ringup -q -f own.yaml up 3>&- 4>&-
}

@test "a container that was to get GPUs and sees none: up names the host" {
	local hook=.ringup/lab/node02/gpus/bin/nvidia-container-runtime-hook
	mv $hook hook
	printf '#!/bin/sh\n' >$hook
	chmod +x $hook
	gives node01 all node02 1
	fails 4 -f gpus.yaml up
	says "node02: its container sees 0 of the 1 GPUs that it was to get; 'ringup restart node02'" "1 of 2 hosts failed"
	mv hook $hook
	# the same container, whose GPU came back since it began
	before=$(inspect node02 .Id)
	ringup -f gpus.yaml up >out 2>&1 3>&- 4>&-
	grep -E 'node02 +starts the container again: it sees 0 of its 1 GPUs' out || { cat out; return 1; }
	grep -F '2 of 2 hosts up, 1 changed' out
	[ "$(in_container node02 nvidia-smi -L | wc -l)" = 1 ]
	[ "$(inspect node02 .Id)" = "$before" ]
	rm out
	ringup -q -f own.yaml up 3>&- 4>&-
	[ "$(in_container node02 nvidia-smi -L | wc -l)" = 2 ]
}

@test "a GPU lost between two runs: up names the host and the GPU" {
	local lost
	lost=$(uuid node02 1)
	ringup -q lab up --gpus node02=1xA100 3>&- 4>&-
	ringup -f own.yaml up >out 2>&1 3>&- 4>&-
	grep -F "node02 has lost GPU 1 (NVIDIA A100-SXM4-80GB, $lost)" out
	# the next one knows from the container, which was given both
	ringup -f own.yaml up >out 2>&1 3>&- 4>&-
	grep -F "node02: its container was given 2 GPUs, and the host has 1 now" out
	fails 4 -f own.yaml status
	says "node02: its container was given 2 GPUs, and the host has 1 now"
	# without it up is content; and when it comes back, nobody has to remember
	ringup -q -f own.yaml restart node02 3>&- 4>&-
	ringup -q -f own.yaml up 3>&- 4>&-
	ringup -q lab up --gpus node02=2xA100 3>&- 4>&-
	fails 4 -f own.yaml status
	says "node02: its container sees 1 of the 2 GPUs that it was to get; 'ringup up' starts it again"
	ringup -f own.yaml up >out 2>&1 3>&- 4>&-
	grep -F '2 of 2 hosts up, 1 changed' out
	[ "$(in_container node02 nvidia-smi -L | wc -l)" = 2 ]
	rm out
}

# sshd_in HOST: the process of its container's sshd.
sshd_in() {
	local id pid
	id=$(inspect "$1" .Id)
	for pid in $(pgrep -f 'sshd: .*/etc/ringup/ssh/sshd_config.*listener'); do
		! grep -q "$id" "/proc/$pid/cgroup" || echo "$pid"
	done
}

@test "up does not call a host up whose container is paused, or whose sshd is stopped" {
	inside node02 docker pause ringup-lab >/dev/null
	fails 4 -f own.yaml up
	says "1 of 2 hosts failed" "node02: its container is paused: somebody ran 'docker pause'; end that there with 'docker unpause ringup-lab'"
	inside node02 docker unpause ringup-lab >/dev/null
	ringup -q -f own.yaml up 3>&- 4>&-
	kill -STOP "$(sshd_in node02)"
	fails 4 -f own.yaml up
	says "node02: its container's sshd does not answer" "'ringup restart node02' starts it again"
	kill -CONT "$(sshd_in node02)"
	ringup -q -f own.yaml up 3>&- 4>&-
}

@test "up --watch waits for the job on a host before it repairs it" {
	ringup -f own.yaml up --watch --every 1 >watch.out 2>watch.err 3>&- 4>&- &
	local pid=$! status=0
	note_pid $pid
	wait_for 60 grep -q 'node02: running' watch.out
	ringup -q -f own.yaml run -d --name busy -n 2 --ppn 1 -e CUDA_VISIBLE_DEVICES= -- sh -c 'while [ ! -e /tmp/enough ]; do sleep 0.2; done' 3>&- 4>&-
	kill -STOP "$(sshd_in node02)"
	wait_for 60 grep -q "node02: running: .* the repair waits until the job 'busy' there has ended" watch.out
	sleep 3
	! grep -q 'repair 1' watch.out
	in_container node01 touch /tmp/enough
	in_container node02 touch /tmp/enough
	ringup -q wait busy
	wait_for 60 grep -q "node02: repaired by 'restart'" watch.out
	kill -INT $pid
	wait $pid || status=$?
	[ "$status" = 130 ]
	rm watch.out watch.err
}

@test "rollback to an image of one's own brings its lock back" {
	rm -f ringup.lock
	ringup -q -f base.yaml up 3>&- 4>&-
	# its containers have no GPUs
	fails 2 -f base.yaml run --gpus 2 -n 2 -- true
	says "--gpus: the containers of this cluster have no GPUs, as its stack is for CPUs; set 'accelerator: cuda'"
	fails 2 -f base.yaml run --dry-run --gpus 2 -n 2 -- true
	ringup -q -f own.yaml up 3>&- 4>&-
	jq -r .image ringup.lock >own.image
	ringup -q -f own.yaml rollback 3>&- 4>&-
	[ "$(jq -r .image ringup.lock)" != "$(cat own.image)" ]
	ringup -q -f own.yaml rollback 3>&- 4>&-
	[ "$(jq -r .image ringup.lock)" = "$(cat own.image)" ]
	ringup -q -f own.yaml status
	fails 2 -f own.yaml run --gpus 5 -n 1 -- true
	says "1 ranks with 5 GPUs each are more than the hosts have room for (0 ranks)" "node01 4, node02 2"
	rm own.image
}

@test "MIG: the parts of a GPU that a host gives" {
	mig_walk
}

@test "InfiniBand: containers get its files, and a host without them is said, and fails where they are required" {
	infiniband_walk
}

@test "no container toolkit: the host fails before the image is built or pulled, with the way out" {
	ringup -q -f own.yaml down 3>&- 4>&-
	ringup -q lab up --no-toolkit node02 3>&- 4>&-
	fails 4 -f own.yaml up
	says "node02: NVIDIA's container toolkit is missing there" nvidia-container-toolkit "gpus: none"
	! grep -q 'could not select device driver' "$BATS_TEST_TMPDIR/stderr"
	! grep -q 'node02 .*pulls' "$BATS_TEST_TMPDIR/stderr"
	[ "$(container_lines node02)" = "node02 absent" ]
	gives node01 all node02 none
	ringup -q -f gpus.yaml up 3>&- 4>&-
}
