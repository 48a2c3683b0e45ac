# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the bats files of probe, doctor, init and setup: three hosts that are this machine (tests/standin/local_ssh), each with
# programs of its own before those of the machine.

# fleet_setup: the folder has keys, a cluster.yaml of node01 to node03, and hosts/ADDRESS/bin.
fleet_setup() {
	local n
	export RINGUP_HOSTS=$PWD/hosts
	mkdir -p keys bin
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	ln -s "$ROOT/tests/standin/local_ssh" bin/ssh
	export PATH=$PWD/bin:$PATH
	for n in 1 2 3; do
		mkdir -p "hosts/127.0.0.$n/bin"
		on_host "$n" docker 'case $1 in version) echo 24.0.7 ;; info) echo /var/lib/docker ;; *) exit 1 ;; esac'
		on_host "$n" systemctl 'exit 1'
	done
	cat >cluster.yaml <<-'END'
		name: lab
		hosts:
		  - {address: 127.0.0.1, name: node01}
		  - {address: 127.0.0.2, name: node02}
		  - {address: 127.0.0.3, name: node03}
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}
		registry: {address: "127.0.0.1:1"}
		stack: [openmpi, "os==debian12"]
		accelerator: cpu
	END
}

# on_host N PROGRAM TEXT: host N has a program of its own, a shell script.
on_host() {
	printf '#!/bin/sh\n%s\n' "$3" >"hosts/127.0.0.$1/bin/$2"
	chmod +x "hosts/127.0.0.$1/bin/$2"
}
