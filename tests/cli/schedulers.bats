#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Jobs and nodes of schedulers whose commands answer what a test says: what ringup makes of kubectl's and Slurm's words.

bats_require_minimum_version 1.5.0
load helper
load ../scheduled

setup() {
	common_setup
	export FAKE=$BATS_TEST_TMPDIR/fake
	mkdir -p "$FAKE/bin"
	PATH=$FAKE/bin:$PATH
}

# command NAME: stdin is its script.
command_of() {
	cat >"$FAKE/bin/$1"
	chmod +x "$FAKE/bin/$1"
}

# A cluster where a TFJob has run to its end. $FAIL is the pod that failed.
kubernetes_of_tfjob() {
	command_of kubectl <<-'END'
		#!/bin/bash
		echo "$*" >>"$FAKE/calls"
		pods="chief-0 ps-0 worker-0 worker-1"
		name=$(cat "$FAKE/name" 2>/dev/null)
		case " $* " in
		*" config "*) echo '{"current-context":"c","contexts":[{"name":"c","context":{"namespace":"ml"}}]}' ;;
		*" create "*) sed -n '0,/^  name: /s/^  name: //p' "${*: -1}" >"$FAKE/name" ;;
		*" logs "*)
			for pod in $pods; do
				for second in 1 2 3; do echo "[pod/$name-$pod/tensorflow] 2026-11-26T22:00:0$second.000000001Z $pod line $second"; done
			done ;;
		*" get "*tfjobs*)
			echo "{\"status\":{\"conditions\":[{\"type\":\"$([ -n "$FAIL" ] && echo Failed || echo Succeeded)\",\"status\":\"True\"}]}}" ;;
		*" get "*pods*)
			for pod in $pods; do
				end=0
				[ "$pod" != "$FAIL" ] || end=7
				echo "{\"metadata\":{\"name\":\"$name-$pod\"},\"spec\":{\"nodeName\":\"of-$pod\"},\"status\":{\"phase\":\"Failed\",\"containerStatuses\":
					[{\"state\":{\"terminated\":{\"exitCode\":$end,\"reason\":\"Error\",\"finishedAt\":\"2026-11-26T22:00:09Z\"}}}]}}"
			done | jq -s "{items: map(if .status.containerStatuses[0].state.terminated.exitCode == 0 then .status.phase = \"Succeeded\" else . end)}" ;;
		*) echo '{"items":[]}' ;;
		esac
	END
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: ["node[01-04]"]
		registry: {address: "registry.example:5000", namespace: team}
		stack: ["openmpi"]
		accelerator: cpu
		jobs:
		  parts: {command: [python3, ps.py], launcher: tf, ppn: 1, roles: "chief=1,worker=2,ps=1"}
	END
	ringup -q resolve
	python3 - <<-'END'
		import json
		lock = dict(json.load(open("ringup.lock")), image="registry.example:5000/team/lab@sha256:" + "0" * 64)
		json.dump(lock, open("ringup.lock", "w"))
	END
}

@test "a TFJob's pods have the ranks of their roles: no line is lost, and the rank that failed is named" {
	local pod rank=0
	kubernetes_of_tfjob
	run -0 ringup run --on kubernetes --name good parts
	for pod in chief-0 worker-0 worker-1 ps-0; do
		[ "$(cat .ringup/jobs/good/rank-$rank.log)" = "$(printf "$pod line %d\n" 1 2 3)" ]
		rank=$((rank + 1))
	done
	FAIL=worker-1 run -7 ringup run --on kubernetes --name bad parts
	has "rank 2 on of-worker-1"
}

# Slurm's commands. $FAKE/REFUSAL is what sbatch refuses with, $FAKE/mpi what srun --mpi=list says.
slurm_of_nodes() {
	command_of sbatch <<-'END'
		#!/bin/sh
		[ "$1" != --version ] || { echo "slurm 23.11.6"; exit; }
		env >"$FAKE/env"
		[ ! -e "$FAKE/refusal" ] || { cat "$FAKE/refusal" >&2; exit 1; }
		echo 7
	END
	command_of srun <<-'END'
		#!/bin/sh
		case "$*" in
		--help) echo "  --gpus-per-node=n  GPUs"; [ ! -e "$FAKE/plugins" ] || cat "$FAKE/plugins" ;;
		--mpi=list) cat "$FAKE/mpi" >&2 ;;
		esac
	END
	command_of squeue <<<"printf 'gpu|RUNNING\\ngpu,long|PENDING\\ngpu|PENDING\\ngpu2|PENDING\\n'"
	command_of scontrol <<-'END'
		#!/bin/sh
		case "$*" in
		*"show node"*)
			used= more=
			case "$*" in *-d*) used=" GresUsed=gpu:h100:2(IDX:0,3)" more=" GresUsed=nic:0" ;; esac
			echo "NodeName=a CPUAlloc=1 CPUTot=8 Gres=gpu:h100:8(S:0-1)$used NodeAddr=a RealMemory=64000 State=MIXED Partitions=gpu,long AllocTRES=cpu=1 Reason=Not responding [root@2026-11-26T22:00:00] Comment=rack 3"
			echo "NodeName=b CPUAlloc=1 CPUTot=8 Gres=gpu:h100:8(S:0-1)$more NodeAddr=b RealMemory=515000 State=MIXED Partitions=gpu AllocTRES=cpu=1,gres/gpu=4,gres/gpu:h100=4" ;;
		*"show job"*) cat "$FAKE/job" ;;
		ping) echo "Slurmctld(primary) at head is $(cat "$FAKE/state" 2>/dev/null || echo UP)" ;;
		*"show partition"*)
			echo "PartitionName=gpu Default=YES MaxTime=2-00:00:00 State=UP TotalNodes=2"
			echo "PartitionName=long Default=NO MaxTime=UNLIMITED State=UP TotalNodes=1" ;;
		esac
	END
}

@test "status --on slurm: GPUs in use as the nodes have them, and a job of two partitions waits in both" {
	slurm_of_nodes
	run -0 ringup --json status --on slurm
	[ "$(jq -c '[.nodes[].gpus_used]' <<<"$output")" = "[2,4]" ]
	[ "$(jq -r '.nodes[0].reason' <<<"$output")" = "Not responding [root@2026-11-26T22:00:00]" ]
	[ "$(jq -c '[.queues[] | [.queue, .running, .waiting]]' <<<"$output")" = '[["gpu",1,2],["long",0,1]]' ]
}

@test "status --on slurm: queues are there where a site shows its nodes to nobody" {
	slurm_of_nodes
	mv "$FAKE/bin/scontrol" "$FAKE/scontrol"
	command_of scontrol <<-'END'
		#!/bin/sh
		case "$*" in
		# Slurm 22.05 with PrivateData=nodes, for who is no operator
		*"show node"*) echo "slurm_load_node error: Access/permission denied" >&2; exit 1 ;;
		*) exec "$FAKE/scontrol" "$@" ;;
		esac
	END
	run -0 ringup status --on slurm
	has "gpu"
	has "Slurm shows its nodes to operators only (PrivateData=nodes of slurm.conf)"
	run -0 --separate-stderr ringup --json status --on slurm
	[ "$(jq -c '[(.nodes | length), (.queues | length)]' <<<"$output")" = "[0,2]" ]
	plain_cluster
	echo none >"$FAKE/mpi"
	echo "sbatch: error: Batch job submission failed: Requested node configuration is not available" >"$FAKE/refusal"
	run -2 ringup run --on slurm --launcher env --name refused -- ./x
	has "not available; ask for less with --nodes, --ppn, --gpus or --set mem=SIZE"
}

# A cluster without containers, for jobs that Slurm does not take.
plain_cluster() {
	printf 'name: lab\nhosts: [a, b]\naccelerator: cpu\ncontainer: {engine: none}\n' >cluster.yaml
}

@test "run --on slurm: what sbatch says of an account is answered with --set account" {
	slurm_of_nodes
	plain_cluster
	echo none >"$FAKE/mpi"
	echo "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified" >"$FAKE/refusal"
	run -2 ringup run --on slurm --name refused -- ./x
	has "choose one with --set account=NAME"
	[[ $output != *"its partitions are"* ]]
	echo "sbatch: error: Batch job submission failed: Invalid qos specification" >"$FAKE/refusal"
	run -2 ringup run --on slurm --name refused -- ./x
	has "choose one with --set qos=NAME"
	echo "sbatch: error: invalid partition specified: x" >"$FAKE/refusal"
	run -2 ringup run --on slurm --name refused -- ./x
	has "its partitions are gpu (the default), long; choose one with --set partition=NAME"
}

@test "run --on slurm: a controller that is away refuses nothing; limits and memory are named" {
	slurm_of_nodes
	plain_cluster
	echo none >"$FAKE/mpi"
	refuse() {
		echo "sbatch: error: Batch job submission failed: $1" >"$FAKE/refusal"
	}
	refuse "Unable to contact slurm controller (connect failure)"
	run -1 ringup run --on slurm --name refused -- ./x
	has "Slurm's controller does not answer: Batch job submission failed: Unable to contact slurm controller (connect failure)"
	has "'scontrol ping' shows whether it is up; if not, ask who runs the cluster"
	[[ $output != *"--set"* && $output != *squeue* ]]
	# these leave open whether the controller has it (slurm_errno.c)
	for complaint in "Socket timed out on send/recv operation" "Zero Bytes were transmitted or received"; do
		refuse "$complaint"
		run -1 ringup run --on slurm --name refused -- ./x
		has "Slurm's controller does not answer: Batch job submission failed: $complaint"
		has "Slurm may have taken the job all the same, without ringup's knowledge"
		has "'squeue --me --name=$(ringup --json ps | jq -r '[.jobs[].job] | sort_by(length) | last')' shows it once 'scontrol ping' says UP"
	done
	refuse "Requested time limit is invalid (missing or exceeds some limit)"
	run -2 ringup run --on slurm --name refused --limit 999999 -- ./x
	has "the most time that its partitions give is gpu 2-00:00:00, long UNLIMITED; ask for less with --set time=MINUTES"
	refuse "Time limit specification required, but not provided" # of a site's submit plug-in: marbl/canu, issue 2307
	run -2 ringup run --on slurm --name refused -- ./x
	has "the most time that its partitions give is gpu 2-00:00:00, long UNLIMITED; say how much the job needs with --set time=MINUTES"
	refuse "Memory specification can not be satisfied"
	run -2 ringup run --on slurm --name refused -- ./x
	has "its nodes have up to 515000M each; ask for less with --set mem=SIZE"
	refuse "Requested node configuration is not available"
	run -2 ringup run --on slurm --name refused -- ./x
	has "it has 2 nodes with up to 8 CPUs each"
	refuse "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
	run -2 ringup run --on slurm --name refused -- ./x
	has "allows no more jobs, or none of this size or time"
	has "'sacctmgr show qos'"
	sed -i '1i sbatch: error: QOSMaxSubmitJobPerUserLimit' "$FAKE/refusal"
	run -2 ringup run --on slurm --name refused -- ./x
	has "you have as many jobs there as your account or quality of service allows"
}

# ends STATUS STATE EXIT_CODE TEXT: a job that ended so has the status, and ringup says the text of it.
ends() {
	echo "JobId=7 JobState=$2 Reason=None ExitCode=$3 NodeList=a" >"$FAKE/job"
	run "-$1" ringup run --on slurm --launcher env --name ends -- ./x
	has "$4"
}

@test "run --on slurm: a job that needed too much memory ends with 137, and nodes have their faults" {
	slurm_of_nodes
	plain_cluster
	echo none >"$FAKE/mpi"
	command_of sinfo <<<'echo "a|Not responding"'
	ends 137 OUT_OF_MEMORY 0:125 "used more memory than it has; --set mem=SIZE gives it more"
	ends 137 OUT_OF_MEMORY 253:0 "used more memory than it has"
	ends 137 FAILED 0:125 "ended with status 137"
	ends 139 FAILED 0:11 "ended with status 139"
	ends 181 FAILED 181:0 "ended with status 181"
	ends 1 NODE_FAIL 0:0 "a node went down while job 7 ran: a (Not responding); 'ringup status --on slurm' shows the nodes"
	ends 1 BOOT_FAIL 0:1 "a node did not boot for job 7: a (Not responding); 'ringup status --on slurm' shows the nodes"
	ends 1 LAUNCH_FAILED 0:1 "a node could not start job 7, and its slurmd.log says why: a (Not responding)"
}

@test "run --on slurm: from a shell in an allocation the job knows nothing of that one" {
	slurm_of_nodes
	plain_cluster
	echo none >"$FAKE/mpi"
	export SLURM_CONF=/c SLURM_CLUSTERS=x SLURM_JWT=j SBATCH_ACCOUNT=team SLURM_MPI_TYPE=pmix
	run -0 ringup run -d --on slurm --launcher env -- ./x
	grep -qxF SLURM_MPI_TYPE=pmix "$FAKE/env" # the person's own, or the site's
	SLURM_JOB_ID=3 SLURM_GPUS_PER_NODE=1 SLURM_CPU_BIND=quiet,cores SLURM_MEM_PER_CPU=1 SLURM_TIME_FORMAT=%s SRUN_DEBUG=3 \
		run -0 ringup run -d --on slurm --launcher env -- ./x
	grep -E '^(SLURM|SBATCH|SRUN)_' "$FAKE/env" | sort >env
	diff env - <<-'END'
		SBATCH_ACCOUNT=team
		SLURM_CLUSTERS=x
		SLURM_CONF=/c
		SLURM_JWT=j
		SLURM_TIME_FORMAT=standard
	END
}

@test "run --on slurm: a folder that the nodes do not share is named" {
	slurm_of_nodes
	plain_cluster
	echo none >"$FAKE/mpi"
	# what slurmctld 22.05 says where slurmd wrote "Could not open stdout file .../batch.log: No such file or directory"
	echo "JobId=1 JobName=job-1 JobState=FAILED Reason=JobLaunchFailure Requeue=0 BatchFlag=1 ExitCode=0:53 RunTime=00:00:00 NodeList=node[01-02] BatchHost=node01 NumNodes=2" >"$FAKE/job"
	run -1 ringup run --on slurm --launcher env --name alone -- ./x
	has "node01 cannot write to $PWD/.ringup/jobs/alone: start ringup in a folder that the nodes share"
	run -0 ringup run -d --on slurm --launcher env --name left -- ./x
	run -1 ringup wait left
	has "node01 cannot write to $PWD/.ringup/jobs/left"
	# and when slurmctld has forgotten it, the accounts
	run -0 ringup run -d --on slurm --launcher env --name late -- ./x
	command_of scontrol <<<'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'
	command_of sacct <<<'echo "FAILED|0:53|node01"'
	run -1 ringup wait late
	has "node01 cannot write to $PWD/.ringup/jobs/late"
}

@test "run --on slurm: ranks of MPI need a way to meet that srun has" {
	slurm_of_nodes
	plain_cluster
	printf 'MPI plugin types are...\n\tcray_shasta\n\tnone\n' >"$FAKE/mpi"
	run -2 ringup run --on slurm --launcher mpirun --nodes 1 --name none -- ./x
	has "'srun --mpi=list' has cray_shasta, none; say --set mpi=NAME"
	run -0 ringup run -d --on slurm --launcher mpirun --nodes 1 --set mpi=cray_shasta --name cray -- ./x
	grep -q 'srun .*--mpi=cray_shasta' .ringup/jobs/cray/job.sbatch
	run -0 ringup run -d --on slurm --launcher env --nodes 1 --name env -- ./x
	printf 'MPI plugin types are...\n\tnone\n\tpmi2\n' >"$FAKE/mpi"
	run -0 ringup run -d --on slurm --launcher mpirun --nodes 1 --name pmi2 -- ./x
	grep -q 'srun .*--mpi=pmi2' .ringup/jobs/pmi2/job.sbatch
}

@test "export slurm: the way to a container is the one that this cluster has" {
	slurm_of_nodes
	printf 'name: lab\nhosts: [a, b]\naccelerator: cpu\n' >cluster.yaml
	echo "MPI plugin types are... pmix" >"$FAKE/mpi"
	image=registry.example:5000/lab@sha256:$(printf '0%.0s' {1..64})
	run -0 ringup export slurm --image "$image" --name n -- ./x
	has "neither pyxis nor Apptainer"
	[ "$(grep -c container-image <<<"$output")" = 0 ]
	echo "  --container-image=[USER@][REGISTRY#]IMAGE" >"$FAKE/plugins"
	run -0 ringup export slurm --image "$image" --name n -- ./x
	has "--container-image="
	rm "$FAKE/plugins"
	run -0 ringup export slurm --image "$image" --set container=apptainer --name n -- ./x
	has "apptainer pull"
	echo DOWN >"$FAKE/state" # nobody to ask: what most have
	run -0 ringup export slurm --image "$image" --name n -- ./x
	has "--container-image="
}

@test "run --on: --dry-run refuses what the run would, --json is one document, and what is refused leaves no record" {
	kubernetes_of_tfjob
	apart ringup --json run --on kubernetes --dry-run parts
	json 'd["engine"] == "kubernetes" and d["ranks"] == 4 and "kind: TFJob" in d["files"][0]["text"]'
	apart ringup run --on slurm --dry-run --set array=0-3 --launcher env -- ./x
	says 2 "--set array is many jobs"
	apart ringup run --on slurm --set container=none --set signal=FOO@1 --launcher env -- ./x
	says 2 "--set signal=FOO@1"
	sed -i 's/"image": *"[^"]*"/"image": ""/' ringup.lock
	apart ringup run --on kubernetes --dry-run parts
	says 2 "pods need an image"
	[ "$(ringup --json ps | jq '.jobs | length')" = 0 ]
}

@test "--grace: a pod has it, and with Slurm the site says it" {
	kubernetes_of_tfjob
	run -0 ringup run --on kubernetes --dry-run --grace 30 parts
	[[ $output == *"terminationGracePeriodSeconds: 35"* ]]
	apart ringup run --on slurm --dry-run --grace 30 parts
	says 2 "--grace does not go with --on slurm"
}

@test "status --on kubernetes: --set says which cluster and namespace, as with run" {
	kubernetes_of_tfjob
	run -0 ringup status --on kubernetes --set context=other --set namespace=team
	grep -q -- '--context=other .*nodes' "$FAKE/calls"
	grep -q -- '--namespace=team .*localqueues' "$FAKE/calls"
	run -2 ringup status --on kubernetes --set queue=x
	has "--set queue=x: 'status' shows a whole cluster, which --set context and namespace name"
	run -2 ringup status --on kubernetes --set contxt=x
	has "did you mean 'context'?"
	run -2 ringup status --on slurm --set partition=gpu
	has "--set partition=gpu: 'status' shows a whole cluster"
	run -2 ringup status --set context=x
	has "--set goes with --on ENGINE"
}
