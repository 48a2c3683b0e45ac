#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# An image of 560 MiB to and from the real Distribution server through a bad network, and with the
# client killed in the middle.

# The largest layer is longer than any connection lives.
SIZES='190 140 110 60 40 20'
IMAGE=$((560 * 1024 * 1024))
LARGEST=$((190 * 1024 * 1024))

# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"

setup_file() {
	local root build
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=$(cd "$root" && realpath "${BUILD:-build}")
	export PATH="$build:$PATH" HOME=$BATS_FILE_TMPDIR ROOT=$root
	unset DOCKER_CONFIG REGISTRY_AUTH_FILE XDG_CACHE_HOME
	cd "$BATS_FILE_TMPDIR" || return 1
	# shellcheck disable=SC2086 # one word each
	python3 "$ROOT/tests/fault/image.py" image $SIZES
	"$BATS_TEST_DIRNAME/../free_port.py" >port
	cat >registry.yml <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $PWD/store}, delete: {enabled: true}}
		http: {addr: "127.0.0.1:$(cat port)"}
	END
	docker-registry serve registry.yml >registry.log 2>&1 </dev/null 3>&- 4>&- &
	echo $! >registry.pid
	timeout 20 bash -c "until curl -sf http://127.0.0.1:$(cat port)/v2/ >/dev/null; do sleep 0.1; done"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/registry.pid")" || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	REGISTRY=127.0.0.1:$(cat port)
}

teardown() {
	[ -z "${PROXY_PID:-}" ] || kill "$PROXY_PID" || true
}

# bad_network WORD...: a proxy before the registry; its address is in $BAD.
bad_network() {
	rm -f proxy.port
	python3 "$ROOT/tests/fault/proxy.py" "$REGISTRY" stats.json "$@" >proxy.port </dev/null 2>proxy.log 3>&- 4>&- &
	PROXY_PID=$!
	timeout 20 bash -c 'until [ -s proxy.port ]; do sleep 0.05; done'
	BAD=127.0.0.1:$(cat proxy.port)
}

stat_of() {
	sleep 0.2
	jq ".$1" stats.json
}

# Nothing in the registry but what was pushed outside of the tests.
empty_registry() {
	rm -rf store/docker
}

in_registry() {
	rm -rf check
	ringup -q pull "$REGISTRY/lab/train:1" oci:check >/dev/null
	diff -r image/blobs check/blobs
}

# at_bytes NAME COUNT: waits until so many bytes went that way.
at_bytes() {
	timeout 60 bash -c "until [ \"\$(jq .$1 stats.json)\" -ge $2 ]; do sleep 0.02; done"
}

@test "push: every connection is cut after 50 to 100 MiB" {
	empty_registry
	bad_network --cut 50:100
	run ringup -q --timeout 20 push oci:image "$BAD/lab/train:1"
	echo "$output"
	[ "$status" -eq 0 ]
	in_registry
	echo "# sent $(stat_of up) bytes for $IMAGE over $(stat_of cuts) cuts" >&3
	[ "$(stat_of cuts)" -ge 3 ]
	[ "$(stat_of up)" -le $((IMAGE * 2)) ]
}

@test "pull: every connection is cut after 50 to 100 MiB" {
	empty_registry
	ringup -q push oci:image "$REGISTRY/lab/train:1"
	bad_network --cut 50:100
	rm -rf pulled
	run ringup -q --timeout 20 pull "$BAD/lab/train:1" oci:pulled
	echo "$output"
	[ "$status" -eq 0 ]
	diff -r image/blobs pulled/blobs
	echo "# received $(stat_of down) bytes for $IMAGE over $(stat_of cuts) cuts" >&3
	[ "$(stat_of cuts)" -ge 3 ]
	# Nothing but what was on its way in a torn connection comes twice.
	[ "$(stat_of down)" -le $((IMAGE + $(stat_of cuts) * 8 * 1024 * 1024)) ]
}

@test "push: cuts, stalls, 401, 429, 502 and 503" {
	empty_registry
	# A new try of a blob is up to three requests, and five in a row may fail: at 0.2 each, one push in five would.
	bad_network --cut 50:100 --stall 7:20 --status 401,429,502,503:0.1 --seed 3
	run ringup -q --timeout 3 push oci:image "$BAD/lab/train:1"
	echo "$output"
	[ "$status" -eq 0 ]
	in_registry
	echo "# $(tr -d '\n' <stats.json)" >&3
	[ "$(stat_of statuses)" -ge 1 ]
}

@test "pull: cuts, stalls, 401, 429, 502 and 503" {
	empty_registry
	ringup -q push oci:image "$REGISTRY/lab/train:1"
	bad_network --cut 50:100 --stall 4:20 --status 401,429,502,503:0.2 --seed 5
	rm -rf pulled
	run ringup -q --timeout 3 pull "$BAD/lab/train:1" oci:pulled
	echo "$output"
	[ "$status" -eq 0 ]
	diff -r image/blobs pulled/blobs
	echo "# $(tr -d '\n' <stats.json)" >&3
	[ "$(stat_of stalls)" -ge 1 ]
}

@test "push: killed in the middle, and run again" {
	empty_registry
	bad_network --rate 100
	ringup -q push oci:image "$BAD/lab/train:1" 3>&- 4>&- &
	pid=$!
	at_bytes up $((300 * 1024 * 1024))
	kill -9 $pid
	wait $pid || true
	run ringup ls "$REGISTRY/lab/train"
	[ "$status" -ne 0 ] || [ -z "$output" ] # no tag on an image that is not whole
	run ringup -q push oci:image "$BAD/lab/train:1"
	echo "$output"
	[ "$status" -eq 0 ]
	in_registry
	echo "# sent $(stat_of up) bytes for $IMAGE" >&3
	# Six go side by side; what was under way is sent again, what had arrived is not.
	[ "$(stat_of up)" -le $((300 * 1024 * 1024 + IMAGE + 16 * 1024 * 1024)) ]
}

@test "pull: killed in the middle, and run again" {
	empty_registry
	ringup -q push oci:image "$REGISTRY/lab/train:1"
	bad_network --rate 100
	rm -rf pulled
	ringup -q pull "$BAD/lab/train:1" oci:pulled 3>&- 4>&- &
	pid=$!
	at_bytes down $((300 * 1024 * 1024))
	kill -9 $pid
	wait $pid || true
	jq -e '.manifests == []' pulled/index.json
	for blob in pulled/blobs/sha256/*; do
		[ ! -e "$blob" ] || [ "$(sha256sum <"$blob" | cut -c1-64)" = "${blob##*/}" ]
	done
	run ringup -q --json pull "$BAD/lab/train:1" oci:pulled
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(jq .bytes_resumed <<<"$output")" -ge $((100 * 1024 * 1024)) ]
	diff -r image/blobs pulled/blobs
	echo "# received $(stat_of down) bytes for $IMAGE" >&3
	[ "$(stat_of down)" -le $((IMAGE + 32 * 1024 * 1024)) ]
}

@test "push: no connection lives for half of the largest layer" {
	empty_registry
	bad_network --cut 20:30
	run ringup -q --timeout 20 push oci:image "$BAD/lab/train:1"
	echo "$output"
	[ "$status" -eq 0 ]
	in_registry
	echo "# sent $(stat_of up) bytes for $IMAGE over $(stat_of cuts) cuts, largest layer $LARGEST" >&3
}
