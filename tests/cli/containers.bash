# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A cluster with containers whose hosts are folders of this machine, reached by a stand-in for ssh, with a stand-in for
# Docker: what commands say of clusters that are up, and of those that are not, without a lab.

# To be called from setup(). Hosts node01, node02 and node03, each with a running container.
containers_setup() {
	local host
	common_setup
	export RINGUP_HOSTS=$PWD/hosts
	mkdir -p keys bin .ringup
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	ln -s "$ROOT/tests/standin/local_ssh" bin/ssh
	export PATH=$PWD/bin:$PATH
	echo 0123456789abcdef0123456789abcdef >.ringup/cluster-id
	cat >cluster.yaml <<-'END'
		name: lab
		hosts:
		  - {address: 127.0.0.1, name: node01}
		  - {address: 127.0.0.2, name: node02}
		  - {address: 127.0.0.3, name: node03}
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}
		container: {engine: docker}
		registry: {address: "127.0.0.1:1"}
		stack: [python, "os==debian12"]
		accelerator: cpu
	END
	for host in 1 2 3; do container_up $host; done
}

IMAGE_A=127.0.0.1:1/lab/train@sha256:$(printf 'a%.0s' {1..64})
IMAGE_B=127.0.0.1:1/lab/train@sha256:$(printf 'b%.0s' {1..64})

# container_up NUMBER [KEY=VALUE...]: the host 127.0.0.NUMBER has a running container of this cluster, with these
# values of its state.
container_up() {
	local folder=$RINGUP_HOSTS/127.0.0.$1
	mkdir -p "$folder/container" "$folder/bin" "$folder/state/lab/ssh"
	ln -sf "$ROOT/tests/standin/docker" "$folder/bin/docker"
	[ -e "$folder/bin/ssh-keyscan" ] || printf '#!/bin/sh\necho "x ssh-ed25519 AAAA"\n' >"$folder/bin/ssh-keyscan"
	chmod +x "$folder/bin/ssh-keyscan"
	echo id=0123456789abcdef0123456789abcdef >"$folder/state/lab/owner"
	echo here >"$folder/state/lab/ssh/mesh"
	echo "Server listening on 127.0.0.$1 port 9435." >"$folder/container/log"
	shift
	{
		for pair; do echo "container_$pair"; done
		printf 'container_%s\n' id=c0ffee000000"${folder##*.}" running=true status=running exit=0 config=cafe \
			"image=$IMAGE_A" started=2026-11-21T09:30:00.12345Z owner_id=0123456789abcdef0123456789abcdef
	} >"$folder/container/state"
}

# host_has NUMBER NAME [TEXT]: the file NAME in the folder of the host 127.0.0.NUMBER.
host_has() {
	printf '%s\n' "${3:-}" >"$RINGUP_HOSTS/127.0.0.$1/$2"
}
