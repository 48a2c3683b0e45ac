#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# GPUs that are not there, on hosts with Podman: they come by a CDI specification (images/simulated/nvidia-ctk).

load ../lab/helper
load ../lab/gpus

setup_file() {
	lab_begin
	ringup -q lab up --hosts 2 --engine podman --gpus 4xH100,node02=2xA100 3>&- 4>&-
	own_image
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# on NODE COMMAND: over ssh, as a person would; it has what sshd gives to sessions.
on() {
	ssh -i .ringup/lab/id_ed25519 -o UserKnownHostsFile=.ringup/lab/known_hosts -o BatchMode=yes "root@$(address "$1")" "$2"
}

# devices NODE: what its CDI specification names, without UUIDs.
devices() {
	on "$1" 'nvidia-ctk cdi list' 2>list.err | sed -n 's/^nvidia.com.gpu=//p' | grep -v ^GPU- | xargs
}

@test "accelerator auto and no stack: containers get all GPUs of their hosts, as the engine says, not only our words" {
	ringup -f own.yaml up >out 2>&1 3>&- 4>&- || { cat out; false; }
	[ "$(grep -c 'simulated GPUs' out)" = 1 ]
	[ "$(granted node01 devices) $(granted node02 devices)" = "0,1,2,3 0,1" ]
	[ "$(granted node02 uuids)" = "$(uuid node02 0),$(uuid node02 1)" ]
	[ "$(ringup -q -f own.yaml exec -H node01 -- nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)" = \
		"4 node01: NVIDIA H100 80GB HBM3" ]
	[ "$(ringup -q -f own.yaml exec -H node02 -- sh -c 'ls -d /dev/nvidia*' | xargs)" = "node02: /dev/nvidia0 node02: /dev/nvidia1" ]
	rm out
}

@test "one rank for each GPU, and --gpus gives each GPUs of its own; bench takes them" {
	uuids
	[ "$(ringup -q -f own.yaml run --gpus 1 -- sh -c 'echo $RANK $CUDA_VISIBLE_DEVICES' | sort)" = "$(printf '%s\n' \
		"[0 node01] 0 $a0" "[1 node01] 1 $a1" "[2 node01] 2 $a2" "[3 node01] 3 $a3" "[4 node02] 4 $b0" "[5 node02] 5 $b1")" ]
	ringup --json -f own.yaml bench -- -b 1K -e 1K -n 1 >bench.json 2>/dev/null
	jq -e '.simulated and .backend == "nccl (simulated)" and .verdict == "pass" and .world == 6' bench.json
	rm bench.json
}

@test "gpus: indexes, a number, a UUID and none" {
	uuids
	gives node01 3,1 node02 1
	ringup -q -f gpus.yaml up 3>&- 4>&-
	[ "$(granted node01 uuids) $(granted node02 uuids)" = "$a1,$a3 $b0" ]
	[ "$(ringup -q -f gpus.yaml run --gpus 1 -- sh -c 'echo $RANK $CUDA_VISIBLE_DEVICES' | sort)" = \
		"$(printf '%s\n' "[0 node01] 0 $a1" "[1 node01] 1 $a3" "[2 node02] 2 $b0")" ]
	gives node01 "$a2" node02 none
	ringup -q -f gpus.yaml up 3>&- 4>&-
	[ "$(granted node01 uuids)" = "$a2" ]
	run ringup -q -f gpus.yaml exec -H node02 -- sh -c 'ls /dev/nvidia* /run/ringup-simulated'
	[ "$status" != 0 ]
	gives node01 3,1 node02 0,9
	fails 4 -f gpus.yaml up
	says "node02: the GPU 9 is asked for"
}

@test "without a CDI file the host fails before the image is pulled, and what ringup says to run there mends it" {
	[ "$(devices node02)" = "0 1 all" ]
	on node02 'rm /etc/cdi/nvidia.yaml'
	[ "$(devices node02)" = "" ]
	ringup --json -f own.yaml doctor --no-tries >out 2>err || true
	jq -e '.findings[] | select(.id == "cdi-missing-podman") | .hosts == ["node02"]' out
	fails 4 -f own.yaml up
	says "node02: no CDI file there names its GPUs" "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
	on node02 'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml' 2>said
	grep -F 'level=info msg="Generated CDI spec with version 0.5.0"' said
	ringup -q -f own.yaml up 3>&- 4>&-
	rm out err said list.err
}

@test "lab up with other GPUs writes the specification anew; a host without the toolkit has none" {
	ringup -q lab up --gpus node02=1xA100 3>&- 4>&-
	[ "$(devices node02)" = "0 all" ]
	fails 4 -f own.yaml status
	says "node02: its container was given 2 GPUs, and the host has 1 now"
	ringup -q -f own.yaml restart node02 3>&- 4>&-
	ringup -q -f own.yaml up 3>&- 4>&-
	[ "$(ringup -q -f own.yaml exec -H node02 -- nvidia-smi -L | wc -l)" = 1 ]
	ringup -q lab up --driver node02=570.124.06 3>&- 4>&-
	ringup --json -f own.yaml probe 2>err | jq -e '.hosts[1].cdi_driver == "570.124.06"'
	ringup -q lab up --no-toolkit node02 3>&- 4>&-
	fails 4 -f own.yaml up
	says "node02: NVIDIA's container toolkit is missing there"
	ringup -q lab up --gpus node02=2xA100 3>&- 4>&-
	ringup -q -f own.yaml up 3>&- 4>&-
	rm err list.err
}

@test "MIG: the parts of a GPU that a host gives" {
	mig_walk
}

@test "InfiniBand: containers get its files, and a host without them is said, and fails where they are required" {
	infiniband_walk
}
