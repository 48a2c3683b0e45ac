#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Two lab hosts with Podman, as root: the life of a cluster there, as hosts with Docker Engine have it.

load ../lab/helper

setup_file() {
	lab_begin || return
	ringup -q lab up --hosts 2 --engine podman 3>&- 4>&-
	grep -q 'engine: podman' cluster.yaml
	cp cluster.yaml lab.yaml
	ringup up >up.log 2>&1 3>&- 4>&- || {
		cat up.log
		return 1
	}
}

# 'lab down' removes cluster.yaml and its lock only as it wrote them.
teardown_file() {
	mv "$LAB/lab.yaml" "$LAB/cluster.yaml"
	lab_end
}

setup() {
	cd "$LAB" || return
}

# on NODE WORD...: on the host, over ssh as a person would.
on() {
	ssh -i .ringup/lab/id_ed25519 -o UserKnownHostsFile=.ringup/lab/known_hosts -o BatchMode=yes \
		"root@$(sed -n "s/.*name: $1, address: \([0-9.]*\),.*/\1/p" cluster.yaml)" "$(printf '%q ' "${@:2}")"
}

podman_on() {
	on "$1" podman "${@:2}"
}

ids() {
	podman_on node01 ps --quiet --no-trunc
	podman_on node02 ps --quiet --no-trunc
}

@test "up: containers of Podman run, each lets the others in, and a second up changes nothing" {
	grep -q '2 workers can log in to each other' up.log
	[ "$(podman_on node01 ps --filter status=running --format "{{.Names}}")" = "$CONTAINER" ]
	before=$(ids)
	ringup up >again.log 2>&1
	grep -q '2 of 2 hosts up, 0 changed' again.log
	[ "$(ids)" = "$before" ]
}

@test "status, exec, run, bench and logs" {
	ringup --json status >status.json
	[ "$(jq -r '[.hosts[].state] | unique | join(",")' status.json)" = running ]
	[ "$(ringup -q exec -- hostname)" = $'node01: node01\nnode02: node02' ]
	# shellcheck disable=SC2016 # expanded by the ranks
	ringup -q run -n 4 -- sh -c 'echo "rank $RANK on $(hostname)"' >out
	grep -q '^\[3 node02\] rank 3 on node02$' out
	ringup -q bench -- -b 64K -e 64K >out
	grep -q '4 ranks on 2 hosts.*verdict "pass"' out
	ringup -q logs >out
	grep -q '^node02: .*Server listening on' out
}

@test "other settings: new containers; restart: the same ones, started again" {
	before=$(ids)
	sed -i 's/shm_size: 512m/shm_size: 300m/' cluster.yaml
	ringup -q up
	[ "$(ids)" != "$before" ]
	ringup -q exec -- df -k /dev/shm >out
	[ "$(grep -c 307200 out)" = 2 ]
	before=$(ids)
	started=$(podman_on node01 inspect --format '{{.State.StartedAt}}' "$CONTAINER")
	timeout 60 ringup -q restart
	[ "$(ids)" = "$before" ]
	[ "$(podman_on node01 inspect --format '{{.State.StartedAt}}' "$CONTAINER")" != "$started" ]
}

@test "what the host does not allow is left out and said; what is required fails before anything is done" {
	before=$(ids)
	cp cluster.yaml before.yaml
	sed -i 's/shm_size: 300m/shm_size: 300m, ulimits: {nofile: 9999999999}/' cluster.yaml
	ringup up >out 2>&1
	grep -q 'warning: node01, node02: left out of the containers: the limit nofile=9999999999: ' out
	[ "$(ids)" = "$before" ]
	sed -i 's/ulimits/required: [nofile], ulimits/' cluster.yaml
	run --separate-stderr ringup -q up
	[ "$status" = 1 ]
	[[ $stderr == *"containers cannot have the limit nofile=9999999999"* ]]
	mv before.yaml cluster.yaml
	[ "$(ids)" = "$before" ]
}

@test "a container that cannot start: the old one is back" {
	before=$(ids)
	cp cluster.yaml before.yaml
	sed -i 's/shm_size: 300m/shm_size: 300m, volumes: ["\/dev\/null:\/"]/' cluster.yaml
	run --separate-stderr ringup -q up
	[ "$status" = 1 ]
	[[ $stderr == *"the old container is back and runs"* ]]
	mv before.yaml cluster.yaml
	[ "$(ids)" = "$before" ]
}

@test "a file of the user: a new image; rollback brings the one before" {
	echo hello >file
	cp cluster.yaml before.yaml
	sed -i 's|^image:.*|image: {name: train, files: [{from: ./file, to: /file}]}|' cluster.yaml
	ringup -q up
	[ "$(ringup -q exec -H node02 -- cat /file)" = "node02: hello" ]
	mv before.yaml cluster.yaml
	ringup -q rollback
	run ringup -q exec -- test -e /file
	[ "$status" != 0 ]
}

@test "a host keeps so many versions of the image; an image that has somebody else's name stays" {
	cp cluster.yaml before.yaml
	echo again >file
	podman_on node01 tag "$(podman_on node01 images --quiet | tail -n 1)" localhost/somebody:1
	sed -i 's|^image:.*|images: {keep: 1}\nimage: {name: train, files: [{from: ./file, to: /file}]}|' cluster.yaml
	ringup up >out 2>&1
	grep -q 'node02 .*2 old versions of the image removed' out
	[ "$(podman_on node02 images --quiet | wc -l)" = 1 ]
	podman_on node01 image exists localhost/somebody:1
	podman_on node01 rmi --force localhost/somebody:1
	mv before.yaml cluster.yaml
	ringup -q up
}

@test "a container that somebody removed, and one that was killed: up brings them back" {
	podman_on node01 rm --force --time 0 "$CONTAINER"
	run ringup -q status
	[ "$status" = 4 ]
	ringup -q up
	[ "$(ids | wc -l)" = 2 ]
	# the restart policy brings it back by itself
	podman_on node02 exec "$CONTAINER" kill -KILL 1 || podman_on node02 kill --signal KILL "$CONTAINER" || true
	ringup -q up
	[ "$(ids | wc -l)" = 2 ]
	ringup -q status
}

@test "down --purge leaves no container, no image of ours, no folder" {
	ringup -q down --purge
	[ -z "$(podman_on node01 ps --all --quiet)" ]
	[ -z "$(podman_on node01 images --quiet)" ]
	[ -z "$(on node01 find /var/lib/ringup /etc/containers/certs.d -mindepth 1 -print -quit)" ]
}
