# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of simulated GPUs in containers: a cluster whose image needs no packages of NVIDIA's, and what hosts give to containers.

# own_image: own.yaml, with an image of one's own: the lab's standard stack, which is for CPUs, made a base. gpus.yaml is the same.
own_image() {
	sed 's/^stack:.*/stack: [openmpi, python, "os==debian12"]/; s/^accelerator:.*/accelerator: cpu/' cluster.yaml >base.yaml
	ringup -q -f base.yaml push >base.out 3>&- 4>&-
	sed "s/^stack:.*/stack: []/; s,^image:.*,image: {name: own\, base: \"$(awk '{print $1}' base.out)\"}," cluster.yaml >own.yaml
	cp own.yaml gpus.yaml
}

# gives HOST GPUS HOST GPUS: the file gpus.yaml, with these GPUs of the hosts.
gives() {
	sed "s/{name: $1,/{name: $1, gpus: \"$2\",/; s/{name: $3,/{name: $3, gpus: \"$4\",/" own.yaml >gpus.yaml
}

# granted HOST WORD: what the engine gave last: devices, capabilities or uuids.
granted() {
	tail -n 1 ".ringup/lab/$1/gpus/granted.log" | tr ' ' '\n' | sed -n "s/^$2=//p"
}

# uuid HOST INDEX
uuid() {
	awk -F '|' -v n="$2" '$1 == n {print $2}' ".ringup/lab/$1/gpus/gpus"
}

# $a0 to $a3 and $b0, $b1: the UUIDs of both hosts.
uuids() {
	for i in 0 1 2 3; do declare -g "a$i=$(uuid node01 "$i")" "b$i=$(uuid node02 "$i")"; done
}

# mig INDEX: the UUID of that MIG device of node01's first GPU.
mig() {
	awk -F '|' -v n="$1" '$1 == 0 {split($10, mig, " "); print mig[n + 2]}' .ringup/lab/node01/gpus/gpus
}

# mig_walk: a GPU in MIG mode beside one that is not: what a host gives of it, what its container sees, and whose each rank's is.
mig_walk() {
	ringup -q lab up --gpus node01=1xH100-MIG+1xA100 3>&- 4>&-
	uuids
	[ "$(ringup --json -f own.yaml probe 2>err | jq -r '.hosts[0].gpu_parts' | tr ';' '\n' | sed -n 3p)" = "0:2 $(mig 2)" ]
	gives node01 "0:2,$(mig 5),1" node02 none
	ringup -q -f gpus.yaml up 3>&- 4>&-
	[ "$(granted node01 uuids)" = "$(mig 2),$(mig 5),$a1" ]
	[ "$(ringup -q -f gpus.yaml exec -H node01 -- nvidia-smi -L | grep -o 'UUID: [A-Za-z0-9-]*' | cut -d ' ' -f 2 | xargs)" = \
		"$a0 $(mig 2) $(mig 5) $a1" ]
	[ "$(ringup -q -f gpus.yaml run --gpus 1 -- sh -c 'echo $CUDA_VISIBLE_DEVICES; allreduce --versions | grep -c "1 simulated GPUs"' |
		sort -s -k 1,1 | xargs)" = "[0 node01] $(mig 2) [0 node01] 1 [1 node01] $(mig 5) [1 node01] 1 [2 node01] $a1 [2 node01] 1" ]
	gives node01 0:9 node02 none
	fails 4 -f gpus.yaml up
	says "node01: the MIG device 0:9 is asked for" "it has 0:0 $(mig 0);"
	ringup -q lab up --gpus node01=4xH100 3>&- 4>&-
	ringup -q -f own.yaml up 3>&- 4>&-
	rm err
}

# infiniband_walk: two hosts whose containers get InfiniBand's files, a host that loses them, and one that must have them.
# cluster files: own.yaml, which is up.
infiniband_walk() {
	ringup -q lab up --infiniband 3>&- 4>&-
	ringup -q -f own.yaml up 3>&- 4>&-
	[ "$(ringup -q -f own.yaml exec -- sh -c 'test -c /dev/infiniband/uverbs0 && echo there' | xargs)" = "node01: there node02: there" ]
	inside node02 sh -c 'rm /dev/infiniband/*'
	ringup -f own.yaml up >out 2>&1 3>&- 4>&-
	grep -F 'warning: node02: left out of the containers: /dev/infiniband: the host shows InfiniBand or RoCE and has no device file' out
	[ "$(ringup -q -f own.yaml exec -H node02 -- sh -c 'test -e /dev/infiniband || echo none')" = "node02: none" ]
	sed 's/^container: {/&required: [rdma], /' own.yaml >required.yaml
	fails 4 -f required.yaml up
	says "node02: its containers cannot have /dev/infiniband" "modprobe ib_uverbs" "container.required"
	ringup --json -f own.yaml doctor --no-tries >out 2>err || true
	jq -e '.findings[] | select(.id == "infiniband-no-files") | .hosts == ["node02"]' out
	ringup -q lab up --no-infiniband 3>&- 4>&-
	ringup -f own.yaml up >out 2>&1 3>&- 4>&-
	grep -F '2 of 2 hosts up, 1 changed' out
	! grep -F 'left out' out
	rm out err required.yaml
}
