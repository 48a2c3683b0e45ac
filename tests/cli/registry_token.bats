#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The real Distribution server behind a token service: passwords, refresh tokens, helpers.

load helper

setup_file() {
	local port
	cd "$BATS_FILE_TMPDIR" || return 1
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=test -days 2 2>/dev/null
	python3 "$BATS_TEST_DIRNAME/../standin/token_service.py" . 3>&- 4>&- &
	echo $! >service.pid
	while [ ! -e port ]; do sleep 0.05; done
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
	echo "127.0.0.1:$port" >address
	cat >registry.yml <<-END
		version: 0.1
		log: {level: error}
		storage: {filesystem: {rootdirectory: $PWD/data}, delete: {enabled: true}}
		http: {addr: "127.0.0.1:$port"}
		auth: {token: {realm: "http://127.0.0.1:$(cat port)/token?a=1", service: 'a "quoted", service', issuer: test, rootcertbundle: $PWD/cert.pem}}
	END
	docker-registry serve registry.yml >registry.log 2>&1 3>&- 4>&- &
	echo $! >registry.pid
	for _ in {1..100}; do
		curl -s "$(cat address)/v2/" >answer && break
		sleep 0.1
	done
	grep -q UNAUTHORIZED answer
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 2 1
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/registry.pid")" "$(cat "$BATS_FILE_TMPDIR/service.pid")"
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	A=$(cat "$F/address")
	rm -f "$F/no-post" "$F/soon-over"
	: >"$F/log"
	mkdir -p "$HOME/.docker"
	no_secrets_in=(../out ../err)
}

teardown() {
	! grep -F -e s3cret -e re/fresh -e 're%2Ffresh' "${no_secrets_in[@]}"
}

# docker_says JSON: Docker's file for this registry.
docker_says() {
	printf '{"auths": {"%s": %s}}' "$A" "$1" >"$HOME/.docker/config.json"
}

# log LINE: exactly this is what the token service was asked.
log() {
	diff <(printf '%s\n' "$@") "$F/log"
}

@test "user and password: one token for a push, with its scope from the start" {
	docker_says '{"auth": "b3BzOnMzY3JldA=="}'
	apart ringup push "oci:$F/image:1" "$A/lab/one:1"
	[ "$status" -eq 0 ]
	log 'GET a,scope,service repository:lab/one:pull,push'
	apart ringup pull "$A/lab/one:1" oci:back:1
	[ "$status" -eq 0 ]
	diff -r "$F/image/blobs" back/blobs
}

@test "a refresh token: POST, and the same for copy, ls and rm" {
	docker_says '{"auth": "", "identitytoken": "re/fresh+1"}'
	apart ringup push "oci:$F/image:1" "$A/lab/two:1"
	[ "$status" -eq 0 ]
	log 'POST client_id,grant_type,refresh_token,scope,service repository:lab/two:pull,push'
	apart ringup -v copy "$A/lab/two:1" "$A/lab/three:1"
	[ "$status" -eq 0 ]
	grep -q 'repository:lab/three:pull,push repository:lab/two:pull$' "$F/log"
	apart ringup ls "$A/lab/three"
	[ "$(cat ../out)" = 1 ]
	apart ringup rm "$A/lab/three:1"
	[ "$status" -eq 0 ]
	grep -q 'repository:lab/three:pull,delete' "$F/log"
}

@test "a token service without POST: GET" {
	touch "$F/no-post"
	docker_says '{"auth": "", "identitytoken": "re/fresh+1"}'
	apart ringup push "oci:$F/image:1" "$A/lab/four:1"
	[ "$status" -eq 0 ]
	log 'GET a,scope,service repository:lab/four:pull,push'
}

@test "a wrong refresh token is refused, and not shown" {
	docker_says '{"auth": "", "identitytoken": "re/fresh+2"}'
	apart ringup -v push "oci:$F/image:1" "$A/lab/five:1"
	says 1 'refused the refresh token on file' 'docker login'
}

@test "a credential helper with a refresh token" {
	mkdir bin
	cat >bin/docker-credential-fake <<-'END'
		#!/bin/sh
		read -r server
		printf '{"ServerURL": "%s", "Username": "<token>", "Secret": "re/fresh+1"}' "$server"
	END
	chmod +x bin/docker-credential-fake
	printf '{"credsStore": "fake"}' >"$HOME/.docker/config.json"
	PATH=$PWD/bin:$PATH apart ringup push "oci:$F/image:1" "$A/lab/six:1"
	[ "$status" -eq 0 ]
	log 'POST client_id,grant_type,refresh_token,scope,service repository:lab/six:pull,push'
}

# held WORD...: runs it, and holds it up from its first token until that is over; its status to $status.
held() {
	local pid
	"$@" >../out 2>../err &
	pid=$!
	while [ ! -s "$F/log" ]; do sleep 0.01; done
	kill -STOP "$pid"
	sleep 2.2
	kill -CONT "$pid"
	status=0
	wait "$pid" || status=$?
}

@test "a token that ends in the middle of it is renewed" {
	python3 "$ROOT/tests/fault/image.py" large 60 60 60 60
	docker_says '{"auth": "", "identitytoken": "re/fresh+1"}'
	touch "$F/soon-over"
	held ringup push oci:large:1 "$A/lab/large:1"
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$F/log")" -ge 2 ]
	: >"$F/log"
	touch "$F/soon-over"
	held ringup pull "$A/lab/large:1" oci:back:1
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$F/log")" -ge 2 ]
	diff -r large/blobs back/blobs
}

@test "torn in the middle, and the token may not delete the dead session: sent again all the same" {
	python3 "$ROOT/tests/fault/image.py" torn 60 60
	python3 "$ROOT/tests/fault/proxy.py" "$A" stats.json --cut 20:30 --cuts 4 >proxy.port 3>&- 4>&- &
	proxy=$!
	while [ ! -s proxy.port ]; do sleep 0.05; done
	A=127.0.0.1:$(cat proxy.port)
	docker_says '{"auth": "b3BzOnMzY3JldA=="}'
	apart ringup push oci:torn:1 "$A/lab/torn:1"
	sleep 0.2
	kill "$proxy"
	cat ../err
	[ "$status" -eq 0 ]
	[ "$(jq .cuts stats.json)" -ge 1 ]
}

@test "several at once: a blob that all hold is sent once, and mounted with a token for both names" {
	local name
	docker_says '{"auth": "b3BzOnMzY3JldA=="}'
	python3 "$ROOT/tests/fault/image.py" own 5 1
	for name in a b c; do ringup -q copy oci:own:1 "oci:own:$name:1" >/dev/null; done
	apart ringup --json push oci:own:a:1 oci:own:b:1 oci:own:c:1 "$A/many/"
	[ "$status" -eq 0 ]
	json 'sum(i["blobs"]["moved"] for i in d["images"]) == 3'
	json 'sum(i["blobs"]["mounted"] for i in d["images"]) == 6'
	json 'sum(i["bytes"] for i in d["images"]) == d["totals"]["bytes_total"] < 7 << 20'
	json 'd["totals"]["bytes_mounted"] == 2 * d["totals"]["bytes_total"]'
	grep -Eq 'repository:many/.:pull,push repository:many/.:pull$' "$F/log"
	# and into one layout each comes once
	apart ringup --json pull "$A/many/a:1" "$A/many/b:1" "$A/many/c:1" oci:back
	[ "$status" -eq 0 ]
	json 'sum(i["blobs"]["moved"] for i in d["images"]) == 3'
	diff -r own/blobs back/blobs
	jq -e '.manifests | length == 3' back/index.json
}

@test "several at once: one that fails is named, and the others are there" {
	docker_says '{"auth": "b3BzOnMzY3JldA=="}'
	python3 "$ROOT/tests/fault/image.py" own 5 1
	ringup -q copy oci:own:1 oci:own:a:1 >/dev/null
	ringup -q copy oci:own:1 oci:own:b:1 >/dev/null
	python3 "$ROOT/tests/fault/image.py" bad 3
	ringup -q copy oci:bad:1 oci:bad:bad:1 >/dev/null
	find bad/blobs/sha256 -size +1M -delete
	apart ringup --json push oci:own:a:1 oci:bad:bad:1 oci:own:b:1 "$A/some/"
	says 1 'oci:bad:bad:1: ' 'is missing from bad' '1 of 3 images failed, the others are there'
	json '["error" in i for i in d["images"]] == [False, True, False]'
	apart ringup -q copy "$A/some/a:1" "$A/some/none:1" "$A/some/b:1" "$A/again/"
	says 1 "$A/some/none:1: " '1 of 3 images failed'
	[ "$(wc -l <../out)" -eq 2 ]
	[ "$(ringup ls "$A/again/a") $(ringup ls "$A/again/b")" = '1 1' ]
}

@test "several at once, interrupted: status 130, and the same command goes on" {
	local name pid
	docker_says '{"auth": "b3BzOnMzY3JldA=="}'
	python3 "$ROOT/tests/fault/image.py" own 200 200
	for name in a b c; do ringup -q copy oci:own:1 "oci:own:$name:1" >/dev/null; done
	ringup push oci:own:a:1 oci:own:b:1 oci:own:c:1 "$A/cut/" >../out 2>../err &
	pid=$!
	while [ ! -s "$F/log" ]; do sleep 0.01; done
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 130 ]
	apart ringup push oci:own:a:1 oci:own:b:1 oci:own:c:1 "$A/cut/"
	[ "$status" -eq 0 ]
	[ "$(wc -l <../out)" -eq 3 ]
}

@test "login: the token service says whether user and password are right" {
	apart ringup login -u ops "$A" <<<s3crex
	says 1 "refused user 'ops'"
	[ ! -e .ringup/auth.json ]
	log 'GET a,service'
	apart ringup login -u ops "$A" <<<s3cret
	[ "$status" -eq 0 ]
	apart ringup push "oci:$F/image:1" "$A/lab/login:1"
	[ "$status" -eq 0 ]
}

@test "nobody on file: says how to log in" {
	apart ringup push "oci:$F/image:1" "$A/lab/none:1"
	says 1 "ringup login $A"
	log 'GET a,scope,service repository:lab/none:pull,push'
}
