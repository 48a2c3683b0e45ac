#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup export slurm: the scripts are those of tests/golden/export (UPDATE_GOLDEN=1 writes them anew), and bash reads them.

bats_require_minimum_version 1.5.0
load helper
IMAGE=registry.example:5000/team/lab@sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff

setup() {
	common_setup
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: ["node[01-02]"]
		registry: {address: "registry.example:5000", namespace: team}
		stack: ["openmpi"]
		container:
		  env: {NCCL_DEBUG: WARN}
		  volumes: ["/data:/data:ro"]
		jobs:
		  plain: {command: [python3, train.py, "a 'b' $C"], ppn: 2, env: {FLAG: "on"}, workdir: /work}
		  ring: {command: "python3 ring.py && date", launcher: mpirun, ppn: 8, limit: 3601, retries: 2}
		  torch: {command: "torchrun train.py --epochs 3", ppn: 8}
		  tf: {command: [python3, mwms.py], launcher: tf, n: 3, ppn: 2}
		  parts: {command: [python3, ps.py], launcher: tf, ppn: 2, roles: "chief=1,worker=2,ps=1"}
	END
}

# script NAME WORD...: exports and compares.
script() {
	local golden=$ROOT/tests/golden/export/$1
	shift
	apart ringup export slurm "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	bash -n ../out
	[ -z "${UPDATE_GOLDEN:-}" ] || cp ../out "$golden"
	diff -u "$golden" ../out
}

@test "three ways to the image, and a way for each launcher" {
	script pyxis.sbatch --image "$IMAGE" --set partition=gpu --set time=2:00:00 --set exclusive=yes --set requeue=yes --set signal=TERM@60 plain
	script apptainer.sbatch --image "$IMAGE" --set container=apptainer --set mpi=pmi2 ring
	script torch.sbatch --set container=none --set interface=ib0 torch
	script tf.sbatch --set container=none --set array=0-3 tf
	script worker.sbatch --set container=none
	apart ringup export slurm --set container=none ring
	grep -A2 '^export SLURM_PMIX_FENCE=tree$' ../out
	! grep -q SLURM_PMIX "$ROOT/tests/golden/export/"*.sbatch
	! grep -rn "StrictHostKeyChecking\|password" "$ROOT/tests/golden/export/"*.sbatch
}

@test "an image that Apptainer cannot pull ends the script with Apptainer's own words and status" {
	ringup export slurm --image "$IMAGE" --set container=apptainer plain >job.sbatch
	mkdir bin
	printf '#!/bin/sh\necho "$0 $*" >>calls\n' >bin/srun
	printf '#!/bin/sh\necho node01\n' >bin/scontrol
	printf '#!/bin/sh\necho "FATAL: no such image" >&2\nexit 255\n' >bin/apptainer
	chmod +x bin/*
	export PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 SLURM_JOB_NODELIST=node01 SLURM_TASKS_PER_NODE=2 SLURM_CPUS_ON_NODE=2
	run -255 bash job.sbatch
	[[ $output == *"FATAL: no such image"* ]]
	[ ! -e calls ]
	printf '#!/bin/sh\ntouch "$2"\n' >bin/apptainer
	run -0 bash job.sbatch
	[ -e lab-001122334455.sif ]
	[ "$(grep -c "/srun " calls)" = 2 ]
}

@test "settings of sites, modules, images of Docker Hub, and nodes with different numbers of ranks" {
	sed -i 's#"/data:/data:ro"#"/data:/data:z,ro"#' cluster.yaml
	ringup export slurm --image "docker.io/team/lab@${IMAGE#*@}" --set licenses=scratch:1 --set gres=nvme:1 --set mem-per-cpu=4G \
		--set exclusive=user --set modules=cuda/12.4,gcc/13 plain >out
	bash -n out
	grep -qxF $'\t--container-image=team/lab:'"${IMAGE#*@}" out
	grep -qxF $'\t--container-mounts=/data:/data:ro' out
	for option in licenses=scratch:1 gres=nvme:1 mem-per-cpu=4G exclusive=user; do grep -qxF "#SBATCH --$option" out; done
	grep -qxF "module load cuda/12.4 gcc/13 || exit" out
	# Slurm says how many ranks a node has
	sed -n '/^sizes=/,/^export sizes/p' "$ROOT/tests/golden/export/tf.sbatch" >sizes.sh
	echo 'echo "$sizes_of_nodes"' >>sizes.sh
	[ "$(SLURM_TASKS_PER_NODE="2(x3),1" bash -euo pipefail sizes.sh)" = "2 2 2 1" ]
	[ "$(SLURM_TASKS_PER_NODE="1,3" bash -euo pipefail sizes.sh)" = "1 3" ]
}

@test "the number of nodes is Slurm's own, or else the script says that it fits one alone" {
	local launcher
	for launcher in torchrun accelerate env; do
		ringup export slurm --set container=none --launcher "$launcher" plain >out
		[ "$(grep -c 'this script is for' out)" = 0 ]
	done
	ringup export slurm --set container=none --launcher accelerate plain |
		grep -F '"--num_machines=$SLURM_NNODES" "--machine_rank=$SLURM_NODEID" "--num_processes=$((SLURM_NNODES * 2))"'
	ringup export slurm --set container=none --launcher deepspeed plain >out
	sed -n '/^if \[ "$SLURM_NNODES/,/^fi/p' out >guard.sh
	run -0 env SLURM_NNODES=2 bash -euo pipefail guard.sh
	run -1 env SLURM_NNODES=3 bash -euo pipefail guard.sh
	[[ $output == "this script is for 2 nodes, and Slurm gave it 3; write it again with: ringup export slurm --nodes 3" ]]
}

@test "where a site shows its nodes to nobody the ranks meet by name" {
	mkdir bin
	cat >bin/scontrol <<-'END'
		#!/bin/sh
		case "$*" in
		"show hostnames"*) printf 'node01\nnode02\n' ;;
		# Slurm 22.05 with PrivateData=nodes, for who is no operator
		"show node"*) [ -e open ] && echo "   NodeAddr=10.0.0.${3#node0} NodeHostName=x" || { echo "slurm_load_node error: Access/permission denied" >&2; exit 1; } ;;
		esac
	END
	chmod +x bin/scontrol
	ringup export slurm --set container=none tf | sed -n '/^set -e/,/^export MASTER/p; /^# How many/,/^export workers/p' >meet.sh
	echo 'echo "$MASTER_ADDR" "$workers"' >>meet.sh
	export PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 SLURM_JOB_NODELIST="node[01-02]" SLURM_TASKS_PER_NODE="2,1" SLURM_NTASKS=3
	run -0 bash meet.sh
	[ "$output" = 'node01 "node01:20007","node01:20008","node02:20009"' ]
	touch open
	run -0 bash meet.sh
	[ "$output" = '10.0.0.1 "10.0.0.1:20007","10.0.0.1:20008","10.0.0.2:20009"' ]
}

# ranks_have VALUES WORD...: what the script gives every rank, where Slurm gives the first of four nodes 9 CPUs and 2 tasks.
ranks_have() {
	local values=$1
	shift
	ringup export slurm --set container=none "$@" | sed -n '/^# What every rank has/,/^$/p; /^export [A-Z_]*=[0-9]*$/p' >rank.sh
	echo 'echo "$PYTHONUNBUFFERED $PYTHONFAULTHANDLER $OMP_NUM_THREADS"' >>rank.sh
	[ "$(SLURM_CPUS_ON_NODE=9 SLURM_TASKS_PER_NODE="2(x3),1" bash -euo pipefail rank.sh)" = "$values" ]
}

@test "the ranks have what ranks have on hosts, unless the job or the shell that submits says otherwise" {
	unset PYTHONUNBUFFERED PYTHONFAULTHANDLER OMP_NUM_THREADS
	ranks_have "1 1 4" plain
	ranks_have "1 1 1" torch # a task of srun has eight ranks
	ranks_have "1 1 4" --ppn 2 torch
	ranks_have "0 1 3" -e PYTHONUNBUFFERED=0 -e OMP_NUM_THREADS=3 plain
	OMP_NUM_THREADS=7 ranks_have "1 1 7" plain
}

@test "CPUs of a task are its share of container.cpus, and memory is never rounded down to all of it" {
	sed 's#^container:#&\n  cpus: 17\n  memory: 512k#' cluster.yaml >cpus.yaml
	ringup -f cpus.yaml export slurm --set container=none ring >out # 8 ranks to a node
	grep -qxF '#SBATCH --cpus-per-task=2' out
	grep -qxF 'export SRUN_CPUS_PER_TASK=2' out
	grep -qxF '#SBATCH --mem=1M' out
	ringup -f cpus.yaml export slurm --set container=none torch | grep -xF '#SBATCH --cpus-per-task=17'
	ringup -f cpus.yaml export slurm --set container=none --set cpus-per-task=3 ring >out
	[ "$(grep '^#SBATCH --cpus-per-task' out)" = '#SBATCH --cpus-per-task=3' ]
	[ "$(ringup -f cpus.yaml export slurm --set container=none --set cpus-per-gpu=3 ring | grep -c 'cpus-per-task')" = 0 ]
	ringup export slurm --set container=none ring | grep -F '# Slurm gives a task one CPU;'
	for time in UNLIMITED infinite; do
		ringup export slurm --set container=none --set time=$time ring | grep -xF "#SBATCH --time=$time"
	done
}

@test "keys of the container: what pyxis is told of NVIDIA's driver, and volumes that nothing mounts" {
	sed 's#^  volumes:#  capabilities: [compute, video]\n&#; s#^stack:.*#stack: [torch]#; s#^hosts:.*#hosts: [{address: a, gpus: 8}]#' \
		cluster.yaml >video.yaml
	unset RINGUP_CATALOG # the tests' own has no GPUs
	ringup -f video.yaml export slurm --image "$IMAGE" torch >out
	grep -q '^export NVIDIA_DRIVER_CAPABILITIES=compute,video #' out
	grep -qxF $'\t--container-env=NVIDIA_DRIVER_CAPABILITIES' out # else that of the image would count
	sed 's#compute, video#compute, utility#' video.yaml >usual.yaml
	[ "$(ringup -f usual.yaml export slurm --image "$IMAGE" torch | grep -c 'container-env')" = 0 ]
	[ "$(sed -n '/^export NVIDIA_DRIVER/,$p' out | grep -c '^srun ')" = 2 ]
	[ "$(ringup -f video.yaml export slurm --image "$IMAGE" -e NVIDIA_DRIVER_CAPABILITIES=all torch | grep -c '^export NVIDIA_DRIVER_CAPABILITIES=all #')" = 1 ]
	[ "$(ringup -f video.yaml export slurm --image "$IMAGE" --set container=apptainer torch | grep -c NVIDIA_DRIVER)" = 0 ]
	[ "$(ringup export slurm --image "$IMAGE" plain | grep -c 'NVIDIA_DRIVER\|container.volumes')" = 0 ]
	ringup export slurm --set container=none torch | grep -xF "# Without a container there are no volumes (container.volumes): the ranks see the nodes' own folders."
}

@test "a registry with plain HTTP or an authority of its own: what the script can say, and what the nodes must" {
	sed 's#^registry: {#&insecure: true, #' cluster.yaml >http.yaml
	ringup -f http.yaml export slurm --image "$IMAGE" --set container=apptainer plain | grep -F "apptainer pull --no-https lab-001122334455.sif"
	ringup -f http.yaml export slurm --image "$IMAGE" plain | grep -F "# The registry speaks plain HTTP: enroot takes it with ENROOT_ALLOW_HTTP yes"
	ringup -f http.yaml export slurm --image "other.example/${IMAGE#*/}" --set container=apptainer plain | grep -F "apptainer pull lab-001122334455.sif"
	sed 's#^registry: {#&ca: ca.pem, #' cluster.yaml >ca.yaml
	ringup -f ca.yaml export slurm --image "$IMAGE" --set container=apptainer plain | grep -F "the nodes' system must trust it"
}

@test "what a script cannot do is refused" {
	run -2 ringup export slurm parts
	[[ $output == *"roles of 'tf'"* ]]
	run -2 ringup export slurm --set container=pyxis plain
	[[ $output == *"needs an image in a registry"* ]]
	run -2 ringup export slurm --set container=podman plain
	[[ $output == *"it is one of: auto pyxis apptainer none"* ]]
	run -2 ringup export slurm --set $'partition=a\n#SBATCH --uid=0' plain
	[[ $output == *"cannot stand in an option of sbatch"* ]]
	run -2 ringup export slurm --set time=abc plain
	[[ $output == *"minutes, HOURS:MINUTES:SECONDS, DAYS-HOURS or UNLIMITED"* ]]
	run -2 ringup export slurm --set signal=B:USR1@60 plain
	[[ $output == *"the script's own shell gets it, and the ranks do not"*"say --set signal=USR1@60,"* ]]
	run -2 ringup export slurm --set mem=64G --set mem-per-gpu=80G plain
	[[ $output == *"--set mem=64G and --set mem-per-gpu=80G exclude each other for sbatch; say one of them"* ]]
	run -2 ringup export slurm --set mem-per-cpu=4G --set mem-per-gpu=80G plain
	[[ $output == *"exclude each other"* ]]
	run -2 ringup export slurm --set cpus-per-task=4 --set cpus-per-gpu=8 plain
	[[ $output == *"exclude each other"* ]]
	run -2 ringup export slurm --set requeue=true plain
	[[ $output == *"it is one of: yes no"* ]]
	sed 's#"/data:/data:ro"#"scratch:/scratch"#' cluster.yaml >named.yaml
	run -2 ringup -f named.yaml export slurm --image "$IMAGE" plain
	[[ $output == *"'scratch' is a volume of a container engine"* ]]
	sed 's#container:#&\n  memory: 1.5g#' cluster.yaml >half.yaml
	run -2 ringup -f half.yaml export slurm --set container=none plain
	[[ $output == *"container.memory: 1.5g: sbatch wants a whole number"* ]]
	for name in A-B a.b 1a UID; do
		run -2 ringup export slurm --set container=none -e "$name=1" plain
		[[ $output == *"the variable '$name' "* ]]
		ringup export slurm --image "$IMAGE" -e "$name=1" plain >out
	done
	for container in pyxis apptainer; do
		sed 's#"/data:/data:ro"#"/a,b:/data"#' cluster.yaml >comma.yaml
		run -2 ringup -f comma.yaml export slurm --image "$IMAGE" --set container=$container plain
		[[ $output == *"container.volumes: /a,b:/data: a comma parts volumes for $container"* ]]
	done
	run -2 ringup export slurm -n 3 --nodes 2 torch
	[[ $output == *"as many on every node"* ]]
}

@test "the ranks of one pod say whose each line is, where the job is followed" {
	ringup -q resolve
	python3 - "$IMAGE" <<-'END'
		import json, sys
		lock = dict(json.load(open("ringup.lock")), image=sys.argv[1])
		json.dump(lock, open("ringup.lock", "w"))
	END
	run ringup run --on kubernetes --dry-run --launcher torchrun -n 4 --nodes 2 -- train.py
	[[ $output == *PET_TEE* ]]
	run ringup run --on kubernetes --dry-run --kind job -n 4 --nodes 2 -- ./train
	[[ $output == *"[default\$LOCAL_RANK]:"* ]]
	run ringup run --on kubernetes --dry-run --launcher mpirun -n 4 --nodes 2 -- ./train
	[[ $output == *--tag-output* ]]
	run ringup export kubernetes --image "$IMAGE" --launcher mpirun -n 4 --nodes 2 -- ./train
	[[ $output != *--tag-output* ]]
}

@test "the first line of a script of run --on is the command, which makes the same script again" {
	local first
	apart ringup run --on slurm --dry-run --set partition=gpu -n 4 --ppn 2 --name n -e TOKEN=tok123 -e HOME --limit 60 \
		--launcher torchrun -- python3 'a b.py' --lr 1
	first=$(sed -n 2p ../out)
	[ "$first" = "# ringup run --launcher torchrun --name n --on slurm --ranks=4 --ppn=2 --limit=60 --set partition=gpu --env=TOKEN=... --env=HOME -- python3 'a b.py' --lr 1" ]
	ringup run --dry-run --on slurm --nodes 2 torch >script
	first=$(sed -n 2p script)
	[ "$first" = "# ringup run --on slurm --nodes=2 torch" ]
	[ "$(bash -c "$(sed 's/^# ringup run/ringup run --dry-run/' <<<"$first")")" = "$(cat script)" ]
	cp cluster.yaml other.yaml
	[ "$(ringup -f other.yaml run --dry-run --on slurm plain | sed -n 2p)" = "# ringup -f other.yaml run --on slurm plain" ]
	[ "$(ringup -f other.yaml export slurm --no-facts plain | sed -n 2p)" = "# ringup -f other.yaml export slurm --no-facts plain" ]
}

@test "run --on slurm --dry-run prints the script, and without Slurm's commands nothing runs" {
	run ringup run --on slurm --dry-run --set partition=gpu --nodes 3 plain
	[ "$status" -eq 0 ]
	[[ $output == *"#SBATCH --nodes=3"*"#SBATCH --partition=gpu"*"exec \"\$@\"' rank python3 train.py"* ]]
	[ ! -e .ringup/jobs ]
	run -1 env PATH="$BUILD" ringup run --on slurm plain
	[[ $output == *"there is no sbatch on PATH; run this on a machine of the Slurm cluster"* ]]
	run -1 env PATH="$BUILD" ringup status --on slurm
	[[ $output == *"there is no scontrol on PATH"* ]]
	run -2 ringup run --nodes 3 plain
	[[ $output == *"--nodes, --set and --kind go with --on ENGINE"* ]]
	run -2 ringup bench --ppn 3
	[[ $output == *"go with --on ENGINE"* ]]
	run -2 ringup status --on compose
	[[ $output == *"ringup runs jobs on: kubernetes, slurm"* ]]
	run -1 env PATH="$BUILD" ringup status --on kubernetes
	[[ $output == *"there is no kubectl on PATH; install it"* ]]
	run -2 ringup bench --on kubernetes
	[[ $output == *"pods need an image that the cluster can pull"* ]]
}
