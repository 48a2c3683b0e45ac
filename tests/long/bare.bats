#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# From bare hosts to hosts that train: `ringup setup` on fresh systems with an init and an apt of their own, and packages of Debian.

load ../lab/helper

setup_file() {
	lab_begin || return
	ringup -q lab up --bare debian12 --bare node02=debian11,node03=debian13 3>&- 4>&-
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# Of what there is each host has its own.
own() {
	[ "$(inside node01 "$@")" != "$(inside node02 "$@")" ]
}

@test "the hosts are machines of their own: system, init, packages, names, keys" {
	[ "$(inside node01 cat /proc/1/comm) $(inside node02 cat /proc/1/comm)" = "systemd systemd" ]
	ringup --json probe | jq -e '[.hosts[].os] == ["debian12", "debian11", "debian13"] and all(.hosts[]; .engine == "" and .init == "systemd")'
	own cat /etc/machine-id
	own hostname
	own cat /etc/ssh/ssh_host_ed25519_key.pub
	run ! inside node01 test -e "$LAB"
}

# init_says: what 'ringup init' for node01 lists as next steps
init_says() {
	ringup -f made/cluster.yaml init "$(address node01)" --user root --key "$LAB/.ringup/lab/id_ed25519" \
		--known-hosts "$LAB/.ringup/lab/known_hosts" --registry r:1 --force 2>&1 | sed -n 's/^  ringup //p' | xargs
}

@test "up says what is missing, and setup's plan is what setup does" {
	local before
	fails 1 up
	says "node01, node02, node03: docker is not installed there; 'ringup setup' installs it"
	mkdir made
	[ "$(init_says)" = "setup login -u USER doctor up" ]
	before=$(inside node01 dpkg-query -W | sha256sum)
	ringup setup --dry-run >plan
	grep -qx 'node\[01-03\]: installs Docker Engine of the distribution' plan
	grep -qx 'node\[01-03\]: starts Docker Engine now and at each boot' plan
	[ "$(inside node01 dpkg-query -W | sha256sum)" = "$before" ]
	# a file of the host's own is kept key by key
	inside node02 mkdir -p /etc/docker
	inside node02 sh -c 'echo "{\"debug\": true, \"log-opts\": {\"max-size\": \"7m\"}}" >/etc/docker/daemon.json'
	ringup setup --yes >out 2>&1 3>&- 4>&- || { cat out; false; }
	grep -q 'verify .*3 of 3 hosts run a container' out
	[ "$(inside node01 systemctl is-enabled docker) $(inside node02 systemctl is-active docker)" = "enabled active" ]
	inside node02 docker version --format '{{.Server.Version}}' | grep '^20\.10\.5'
	inside node03 docker version --format '{{.Client.Version}}' | grep '^26\.' # its client is a package of its own
	inside node02 cat /etc/docker/daemon.json | jq -e '.debug and .["log-driver"] == "json-file" and .["log-opts"]["max-size"] == "7m"'
	[ "$(ringup setup --dry-run)" = "every host has all that it needs" ]
	[ "$(init_says)" = "login -u USER doctor up" ]
	rm -r made
	ringup --json doctor | jq -e '[.findings[] | select(.severity == "error")] == []'
}

@test "up and bench work there; after a boot the engine and the container are back" {
	ringup up >out 2>&1 3>&- 4>&- || { cat out; false; }
	all_meet node01 node02 node03
	ringup --json bench -- -e 64K | jq -e '.verdict == "pass"'
	kill -9 "$(state '.hosts[] | select(.name == "node02") | .process.pid')"
	ringup -q lab up 3>&- 4>&-
	wait_for 30 in_container node02 true
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false, false]'
}

@test "setup --engine podman, beside Docker" {
	ringup setup --engine podman --yes >out 2>&1 3>&- 4>&- || { cat out; false; }
	grep -q 'verify .*3 of 3 hosts run a container' out
	inside node01 podman --version
	[ "$(ringup setup --engine podman --dry-run)" = "every host has all that it needs" ]
}

@test "what cannot be" {
	fails 2 lab up --bare debian9
	says "the lab cannot make hosts with 'debian9'; it can: debian11, debian12, debian13"
	fails 2 lab up --bare node07=debian12
	says "there is no such lab host"
	fails 2 lab up --bare node01=debian11
	says "the host has another system; run 'ringup lab down' first"
	fails 2 lab up --gpus 8xH100
	says "node01 is bare"
	fails 2 lab up --user ops
	mkdir -p other
	for words in "--loopback" "--user ops"; do
		# shellcheck disable=SC2086 # two words
		fails 2 -f other/cluster.yaml lab up --bare debian12 $words
		says "--bare: "
	done
	[ ! -e other/cluster.yaml ]
}
