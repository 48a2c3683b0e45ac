#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A registry that puts what a terminal obeys into all that it says (tests/standin/hostile_registry.py): no command
# crashes, and nothing of it comes out.

load helper
load foreign

# start FOLDER [CERTIFICATE KEY]
start() {
	mkdir -p "$1"
	echo text >"$1/mode"
	python3 "$BATS_TEST_DIRNAME/../standin/hostile_registry.py" "$@" >"$1/log" 2>&1 3>&- 4>&- &
	echo $! >"$1/pid"
	timeout 30 bash -c "until [ -s '$1/port' ]; do sleep 0.05; done"
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=liar \
		-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
	start plain
	start tls cert.pem key.pem
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/plain/pid")" "$(cat "$BATS_FILE_TMPDIR/tls/pid")"
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	A=127.0.0.1:$(cat "$F/plain/port")
	TLS=127.0.0.1:$(cat "$F/tls/port")
	echo text | tee "$F/plain/mode" >"$F/tls/mode"
	python3 "$ROOT/tests/fault/image.py" image 1 1
}

# ask WORD...: neither a crash nor a hang, and nothing harmful in what it prints.
ask() {
	apart timeout -k 5 60 ringup "$@"
	[ "$status" -lt 124 ] || { echo "$*: status $status"; cat ../err; return 1; }
	harmless || { echo "$*"; return 1; }
}

# beside WORD...: `ask` in a folder of its own that has this one's logins; its process is added to `asked`.
beside() {
	local folder=../beside/${#asked[@]}/work
	mkdir -p "$folder"
	[ ! -d .ringup ] || cp -R .ringup "$folder/"
	(cd "$folder" && ask "$@") &
	asked+=($!)
}

# ask_all: every command, all at the same time, since each waits before it asks a registry that fails again.
ask_all() {
	local asked=() pid failed=0
	beside ls "$A"
	beside ls "$A/plain"
	beside inspect "$A/plain:1"
	beside --json inspect "$A/plain:1"
	beside -v inspect "$A/plain:1"
	beside --json ls "$A/plain"
	beside pull "$A/plain:1" oci:out
	beside --json pull "$A/plain:1" oci:out2
	beside pull "$A/plain:1" rootfs:tree
	beside push "oci:$PWD/image" "$A/plain:2"
	beside --json push "oci:$PWD/image" "$A/plain:2"
	beside copy "$A/plain:1" "$A/other:1"
	beside copy --platform linux/amd64 "$A/plain:1" "$A/other:1"
	beside rm "$A/plain:1"
	for pid in "${asked[@]}"; do
		wait "$pid" || failed=1
	done
	[ "$failed" -eq 0 ] || return 1
	ask login -u u "$A" <<<password
}

@test "text of a registry that answers" {
	ask_all
	echo names >"$F/plain/mode"
	ask_all
	ask ls "$A"
	says 0
	ask inspect "$A/plain:1"
	says 0
	grep -q 'linux ?\[2J' ../out
	ask --json inspect "$A/plain:1"
	json '"\x1b[2J" in d["config"]["os"] and "\x9b" in d["config"]["os"]'  # the data is kept
}

@test "errors" {
	local mode
	for mode in errors raw realm token location header; do
		echo "$mode" >"$F/plain/mode"
		ask_all
		ask inspect "$A/plain:1"
		says 1 "$A"
	done
}

@test "the status of a registry of our own on a host" {
	local repository=.ringup/registry/liar
	mkdir -p "$repository" keys bin
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	echo "hosts: [{address: 127.0.0.1, name: liar}]
ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}" >cluster.yaml
	cp "$F/cert.pem" "$repository/ca.pem"
	cp "$F/cert.pem" "$repository/server.pem"
	echo 'u:x' >"$repository/htpasswd"
	printf p >"$repository/password"
	printf '{"address": "%s", "home": "/h", "storage": "/s"}' "$TLS" >"$repository/registry.json"
	# the host says that it runs, and as what only where the file "as" says so
	printf '%s\n' '#!/bin/bash' 'printf "running=yes\nhome=/h\e[2J\nstorage=/s\302\2331m\nused_bytes=x\n"' 'cat as' >bin/ssh
	chmod +x bin/ssh
	export PATH=$PWD/bin:$PATH
	: >as
	ask registry status --on liar
	says 1 liar
	echo as=process >as
	ask registry status --on liar
	says 0
	grep -q '^plain:1 ' ../out
	ask --json registry status --on liar
	json 'd["running"] and d["used_bytes"] == 0'
	echo names >"$F/tls/mode"
	ask registry status --on liar
	says 1 "$TLS"
	printf 'as=systemd\e[2J\n' >as
	ask registry status --on liar
	says 1 liar
	for mode in errors raw realm token location header; do
		echo "$mode" >"$F/tls/mode"
		echo as=process >as
		ask registry status --on liar
		says 1 "$TLS"
	done
}
