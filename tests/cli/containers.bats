#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Commands on a cluster with containers that is up (containers.bash): exec, logs, down, bench, and the hosts that they take.

load helper
load containers
setup() { containers_setup; }

@test "exec: the status is the command's, the highest one of the hosts" {
	apart ringup exec -- sh -c 'exit 7'
	says 7 'node01, node02, node03: sh ended with status 7'
	# shellcheck disable=SC2016 # for the shell on the host
	apart ringup exec -- sh -c 'exit ${HOST_FOLDER##*.}'
	says 3 'node02: sh ended with status 2'
	# shellcheck disable=SC2016
	apart ringup --json exec -- sh -c 'exit ${HOST_FOLDER##*.}'
	says 3
	json '[h["status"] for h in d["hosts"]] == [1, 2, 3]'
	apart ringup exec -- true
	says 0
}

@test "exec: a host that cannot be reached, and a command that fails on another" {
	host_has 2 away 'connection refused'
	apart ringup exec -- true
	says 4 'node02' 'refused' '1 of 3 hosts failed'
	apart ringup exec -- sh -c 'exit 9'
	says 9 'node02' 'refused' 'status 9'
}

# lives NUMBER...: exactly these hosts have their container.
lives() {
	local number left=
	for number in 1 2 3; do
		[ ! -e "hosts/127.0.0.$number/container" ] || left="$left $number"
	done
	[ "${left# }" = "$*" ] || { echo "containers on:$left"; cat ../err; return 1; }
}

@test "status, logs and bench take hosts: a set, several, and names after the command" {
	apart ringup --json status -H 'node[01-02]'
	json '[h["host"] for h in d["hosts"]] == ["node01", "node02"]'
	apart ringup --json status node03 node01
	json '[h["host"] for h in d["hosts"]] == ["node01", "node03"]'
	apart ringup logs -H node01,node03
	says 0
	[ "$(grep -c 'Server listening' ../out)" = 2 ]
	apart ringup logs -H node01 node02
	[ "$(grep -c 'Server listening' ../out)" = 2 ]
	apart ringup bench -H node04
	says 2 "there is no host 'node04' in cluster.yaml"
	host_has 1 away 'connection refused'
	apart ringup bench -H node02,node03 --launcher nothing
	says 2 'nothing'
}

@test "a command on some hosts leaves what is known of the others" {
	apart ringup probe
	apart ringup status -H node02
	apart ringup --json resolve --no-lock
	grep -q 'facts of 3 of 3' ../err
}

@test "down takes hosts; the others, and the keys here, stay" {
	mkdir .ringup/keys
	apart ringup down -H 'node[01-02]'
	says 0
	lives 3
	container_up 1
	apart ringup down --purge node01
	says 0
	lives 3
	[ ! -e hosts/127.0.0.1/state/lab ]
	[ -e hosts/127.0.0.3/state/lab/owner ]
	[ -d .ringup/keys ]
	apart ringup down --purge
	says 0
	lives ''
	[ ! -e .ringup/keys ]
}

@test "down of one host that fails: what is said of the others" {
	host_has 2 away 'connection refused'
	apart ringup down
	says 4 'node02' '1 of 3 hosts failed; the others are fine'
}

@test "bench says that the hosts have different images" {
	apart ringup bench
	! grep -q 'another image' ../err
	container_up 2 "image=$IMAGE_B"
	apart ringup bench
	grep -q 'node02 has another image than node01: different programs are measured together' ../err
}

@test "bench on hosts of which one has no engine: why, and that nothing was measured" {
	host_has 2 engine-error 'Cannot connect to the Docker daemon. Is the docker daemon running?'
	apart ringup bench
	says 4 'node02: docker does not answer there: Cannot connect' 'the others are fine; nothing was measured'
}

@test "down --purge: the keys go also where the container cannot be removed" {
	printf '#!/bin/sh\n[ "$1" != rm ] || { echo "device or resource busy" >&2; exit 1; }\nexec %s "$@"\n' \
		"$ROOT/tests/standin/docker" >bin/busy
	chmod +x bin/busy
	ln -sf "$PWD/bin/busy" hosts/127.0.0.2/bin/docker
	apart ringup down --purge
	says 4 'node02: cannot remove the container: device or resource busy' '1 of 3 hosts failed'
	[ ! -e hosts/127.0.0.2/state/lab ]
}

@test "one machine under two names: the second name is refused, and the others go on" {
	rm -r hosts/127.0.0.3
	ln -s 127.0.0.1 hosts/127.0.0.3
	for words in status bench; do
		apart ringup $words
		says 4 'node03: it is the same machine as node01; list it once in cluster.yaml'
		! grep -q 'node02: ' ../err
	done
	apart ringup --json status
	json '[h["state"] for h in d["hosts"]] == ["running", "running", "unusable"]'
}

@test "up takes hosts: only these change, with the names and keys of all" {
	sed -i 's/engine: docker/engine: none/; /^registry/d' cluster.yaml
	rm -r hosts/*/state
	apart ringup up node02
	says 0
	grep -q '1 of 1 hosts up, 1 changed' ../out
	[ -e hosts/127.0.0.2/state/lab/ssh/mesh ] && [ ! -e hosts/127.0.0.1/state ] && [ ! -e hosts/127.0.0.3/state ]
	[ "$(grep -c ed25519 hosts/127.0.0.2/state/lab/ssh/known_hosts)" = 3 ]
	apart ringup up -H node01,node03 --dry-run
	says 0
	grep -q '^# node01, node03: ' ../out
	! grep -q node02 ../out
	apart ringup --json up
	says 0
	json '[h["changed"] for h in d["hosts"]] == [True, False, True]'
	apart ringup up node9
	says 2 "there is no host 'node9'"
}
