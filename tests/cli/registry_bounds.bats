#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Whatever a registry asks us to hold has a bound: answers, lists, tokens, chunks. None of it ends in a crash, and a
# crash would leave no core dump, which would hold the password.

load helper

setup() {
	common_setup
}

teardown() {
	[ ! -f server/pid ] || kill "$(cat server/pid)"
}

# registry WORD...: a registry that lies so; its address to $A.
registry() {
	mkdir -p server
	[ ! -f server/pid ] || kill "$(cat server/pid)"
	rm -f server/port
	python3 "$ROOT/tests/standin/lying_registry.py" server "$@" >server/out 2>&1 3>&- 4>&- &
	echo $! >server/pid
	while [ ! -e server/port ]; do sleep 0.02; done
	A=127.0.0.1:$(cat server/port)
}

# log_in: Docker's file has a login for it.
log_in() {
	mkdir -p "$HOME/.docker"
	printf '{"auths": {"%s": {"auth": "b3BzOnMzY3JldA=="}}}' "$A" >"$HOME/.docker/config.json"
}

@test "OCI-Chunk-Min-Length: a copy holds no more than 64 MiB, a push from files holds nothing" {
	local chunk
	python3 "$ROOT/tests/fault/image.py" large 70
	for chunk in 99999999999 1125899906842624 99999999999999999999999999; do
		registry "chunk=$chunk"
		apart ringup copy "$A/good/x:1" "$A/other/x:1"
		says 0 # it is smaller than a chunk, and the last chunk may be small
		apart ringup push oci:large:1 "$A/other/x:1"
		says 0
	done
	for chunk in '' 0 -5 1e9 1000 ' 2000 '; do
		registry "chunk=$chunk"
		apart ringup copy "$A/good/x:1" "$A/other/x:1"
		says 0
	done
}

@test "OCI-Chunk-Min-Length: a large blob, whose copy would not fit in memory" {
	local chunk
	for chunk in 99999999999 99999999999999999999999999; do
		registry "chunk=$chunk"
		log_in
		apart ringup copy "$A/layer/large:1" "$A/other/x:1"
		says 1 "wants chunks of ${chunk:0:20}" 'oci:DIR'
	done
}

@test "answers without end: manifest, tags, catalog, referrers, token" {
	registry
	apart ringup inspect "$A/big/manifest:1"
	says 1 'answered more than it may (4194304 bytes'
	apart ringup pull "$A/big/manifest:1" oci:pulled
	says 1 'answered more than it may (4194304 bytes'
	apart ringup ls "$A/big/tags"
	says 1 'answered more than it may (4194304 bytes'
	apart ringup ls "$A"
	says 1 'answered more than it may (4194304 bytes'
	apart ringup inspect "$A/big/referrers:1"
	says 1 'answered more than it may (4194304 bytes'
	registry realm=http://127.0.0.1:@PORT@/token token=big
	log_in
	apart ringup inspect "$A/good/x:1"
	says 1 'answered more than it may (262144 bytes'
}

@test "tokens that no header can hold" {
	local form
	for form in long split; do
		registry realm=http://127.0.0.1:@PORT@/token "token=$form"
		log_in
		apart ringup inspect "$A/good/x:1"
		says 1 'answered without a token, or with one that no header can hold'
		[ "$(grep -c '/v2/good.*login' server/log)" = 0 ]
	done
}

@test "lists that go in a circle, and lists without end" {
	registry
	apart ringup ls "$A/loop/tags"
	says 1 'go in a circle'
	[ "$(grep -c loop/tags server/log)" -le 12 ]
	apart ringup inspect "$A/loop/referrers:1"
	says 1 'go in a circle'
	[ "$(grep -c /referrers/ server/log)" -le 12 ]
	apart ringup ls "$A/good/x"
	says 1 'more than'
	[ "$(grep -c good/x/tags server/log)" -le 12 ]
}

# dumps WORD...: runs them with a password on standard input, and ends them as a crash would once the registry has been
# asked; prints the soft limit of core dumps, and whether one was made.
dumps() {
	python3 - "$@" <<-'END'
		import os, re, resource, signal, subprocess, sys, time
		hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
		resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
		p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		p.stdin.write(b"s3cret\n")
		p.stdin.flush()
		while not os.path.exists("server/log"):
		    time.sleep(0.02)
		with open("/proc/%d/limits" % p.pid, encoding="utf-8") as limits:
		    print("limit", re.search("Max core file size +([^ ]+)", limits.read()).group(1))
		os.kill(p.pid, signal.SIGABRT)
		_, status = os.waitpid(p.pid, 0)
		print("signal", os.WTERMSIG(status), "dumped", os.WCOREDUMP(status))
	END
}

@test "no core dump of a program that holds a password, and its helpers may make theirs" {
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:disable_coredump=0 # or a sanitizer's build would have no limit to give back
	registry silent
	dumps ringup login -u ops "$A" >said
	cat said
	[ "$(cat said)" = $'limit 1\nsignal 6 dumped False' ]
	[ -z "$(find . -name 'core*')" ]
	# what ringup starts gets the limit back
	mkdir bin
	printf '%s\n' '#!/bin/sh' 'ulimit -c >limit' 'exit 1' >bin/docker-credential-fake
	chmod +x bin/docker-credential-fake
	mkdir -p "$HOME/.docker"
	printf '{"credsStore": "fake"}' >"$HOME/.docker/config.json"
	ulimit -S -c "$(ulimit -H -c)"
	PATH=$PWD/bin:$PATH apart ringup inspect "$A/good/x:1"
	[ "$(cat limit)" = "$(ulimit -H -c)" ]
}

@test "with-secret: what it starts leaves no core file" {
	echo abc >secret
	ulimit -S -c "$(ulimit -H -c)"
	RINGUP_SECRET_FILE=$PWD/secret run "$ROOT/images/entry/with-secret" sh -c 'ulimit -S -c; echo "$RINGUP_SECRET"'
	[ "$output" = $'0\nabc' ]
}
