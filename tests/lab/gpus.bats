#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# GPUs that are not there, on loopback hosts: what the probe sees of them, and the stack that fits them.

load helper

setup_file() {
	lab_begin
	ringup -q lab up --loopback --hosts 2 --gpus 8xH100,node02=4xA100 --driver node02=470.57.02 3>&- 4>&-
	variant some.yaml 's/\{name: node01,/{name: node01, gpus: "5,2",/; s/\{name: node02,/{name: node02, gpus: device=3,/'
}

# some_up: with the GPUs 5 and 2 of node01 and 3 of node02.
some_up() {
	ringup -q -f some.yaml up 3>&- 4>&-
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# uuid HOST INDEX
uuid() {
	awk -F '|' -v n="$2" '$1 == n {print $2}' ".ringup/lab/$1/gpus/gpus"
}

@test "probe shows each host's GPUs and driver, and says that they are simulated" {
	run --separate-stderr ringup --json probe
	[ "$status" = 0 ]
	[ "$(grep -c 'simulated GPUs' <<<"$stderr")" = 1 ]
	jq -e '.simulated and ([.hosts[].driver] == ["550.54.15", "470.57.02"]) and
		([.hosts[].simulated] == ["8x NVIDIA H100 80GB HBM3", "4x NVIDIA A100-SXM4-80GB"])' <<<"$output"
	[ "$(jq '[.hosts[].gpus | split(";") | length] | join(" ")' <<<"$output")" = '"8 4"' ]
}

@test "doctor: different GPUs are counted by product, and those that cannot be listed are not different" {
	ringup --json doctor --no-tries >out 2>err || true
	[ "$(jq -r '.findings[] | select(.id == "gpus-mixed") | .what' out)" = \
		'the hosts have different GPUs: 8x NVIDIA H100 80GB HBM3 on node01; 4x NVIDIA A100-SXM4-80GB on node02' ]
	echo mismatch >.ringup/lab/node02/gpus/fault
	ringup --json doctor --no-tries >out 2>err || true
	jq -e '[.findings[].id] | index("gpus-mixed") | not' out
	rm out err .ringup/lab/node02/gpus/fault
}

@test "accelerator auto: the stack fits the oldest driver" {
	ringup -q probe -o facts.json >/dev/null
	ringup -q --json resolve --no-lock --facts facts.json >plan.json
	jq -e '.simulated and .accelerator == "cuda"' plan.json
	rm facts.json plan.json
}

@test "a broken driver's words are no GPUs" {
	echo unreachable >.ringup/lab/node02/gpus/fault
	ringup -q --json probe >probe.json
	jq -e '.hosts[1].gpus == "" and (.hosts[1].gpu_error | test("status 9: NVIDIA-SMI has failed"))' probe.json
	rm probe.json .ringup/lab/node02/gpus/fault
}

@test "a driver that does not answer: up fails that host and the others go on" {
	echo mismatch >.ringup/lab/node02/gpus/fault
	fails 4 up
	says "node02: its GPUs cannot be used" "Driver/library version mismatch" "gpus: none"
	ringup probe >out 2>err
	grep -E '^node02 .* unusable$' out
	grep -F "node02: its GPUs cannot be used" err
	rm out err .ringup/lab/node02/gpus/fault
}

@test "drivers too old for what is asked: exit 3, with the hosts and what would work" {
	rm -f ringup.lock
	variant old.yaml 's/^stack:.*/stack: ["cuda==13.0"]/'
	ringup -q -f old.yaml probe >/dev/null
	fails 3 -f old.yaml resolve
	says "cuda==13.0" "driver 470.57.02 (host node02)" "this would work: cuda==" "driver>="
	fails 3 -f old.yaml up
	says "driver 470.57.02 (host node02)"
	# locked for other hosts: up and the doctor give one reason
	ringup -q -f old.yaml resolve --no-facts >/dev/null
	fails 3 -f old.yaml up
	says "driver 550.54.15 (host node01): CUDA 13.0" "driver 470.57.02 (host node02): CUDA 13.0"
	ringup --json -f old.yaml doctor --no-tries >out 2>err || true
	jq -e '[.findings[] | select(.id == "stack-misfit")] | map(.hosts) | sort == [["node01"], ["node02"]]' out
	jq -e '.findings[] | select(.id == "stack-misfit" and .hosts == ["node02"]) | .what
		| contains("driver 470.57.02 (host node02): CUDA 13.0")' out
	rm ringup.lock
}

@test "without a container the ranks see the GPUs that the hosts give, and no others" {
	some_up
	[ "$(ringup -q -f some.yaml run -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort)" = "$(printf '%s\n' '[0 node01] 5,2' \
		'[1 node01] 5,2' '[2 node02] 3')" ]
	[ "$(ringup -q -f some.yaml run --gpus 1 -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort)" = "$(printf '%s\n' \
		"[0 node01] $(uuid node01 2)" "[1 node01] $(uuid node01 5)" "[2 node02] $(uuid node02 3)")" ]
	[ "$(ringup -q --json -f some.yaml run --dry-run -- true | jq -c '[.tasks[].env.CUDA_VISIBLE_DEVICES]')" = \
		'["5,2","5,2","3"]' ]
	echo mismatch >.ringup/lab/node02/gpus/fault
	fails 4 -f some.yaml run --gpus 1 -- true
	says "node02: its GPUs cannot be used" "Driver/library version mismatch" "name the others by --hosts"
	[ "$(ringup -f some.yaml run --gpus 1 -n 2 -- echo here 2>err | sort | xargs)" = "[0 node01] here [1 node01] here" ]
	grep -F 'node02 gets no rank of --gpus 1: nvidia-smi fails: Failed to initialize NVML' err
	fails 4 -f some.yaml run -- true
	says "node02: its GPUs cannot be used" "Driver/library version mismatch" "name the others by --hosts"
	[ "$(ringup -q -f some.yaml run -e CUDA_VISIBLE_DEVICES= -- echo here | sort | xargs)" = "[0 node01] here [1 node01] here [2 node02] here" ]
	rm err .ringup/lab/node02/gpus/fault
}

@test "status: a host whose GPUs fail, or that lists fewer than its slots hold, is not fine" {
	local node=.ringup/lab/node02/gpus slot
	some_up
	ringup -q -f some.yaml status >out
	grep -E '^node01 .* ready .* 8 ' out
	grep -E '^node02 .* ready .* 4 ' out
	echo lost 1 >$node/fault
	fails 4 -f some.yaml status
	says "node02: its GPUs cannot be used: nvidia-smi ends with status 15" "GPU is lost"
	rm $node/fault
	slot=$(find $node/sys/bus/pci/devices -mindepth 1 -maxdepth 1 | head -n 1)
	cp -r "$slot" "${slot%/*}/0000:fe:00.0"
	fails 4 -f some.yaml status
	says "node02: nvidia-smi lists 4 of the 5 GPUs in its PCIe slots"
	sed 's/gpus: device=3,/gpus: none,/' some.yaml >none.yaml
	[ "$(ringup -q --json -f none.yaml status | jq -c '[.hosts[].gpus]')" = '[8,4]' ] # for who gives none all is well
	# one that is passed through to a virtual machine
	ln -s ../drivers/vfio-pci "${slot%/*}/0000:fe:00.0/driver"
	ringup -q -f some.yaml status >out
	rm -r "${slot%/*}/0000:fe:00.0" none.yaml out
}

@test "bench measures the GPUs unless it is told otherwise, and CPUs in their place are no pass" {
	some_up
	ringup -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0 >out 2>err
	grep -E '^simulated: NCCL .* from /.*/libnccl.so.2$' out
	ringup -q --json -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0 >bench.json
	jq -e '.backend == "nccl (simulated)" and .verdict == "pass" and .world == 3' bench.json
	ringup -q --json -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0 --backend cpu | jq -e '.backend == "cpu" and .verdict == "pass"'
	sed 's/gpus: device=3,/gpus: none,/; s/gpus: "5,2",/gpus: none,/' some.yaml >none.yaml
	fails 5 -f none.yaml bench -- -b 1K -e 1K -n 2 -w 0
	says "not what was asked" "no host of the run gives a GPU"
	jq -e '.verdict == "not what was asked"' .ringup/last-bench.json
	rm out none.yaml bench.json
}

@test "GPUs that cannot be used: bench does not measure CPUs in their place, and ps --gpus shows the host" {
	some_up
	echo lost 1 >.ringup/lab/node02/gpus/fault
	fails 4 -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0
	says "node02: its GPUs cannot be used" "GPU is lost" "nothing was measured"
	fails 1 -f some.yaml bench -H node02 -- -b 1K -e 1K -n 2 -w 0
	says "node02: its GPUs cannot be used"
	fails 4 -f some.yaml ps --gpus
	says "node02: its GPUs cannot be used"
	ringup --json -f some.yaml ps --gpus >out || true
	jq -e '.without == [{"host": "node02", "state": "unusable", "reason": .without[0].reason}]' out
	ringup -q -f some.yaml bench -x node02 -- -b 1K -e 1K -n 2 -w 0
	rm out .ringup/lab/node02/gpus/fault
}

@test "a GPU that gpus names and that is gone: run and bench name it, and measure nothing" {
	some_up
	ringup -q -f some.yaml run -n 3 -- true
	local gpus=.ringup/lab/node01/gpus/gpus
	cp "$gpus" gpus.before
	sed -i '$d' "$gpus"
	ringup -q -f some.yaml run -n 3 -- true
	sed -i '6,$d' "$gpus"
	fails 4 -f some.yaml run -n 3 -- true
	says "node01: the GPU 5 of 'gpus' is not there: it has 5, counted from 0" "ringup doctor -H node01"
	fails 4 -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0
	says "node01: the GPU 5 is asked for, and the host does not have it" "nothing was measured"
	ringup -q -f some.yaml bench -- -b 1K -e 1K -n 2 -w 0 --backend cpu
	mv gpus.before "$gpus"
}

@test "bench --health: the slow card and the ill one are named; status 5" {
	some_up
	ringup -q -f some.yaml bench --health >out
	[ "$(grep -c ' well$' out)" = 12 ]
	grep -F 'copies between GPUs (NV18, NVIDIA H100 80GB HBM3): 400 to 400 GB/s, the median of 56 is 400' out
	printf '%s\n' '1 fma 80' '1 throttle 4' '1 serial 1320921054321' '2 lost 2' >.ringup/lab/node01/gpus/health
	printf '%s\n' '3 remap_pending 1' '1 peer2 50' >.ringup/lab/node02/gpus/health
	fails 5 -f some.yaml bench --health
	says "4 findings on the GPUs" "serial 1320921054321"
	ringup -q -f some.yaml --json bench --health >health.json 2>/dev/null || true
	jq -e '.simulated and .verdict == "bad GPUs" and ([.cards[] | select(.findings != []) | "\(.host) \(.card)"] ==
		["node01 1", "node01 2", "node02 3"])' health.json
	jq -e '.findings[0] | test("node01 GPU 1 .*serial 1320921054321.*slow: 40 TFLOP/s.*80 %.*power limit")' health.json
	jq -e '.findings | any(test("node02: GPU 1 and GPU 2 .*slow: 200 GB/s"))' health.json
	jq -e '(.pairs | length) == 21 + 6 and .pairs_left_out == 0' health.json
	jq -e '.findings[1] | test("node01 GPU 2 .*fell off the bus")' health.json
	jq -e '.history.runs == 2 and .history.gone == [] and (.cards[2].uuid | startswith("GPU-"))' health.json
	fails 2 -f some.yaml bench --health --min-percent 5
	says "--health goes with --hosts and --limit only"
	rm out health.json .ringup/lab/*/gpus/health
}

@test "lab up again with one GPU less: it is lost, the links stay, and a fault is mended" {
	ringup -q lab up --loopback --nvlink --infiniband 3>&- 4>&-
	ringup -q lab up --loopback --gpus node02=3xA100 3>&- 4>&-
	jq -e '[.hosts[].gpus | .nvlink and .infiniband] == [true, true]' .ringup/lab/state.json
	[ "$(ringup -q --json probe | jq -r '.hosts[1].simulated + " " + .hosts[1].driver')" = "3x NVIDIA A100-SXM4-80GB 470.57.02" ]
	echo mismatch >.ringup/lab/node02/gpus/fault
	ringup -q lab up --loopback 3>&- 4>&-
	[ ! -e .ringup/lab/node02/gpus/fault ]
}

@test "MIG: a GPU's parts are what the host has and what ranks get; lab up again takes MIG away" {
	ringup -q lab up --loopback --gpus node02=1xA100-MIG 3>&- 4>&-
	ringup --json probe 2>err | jq -e '.hosts[1] | .simulated == "1x NVIDIA A100-SXM4-80GB (MIG)" and .gpus == "NVIDIA A100-SXM4-80GB" and
		(.gpu_parts | split(";") | map(split(" ")[0]) == ["0:0", "0:1", "0:2", "0:3", "0:4", "0:5", "0:6"])'
	[ "$(ringup --json probe 2>err | jq -r '.hosts[0].gpu_parts')" = none ]
	sed 's/{name: node02,/{name: node02, gpus: "0:1,0:3",/; s/{name: node01,/{name: node01, gpus: none,/' cluster.yaml >mig.yaml
	ringup -q -f mig.yaml up 3>&- 4>&-
	parts=$(awk -F '|' '{split($10, mig, " "); print mig[3], mig[5]}' .ringup/lab/node02/gpus/gpus)
	[ "$(ringup -q -f mig.yaml run --gpus 1 -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort | sed 's/.* //' | xargs)" = "$parts" ]
	fails 2 lab up --loopback --gpus 1xT4-MIG
	says "T4 has no MIG"
	ringup -q lab up --loopback --gpus node02=3xA100 3>&- 4>&-
	[ "$(ringup --json probe 2>err | jq -r '.hosts[1].gpu_parts')" = none ]
	rm err mig.yaml
}

@test "--nvlink and --infiniband stay until --no-nvlink and --no-infiniband" {
	ringup -q lab up --loopback --nvlink --infiniband 3>&- 4>&-
	ringup -q lab up --loopback --no-infiniband 3>&- 4>&-
	jq -e '[.hosts[].gpus | .nvlink, .infiniband] == [true, false, true, false]' .ringup/lab/state.json
	fails 2 lab up --loopback --nvlink --no-nvlink
	says "--nvlink and --no-nvlink exclude each other"
	ringup -q lab up --loopback --no-nvlink 3>&- 4>&-
	jq -e '[.hosts[].gpus | .nvlink, .infiniband] == [false, false, false, false]' .ringup/lab/state.json
}

@test "what --gpus cannot simulate is refused, with what it can" {
	fails 2 lab up --loopback --gpus 8xH999
	says "H999" "H100" "A100-40GB"
}
