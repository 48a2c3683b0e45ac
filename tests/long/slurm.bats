#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Jobs on a real Slurm of three nodes on this machine (tests/lab/slurm.bash): run, followed, left, stopped and dead.

bats_require_minimum_version 1.5.0
# shellcheck source=tests/lab/slurm.bash
source "$BATS_TEST_DIRNAME/../lab/slurm.bash"
# shellcheck source=tests/scheduled.bash
source "$BATS_TEST_DIRNAME/../scheduled.bash"

setup_file() {
	slurm_begin
	mkdir "$SLURM/work"
	cat >"$SLURM/work/cluster.yaml" <<-'EOT'
		name: lab
		hosts: ["node[01-03]"]
		container: {engine: none}
		jobs:
		  train: {command: ["sh", "-c", "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK, for $WHO"], launcher: env, ppn: 2, n: 6, env: {WHO: "you & me"}}
	EOT
}

teardown_file() {
	(cd "$SLURM/moves" 2>/dev/null && ringup -q lab down 3>&- 4>&-) || true
	slurm_end
}

setup() {
	cd "$SLURM/work"
}

teardown() {
	scancel --user root
	! sinfo -h -N -t drain -o %N | grep -q . || scontrol update nodename=node03 state=resume
	slurm_wait slurm_is_idle
}

has_running() {
	[ -n "$(squeue -h -t running -o %i)" ]
}

is_waiting() {
	[ "$(squeue -h -t pending -o %r -n "$1")" = "$2" ]
}

@test "a job's ranks run on the nodes that Slurm gives, each line behind its rank" {
	run --separate-stderr ringup run --on slurm train
	[ "$status" = 0 ]
	for rank in 0 1 2 3 4 5; do
		has "[$rank node0$((rank / 2 + 1))] rank $rank of 6, local $((rank % 2)), for you & me"
	done
	[ "${#lines[@]}" = 6 ]
	[[ $stderr == *"Slurm job"*"6 ranks on node[01-03] by env"* ]]
	run cat .ringup/jobs/train/rank-3.log
	[ "$output" = "rank 3 of 6, local 1, for you & me" ]
	[ "$(state train)" = "done" ]
	run env -u PYTHONUNBUFFERED -u PYTHONFAULTHANDLER -u OMP_NUM_THREADS \
		ringup -q run --on slurm -n 1 --nodes 1 --set cpus-per-task=2 -- sh -c 'echo "$PYTHONUNBUFFERED $PYTHONFAULTHANDLER $OMP_NUM_THREADS"'
	has "[0 node01] 1 1 2"
	run ringup --json run --on slurm -n 2 --nodes 2 -- echo quiet
	[ "$(jq -r .state <<<"$output")" = "done" ]
}

@test "a job that is submitted from an allocation knows nothing of that one" {
	run -0 salloc -N1 -n1 --gpus-per-node=1 ringup run --on slurm -n 1 --nodes 1 -- echo begun
	has "] begun"
	run -0 salloc -n1 --mem-per-cpu=1 ringup run --on slurm -n 1 --nodes 1 --set mem=1 -- echo begun
	has "] begun"
	run -0 srun --overlap --cpu-bind=cores ringup run --on slurm -n 1 --nodes 1 -- echo begun
	has "] begun"
}

@test "the ranks of an MPI find each other by PMIx" {
	run ringup run --on slurm --launcher mpirun -n 3 -- sh -c 'echo "mine is $PMIX_RANK"'
	[ "$status" = 0 ]
	has "[2 node03] mine is 2"
	run ringup run --on slurm --launcher mpirun -n 3 -e RINGUP_SECRET=test -- "$BUILD/allreduce" --backend mpi -b 1K -e 4K
	[ "$status" = 0 ]
	has "[0 node01] # verdict: pass"
}

@test "TensorFlow's ranks get a TF_CONFIG with all workers" {
	run --separate-stderr ringup run --on slurm --launcher tf -n 3 -- sh -c 'echo "$TF_CONFIG"'
	[ "$status" = 0 ]
	[ "$(sed -n 's/^\[1 node02\] //p' <<<"$output" | jq -c '[.task.index, (.cluster.worker | unique | length)]')" = "[1,3]" ]
}

@test "a rank that dies names itself, and its status is the command's" {
	# shellcheck disable=SC2016 # expanded by the rank
	run -7 ringup run --on slurm -n 3 --name dies -- sh -c '[ $RANK != 1 ] || { echo "no data" >&2; exit 7; }; sleep 60'
	has "dies: rank 1 on node02 ended with status 7; its last lines:"
	has "[1 node02] no data"
	run -137 ringup run --on slurm -n 1 --nodes 1 -- sh -c 'kill -9 $$'
	has "rank 0 on node01 was ended by signal 9"
}

@test "what Slurm refuses comes with what it has" {
	run -2 ringup run --on slurm --set partition=wrong -n 3 -- true
	has "invalid partition specified: wrong"
	has "its partitions are train (the default), closed (not up)"
	run -2 ringup run --on slurm --set mem=900G -n 3 -- true
	has "Memory specification can not be satisfied"
	has "its nodes have up to 1M each; ask for less with --set mem=SIZE"
	run -2 ringup run --on slurm --set reservation=none -n 3 -- true
	has "Requested reservation is invalid"
	run -2 ringup run --on slurm --set 'partition=a b' -n 3 -- true
	has "' ' cannot stand in an option of sbatch"
	run -2 ringup run --on slurm --set nonsense=1 -n 3 -- true
	has "the names are partition, account"
	run -2 ringup run --on nothing -- true
	has "ringup runs jobs on: kubernetes, slurm"
	run -2 ringup run --on slurm --tty -- true
	has "--tty does not go with --on slurm"
}

@test "a folder that the nodes do not share is named" {
	mkdir "$SLURM/alone"
	run unshare --mount sh -c 'mount -t tmpfs none "$SLURM/alone" && cp cluster.yaml "$SLURM/alone" && cd "$SLURM/alone" && exec ringup run --on slurm -n 1 -- echo hi'
	[ "$status" = 1 ]
	has "node01 cannot write to $SLURM/alone/.ringup/jobs/job-1: start ringup in a folder that the nodes share"
}

@test "a job that waits says why, and a full queue lets it wait until it is stopped" {
	local follower
	ringup run -d --on slurm --set exclusive=yes -n 3 --name first -- sleep 300
	slurm_wait has_running
	ringup run --on slurm --set exclusive=yes -n 3 --name second -- true >second.out 2>&1 3>&- 4>&- &
	follower=$!
	slurm_wait is_waiting second Resources
	slurm_wait grep -q 'waits (Resources): all that it needs is in use' second.out
	[ "$(state second)" = waiting ]
	ringup run -d --on slurm --set partition=closed -n 1 --nodes 1 --name third -- true
	ringup stop second third
	! wait "$follower"
	grep -q 'second: Slurm job [0-9]* was cancelled' second.out
	[ "$(state second)" = stopped ]
	[ "$(state third)" = stopped ]
	[ "$(state first)" = running ]
	ringup stop first
}

@test "a job that can never start is told so" {
	ringup run --on slurm --limit 7200 -n 3 --name endless -- true >endless.out 2>&1 3>&- 4>&- &
	slurm_wait grep -q 'waits (PartitionTimeLimit): it asks for more time than the partition gives' endless.out
	kill -TERM $!
	! wait $!
	[ "$(state endless)" = stopped ]
	run -7 ringup run --on slurm --nodes 1 -n 1 --name before -- sh -c 'exit 7'
	ringup run --on slurm --nodes 1 -n 1 --set "dependency=afterok:$(jq -r .id .ringup/jobs/before/job.json)" --name after -- true \
		>after.out 2>&1 3>&- 4>&- &
	slurm_wait grep -q 'waits (DependencyNeverSatisfied): it can never start: a job that it was to wait for' after.out
	kill -TERM $!
	! wait $!
	# what stands behind the reason's comma is Slurm's: the nodes that are not there
	scontrol update nodename=node03 state=drain reason=fan
	ringup run --on slurm --set nodelist=node03 --nodes 1 -n 1 --name drained -- true >drained.out 2>&1 3>&- 4>&- &
	slurm_wait grep -qE 'waits \((ReqNodeNotAvail|Nodes_required).*\): (a node|nodes) that it needs (is|are) down, drained' drained.out
	kill -TERM $!
	! wait $!
}

@test "a job that is left goes on, and ps, logs and wait know it" {
	# shellcheck disable=SC2016 # expanded by the rank
	run ringup run -d --on slurm -n 3 --name left -- sh -c 'echo "first $RANK"; sleep 3; echo "last $RANK"; [ $RANK != 2 ] || { sleep 5; exit 4; }'
	[ "$output" = left ]
	run ringup logs -f left
	[ "$status" = 0 ]
	has "[0 node01] first 0"
	has "[2 node03] last 2"
	run -4 ringup wait left
	has "left: rank 2 on node03 ended with status 4"
	run ringup logs --rank 0 left
	[ "$output" = "first 0"$'\n'"last 0" ]
	[ "$(state left)" = failed ]
}

@test "Ctrl-C asks: the job may stay, or end" {
	keys() {
		python3 "$BATS_TEST_DIRNAME/../keys.py" "$2" "3 ranks on" ringup run --on slurm -n 3 --name "$1" -- sleep 300
	}
	run -130 keys stays l
	has "ringup logs -f stays"
	[ "$(state stays)" = running ]
	run -130 keys ends c
	has "was cancelled"
	[ "$(state ends)" = stopped ]
	ringup stop stays
	[ "$(state stays)" = stopped ]
}

@test "a command that is a text has the time for its checkpoint, and what stands behind it does not begin" {
	cat >save.py <<-'END'
		import signal, sys, time
		def save(*_):
		    time.sleep(1)
		    open(f"saved-{sys.argv[1]}", "w")
		    sys.exit(0)
		signal.signal(signal.SIGTERM, save)
		print("ready", flush=True)
		time.sleep(300)
	END
	echo "  saves: {command: \"python3 $PWD/save.py \$RANK; echo >behind\", launcher: env, n: 3, ppn: 1, workdir: \"$PWD\"}" >>cluster.yaml
	ringup run -d --on slurm saves
	slurm_wait eval '[ "$(ringup logs saves 2>/dev/null | grep -c ready)" = 3 ]'
	scancel --signal=TERM "$(squeue -h -o %A -n saves)"
	slurm_wait eval '[ "$(ls saved-* 2>/dev/null | wc -l)" = 3 ]'
	run ringup wait saves
	[ "$status" -ne 0 ]
	[ ! -e behind ]
}

@test "the worker measures the nodes, and its verdict is the command's" {
	run --separate-stderr ringup bench --on slurm --ppn 2 -- -b 1K -e 64K -f 4
	[ "$status" = 0 ]
	has '6 ranks on 3 hosts, launcher slurm: verdict "pass"'
	run ringup --json bench --on slurm --nodes 2 -- -b 1K -e 4K
	[ "$(jq -c '[.verdict, ([.ranks[].host])]' <<<"$output")" = '["pass",["node01","node02"]]' ]
	# the nodes' own facts say what they should give: here they are on one machine
	[[ $(jq -r .expected.because <<<"$output") == "lo of node0"?" is virtual,"* ]]
	[ "$(find .ringup/jobs -name secret)" = "" ] # it is gone with the job
	run -5 ringup bench --on slurm -- -b 1K -e 4K --fault-inject corrupt:1
	has "wrong data on rank 1 (node02)"
	run -5 ringup bench --on slurm -- -b 1K -e 4K --fault-inject die:2
	has "rank 2 (node03"
	run -2 ringup bench --on slurm --launcher mpirun
	has "--launcher does not go with --on slurm"
}

has_gpu_in_use() {
	[ "$(ringup --json status --on slurm | jq -c '[.nodes[] | .gpus_used]')" = "[0,1,0]" ]
}

@test "status shows the nodes, their GPUs and the queues" {
	scontrol update nodename=node03 state=drain reason="new fan"
	ringup run -d --on slurm --nodes 1 -n 2 --name holds -- sleep 300
	slurm_wait has_running
	run ringup status --on slurm
	[ "$status" = 0 ]
	[[ $output == *"node01  ALLOCATED         2/2        0/2  h100  train"* ]]
	[[ $output == *node03*DRAIN*"new fan"* ]]
	[[ $output == *"train*"*UP*3*1*0*01:00:00* ]]
	[[ $output == *closed*DOWN* ]]
	run ringup --json status --on slurm
	[ "$(jq -c '[.nodes[] | .gpus]' <<<"$output")" = "[2,2,0]" ]
	[ "$(jq -r '.nodes[2].reason' <<<"$output" | cut -d' ' -f1,2)" = "new fan" ]
	[ "$(jq -c '.queues[0] | [.queue, .default, .running]' <<<"$output")" = '["train",true,1]' ]
	# GPUs in use are known on a site that does not count them (AccountingStorageTRES)
	ringup run -d --on slurm --gpus 1 --nodes 1 -n 1 --name uses -- sleep 300
	slurm_wait has_gpu_in_use
	ringup stop holds
	ringup stop uses
}

@test "the same cluster file moves from SSH to Slurm" {
	local here
	mkdir ../moves
	cd ../moves
	here=$PWD
	ringup -q lab up --loopback --hosts 3 3>&- 4>&-
	cat >>cluster.yaml <<-'EOT'
		jobs:
		  train: {command: ["sh", "-c", "echo rank $RANK of $WORLD_SIZE says $WHAT"], launcher: env, ppn: 2, n: 6, env: {WHAT: hello}}
	EOT
	ringup -q up 3>&- 4>&-
	ringup -q run train >ssh.out
	ringup -q run --on slurm train >slurm.out
	[ "$(wc -l <ssh.out)" = 6 ]
	diff <(sort ssh.out) <(sort slurm.out)
	ringup export slurm train >train.sbatch
	sbatch --wait --output=sbatch.out train.sbatch
	diff <(sed 's/^\[[^]]*\] //' ssh.out | sort) <(grep '^rank' sbatch.out | sort)
	ringup -q lab down 3>&- 4>&-
	cd /
	rm -rf "$here"
}

# own_gpus WORD...: a job of two ranks on each of two nodes, of which every rank has one of the node's two GPUs.
own_gpus() {
	# shellcheck disable=SC2016 # expanded by the rank
	run --separate-stderr ringup run --on slurm --gpus 1 --nodes 2 --ppn 2 "$@" -- sh -c 'echo "gpu $CUDA_VISIBLE_DEVICES"'
	[ "$status" = 0 ]
	[ "$(sort <<<"$output")" = "[0 node01] gpu 0
[1 node01] gpu 1
[2 node02] gpu 0
[3 node02] gpu 1" ]
}

@test "each rank has GPUs of its own among those that Slurm gives the node" {
	own_gpus --name own
	grep -x '#SBATCH --gpus-per-node=2' .ringup/jobs/own/job.sbatch
	own_gpus --launcher mpirun --set gpu-type=h100
	# the commands of a Slurm before 19.05 stand in: they do not list the option
	mkdir old
	# shellcheck disable=SC2016 # expanded by it
	printf '#!/bin/sh\n[ "$1" = --help ] || exec %s "$@"\n%s --help | grep -v gpus-per-node\n' "$(command -v srun)" \
		"$(command -v srun)" >old/srun
	chmod +x old/srun
	PATH=$PWD/old:$PATH own_gpus --name old
	grep -x '#SBATCH --gres=gpu:2' .ringup/jobs/old/job.sbatch
	# without --gpus the ranks of a node share
	sed 's/^accelerator.*//; $a accelerator: cuda' cluster.yaml >gpus.yaml
	# shellcheck disable=SC2016 # expanded by the rank
	run --separate-stderr ringup -f gpus.yaml run --on slurm --nodes 1 --ppn 2 -- sh -c 'echo "gpus $CUDA_VISIBLE_DEVICES"'
	[ "$(sort <<<"$output")" = "[0 node01] gpus 0,1
[1 node01] gpus 0,1" ]
	run -2 ringup run --on slurm --gpus 2 --nodes 2 --ppn 2 -- true
	has "2 of them have GPUs, up to 2 each"
	run -2 ringup run --on slurm --set gpu-type=a100 --gpus 1 --nodes 2 -- true
	has "Slurm refuses the job"
}

@test "a script for more nodes than it was written for: its ranks are those of the nodes" {
	# shellcheck disable=SC2016 # expanded by the ranks
	ringup export slurm --launcher env -n 4 --nodes 2 --name more -- sh -c 'echo rank $RANK of $WORLD_SIZE, $LOCAL_WORLD_SIZE here' >more.sbatch
	sbatch --wait --nodes=3 --output=more.out more.sbatch
	[ "$(grep -c '^rank [0-5] of 6, 2 here$' more.out)" = 6 ]
	# shellcheck disable=SC2016 # expanded by the ranks
	ringup export slurm --launcher tf -n 2 --nodes 2 --name more -- sh -c 'echo "$TF_CONFIG"' >more.sbatch
	sbatch --wait --nodes=3 --output=more.out more.sbatch
	[ "$(grep -h '^{' more.out | jq -c '.cluster.worker | unique | length' | sort | uniq -c | xargs)" = "3 3" ]
	printf '#!/bin/sh\necho "$*"\n' >torchrun
	chmod +x torchrun
	PATH=$PWD:$PATH ringup export slurm --launcher torchrun -n 2 --nodes 2 --name more -- true >more.sbatch
	PATH=$PWD:$PATH sbatch --wait --nodes=3 --output=more.out more.sbatch
	[ "$(grep -c -- '^--nnodes=3 --nproc_per_node=1 --node_rank=[0-2] ' more.out)" = 3 ]
	ringup export slurm --launcher deepspeed -n 2 --nodes 2 --name more -- true >more.sbatch
	run sbatch --wait --nodes=3 --output=more.out more.sbatch
	[ "$status" -ne 0 ]
	grep -F "this script is for 2 nodes, and Slurm gave it 3; write it again with: ringup export slurm --nodes 3" more.out
}

@test "the script takes what people give sbatch: CPUs, nodes, files, mail" {
	# shellcheck disable=SC2016 # expanded by the rank
	run --separate-stderr ringup run --on slurm --set cpus-per-task=2 --set nodelist=node02 --nodes 1 --ppn 1 -- \
		sh -c 'echo "on $SLURMD_NODENAME with $SLURM_CPUS_PER_TASK"'
	[ "$output" = "[0 node02] on node02 with 2" ]
	run ringup run --on slurm --set exclude=node01,node02 --nodes 1 --ppn 1 -- true
	[[ $output == *"1 rank on node03"* ]]
	ringup export slurm --set cpus-per-task=1 --set output=%x-%j.out --set mail-type=END,FAIL --set mail-user=me@example.org \
		--set dependency=singleton --nodes 1 -- sh -c 'echo rank $RANK' >x.sbatch
	sbatch --wait x.sbatch
	grep -x 'rank 0' job-*.out
	run -2 ringup run --on slurm --set output=x -- true
	has "--set output is for 'ringup export'"
}

@test "without an image each node's libraries are those of ringup.lock, or the job does not begin" {
	mkdir -p ../stack/node02/torch-2.1.0.dist-info
	cd ../stack
	cat >cluster.yaml <<-'EOT'
		name: lab
		hosts: ["node[01-03]"]
		accelerator: cpu
		stack: ["torch==2.4.0", "python==3.11"]
		container: {engine: none}
	EOT
	ringup -q resolve
	# a library of node02 alone
	printf '#!/bin/sh\nPYTHONPATH=%s/$SLURMD_NODENAME exec python3 "$@"\n' "$PWD" >python3
	chmod +x python3
	run -1 ringup run --on slurm --name differs -- ./python3 -c 'print("it began")'
	has "node02 has torch 2.1.0, where ringup.lock has 2.4.0; the script of 'ringup recipe --format script' installs the lock's"
	[[ $output != *"it began"* ]]
	[ "$(ringup --json ps | jq -r '.jobs[] | select(.job == "differs") | .reason' | grep -c 'node02 has torch 2.1.0')" = 1 ]
	run ringup run --on slurm --mixed-versions -- ./python3 -c 'print("it began")'
	[ "$status" = 0 ]
	[ "$(grep -c 'it began' <<<"$output")" = 3 ]
	mv node02/torch-2.1.0.dist-info node02/torch-2.4.0+cpu.dist-info
	run ringup run --on slurm -- ./python3 -c 'print("it began")'
	[ "$status" = 0 ]
	cp -r node02 node03
	mv node02/* node02/torch-2.1.0.dist-info
	mv node03/* node03/torch-2.1.0.dist-info
	run -1 ringup run --on slurm --launcher torchrun -- ./python3 -c 'print("it began")'
	has "node[02-03] has torch 2.1.0"
}

@test "a node that goes down ends the job, and is named" {
	ringup run --on slurm -n 3 --name down -- sh -c 'echo here; sleep 300' >down.out 2>&1 3>&- 4>&- &
	slurm_wait grep -q '2 node03. here' down.out
	kill -9 "$(cat "$SLURM/node02.pid")"
	! wait $!
	cat down.out
	grep -q 'down: a node went down while job [0-9]* ran: node02 (Not responding)' down.out
	slurm_node node02
	slurm_wait slurm_is_idle
}
