#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# cluster.yaml is read once per command: it may be a pipe, of which nobody gets a second look.

load helper

setup() {
	common_setup
	mkdir keys
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	cat >text <<-'END'
		name: lab
		hosts: [{address: 127.0.0.1, name: one, port: 1}]
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: libssh2}
		registry: {address: "127.0.0.1:1"}
		stack: []
		image: {base: "127.0.0.1:1/base:1"}
		mirrors: {docker: "http://127.0.0.1:1"}
		build: {engine: native}
	END
}

teardown() {
	[ -z "${feeder:-}" ] || kill "$feeder" 2>/dev/null || true
}

# reads COUNT WORD...: the command reads the cluster file so often. Whoever opens it a second time finds nonsense.
reads() {
	local count=$1
	shift
	rm -f pipe
	mkfifo pipe
	echo 'nonsense: [' >next
	# goes on when somebody has opened the pipe to read it
	bash -c 'exec >pipe; mv next pipe; cat text' 3>&- 4>&- &
	feeder=$!
	apart timeout 60 ringup -f pipe "$@" <<<secret
	kill "$feeder" 2>/dev/null || true
	wait "$feeder" || true
	unset feeder
	[ "$status" -ne 124 ] && [ "$(stat -c %F pipe)" = "$([ "$count" -eq 0 ] && echo fifo || echo regular file)" ] &&
		! grep 'pipe:1' ../err || {
		echo "$*: status $status; $(stat -c %F pipe)"
		cat ../err
		return 1
	}
}

@test "commands on hosts" {
	local word
	for word in up 'up --dry-run' down probe status logs 'exec true' bench; do
		# shellcheck disable=SC2086  # words
		reads 1 $word
		says 1 refused
	done
}

@test "commands on an image and its stack" {
	local word
	for word in build 'build --dry-run' push recipe resolve 'resolve --pin' 'recipe openmpi os==debian12' \
		'resolve openmpi os==debian12'; do
		# shellcheck disable=SC2086  # words
		reads 1 $word
	done
}

@test "commands on registries, also with several images at once" {
	local word
	python3 "$ROOT/tests/fault/image.py" image 1 1
	for word in 'push oci:image:1 127.0.0.1:1/x:1' 'copy docker.io/x:1 docker.io/y:1 127.0.0.1:1/x/' 'pull docker.io/x:1 oci:there' \
		'pull docker.io/x:1 127.0.0.1:1/y:1 oci:there' 'copy docker.io/x:1 127.0.0.1:1/y:1' 'ls 127.0.0.1:1' \
		'ls docker.io/library/x' 'inspect docker.io/x:1' 'rm 127.0.0.1:1/x:1' 'login -u me' logout \
		'registry status --folder none'; do
		# shellcheck disable=SC2086  # words
		https_proxy=http://127.0.0.1:1 reads 1 $word
	done
}

@test "commands that need no cluster file leave it alone" {
	local word
	python3 "$ROOT/tests/fault/image.py" image 1 1
	for word in version matrix help 'build --clear' 'copy oci:image:1 oci:other:1'; do
		# shellcheck disable=SC2086  # words
		reads 0 $word
		says 0
	done
}
