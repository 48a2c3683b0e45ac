#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How many ranks an exported job has, and where: what the command line says, and what the job's keys say where it does not.

bats_require_minimum_version 1.5.0
load helper
IMAGE=registry.example:5000/team/lab@sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff

setup() {
	common_setup
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: ["node[01-04]"]
		registry: {address: "registry.example:5000", namespace: team}
		stack: ["openmpi"]
		jobs:
		  j: {command: [python3, train.py], launcher: torchrun, ppn: 8, n: 32}
		  few: {command: [python3, train.py], launcher: torchrun, ppn: 8, n: 4}
		  sum: {command: [python3, train.py], launcher: torchrun, n: 4}
		  parts: {command: [python3, ps.py], launcher: tf, ppn: 2, roles: "chief=1,worker=2,ps=1"}
	END
}

# places NODES EACH COMMAND WORD...: the job has so many nodes with so many ranks on each. Slurm's nodes are an option of sbatch.
places() {
	local nodes=$1 each=$2
	shift 2
	apart "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	grep -oE -- '--nproc_per_node=[0-9]+|--nnodes=[0-9]+|^#SBATCH --nodes=[0-9]+' ../out | sed 's/#SBATCH --nodes/--nnodes/' | sort -u |
		diff - <(printf -- '--nnodes=%d\n--nproc_per_node=%d\n' "$nodes" "$each")
}

@test "a job's ppn and n stand for what the command line does not say" {
	local how hosts
	for how in "export slurm --image $IMAGE" "export kubernetes --image $IMAGE" "run --on slurm --dry-run"; do
		places 4 8 ringup $how j
		places 2 8 ringup $how --nodes 2 j
		places 2 8 ringup $how -n 16 j
		places 4 4 ringup $how -n 16 --nodes 4 j
		places 2 4 ringup $how --nodes 2 --ppn 4 j
		places 4 4 ringup $how --ppn 4 j
		places 1 4 ringup $how --nodes 1 few
		places 2 2 ringup $how --nodes 2 sum
		# both together say how many nodes there are, whatever hosts the file has
		for hosts in 'hosts: [a, b]' ''; do
			sed "s/^hosts: .*/$hosts/" cluster.yaml >other.yaml
			places 4 8 ringup -f other.yaml $how j
			places 2 8 ringup -f other.yaml $how -n 16 j
			places 1 4 ringup -f other.yaml $how few
		done
		apart ringup -f other.yaml $how sum
		says 2 "the cluster file has no hosts; say how many nodes the job has: --nodes N, or -n N with --ppn N"
	done
	apart ringup export slurm --set container=none --nodes 2 j
	grep -qxF '#SBATCH --nodes=2' ../out
	sed -i 's/hosts: .*/hosts: [{hosts: "node[01-04]", slots: 8}]/; s/ppn: 8/ppn: 4/' cluster.yaml
	places 2 4 ringup export slurm --set container=none --nodes 2 j
	places 2 4 ringup run --on slurm --dry-run --nodes 2 j
	# roles are so many ranks, however many nodes there are
	apart ringup export kubernetes --image "$IMAGE" --nodes 4 parts
	[ "$status" -eq 0 ]
}

@test "a pod that has no rank left ends well" {
	sed -i 's/hosts: .*/hosts: [{address: a, slots: 4}, {address: b, slots: 8}, {address: c, slots: 4}]/' cluster.yaml
	ringup export kubernetes --image "$IMAGE" --launcher env -- true >out
	sed -n '/^ *ranks= failed=/,/^ *wait \$\$*ranks/p' out | sed 's/^ *//; s/\$\$/$/g' >pod.sh
	grep -q '^wait ' pod.sh
	# it ends its whole process group
	run -0 env NODE_RANK=2 WORLD_SIZE=16 LOCAL_WORLD_SIZE=8 setsid -w sh pod.sh false
	run -3 env NODE_RANK=1 WORLD_SIZE=16 LOCAL_WORLD_SIZE=8 setsid -w sh pod.sh sh -c 'exit 3'
}

# machine RANKS WORD...: Compose's one container has so many ranks.
machine() {
	local ranks=$1
	shift
	places 1 "$ranks" ringup export compose --image "$IMAGE" "$@"
}

@test "Compose has one machine: the ranks of one node, which it says, unless somebody says how many" {
	machine 8 j
	says 0 "compose has one machine: it gets the ranks of one node (8) of the job's 32; -n 32 puts all of them" "--nodes 1 says"
	grep -qF "with 8 ranks in one container" ../out
	machine 8 --nodes 1 j
	[ ! -s ../err ]
	machine 32 -n 32 j
	[ ! -s ../err ]
	machine 2 --ppn 2 j
	machine 4 few
	[ ! -s ../err ]
	machine 1 sum
	says 0 "it gets the ranks of one node (1) of the job's 4"
	machine 1 --launcher torchrun -- ./x
	[ ! -s ../err ]
	apart ringup export compose --image "$IMAGE" --nodes 2 j
	says 2 "--nodes 2: compose has one machine; -n N says"
	# more ranks than the hosts have room for: ppn says what a node has, and else nobody does
	sed -i 's/n: 32/n: 64/; s/n: 4}/n: 6}/' cluster.yaml
	machine 8 j
	says 0 "of the job's 64"
	machine 6 sum
	# GPUs are those of a node, too
	sed -i 's/hosts: .*/hosts: [{hosts: "node[01-04]", gpus: 8}]/; s/stack: .*/stack: [torch]/; s/n: 64/n: 32/' cluster.yaml
	unset RINGUP_CATALOG
	machine 8 j
	grep -qF 'count: 8' ../out
	machine 6 sum
}

# in_container WORD...: the job of Compose as this machine's own processes.
in_container() {
	local words
	apart ringup export compose --image "$IMAGE" "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	mapfile -d '' -t words < <(python3 -c 'import yaml
job = yaml.safe_load(open("../out"))["services"]["job"]
words = [f"{name}={value}" for name, value in job["environment"].items()] + job["command"]
print(*[w.replace("$$", "$") for w in words], sep="\0", end="\0")')
	timeout 60 env "${words[@]}" </dev/null
}

@test "Compose: Open MPI starts more ranks than there are processors" {
	local ranks=$(($(nproc --all) + 3))
	[ "$(in_container --launcher mpirun -n "$ranks" -- sh -c 'echo rank $OMPI_COMM_WORLD_RANK' | grep -c '^rank ')" = "$ranks" ]
}

@test "the ranks of a container have what ranks have on hosts, unless the job says otherwise" {
	local launcher cpus threads
	unset PYTHONUNBUFFERED PYTHONFAULTHANDLER OMP_NUM_THREADS
	cpus=$(nproc)
	threads=$((cpus > 1 ? cpus / 2 : 1))
	mkdir bin
	printf '#!/bin/sh\nshift $(($# - 3))\n"$@"\n"$@"\n' >bin/torchrun
	chmod +x bin/torchrun
	PATH=$PWD/bin:$PATH
	# shellcheck disable=SC2016 # the ranks' shell
	local -a rank=(sh -c 'echo "has $PYTHONUNBUFFERED $PYTHONFAULTHANDLER $OMP_NUM_THREADS"')
	for launcher in env mpirun torchrun; do
		[ "$(in_container --launcher $launcher -n 2 -- "${rank[@]}" | grep -c "^has 1 1 $threads$")" = 2 ]
		[ "$(in_container --launcher $launcher -n 2 -e OMP_NUM_THREADS=3 -e PYTHONUNBUFFERED= -- "${rank[@]}" | grep -c '^has  1 3$')" = 2 ]
	done
	# where the file says how many CPUs a container has, nobody looks
	echo 'container: {cpus: 17}' >>cluster.yaml
	[ "$(in_container --launcher env -n 2 -- "${rank[@]}" | grep -c '^has 1 1 8$')" = 2 ]
	! grep -q nproc ../out
	ringup export kubernetes --image "$IMAGE" --set cpu=40 --nodes 2 --ppn 2 --launcher mpirun -- ./x >out
	[ "$(grep -A1 'name: OMP_NUM_THREADS' out | grep -c '"20"')" = 1 ]
	# a TFJob's pod is one rank
	ringup export kubernetes --image "$IMAGE" parts >out
	[ "$(grep -A1 'name: OMP_NUM_THREADS' out | grep -c '"17"')" = 3 ]
}
