#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup export: the files are those of tests/golden/export (UPDATE_GOLDEN=1 writes them anew), and Kubernetes' own
# schemas know every field of them.

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
		  volumes: ["/data:/data:ro", "scratch:/scratch"]
		  ulimits: {memlock: "-1", nofile: "1024:4096"}
		jobs:
		  plain: {command: [python3, train.py, "--lr=$(LR)", "a: b", "yes"], ppn: 2, env: {FLAG: "on"}}
		  ring: {command: "python3 ring.py && date", launcher: mpirun, ppn: 8, limit: 3600, retries: 2}
		  torch: {command: "torchrun train.py --epochs 3", ppn: 8, gpus: 1}
		  parts: {command: [python3, ps.py], launcher: tf, ppn: 2, roles: "chief=1,worker=2,ps=1"}
	END
}

# gpu_hosts: two hosts with GPUs and InfiniBand, as a probe saw them, and a stack for them.
gpu_hosts() {
	sed -i 's/stack: .*/stack: ["nccl"]/' cluster.yaml
	mkdir -m 700 .ringup
	python3 - >.ringup/facts.json <<-'END'
		import json
		facts = {"os": "ubuntu22.04", "kernel": "5.15", "arch": "x86_64", "driver": "550.54.15", "engine": "docker",
		         "gpus": ";".join(["NVIDIA H100 80GB HBM3"] * 8), "gpu_uuids": ";".join(f"GPU-{i}" for i in range(8)),
		         "runtime_gpu": "1.16", "infiniband": "mlx5_0;mlx5_1"}
		print(json.dumps({"schema": 1, "hosts": [dict(facts, host=f"node0{i}") for i in (1, 2)]}))
	END
	unset RINGUP_CATALOG # the tests' own has no GPUs
	ringup -q resolve
}

# same NAME FILE: the file is the golden one.
same() {
	local golden=$ROOT/tests/golden/export/$1
	[ -z "${UPDATE_GOLDEN:-}" ] || cp "$2" "$golden"
	diff -u "$golden" "$2"
}

# kubernetes NAME WORD...: exports, compares, and checks the fields.
kubernetes() {
	local name=$1
	shift
	apart ringup export kubernetes --image "$IMAGE" "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	same "$name" ../out
	python3 "$ROOT/tests/cli/manifests.py" ../out
}

@test "Kubernetes on CPUs: an Indexed Job, an MPIJob, a PyTorchJob, a TFJob, and ringup's worker in two of them" {
	echo 'accelerator: cpu' >>cluster.yaml
	kubernetes plain.yaml plain
	kubernetes mpi.yaml ring
	kubernetes torch.yaml torch
	grep -q 'the stack is for CPUs: no rank gets the GPUs of its own (1)' ../err
	kubernetes tf.yaml parts
	# a role that stands there again is the same set of pods
	sed 's/worker=2,ps=1/worker=1,ps=1,worker=1/' cluster.yaml >again.yaml
	ringup -f again.yaml export kubernetes --image "$IMAGE" parts | tail -n +2 | diff - <(tail -n +2 "$ROOT/tests/golden/export/tf.yaml")
	kubernetes bench.yaml
	kubernetes bench-mpi.yaml --launcher mpirun
	grep -q -- '- --lr=\$\$(LR)' "$ROOT/tests/golden/export/plain.yaml" # no variable of Kubernetes
}

@test "Kubernetes with GPUs: resources, shared memory, RDMA, nodes like those that the probe saw" {
	gpu_hosts
	kubernetes torch-gpu.yaml torch
	kubernetes mpi-gpu.yaml ring
	kubernetes job-gpu.yaml --kind job --nodes 16 torch
	kubernetes jobset.yaml --kind jobset --set keep=600 --set queue=team ring --launcher torchrun
	kubernetes trainjob.yaml --kind trainjob torch
	kubernetes settings.yaml --set namespace=ml --set queue=team --set gang=volcano --set priority=high --set user=1000 \
		--set pull-secret=registry --set gpu-resource=nvidia.com/mig-1g.10gb --set node=pool=train --set cpu=32 \
		--set memory=512Gi --set keep=600 --set group=1000 --set env-secret=tokens --set node=c/d=e \
		--set tolerate=x --set tolerate=y --set rdma-resource=vpc.amazonaws.com/efa=4 --nodes 2 --ppn 1 \
		--set label=team=vision --set label=example.com/cost-center=42 --set annotation=sidecar.istio.io/inject=false \
		--set 'annotation=note=one: "two", three' --set service-account=trainer plain
	sed 's/^container:/&\n  capabilities: [compute, video]/' cluster.yaml >video.yaml
	[ "$(ringup -f video.yaml export kubernetes --image "$IMAGE" ring | grep -A1 -F NVIDIA_DRIVER_CAPABILITIES | tail -1)" = \
		"                  value: compute,video" ]
	[ "$(ringup -f video.yaml export kubernetes --image "$IMAGE" -e NVIDIA_DRIVER_CAPABILITIES=all torch | grep -c -A1 -F NVIDIA_DRIVER_CAPABILITIES)" = 3 ]
	kubernetes claim.yaml --set claim=eight-h100 ring
	apart ringup export kubernetes --image "$IMAGE" --kind trainjob --set claim=eight-h100 torch
	says 2 "trainjob has no place for it"
	# of 2 GPUs for each rank of mpirun the fourth has the last two
	apart ringup export kubernetes --image "$IMAGE" --launcher mpirun --gpus 2 --ppn 4 --nodes 2 -- printenv CUDA_VISIBLE_DEVICES
	mapfile -d '' -t words < <(python3 -c 'import yaml
job = list(yaml.safe_load_all(open("../out")))[-1]
words = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"]
print(*[w.replace("$$", "$") for w in words[words.index("8") + 1 :]], sep="\0", end="\0")')
	[ "$(OMPI_COMM_WORLD_LOCAL_RANK=3 "${words[@]}")" = 6,7 ]
	apart ringup export kubernetes --image "$IMAGE" --set gpu-resource=nvidia.com/mig-1g.10gb --nodes 2 --ppn 7 plain
	says 2 "a process uses one MIG device" "take --ppn 1 --nodes 14"
	apart ringup export kubernetes --image "$IMAGE" --set queue=team torch
	grep -q '^    kueue.x-k8s.io/queue-name: team$' ../out
}

@test "Kubernetes: labels and annotations are checked, and none is there twice" {
	local wrong
	while read -r wrong; do
		apart ringup export kubernetes --image "$IMAGE" --set "${wrong%%|*}" plain
		says 2 "--set ${wrong%%|*}: ${wrong#*|}"
	done <<-'END'
		label=team|KEY=VALUE is needed
		label==x|KEY=VALUE is needed
		label=a/=x|KEY=VALUE is needed
		label=a/b/c=x|KEY=VALUE is needed
		annotation=a b=x|KEY=VALUE is needed
		label=team=a/b|a label's value has at most 63 letters
		label=team=-x|a label's value has at most 63 letters, digits and ._-, and begins and ends with a letter or a digit
		label=.team=x|KEY=VALUE is needed
		label=app.kubernetes.io/part-of=x|ringup writes it, by the name in cluster.yaml
		label=kueue.x-k8s.io/queue-name=x|ringup writes it, by --set queue=NAME
	END
	apart ringup export kubernetes --image "$IMAGE" --set label=team=a --set label=team=b plain
	says 2 "the key is given twice"
	apart ringup export kubernetes --image "$IMAGE" --set $'annotation=a=x\ny' plain
	says 2 "control characters are not allowed"
	apart ringup export kubernetes --image "$IMAGE" --kind trainjob --set label=team=a torch
	[ "$status" -eq 0 ]
	grep -q '^    team: a$' ../out
}

@test "Kubernetes: what an API server would refuse is refused before it is written" {
	local wrong volume
	while read -r wrong; do
		apart ringup export kubernetes --image "$IMAGE" --set "${wrong%%|*}" plain
		says 2 "--set ${wrong%%|*}: ${wrong#*|}"
	done <<-'END'
		gpu-resource=|a resource is needed, as nvidia.com/gpu
		gpu-resource=gpu|a resource is needed
		rdma-resource=|NAME or NAME=COUNT is needed
		rdma-resource=rdma/x=|NAME or NAME=COUNT is needed
		rdma-resource=rdma/ib=0|NAME or NAME=COUNT is needed, COUNT from 1
		namespace=ML|a namespace has small letters
		namespace=a.b|a namespace has small letters
		queue=-team|a queue has small letters
		priority=a..b|a PriorityClass has
		pull-secret=my_login|a Secret has small letters
		node==x|LABEL=VALUE is needed
		node=pool=-x|LABEL=VALUE is needed
		tolerate=a/b/c|KEY[=VALUE][:EFFECT] of a taint is needed
		tolerate=a=b:Never|KEY[=VALUE][:EFFECT] of a taint is needed
		tolerate=a:|KEY[=VALUE][:EFFECT] of a taint is needed
		tolerate=:NoSchedule|KEY[=VALUE][:EFFECT] of a taint is needed
		cpu=many|a number of processors is needed
		cpu=0|a number of processors is needed
		memory=lots|a size is needed, as 64Gi
		memory=64g|a size is needed, as 64Gi
		user=root|a number is needed
	END
	while read -r volume wrong; do
		sed "s#^  volumes: .*#  volumes: [\"/data:/data:ro\", \"$volume\"]#" cluster.yaml >volumes.yaml
		apart ringup -f volumes.yaml export kubernetes --image "$IMAGE" plain
		says 2 "container.volumes: $volume: $wrong"
	done <<-'END'
		My_Data:/scratch 'My_Data' can be no PersistentVolumeClaim
		/other:/data/ another volume has that path in the container
		/ram:/dev/shm the pods have their shared memory at /dev/shm
	END
	# of two paths one may begin as the other
	sed 's#^  volumes: .*#  volumes: ["/data:/data:ro", "/more:/data2", "/less:/dat"]#' cluster.yaml >volumes.yaml
	ringup -f volumes.yaml export kubernetes --image "$IMAGE" plain >out
	grep -q '/data2' out
	ringup export kubernetes --image "$IMAGE" --set namespace= --set cpu=1500m --set memory=1.5Gi --set node=pool --set rdma-resource=rdma/x=2 plain >out
	python3 "$ROOT/tests/cli/manifests.py" out
	# what is asked for is not more than the limit
	sed 's/^container:/&\n  cpus: 8/' cluster.yaml >cpus.yaml
	[ "$(ringup -f cpus.yaml export kubernetes --image "$IMAGE" --set cpu=16 plain | grep -c '^ *cpu: "16"$')" = 2 ]
	[ "$(ringup -f cpus.yaml export kubernetes --image "$IMAGE" --set cpu=500m plain | grep -c '^ *cpu: "8"$')" = 1 ]
	# without a queue there is no policy of one
	[ "$(ringup export kubernetes --image "$IMAGE" --set gang=volcano torch | grep -c schedulingPolicy)" = 0 ]
	ringup export kubernetes --image "$IMAGE" --set gang=volcano --set queue=team torch | grep -A1 schedulingPolicy | grep -xF '      queue: team'
}

@test "Kubernetes: a size of Docker's is a quantity of Kubernetes's" {
	local size quantity
	sed -i 's/^container:/&\n  shm_size: SIZE/' cluster.yaml
	while read -r size quantity; do
		sed "s/SIZE/$size/" cluster.yaml >sized.yaml
		apart ringup -f sized.yaml export kubernetes --image "$IMAGE" plain
		grep -q "sizeLimit: \"*$quantity\"*\$" ../out || { echo "$size"; grep sizeLimit ../out ../err; return 1; }
	done <<<"8g 8Gi
		1.5g 1.5Gi
		1.5GB 1.5Gi
		512m 512Mi
		1073741825 1073741825
		2048b 2048
		99999999999999t 99999999999999Ti"
}

@test "Compose: all ranks of a job in one container" {
	# whoever asks for GPUs gets them, also where nobody has probed
	apart ringup export compose --image "$IMAGE" torch
	grep -q 'count: 8' ../out
	sed 's/^container:/&\n  gpus: none/' cluster.yaml >none.yaml
	apart ringup -f none.yaml export compose --image "$IMAGE" torch
	says 2 "container.gpus is none, and each rank is to have GPUs of its own (1)"
	# GPUs that the file names are those that the container gets, with the driver's capabilities
	sed 's/^container:/&\n  gpus: "2,3,7"\n  capabilities: [compute, video]/' cluster.yaml >named.yaml
	echo 'accelerator: cuda' >>named.yaml
	ringup -f named.yaml export compose --image "$IMAGE" plain >out
	grep -qF '{driver: nvidia, device_ids: ["2", "3", "7"], capabilities: [gpu, compute, video]}' out
	ringup -f named.yaml export compose --image "$IMAGE" --ppn 2 torch >out
	grep -qF 'device_ids: ["2", "3"]' out
	apart ringup -f named.yaml export compose --image "$IMAGE" torch
	says 2 "the ranks are to have 8 GPUs of their own in all, and the cluster file names 3 (gpus: 2,3,7)"
	sed 's/^hosts:.*/hosts: [{address: a, gpus: "device=5"}]/' named.yaml >host.yaml
	ringup -f host.yaml export compose --image "$IMAGE" plain >out
	grep -qF 'device_ids: ["5"]' out
	# what fails is started again, and who starts it ends what takes too long
	ringup export compose --image "$IMAGE" ring >out
	grep -qxF '    restart: on-failure:2' out
	grep -qxF '#   timeout 3600 docker compose -f compose.yaml up --exit-code-from ring' out
	echo 'accelerator: cpu' >>cluster.yaml
	for job in plain ring torch; do
		apart ringup export compose --image "$IMAGE" "$job"
		[ "$status" -eq 0 ]
		same "compose-$job.yaml" ../out
	done
	apart ringup export compose --image "$IMAGE" parts
	says 2 "need an address each"
}

@test "-o DIR: all files, the same bytes each time; --json has them too" {
	apart ringup export kubernetes --image "$IMAGE" -o deploy plain
	[ "$(cat ../out)" = "$(printf 'deploy/%s\n' plain.yaml kustomization.yaml)" ]
	same kustomization.yaml deploy/kustomization.yaml
	grep -q 'No namePrefix and no nameSuffix' deploy/kustomization.yaml
	ringup export kubernetes --image "$IMAGE" --name other plain >out
	[ "$(grep -cE '^  name: other$|job-name: other$|subdomain: other$|value: other-0.other$' out)" = 5 ]
	cp -a deploy before
	ringup -q export kubernetes --image "$IMAGE" -o deploy plain >/dev/null
	diff -r deploy before
	apart ringup --json export kubernetes --image "$IMAGE" plain
	json "[f['name'] for f in d['files']] == ['plain.yaml', 'kustomization.yaml'] and d['ranks'] == 4 and d['nodes'] == 2"
	json "d['files'][0]['text'] == open('deploy/plain.yaml').read()"
}

@test "what the cluster file limits goes along, options of volumes count, and long names stay apart" {
	echo 'accelerator: cpu' >>cluster.yaml
	sed -i 's#volumes: .*#volumes: ["/data:/data:z,ro", "scratch:/scratch"]\n  memory: 64g\n  cpus: 8#' cluster.yaml
	ringup export kubernetes --image "$IMAGE" plain >out
	python3 "$ROOT/tests/cli/manifests.py" out
	grep -A1 -F 'mountPath: /data' out | grep -F 'readOnly: true'
	grep -A3 -F 'limits:' out | grep -F 'memory: "64Gi"'
	grep -A3 -F 'limits:' out | grep -F 'cpu: "8"'
	ringup export compose --image "$IMAGE" plain >out
	grep -F 'mem_limit: "64g"' out
	ringup export slurm --set container=none plain | grep -F '#SBATCH --mem=65536M'
	# two names that differ at their end; the token is where the pods read it, and in no comment
	for end in a b; do
		ringup export kubernetes --image "$IMAGE" --kind jobset --name "a-name-of-more-characters-than-44-which-nobody-types-$end" \
			-e TOKEN=tok123 -- ./x
	done >out
	[ "$(grep -E '^  name: ' out | sort -u | wc -l)" = 2 ]
	! grep -E '^  name: .{46}' out
	[ "$(grep -c tok123 out)" = 2 ]
	# who names RDMA gets it, and its right to pin memory, without a probe; a TrainJob has no place for variables of a Secret
	ringup export kubernetes --image "$IMAGE" --set rdma-resource=rdma/ib=2 plain >out
	grep -F 'rdma/ib: 2' out
	grep -xE ' *add: \[IPC_LOCK\]' out
	ringup export kubernetes --image "$IMAGE" --set rdma-resource=rdma/ib=2 --set user=1000 plain | grep -F "add: [IPC_LOCK] # root's alone: for another user the nodes' limit of memlock counts"
	apart ringup export kubernetes --image "$IMAGE" --launcher torchrun --kind trainjob --set env-secret=tokens -- ./x
	says 2 "trainjob has no place for it"
	apart ringup export kubernetes --image "$IMAGE" --set quene=team plain
	says 2 "did you mean 'queue'?"
	retries=$(sed 's/plain: {/&retries: 2, launcher: torchrun, /' cluster.yaml >retry.yaml; ringup -f retry.yaml export kubernetes --image "$IMAGE" --nodes 4 plain)
	grep -F 'backoffLimit: 8 # the operator counts the restarts of all 4 pods together' <<<"$retries"
	sed -i 's/plain: {/&workdir: "\/my code", launcher: torchrun, /' cluster.yaml
	ringup export kubernetes --image "$IMAGE" --kind trainjob plain | grep -A1 'cd .* && exec ' | grep -F '/my code'
}

@test "any text comes out of the YAML as it went in" {
	cat >values.py <<-'END'
		import re, subprocess, sys, yaml
		values = ["", "yes", "NO", "1", "0x1f", "1e3", "12:30", "~", "- a", "-", "--", "---", "a: b", "a #b", "#", "'", '"', "\\n",
		          "a\nb\n", "a\n\nb\n", " a\nb\n", "a\n", "a\n\n", "\t", "\x7f", "\x01", "é", "$HOME", "$(A)", "$$", "$$(B)", "$$$", "{a}", "[a]",
		          "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "?", "null", ".5", ".", "..", "+1", "=", "<<", "2026-01-01", "a\\", "a:"]
		words = [w for i, v in enumerate(values) for w in ("-e", f"V{i}={v}")]
		def out(engine):
		    text = subprocess.run(["ringup", "export", engine, "--image", sys.argv[1], "-n", "1", *words, "--", "./x", *values],
		                          stdout=subprocess.PIPE, check=True).stdout
		    return list(yaml.safe_load_all(text))
		service = out("compose")[0]["services"]["job"]
		back = lambda text: text.replace("$$", "$")
		assert [back(w) for w in service["command"]] == ["./x", *values], service["command"]
		for i, v in enumerate(values):
		    assert back(service["environment"][f"V{i}"]) == v, (v, service["environment"][f"V{i}"])
		pod = out("kubernetes")[1]["spec"]["template"]["spec"]["containers"][0]
		env = {e["name"]: e.get("value") for e in pod["env"]}
		kube = lambda text: re.sub(r"\$(?:\$|\(([^)]*)\))", lambda m: "$" if m[1] is None else "WRONG", text)
		assert [kube(w) for w in pod["command"]] == ["./x", *values], pod["command"]
		for i, v in enumerate(values):
		    assert kube(env[f"V{i}"]) == v, (v, env[f"V{i}"])
	END
	python3 values.py "$IMAGE"
}

# pod_script RANKS JOB|-- COMMAND...: the program of a pod with so many ranks, as process 1 of its own, as in a container
pod_script() {
	local ranks=$1
	apart ringup export kubernetes --image "$IMAGE" --name 3d --launcher env --nodes 1 --ppn "$ranks" "${@:2}"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	grep -q '^  name: job-3d$' ../out # a Service's name begins with a letter
	mapfile -d '' -t words < <(python3 -c 'import yaml
job = list(yaml.safe_load_all(open("../out")))[-1]
words = job["spec"]["template"]["spec"]["containers"][0]["command"]
print(*[w.replace("$$", "$") for w in words], sep="\0", end="\0")')
	# (it signals its process group, which is not that of the tests)
	RANK=0 NODE_RANK=0 WORLD_SIZE=$ranks LOCAL_WORLD_SIZE=$ranks setsid --wait unshare --pid --fork --kill-child "${words[@]}" 3>&-
}

# pod_rank: train.py, a rank that saves a checkpoint on TERM; that of the number that it is given fails with 7.
pod_rank() {
	cat >train.py <<-'END'
		import os, signal, sys, time
		rank = os.environ["RANK"]
		def save(*_):
		    time.sleep(0.5)
		    open(f"saved-{rank}", "a").write("once\n")
		    sys.exit(0)
		signal.signal(signal.SIGTERM, save)
		open(f"begun-{rank}", "w")
		while len([f for f in os.listdir(".") if f.startswith("begun-")]) < int(os.environ["WORLD_SIZE"]): time.sleep(0.02)
		if sys.argv[1:] == [rank]: sys.exit(7)
		time.sleep(300)
	END
}

@test "a command that is a text gets TERM, and time to write a checkpoint; what stands behind it does not begin" {
	pod_rank
	echo "  text: {command: \"python3 $PWD/train.py; echo >behind\"}" >>cluster.yaml
	for ranks in 1 2; do
		(pod_script $ranks text) &
		until [ -e begun-0 ] && [ -e begun-$((ranks - 1)) ]; do sleep 0.05; done
		pkill -TERM -P "$(pgrep -f "^unshare --pid .*$PWD/train.py")"
		status=0
		wait $! || status=$?
		[ "$status" -eq 143 ]
		[ "$(cat saved-*)" = "$(yes once | head -n $ranks)" ]
		[ ! -e behind ]
		rm begun-* saved-*
	done
	echo "  fails: {command: \"sh -c 'exit 7'; exit\"}" >>cluster.yaml
	for ranks in 1 2; do
		status=0
		(pod_script $ranks fails) || status=$?
		[ "$status" -eq 7 ]
	done
}

@test "a pod's ranks get TERM, and time to write a checkpoint; a rank that fails ends them with its status" {
	pod_rank
	(pod_script 3 -- python3 "$PWD/train.py") &
	until [ -e begun-0 ] && [ -e begun-1 ] && [ -e begun-2 ]; do sleep 0.05; done
	pkill -TERM -P "$(pgrep -f "^unshare --pid .*$PWD/train.py")"
	status=0
	wait $! || status=$?
	[ "$status" -eq 143 ]
	[ "$(cat saved-0 saved-1 saved-2)" = "once
once
once" ]
	rm begun-* saved-*
	status=0
	(pod_script 3 -- python3 "$PWD/train.py" 1) || status=$?
	[ "$status" -eq 7 ]
	[ -e saved-0 ] && [ ! -e saved-1 ] && [ -e saved-2 ]
}

@test "a job's grace: what ends its ranks waits so long, and the engine a little longer" {
	sed -i 's/plain: {/&grace: 300, /; s/ring: {/&grace: 60, /' cluster.yaml
	echo 'accelerator: cpu' >>cluster.yaml
	ringup export kubernetes --image "$IMAGE" plain >out
	python3 "$ROOT/tests/cli/manifests.py" out
	grep -qF 'sleep 300; kill -KILL -1' out
	grep -qF 'terminationGracePeriodSeconds: 305' out
	ringup export compose --image "$IMAGE" plain >out
	grep -qF 'sleep 300; kill -KILL -1' out
	grep -qF 'stop_grace_period: 305s' out
	ringup export kubernetes --image "$IMAGE" ring >out
	python3 "$ROOT/tests/cli/manifests.py" out
	[ "$(grep -cF 'terminationGracePeriodSeconds: 65' out)" = 2 ]
	grep -A1 'name: OMPI_MCA_odls_base_sigkill_timeout' out | grep -F '"60"'
	ringup export slurm --set container=none plain | grep -F "grace (300 s) is not Slurm's: KillWait"
	[ "$(ringup export slurm --set container=none --set signal=TERM@300 plain | grep -c KillWait)" = 0 ]
}

@test "what cannot be exported is said, with what to do instead" {
	printf 'name: bare\nhosts: [a]\ncontainer: {engine: none}\n' >none.yaml
	apart ringup export nomad
	says 2 "'nomad' is nothing that ringup exports to" kubernetes compose
	apart ringup export kubernetes
	says 2 "ringup.lock names no image" "ringup push"
	apart ringup -f none.yaml export compose
	says 2 "container.engine is none" "--image HOST/NAME@sha256:..."
	apart ringup export kubernetes --image "$IMAGE" --launcher tf
	says 2 "ringup's worker does not know roles"
	apart ringup export kubernetes --image registry.example:5000/team/lab:1 plain
	says 2 "has no digest" "ringup inspect registry.example:5000/team/lab:1"
	apart ringup export kubernetes --image "$IMAGE" plian
	says 2 "has no job 'plian'" "plain, ring, torch, parts" "-- plian"
	ringup export slurm --set container=none -- plian | grep -xF $'\texec "$@"\' rank plian' # said to be a program
	apart ringup export kubernetes --image "$IMAGE" --kind cronjob plain
	says 2 "--kind cronjob" mpijob pytorchjob tfjob
	apart ringup export kubernetes --image "$IMAGE" --kind trainjob plain
	says 2 "--kind trainjob cannot start the ranks of the launcher 'env'" "--kind job"
	apart ringup export kubernetes --image "$IMAGE" --kind trainjob --set user=1000 torch
	says 2 "--set user=1000: trainjob has no place for it; its runtime says it"
	apart ringup export kubernetes --image "$IMAGE" --set runtime=mine torch
	says 2 "--set runtime=mine: pytorchjob has no place for it"
	apart ringup export kubernetes --image "$IMAGE" --kind tfjob plain
	says 2 "--kind tfjob cannot start the ranks of the launcher 'env'" "--kind job"
	apart ringup export kubernetes --image "$IMAGE" --set colour=red plain
	says 2 "--set colour=red" "pull-secret"
	apart ringup export kubernetes --image "$IMAGE" --set $'namespace=a\nkind: Secret' plain
	says 2 "letters, digits and ._/=- are allowed"
	apart ringup export kubernetes --image "$IMAGE" --set user=1000 ring
	says 2 "needs root in its container"
	apart ringup export kubernetes --image "$IMAGE" --launcher horovodrun-gloo plain
	says 2 "nothing that another engine could start" "--launcher mpirun"
	apart ringup export kubernetes --image "$IMAGE" --launcher env -n 40 -- ./x
	says 2 "40 ranks are more than the hosts" "--nodes N"
	apart ringup export kubernetes --image "$IMAGE" --nodes 3 -n 7 --ppn 2 torch
	says 2 "7 ranks do not fill 3 nodes"
	apart ringup export kubernetes --image "$IMAGE" --nodes 2 -n 3 --ppn 2 torch
	says 2 "torchrun has as many on every node"
	apart ringup export kubernetes --image "127.0.0.1:5000/lab@${IMAGE#*@}" plain
	says 0 "which no other node reaches" "ringup copy"
}

# field EXPRESSION: it holds for the objects of ../out, with the last one's spec as `spec`
field() {
	python3 -c "
import yaml
objects = list(yaml.safe_load_all(open('../out')))
spec = objects[-1]['spec']
assert $1, yaml.dump(objects)"
}

@test "Kubernetes: what operators make of a job" {
	# mpi-operator: the launcher is made when the workers are ready, so a gang must not wait for it (issue 608)
	apart ringup export kubernetes --image "$IMAGE" --set gang=volcano ring
	field 'spec["runPolicy"]["schedulingPolicy"] == {"minAvailable": 2}'
	# and with Kueue it is made before them (issue 615): it waits itself
	apart ringup export kubernetes --image "$IMAGE" --set queue=q ring
	field '"until said=$(ssh" in spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"][2]'
	# training-operator: without a chief the job would be done with worker 0
	apart ringup export kubernetes --image "$IMAGE" --launcher tf --ppn 2 -- ./x
	field 'spec["successPolicy"] == "AllWorkers"'
	apart ringup export kubernetes --image "$IMAGE" parts
	field '"successPolicy" not in spec'
	# JobSet: the limit is one of the job, and not of each start
	apart ringup export kubernetes --image "$IMAGE" --kind jobset --launcher torchrun ring
	field 'spec["failurePolicy"]["rules"] == [{"name": "limit", "action": "FailJobSet", "onJobFailureReasons": ["DeadlineExceeded"]}]'
	# the runtime of a TrainJob decides what the job says
	apart ringup export kubernetes --image "$IMAGE" --kind trainjob torch
	says 0 "container.shm_size (8g), container.volumes: the runtime torch-distributed of the TrainJob decides these"
	# the kubelet starts no container whose user 0 must not be root
	apart ringup export kubernetes --image "$IMAGE" --set user=0 plain
	field 'spec["template"]["spec"]["containers"][0]["securityContext"]["runAsUser"] == 0'
	field '"runAsNonRoot" not in spec["template"]["spec"]["containers"][0]["securityContext"]'
	apart ringup export kubernetes --image "$IMAGE" --set tolerate=pool=train plain
	field 'spec["template"]["spec"]["tolerations"] == [{"key": "pool", "value": "train"}]'
	# as kubectl writes a taint
	apart ringup export kubernetes --image "$IMAGE" --set tolerate=dedicated=ml:NoSchedule --set tolerate=x:NoExecute plain
	field 'spec["template"]["spec"]["tolerations"] == [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"},
	    {"key": "x", "operator": "Exists", "effect": "NoExecute"}]'
	python3 "$ROOT/tests/cli/manifests.py" ../out
}

@test "one value for each variable: the job's own" {
	local engine
	for engine in kubernetes compose; do
		apart ringup export $engine --image "$IMAGE" -e MASTER_PORT=1234 plain
		[ "$status" -eq 0 ]
		[ "$(grep -c "MASTER_PORT\(: \|$\)" ../out)" -eq 1 ]
		grep -q '"1234"' ../out
	done
}

@test "GPUs that the file names are asked for before anybody has resolved or probed" {
	sed -i 's/hosts: .*/hosts: [{hosts: "node[01-02]", gpus: 8}]/; s/stack: .*/stack: [torch]/; /volumes:/d' cluster.yaml
	unset RINGUP_CATALOG
	apart ringup export slurm --image "$IMAGE" --launcher env -- ./x
	grep -q -- '^#SBATCH --ntasks-per-node=8$' ../out
	grep -q -- '^#SBATCH --gpus-per-node=8$' ../out
	# 13 ranks: 8 on a node at most
	apart ringup export slurm --image "$IMAGE" --launcher env -n 13 -- ./x
	grep -q -- '^#SBATCH --ntasks=13$' ../out
	grep -q -- '^#SBATCH --ntasks-per-node=8' ../out
	! grep -q distribution ../out
	# TensorFlow takes all that it sees
	apart ringup export slurm --image "$IMAGE" --launcher tf --nodes 2 --ppn 2 -- ./x
	grep -q 'export CUDA_VISIBLE_DEVICES=.*SLURM_LOCALID \* 4:4' ../out
	apart ringup export compose --image "$IMAGE" -n 16 --gpus 1 -- ./x
	says 2 "16 GPUs of their own in all, and the cluster file names 8"
	sed -i 's/gpus: 8/gpus: none/; s/stack: .*/stack: [openmpi]/' cluster.yaml
	apart ringup export slurm --image "$IMAGE" --launcher env -- ./x
	[ "$status" -eq 0 ]
	! grep -q gpus ../out
}

@test "deepspeed: its own starter of one node, told the place by the engine" {
	apart ringup export kubernetes --image "$IMAGE" --ppn 2 -- deepspeed --no_local_rank train.py --lr 1
	field 'spec["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["command"][-12:] == ["python3", "-u", "-m",
	    "deepspeed.launcher.launch", "--world_info=eyIwIjpbMCwxXSwiMSI6WzAsMV19", "--node_rank=$(RANK)",
	    "--master_addr=$(MASTER_ADDR)", "--master_port=$(MASTER_PORT)", "--no_local_rank", "train.py", "--lr", "1"]'
	[ "$(base64 -d <<<eyIwIjpbMCwxXSwiMSI6WzAsMV19)" = '{"0":[0,1],"1":[0,1]}' ]
	apart ringup export slurm --set container=none --ppn 2 --launcher deepspeed -- ./train
	grep -q -- 'deepspeed.launcher.launch --world_info=.* --no_python --no_local_rank ./train' ../out
	apart ringup export slurm --set container=none -- deepspeed --include localhost:0 train.py
	says 2 "deepspeed"
}

@test "a job's name is checked, and its length is named" {
	local long
	long=$(printf 'a%.0s' {1..56})
	for command in "export slurm" "run --on slurm --dry-run"; do
		apart ringup $command --name "$long" --launcher env -- ./x
		says 2 "'$long' cannot be a job's name: it takes letters, digits, '.', '_' and '-', 55 at most"
		apart ringup $command --name $'a\n#SBATCH --uid=0' --launcher env -- ./x
		says 2 "cannot be a job's name"
		apart ringup $command --name "${long%a}" --launcher env -- ./x
		[ "$status" -eq 0 ]
	done
}

@test "wrong jobs and settings name their place; a text that starts a launcher is warned of" {
	local wrong
	cat >>cluster.yaml <<-'END'
		  typo: {command: ./x, launcher: torch}
		  foo: {command: ./x, launcher: tf, roles: "foo=1"}
		  piped: {command: "cd x && A=1 torchrun train.py | tee log"}
		  named: {command: "pip list | grep deepspeed; python3 train.py --name torchrun"}
		  rel: {command: ./x, workdir: some/where}
		  none: {command: ./x, env: {UNSET: null, EMPTY: ""}}
	END
	apart ringup export compose --image "$IMAGE" typo
	says 2 "cluster.yaml: the job 'typo': there is no launcher 'torch'"
	apart ringup export compose --image "$IMAGE" foo
	says 2 "cluster.yaml: the job 'foo': " "foo=1"
	apart ringup run typo
	says 2 "cluster.yaml: the job 'typo': there is no launcher 'torch'"
	apart ringup export compose --image "$IMAGE" piped
	says 0 "the job 'piped': its text starts torchrun, once for each rank"
	apart ringup export compose --image "$IMAGE" named
	says 0
	! grep -q 'starts' ../err
	apart ringup export compose --image "$IMAGE" rel
	says 2 "workdir some/where: a container needs an absolute path"
	apart ringup export kubernetes --image "$IMAGE" -e 'A B=x' none
	says 2 "the variable 'A B': Kubernetes takes"
	apart ringup export compose --image "$IMAGE" none
	grep -q 'EMPTY: ""' ../out
	! grep -q UNSET ../out
	while read -r wrong; do
		apart ringup export slurm --set container=none --set "$wrong" plain
		says 2 "--set $wrong: "
	done <<-'END'
		time=1:2:3:4
		time=abc
		mem=lots
		signal=FOO@60
		signal=B:USR1@60
		signal=RB:USR1@60
		cpus-per-task=0
		array=foo
		mail-type=ENDD
	END
	while read -r wrong; do
		apart ringup export slurm --set container=none --set "$wrong" plain
		says 0
	done <<-'END'
		time=2-12:00:00
		time=infinite
		mem=64G
		signal=R:USR1@60
		array=1,3,5-9:2%4
		mail-type=END,FAIL
	END
}

@test "a lock of another stack is not exported; that of the file's is, with its image" {
	ringup -q resolve
	python3 - "$IMAGE" <<-'END'
		import json, sys
		lock = dict(json.load(open("ringup.lock")), image=sys.argv[1], recipe="sha256:" + "0" * 64)
		json.dump(lock, open("ringup.lock", "w"))
	END
	apart ringup export kubernetes plain
	[ "$status" -eq 0 ]
	[ "$(grep -c "image: $IMAGE" ../out)" -eq 1 ]
	grep -q 'kubernetes.io/arch: amd64' ../out
	sed -i 's/stack: .*/stack: ["openmpi", "python"]/' cluster.yaml
	apart ringup export kubernetes plain
	says 2 "python" "ringup.lock"
}

@test "no file disables the check of host keys, and none holds a secret" {
	run grep -rnE 'StrictHostKeyChecking|kind: Secret|password:|:latest' "$ROOT/tests/golden/export"
	[ "$status" -eq 1 ]
}

@test "a variable that is a secret by its name is warned of, once, with the engine's own way" {
	ringup export kubernetes --image "$IMAGE" -e WANDB_API_KEY=x -e HF_TOKEN=y -e TOKENIZERS_PARALLELISM=false -e KEY=1 \
		-e DB_PASSWORD_FILE=/run/db -e AWS_SECRET_ACCESS_KEY= plain >out 2>err
	[ "$(grep -c 'in the file for everybody' err)" = 1 ]
	grep -qF 'WANDB_API_KEY, HF_TOKEN: the values stand in the file for everybody who reads it; leave them out and use --set env-secret=NAME' err
	ringup export compose --image "$IMAGE" -e HF_TOKEN=y plain >out 2>err
	grep -qF 'HF_TOKEN: the value stands in the file for everybody who reads it; leave it out and set it in the environment' err
	ringup export kubernetes --image "$IMAGE" plain >out 2>err
	! grep -F 'for everybody' err
}
