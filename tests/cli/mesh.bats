#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/mesh.sh with a stand-in for ssh (the lab's tests have the real one): which key exchange is asked
# for, and what is said of those that cannot be reached.

setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >ssh <<-'END'
		#!/bin/sh
		# stand-in: "fips" takes the default key exchange alone, "gone" none
		case "$*" in
			*KexAlgorithms*fips*) echo "Unable to negotiate with fips: no matching key exchange method found." && exit 255 ;;
			*late*) echo x >>tries && [ "$(wc -l <tries)" -lt 3 ] && echo "ssh: connect to host late: Connection refused" && exit 255 ;;
			*silent*) echo x >>tries && echo "ssh: connect to host silent: Connection timed out" && exit 255 ;;
			*gone*) printf 'Pseudo words\nssh: connect to host gone: Connection refused\r\n' && exit 255 ;;
		esac
		printf '%s\n' "$*" >>log
	END
	chmod +x ssh
	export PATH=$PWD:$PATH
	mesh=$BATS_TEST_DIRNAME/../../deployer/remote/mesh.sh
}

@test "mesh: a login each, with a key exchange that is quick" {
	run sh "$mesh" 0 a b
	[ "$status" = 0 ] && [ "$output" = "" ]
	[ "$(grep -c 'KexAlgorithms=curve25519-sha256@libssh.org [ab] true' log)" = 2 ]
}

@test "mesh: where that exchange is forbidden, the default one" {
	run sh "$mesh" 0 fips
	[ "$status" = 0 ] && [ "$output" = "" ]
	[ "$(cat log)" = "-o BatchMode=yes -o ConnectTimeout=10 fips true" ]
}

@test "mesh: who cannot be reached is named with the last line of ssh, the others are asked all the same" {
	run sh "$mesh" 0 gone a
	[ "$status" = 1 ]
	[ "$output" = "gone: ssh: connect to host gone: Connection refused" ]
	[ "$(wc -l <log)" = 1 ]
}

@test "mesh: an sshd that is late is waited for, and one that nobody answers is not" {
	run sh "$mesh" 60 late
	[ "$status" = 0 ] && [ "$output" = "" ]
	[ "$(wc -l <tries)" = 3 ]
	rm tries
	run sh "$mesh" 60 silent
	[ "$status" = 1 ]
	[ "$output" = "silent: ssh: connect to host silent: Connection timed out" ]
	[ "$(wc -l <tries)" = 1 ]
	run sh "$mesh" 1 gone
	[ "$status" = 1 ]
	[ "$output" = "gone: ssh: connect to host gone: Connection refused" ]
}

@test "mesh: a container gets the names of the hosts before it logs in to them, and says when it cannot" {
	printf '#!/bin/sh\necho hosts >>log\n' >ringup-hosts
	chmod +x ringup-hosts
	run sh "$mesh" 0 a
	[ "$status" = 0 ] && [ "$output" = "" ]
	[ "$(cut -d' ' -f1 log | xargs)" = "hosts -o" ]
	printf '#!/bin/sh\necho "ringup-hosts: no" >&2\nexit 1\n' >ringup-hosts
	run sh "$mesh" 0 a
	[ "$status" = 1 ]
	[ "$output" = "ringup-hosts: no" ]
	[ "$(wc -l <log)" = 3 ]
}
