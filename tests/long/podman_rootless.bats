#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Podman without root on two lab hosts: who logs in is a user of the host, and so is everything of the cluster there.

load ../lab/helper

setup_file() {
	lab_begin || return
	ringup -q lab up --hosts 2 --engine podman --user ops 3>&- 4>&-
	grep -q 'ssh: {user: ops,' cluster.yaml
	cp cluster.yaml lab.yaml
	sed -i 's/shm_size: 512m/shm_size: 512m, ulimits: {memlock: -1}, memory: 64g/' cluster.yaml
	ringup up >up.log 2>&1 3>&- 4>&- || { cat up.log && false; }
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
		"ops@$(sed -n "s/.*name: $1, address: \([0-9.]*\),.*/\1/p" cluster.yaml)" "$(printf '%q ' "${@:2}")"
}

ids() {
	on node01 podman ps --quiet --no-trunc
	on node02 podman ps --quiet --no-trunc
}

@test "up: the workers meet; what a user may not have is left out and said; a second up changes nothing" {
	local before
	grep -q '2 workers can log in to each other' up.log
	grep -q 'warning: node01, node02: left out of the containers: the limit memlock=-1' up.log
	grep -q 'left out of the containers: memory 64g: the engine there has no control group for it' up.log
	before=$(ids)
	ringup up >again.log 2>&1
	grep -q '2 of 2 hosts up, 0 changed' again.log
	[ "$(ids)" = "$before" ]
}

@test "root in the container is the user on the host" {
	[ "$(ringup -q exec -- id -u)" = $'node01: 0\nnode02: 0' ]
	pid=$(on node01 podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	[ "$(on node01 stat -c %U "/proc/$pid")" = ops ]
	[ "$(on node01 stat -c '%U %a' .local/state/ringup/lab)" = 'ops 700' ]
	on node01 test -e .config/containers/certs.d/
	[ -z "$(on node01 find /var/lib/ringup /etc/containers/certs.d -mindepth 1 -print -quit)" ]
}

@test "bench, run, restart, and a container that was killed" {
	local before
	ringup -q bench -- -b 64K -e 64K >out
	grep -q '4 ranks on 2 hosts.*verdict "pass"' out
	# shellcheck disable=SC2016 # expanded by the ranks
	ringup -q run -n 2 -- sh -c 'echo "rank $RANK"' >out
	grep -q 'rank 1$' out
	before=$(ids)
	ringup -q restart
	[ "$(ids)" = "$before" ]
	on node02 podman rm --force --time 0 "$CONTAINER"
	run ringup -q status
	[ "$status" = 4 ]
	ringup -q up
	[ "$(ids | wc -l)" = 2 ]
}

@test "the image over SSH: the hosts ask the registry for nothing, and status knows the image" {
	local subnet
	subnet=$(sed -n 's/.*address: \(10\.83\.[0-9]*\)\.1,.*/\1/p' cluster.yaml)
	ringup -q down --purge
	cp cluster.yaml before.yaml
	sed -i 's/^image:/images: {transfer: ssh}\n&/' cluster.yaml
	cp .ringup/lab/registry/registry.log registry.before
	ringup up >out 2>&1
	grep -q 'node01 .*over SSH' out
	run ! grep -F "remoteaddr=\"$subnet." <(tail -c "+$(($(stat -c %s registry.before) + 1))" .ringup/lab/registry/registry.log | grep -v "$subnet.254:")
	ringup up >out 2>&1
	grep -q '2 of 2 hosts up, 0 changed' out
	ringup -q status >out
	grep -q 'node02 .*sha256-' out
	[ ! -e .ringup/image.tar ]
	# to the other way and back: the same image under another name
	mv before.yaml cluster.yaml
	ringup -q up
}

@test "down --purge leaves no container, no image, and no file of ours in the user's home" {
	ringup -q down --purge
	[ -z "$(on node01 podman ps --all --quiet)$(on node01 podman images --quiet)" ]
	[ -z "$(on node01 find . -name '*ringup*' -o -name ca.crt)" ]
}
