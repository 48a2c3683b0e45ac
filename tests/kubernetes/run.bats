#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run --on kubernetes against a real API server (helper.bash says what of a cluster stands in).

bats_require_minimum_version 1.5.0
load helper
# shellcheck source=tests/scheduled.bash
source "$BATS_TEST_DIRNAME/../scheduled.bash"

IMAGE=registry.example:5000/team/lab@sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
LABEL=training.kubeflow.org/job-name

setup_file() {
	kube_start
	mkdir "$KUBE/work"
	cd "$KUBE/work" || return 1
	cat >cluster.yaml <<-'EOT'
		name: lab
		hosts: ["node[01-02]"]
		registry: {address: "registry.example:5000", namespace: team}
		stack: ["openmpi"]
		jobs:
		  train: {command: ["python3", "train.py"], launcher: torchrun, ppn: 1}
	EOT
	ringup -q resolve
	jq --arg image "$IMAGE" '.image = $image' ringup.lock >new
	mv new ringup.lock
}

teardown_file() {
	kube_end
}

setup() {
	cd "$KUBE/work" || return 1
}

# follow JOB: runs train under that name in the background, and makes its two pods.
follow() {
	ringup run --on kubernetes --name "$1" train >"$1.out" 2>"$1.err" 3>&- 4>&- &
	FOLLOWER=$!
	submitted "$1"
	MASTER=$(object "$1")-master-0
	WORKER=$(object "$1")-worker-0
	pod "$1" $LABEL "$MASTER" "${2-node01}"
	pod "$1" $LABEL "$WORKER" "${2-node02}"
}

# is JOB STATE: it is in that state
is() {
	[ "$(state "$1")" = "$2" ]
}

@test "a job is submitted, followed rank by rank, and ends with its status" {
	local status=0
	follow good
	[ "$(state good)" = waiting ]
	prints "$MASTER" 01 "hello from the first"
	prints "$WORKER" 02 "hello from the second"
	pod_runs "$MASTER"
	pod_runs "$WORKER"
	kube_wait grep -q '^\[1 node02\] hello from the second' good.out
	kube_wait is good running
	prints "$WORKER" 03 "$(printf 'more \033[2Jof it')"
	kube_wait grep -q '^\[1 node02\] more' good.out
	prints "$MASTER" 04 "the last words"
	pod_ends "$MASTER" 0 Completed
	pod_ends "$WORKER" 0 Completed
	job_is good Succeeded PyTorchJobSucceeded
	wait $FOLLOWER || status=$?
	[ "$status" = 0 ]
	[ "$(grep -c 'hello from' good.out)" = 2 ]
	grep -q '^\[0 node01\] the last words' good.out
	! grep -q "$(printf '\033')" good.out good.err
	grep -q 'good: Kubernetes job pytorchjob/good-.* runs: 2 ranks on node01,node02 by torchrun' good.err
	[ "$(state good)" = "done" ]
	run ringup logs good
	has "[1 node02] hello from the second"
}

@test "the lines of ranks that share a pod, or come through mpirun, stand behind their ranks" {
	local status=0 first second
	ringup run --on kubernetes --kind jobset --launcher env --nodes 2 --ppn 2 --name many -- true >many.out 2>many.err 3>&- 4>&- &
	FOLLOWER=$!
	submitted many
	first=$(object many)-node-0-0-abcde
	second=$(object many)-node-0-1-abcde
	pod many jobset.sigs.k8s.io/jobset-name "$first" node01
	pod many jobset.sigs.k8s.io/jobset-name "$second" node02
	prints "$first" 01 "[default1]:hello"
	prints "$second" 02 "[default0]:there"
	prints "$second" 03 "of the pod"
	prints "$second" 04 "[default9]:of nobody"
	pod_runs "$first"
	pod_runs "$second"
	kube_wait grep -q 'of nobody' many.out
	grep -x '\[1 node01\] hello' many.out
	grep -x '\[2 node02\] there' many.out
	grep -x '\[node02\] of the pod' many.out
	grep -x there .ringup/jobs/many/rank-2.log
	pod_ends "$first" 0 Completed
	pod_ends "$second" 0 Completed
	job_is many Completed AllJobsCompleted
	wait $FOLLOWER || status=$?
	[ "$status" = 0 ]
	ringup run -d --on kubernetes --launcher mpirun --nodes 1 --ppn 2 --name ranks -- true
	first=$(object ranks)-launcher-abcde
	pod ranks $LABEL "$first" node01
	kubectl label pod "$first" training.kubeflow.org/job-role=launcher
	prints "$first" 01 "[1,1]<stdout>:hello"
	pod_ends "$first" 0 Completed
	job_is ranks Succeeded MPIJobSucceeded
	ringup wait ranks
	run ringup logs --rank 1 ranks
	[ "$output" = hello ]
}

@test "a rank that dies is named, and its status is the command's" {
	local status=0
	follow dies
	prints "$MASTER" 01 "all well"
	prints "$WORKER" 02 "no data"
	pod_runs "$MASTER"
	pod_ends "$WORKER" 7
	job_is dies Failed PyTorchJobFailed
	wait $FOLLOWER || status=$?
	[ "$status" = 7 ]
	grep -q 'dies: rank 1 on node02 ended with status 7' dies.err
	grep -q 'no data' dies.out
	follow eats
	pod_ends "$WORKER" 137 OOMKilled
	job_is eats Failed PyTorchJobFailed
	wait $FOLLOWER || status=$?
	[ "$status" = 137 ]
	grep -q 'used more memory than it has (OOMKilled); --set memory=SIZE' eats.err
	follow late
	job_is late Failed DeadlineExceeded
	wait $FOLLOWER || status=$?
	[ "$status" = 124 ]
}

@test "a pod that cannot be scheduled says so in the scheduler's words, and the job can be stopped" {
	local status=0
	follow stuck ''
	pod_is "$MASTER" '{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
		"message": "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."}]}'
	kube_wait grep -q 'Unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.' stuck.err
	ringup stop stuck
	wait $FOLLOWER || status=$?
	[ "$status" = 130 ]
	[ "$(state stuck)" = stopped ]
	run kubectl get pytorchjob "$(jq -r '.id | split("/")[1]' .ringup/jobs/stuck/job.json)"
	has NotFound
}

@test "an image that cannot be pulled ends the job, and names pod and reason" {
	local status=0
	follow pull
	pod_waits "$WORKER" ImagePullBackOff "manifest unknown"
	wait $FOLLOWER || status=$?
	[ "$status" = 1 ]
	grep -q "could never begin, and was ended: pod $WORKER on node02: ImagePullBackOff: manifest unknown" pull.err
	run kubectl get pytorchjobs
	[[ $output != *pull-* ]]
}

# refused JOB MESSAGE: the Event that a controller writes when it may not make a pod.
refused() {
	kubectl create -f - >&2 <<-EOT
		apiVersion: v1
		kind: Event
		metadata: {generateName: "$(object "$1")."}
		involvedObject: {apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: "$(object "$1")", namespace: default}
		type: Warning
		reason: FailedCreatePod
		message: '$2'
		lastTimestamp: "2026-11-25T12:00:00Z"
	EOT
}

@test "pods that nobody may make are named with the Event's words, and the job is not waited for" {
	local status=0
	ringup run --on kubernetes --name barred train >barred.out 2>barred.err 3>&- 4>&- &
	FOLLOWER=$!
	submitted barred
	refused barred 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest": hostPath volumes'
	ringup run --on kubernetes --name much train >much.out 2>much.err 3>&- 4>&- &
	submitted much
	refused much 'Error creating: pods "x" is forbidden: exceeded quota: gpus, requested: 8, used: 8, limited: 8'
	kube_wait grep -q 'FailedCreatePod: .*exceeded quota: gpus.*ask for less, or for more quota' much.err
	ringup stop much
	wait $FOLLOWER || status=$?
	[ "$status" = 1 ]
	grep -q 'could never begin, and was ended: PyTorchJob barred-.*: FailedCreatePod: .*violates PodSecurity.*--set namespace=NAME' barred.err
}

@test "a job that is left goes on, and logs and wait know it" {
	ringup run -d --on kubernetes --name left train
	pod left $LABEL "$(object left)-master-0" node01
	pod left $LABEL "$(object left)-worker-0" node02
	prints "$(object left)-master-0" 01 "said while nobody looked"
	pod_runs "$(object left)-master-0"
	pod_runs "$(object left)-worker-0"
	run ringup logs left
	has "[0 node01] said while nobody looked"
	pod_ends "$(object left)-worker-0" 4
	job_is left Failed PyTorchJobFailed
	run -4 ringup wait left
	[ "$(state left)" = failed ]
}

# interrupts JOB ANSWER: Ctrl-C while its two pods run, and the answer to the question then; ends as the command does.
interrupts() {
	python3 "$BATS_TEST_DIRNAME/../keys.py" "$2" "2 ranks on" ringup run --on kubernetes --name "$1" train 3>&- 4>&- &
	FOLLOWER=$!
	submitted "$1"
	pod "$1" $LABEL "$(object "$1")-master-0" node01
	pod "$1" $LABEL "$(object "$1")-worker-0" node02
	pod_runs "$(object "$1")-master-0"
	pod_runs "$(object "$1")-worker-0"
	wait $FOLLOWER
}

@test "Ctrl-C asks: the job may stay, or end" {
	run -130 interrupts stays l
	has "ringup logs -f stays"
	[ "$(state stays)" = running ]
	kubectl get "$(jq -r .id .ringup/jobs/stays/job.json)"
	run -130 interrupts ends c
	has "was cancelled"
	[ "$(state ends)" = stopped ]
	run kubectl get "$(jq -r .id .ringup/jobs/ends/job.json)"
	has NotFound
	ringup stop stays
}

@test "what the API server or kubectl refuses comes with the next thing to do" {
	run -2 ringup run --on kubernetes --set context=guest@lab train
	has 'context "guest@lab", namespace "default"'
	has 'User "guest" cannot create resource "pytorchjobs"'
	has "ask who runs the cluster for that right"
	run -2 ringup run --on kubernetes --set context=none train
	has "kubectl config get-contexts"
	run -2 ringup run --on kubernetes --set namespace=none train
	has 'namespaces "none" not found; '"'kubectl get namespaces'"
	run -2 ringup run --on kubernetes --kind trainjob train
	has "Kubeflow Trainer 2 is not installed there"
	run -2 ringup run --on kubernetes --kind job train
	has "older than 1.25"
	run -2 ringup run --on kubernetes --kind nonsense train
	has "pytorchjob"
	KUBECONFIG=$KUBE/nothing run -2 ringup run --on kubernetes train
	has "kubectl has no current context"
}

@test "an Indexed Job's pods and their headless Service are accepted: of both this server knows all but completionMode" {
	ringup export kubernetes --kind job --set pull-secret=login train >indexed.yaml
	# the server drops what it does not know, and says no word of it without kubectl's own check
	run --separate-stderr kubectl create --dry-run=server --validate=false -f indexed.yaml -o json
	[ "$status" = 0 ]
	[ "$(jq -c 'select(.kind == "Service") | [.spec.clusterIP, .spec.publishNotReadyAddresses]' <<<"$output")" = '["None",true]' ]
	jq 'select(.kind == "Job") | .spec' <<<"$output" >spec.json
	[ "$(jq -c '[.completions, .parallelism, .template.spec.subdomain, .template.spec.containers[0].resources]' spec.json)" = \
		"$(python3 -c 'import json, yaml
spec = [d for d in yaml.safe_load_all(open("indexed.yaml")) if d["kind"] == "Job"][0]["spec"]
pod = spec["template"]["spec"]
print(json.dumps([spec["completions"], spec["parallelism"], pod["subdomain"], pod["containers"][0].get("resources", {})], separators=(",", ":")))')" ]
	grep -q 'completionMode: Indexed' indexed.yaml
	! grep -q completionMode spec.json
}

@test "jobs of MPI and sets of Jobs are accepted, and no password stands in a file" {
	ringup run -d --on kubernetes --launcher mpirun -n 2 --name ring -- true
	kubectl get "$(jq -r .id .ringup/jobs/ring/job.json)"
	ringup run -d --on kubernetes --launcher env --kind jobset -n 2 --name set -- true
	kubectl get "$(jq -r .id .ringup/jobs/set/job.json)"
	ringup stop ring set
}

# measures WORD...: bench in the background; its two pods run the worker for real.
measures() {
	local label=jobset.sigs.k8s.io/jobset-name rank
	rm -rf .ringup/jobs/bench
	ringup --json bench --on kubernetes --kind jobset --nodes 2 --ppn 1 -- -b 1K -e 4K -n 2 "$@" >bench.json 2>bench.err 3>&- 4>&- &
	FOLLOWER=$!
	submitted bench
	for rank in 0 1; do
		pod bench $label "$(object bench)-node-0-$rank-abcde" "node0$((rank + 1))"
		works "$(object bench)-node-0-$rank-abcde" $rank 3>&- 4>&- &
		WORKER[rank]=$!
	done
}

# ended: the worker's ranks, their pods, and with them the job; the command's status is $status.
ended() {
	local rank all=0
	for rank in 0 1; do
		status=0
		wait "${WORKER[rank]}" || status=$?
		((all |= status)) || true
		pod_ends "$(object bench)-node-0-$rank-abcde" "$status"
	done
	if [ "$all" = 0 ]; then
		job_is bench Completed AllJobsCompleted
	else
		job_is bench Failed FailedJobs
	fi
	status=0
	wait $FOLLOWER || status=$?
}

@test "bench judges the report of its first pod, whose log has long lines in pieces" {
	PIECE=200 measures
	ended
	[ "$status" = 0 ]
	[ "$(jq -r .verdict bench.json)" = pass ]
	[ "$(jq '[.ranks[].host] | unique | length' bench.json)" = 2 ]
	# each pod has told what it is, so there is an expectation, or a reason why there is none
	[[ $(jq -r .expected.because bench.json) == "lo of "*" is virtual,"* ]]
	grep -q ' stdout P ' "$KUBE/logs/$(object bench)-node-0-0-abcde.log"
	! grep -q "$(kubectl get secret "$(object bench)-secret" -o jsonpath='{.data.secret}' | base64 -d)" -r .ringup/jobs/bench
	ringup stop bench
	measures --fault-inject corrupt:1
	ended
	[ "$status" = 5 ]
	[[ $(jq -r .reason bench.json) == *"$(object bench)-node-0-1-abcde"* ]]
	ringup stop bench
}

@test "bench reads a report while its pod is there, since a job that fails may delete it" {
	measures
	pod_runs "$(object bench)-node-0-0-abcde"
	wait "${WORKER[@]}"
	kube_wait grep -q '"failure": ' .ringup/jobs/bench/rank-0.log
	kubectl delete pod --force --grace-period=0 "$(object bench)-node-0-0-abcde"
	job_is bench Completed AllJobsCompleted
	wait $FOLLOWER
	[ "$(jq -r .verdict bench.json)" = pass ]
	ringup stop bench
}

@test "status shows nodes and what their GPUs are used for" {
	run ringup status --on kubernetes
	has "node01"
	has "H100"
	[ "$(ringup --json status --on kubernetes | jq '[.nodes[].gpus] | add')" = 16 ]
	[ "$(ringup --json status --on kubernetes | jq '[.nodes[].gpus_used] | add >= 4')" = true ]
	kubectl config use-context guest@lab >&2
	run -1 ringup status --on kubernetes
	kubectl config use-context lab >&2
	has 'cannot list resource "nodes"'
}
