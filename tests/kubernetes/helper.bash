# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A real kube-apiserver with its etcd in the folder $KUBE: it validates, authorises and keeps objects as every cluster does.
# It has no controllers and no nodes. What these would write, the test writes (pod, pod_is, job_is), and kubelet.py serves
# logs in place of the nodes.

# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"

kube_start() {
	local server n
	server=$("$BATS_TEST_DIRNAME/apiserver.sh")
	KUBE=$(mktemp -d)
	KUBE_PORT=$((20000 + $$ % 1000 * 8))
	export KUBE KUBECONFIG=$KUBE/config
	etcd --data-dir "$KUBE/etcd" --listen-client-urls "http://127.0.0.1:$KUBE_PORT" --advertise-client-urls \
		"http://127.0.0.1:$KUBE_PORT" --listen-peer-urls "http://127.0.0.1:$((KUBE_PORT + 1))" >"$KUBE/etcd.log" 2>&1 3>&- 4>&- &
	echo $! >"$KUBE/pids"
	openssl genrsa -out "$KUBE/account.key" 2048 2>/dev/null
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=node -keyout "$KUBE/key" -out "$KUBE/certificate" 2>/dev/null
	mkdir "$KUBE/logs"
	cat "$KUBE/key" "$KUBE/certificate" >"$KUBE/logs/kubelet.pem"
	printf 'strong,admin,1,system:masters\nweak,guest,2\n' >"$KUBE/tokens"
	"$server" --etcd-servers="http://127.0.0.1:$KUBE_PORT" --cert-dir="$KUBE" --bind-address=127.0.0.1 \
		--secure-port=$((KUBE_PORT + 2)) --insecure-port=0 --token-auth-file="$KUBE/tokens" --authorization-mode=RBAC \
		--service-account-key-file="$KUBE/account.key" --service-account-signing-key-file="$KUBE/account.key" \
		--service-account-issuer=https://lab --service-cluster-ip-range=10.96.0.0/16 \
		--disable-admission-plugins=ServiceAccount >"$KUBE/server.log" 2>&1 3>&- 4>&- &
	echo $! >>"$KUBE/pids"
	"$BATS_TEST_DIRNAME/kubelet.py" "$KUBE/logs" >"$KUBE/kubelet.log" 2>&1 3>&- 4>&- &
	echo $! >>"$KUBE/pids"
	cat >"$KUBECONFIG" <<-EOT
		apiVersion: v1
		kind: Config
		current-context: lab
		clusters: [{name: lab, cluster: {server: "https://127.0.0.1:$((KUBE_PORT + 2))", insecure-skip-tls-verify: true}}]
		users: [{name: admin, user: {token: strong}}, {name: guest, user: {token: weak}}]
		contexts: [{name: lab, context: {cluster: lab, user: admin}}, {name: "guest@lab", context: {cluster: lab, user: guest}}]
	EOT
	kube_wait kubectl get --raw /readyz
	"$BATS_TEST_DIRNAME/crds.py" | kubectl create -f - >&2
	kube_wait kubectl get pytorchjobs,mpijobs,jobsets
	kube_wait test -e "$KUBE/logs/port"
	for n in node01 node02; do
		printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {nvidia.com/gpu.product: H100}}\n' $n | kubectl create -f - >&2
		kubectl patch node "$n" --subresource=status --type=merge -p '{"status": {
			"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
			"daemonEndpoints": {"kubeletEndpoint": {"Port": '"$(cat "$KUBE/logs/port")"'}},
			"conditions": [{"type": "Ready", "status": "True"}],
			"allocatable": {"cpu": "64", "nvidia.com/gpu": "8", "pods": "10"}}}' >&2
	done
}

# The processes of kube_start, the last one first.
kube_end() {
	local pid
	[ -n "${KUBE:-}" ] || return 0
	tac "$KUBE/pids" | while read -r pid; do
		kill "$pid" || true
		tail --pid="$pid" -f /dev/null
	done
	rm -rf "$KUBE"
}

# kube_wait WORD...: until the command succeeds.
kube_wait() {
	local tries
	for tries in {1..300}; do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	echo "it did not come to that: $* ($tries tries)"
	return 1
}

# object JOB: the name of its object in the cluster.
object() {
	jq -r '.id | split("/")[1]' ".ringup/jobs/$1/job.json"
}

# submitted JOB: until it is in the cluster.
submitted() {
	kube_wait test -e ".ringup/jobs/$1/kubernetes.json"
	kube_wait jq -e .id ".ringup/jobs/$1/job.json"
}

# pod JOB LABEL NAME [NODE]: makes a pod as an operator and the scheduler would.
pod() {
	kubectl create -f - >&2 <<-EOT
		apiVersion: v1
		kind: Pod
		metadata: {name: "$3", labels: {$2: "$(object "$1")"}}
		spec: {${4:+nodeName: $4,} containers: [{name: pytorch, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}
	EOT
}

# pod_is NAME STATUS: what the kubelet would write.
pod_is() {
	kubectl patch pod "$1" --subresource=status --type=merge -p "{\"status\": $2}" >&2
}

# pod_runs, pod_waits NAME REASON MESSAGE and pod_ends NAME STATUS [REASON]
pod_runs() {
	pod_is "$1" '{"phase": "Running", "containerStatuses": [{"name": "pytorch", "image": "x", "imageID": "", "ready": true,
		"restartCount": 0, "state": {"running": {"startedAt": "2026-11-25T12:00:00Z"}}}]}'
}

pod_waits() {
	pod_is "$1" '{"phase": "Pending", "containerStatuses": [{"name": "pytorch", "image": "x", "imageID": "", "ready": false,
		"restartCount": 0, "state": {"waiting": {"reason": "'"$2"'", "message": "'"$3"'"}}}]}'
}

pod_ends() {
	local phase=Succeeded
	[ "$2" = 0 ] || phase=Failed
	touch "$KUBE/logs/$1.end"
	pod_is "$1" '{"phase": "'$phase'", "containerStatuses": [{"name": "pytorch", "image": "x", "imageID": "", "ready": false,
		"restartCount": 0, "state": {"terminated": {"exitCode": '"$2"', "reason": "'"${3:-Error}"'",
		"finishedAt": "2026-11-25T12:00:09Z"}}}]}'
}

# job_is JOB TYPE REASON: a condition, as its controller would write it.
job_is() {
	kubectl patch "$(jq -r '.id' ".ringup/jobs/$1/job.json")" --subresource=status --type=merge \
		-p "{\"status\": {\"conditions\": [{\"type\": \"$2\", \"status\": \"True\", \"reason\": \"$3\", \"message\": \"as the test says\"}]}}" >&2
}

# works POD RANK: the command of the JobSet's pods runs here in place of there, with the job's own secret; its log is the pod's.
works() {
	local words
	mapfile -d '' -t words < <(kubectl get jobset "$(object bench)" -o json |
		jq -j '.spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[] + "\u0000"')
	words=("${words[@]//'$$'/'$'}") # as the kubelet does
	RINGUP_SECRET=$(kubectl get secret "$(object bench)-secret" -o jsonpath='{.data.secret}' | base64 -d) \
		RANK=$2 LOCAL_RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((KUBE_PORT + 4)) \
		"${words[@]}" --host "$1" 2>&1 | "$BATS_TEST_DIRNAME/cri.py" "${PIECE:-16384}" >"$KUBE/logs/$1.log"
	return "${PIPESTATUS[0]}"
}

# prints POD SECOND TEXT
prints() {
	printf '2026-11-25T12:00:%s.000000001Z stdout F %s\n' "$2" "$3" >>"$KUBE/logs/$1.log"
}
