#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A host that lies (tests/standin/hostile_ssh): no command crashes, each error names the host, and no control
# character of the host's reaches the terminal.

load helper
load foreign
setup() {
	common_setup
	mkdir keys bin
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	ln -s "$ROOT/tests/standin/hostile_ssh" bin/ssh
	export PATH=$PWD/bin:$PATH
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [{address: 127.0.0.1, name: liar}]
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}
		registry: {address: "127.0.0.1:1"}
		stack: [python, "os==debian12"]
		accelerator: cpu
	END
}

COMMANDS=(probe status up 'up --dry-run' down logs 'exec work' bench 'registry serve --on liar' 'build --on liar')

# ask WORD...: neither a crash nor a hang, and nothing harmful in what it prints.
ask() {
	apart timeout -k 5 60 ringup "$@"
	[ "$status" -lt 124 ] || { echo "$HOSTILE: $*: status $status"; cat ../err; return 1; }
	harmless || { echo "$HOSTILE: $*"; return 1; }
}

# refused: every command fails and says which host it was.
refused() {
	local command
	for command in "${COMMANDS[@]}"; do
		# shellcheck disable=SC2086  # words
		ask $command
		[ "$status" -eq 1 ] || { echo "$command: status $status"; cat ../err; return 1; }
		grep -q 'error:.*liar' ../err || { echo "$command names no host"; cat ../err; return 1; }
	done
}

@test "a login that fails" {
	HOSTILE=login refused
}

@test "a connection that breaks, 255 of the system's ssh" {
	HOSTILE=lost refused
	HOSTILE=lost ask probe
	says 1 'liar (127.0.0.1 port 22): the connection broke' 'connection reset'
}

@test "commands that fail" {
	HOSTILE=fails refused
}

@test "garbage, silence and a flood" {
	local command
	for HOSTILE in garbage silent flood; do
		export HOSTILE
		for command in probe status up down bench 'registry serve --on liar'; do
			# shellcheck disable=SC2086  # words
			ask $command
			says 1 liar
		done
		ask exec work
		ask logs
	done
	HOSTILE=flood ask logs
	says 1 'liar: ' 'more than 16777216 bytes'
	HOSTILE=late-flood ask --json exec work
	says 0 'liar: only the first 16777216 bytes'
}

@test "facts, states and numbers that are mad" {
	local command
	export HOSTILE=facts
	for command in "${COMMANDS[@]}" "--json probe" "--json status" "-v probe" "--color never status"; do
		# shellcheck disable=SC2086  # words
		ask $command
	done
	ask --json probe -o facts.json
	json 'd["hosts"][0]["cpus"] == 0 and d["hosts"][0]["memory_bytes"] == 0 and d["hosts"][0]["disk_free_bytes"] == 0'
	json '"\x1b[2J" in d["hosts"][0]["os"] and "\x9b" in d["hosts"][0]["os"]'  # the data is kept
	ask resolve --facts facts.json --no-lock python
	ask bench --facts facts.json --from facts.json
}

@test "text of commands and logs" {
	export HOSTILE=text
	ask exec work
	grep -qx 'liar: two' ../out
	grep -q '^liar: one ?\[2J?\]0;title' ../out
	grep -q '^liar: three ?' ../err
	ask logs
	ask --json exec work
	json '"\x1b[2J" in d["hosts"][0]["stdout"] and "\u202e" in d["hosts"][0]["stdout"]'
	# on a terminal, too: what is drawn again and again
	TERM=xterm script -qec "ringup exec work" /dev/null >../out 2>../err
	tr -d '\r' <../out | sed 's/\x1b\[[0-9]*[AKm]//g' >../plain
	harmless ../plain
}

@test "a registry that runs, and not as what" {
	export HOSTILE=no-as
	mkdir -p .ringup/registry/liar
	echo '{"address": "127.0.0.1:1", "home": "/h", "storage": "/s"}' >.ringup/registry/liar/registry.json
	ask registry status --on liar
	says 1 'liar: ' 'runs, and not as what'
	ask registry stop --on liar
	says 0
	for HOSTILE in lost fails garbage silent flood facts; do
		for verb in status stop gc; do
			ask registry "$verb" --on liar
			[ "$status" -eq 0 ] || grep -q liar ../err || { echo "$HOSTILE: $verb"; cat ../err; return 1; }
		done
	done
}
