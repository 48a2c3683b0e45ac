#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup status' on stand-in hosts with containers (containers.bash): what differs, why a host is absent, and the exit
# status.

load helper
load containers
setup() {
	containers_setup
	for host in 1 2 3; do sshd_answers "$host" silent; done
}

# sshd_answers NUMBER KEY: what ssh-keyscan says there; `silent`: nothing.
sshd_answers() {
	local program=$RINGUP_HOSTS/127.0.0.$1/bin/ssh-keyscan
	rm -f "$program"
	case $2 in
	silent) printf '#!/bin/sh\nexit 1\n' >"$program" ;;
	*) printf '#!/bin/sh\necho "# comment" >&2; echo "[127.0.0.1]:9435 %s"\n' "$2" >"$program" ;;
	esac
	chmod +x "$program"
}

# as_up: keys and a lock are here as `up` leaves them, and the hosts have what these say.
as_up() {
	local host
	mkdir -m 700 -p .ringup/keys
	ssh-keygen -q -t ed25519 -N '' -f .ringup/keys/id_ed25519
	echo 0123 >.ringup/keys/secret
	chmod 600 .ringup/keys/secret
	for host in 1 2 3; do
		ssh-keygen -q -t ed25519 -N '' -C node0$host -f .ringup/keys/host-node0$host
		sshd_answers $host "$(cut -d' ' -f1,2 .ringup/keys/host-node0$host.pub)"
	done
	ringup resolve -q
	jq --arg image "$IMAGE_A" '.image = $image' ringup.lock >lock
	mv lock ringup.lock
	apart ringup --json status
	for host in 1 2 3; do
		container_up $host "config=$(jq -r ".hosts[$host - 1].wanted.config" ../out)"
		jq -r ".hosts[$host - 1].wanted.files" ../out >"$RINGUP_HOSTS/127.0.0.$host/state/lab/ssh/mesh"
	done
}

@test "all as it should be: status 0; nothing is made or changed" {
	as_up
	find . -type f ! -name facts.json ! -name docker.log -exec sha256sum {} + | sort >../before
	apart ringup status
	says 0
	[ "$(grep -c 'running.*sha256:aaaaaaaaaaaa *answers  *-  - ' ../out)" = 3 ]
	find . -type f ! -name facts.json ! -name docker.log -exec sha256sum {} + | sort | diff ../before -
	apart ringup --json status
	json 'all(h["ok"] and h["differs"] == "" and h["sshd"] == "answers" and h["uptime_s"] > 0 for h in d["hosts"])'
}

@test "an image, a configuration, keys that differ from the lock and the cluster file: status 4, and which host" {
	as_up
	container_up 2 "image=$IMAGE_B"
	jq -r '.hosts[1].wanted.files' ../out >hosts/127.0.0.2/state/lab/ssh/mesh
	apart ringup status
	says 4 "node02: it has another image than ringup.lock and cluster.yaml say; 'ringup up' mends it" '1 of 3 hosts'
	grep -q '^node02.*sha256:bbbbbbbbbbbb.*answers  *-  image' ../out
	apart ringup status node01 node03
	says 0
	! grep -q node02 ../out
	host_has 3 state/lab/ssh/mesh other
	echo 'container: {engine: docker, shm_size: 4g}' >shm
	sed -i '/^container:/d' cluster.yaml
	cat shm >>cluster.yaml
	apart ringup --json status
	says 1
	json '[h["differs"] for h in d["hosts"]] == ["configuration", "image", "configuration, keys and files"]'
}

@test "without a lock the hosts are compared with each other" {
	container_up 3 "image=$IMAGE_B"
	for host in 1 2 3; do sshd_answers $host 'ssh-ed25519 AAAA'; done
	apart ringup status
	says 4 'node03: it has another image than node01'
	container_up 3
	apart ringup status
	says 0
}

@test "sshd that is silent, and one with another key" {
	as_up
	sshd_answers 1 silent
	sshd_answers 2 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI'
	apart ringup status
	says 4 "node01: its container's sshd does not answer on 127.0.0.1 port 9435" 'node02: what answers on 127.0.0.2 port 9435 has another host key'
	grep -q '^node01.*silent' ../out
	grep -q '^node02.*other key' ../out
}

@test "why a host has no running container" {
	container_up 1 running=false status=exited exit=137
	printf 'first\nbind: Address already in use\n' >hosts/127.0.0.1/container/log
	container_up 2 status=paused
	rm -r hosts/127.0.0.3/container
	apart ringup status
	says 1 'node01: its container has ended with status 137; its log ends: first bind: Address already in use' \
		"node02: its container is paused: somebody ran 'docker pause'; end that there with 'docker unpause ringup-lab'" \
		"node03: it has no container; 'ringup up' starts it"
	for words in 'node01.*stopped' 'node02.*paused' 'node03.*absent'; do grep -q "^$words" ../out; done
	apart ringup --json status
	json '[h["state"] for h in d["hosts"]] == ["stopped", "paused", "absent"] and d["hosts"][0]["exit_status"] == 137'
}

@test "a container that was made and never started has no log to look at" {
	container_up 1 running=false status=created exit=128 started=0001-01-01T00:00:00Z
	apart ringup status
	says 1 "node01: its container was made and could not be started; 'ringup up' tries it again and says why not"
}

@test "an engine that refuses the login is not one that is stopped" {
	host_has 1 engine-error 'Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/version": dial unix /var/run/docker.sock: connect: permission denied'
	host_has 2 engine-error 'permission denied while trying to connect to the docker API at unix:///var/run/docker.sock'
	sshd_answers 3 'ssh-ed25519 AAAA'
	apart ringup status
	says 4 'node01: docker runs there, but ' "set 'sudo: true' for the host" 'usermod -aG docker' 'node02: docker runs there, but '
	! grep -q 'systemctl start docker' ../err
}

@test "an engine that is stopped, and a host without ssh" {
	host_has 1 engine-error 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'
	host_has 2 away 'connection refused'
	sshd_answers 3 'ssh-ed25519 AAAA'
	apart ringup status
	says 4 'node01: docker does not answer there: Cannot connect to the Docker daemon' 'systemctl start docker' \
		'node02 (127.0.0.2 port 22)' 'connection refused' '2 of 3 hosts failed'
	grep -q '^node01.*no engine' ../out
	grep -q '^node02.*unreachable' ../out
	grep -q '^node03.*running' ../out
}

@test "GPUs that cannot be used are named" {
	printf '#!/bin/sh\necho "NVIDIA-SMI has failed"; exit 9\n' >hosts/127.0.0.2/bin/nvidia-smi
	chmod +x hosts/127.0.0.2/bin/nvidia-smi
	apart ringup status
	[ "$(grep -c GPUs ../err)" = 0 ] # the cluster is for CPUs
	sed -i 's/^accelerator: cpu/accelerator: auto/' cluster.yaml
	apart ringup status
	grep -q 'node02: its GPUs cannot be used: nvidia-smi ends with status 9: NVIDIA-SMI has failed' ../err
	grep -q '^node02.*running.* error ' ../out
	apart ringup --json status
	json '"status 9" in d["hosts"][1]["gpu_error"] and "gpu_error" not in d["hosts"][0]'
}
