#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'registry serve --on USER@ADDRESS:PORT': later commands find the registry by its address, and reach the host by the same
# user and port. The host is a stand-in; the Distribution server is real.

load helper
setup() {
	common_setup
	export RINGUP_STATE_ROOT=$PWD/state
	mkdir -p keys bin
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	# notes as whom and where it logs in, and is the stand-in then
	cat >bin/ssh <<-END
		#!/bin/sh
		printf '%s\\n' "\$*" | sed -n 's/.*\(-p[0-9]*\) .*\(-l [a-z]*\) .*/\2 \1/p' >>$PWD/ssh.log
		exec $ROOT/tests/standin/local_ssh "\$@"
	END
	chmod +x bin/ssh
	export PATH=$PWD/bin:$PATH
	printf '%s\n' 'name: lab' 'hosts: [a]' 'ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}' >cluster.yaml
	PORT=$("$ROOT/tests/free_port.py")
}

teardown() {
	ringup registry stop --on ops@127.0.0.1:2222 --address ":$PORT" >/dev/null 2>&1 3>&- 4>&- || true
}

# registry VERB HOST WORDS...
registry() {
	: >ssh.log
	apart ringup registry "$1" --on "$2" --address ":$PORT" "${@:3}" 3>&- 4>&-
}

@test "status and stop by the address alone, after serve with user and port" {
	registry serve ops@127.0.0.1:2222 --as process
	says 0
	registry status 127.0.0.1
	says 0
	grep -q 'running\|runs' ../out
	[ "$(sort -u ssh.log)" = '-l ops -p2222' ]
	registry serve 127.0.0.1 --as process
	says 0
	grep -q 'runs already' ../out
	registry stop 127.0.0.1
	says 0
	grep -qx stopped ../out
	[ "$(sort -u ssh.log)" = '-l ops -p2222' ]
	# what is said counts
	registry stop admin@127.0.0.1
	[ "$(sort -u ssh.log)" = '-l admin -p22' ]
}
