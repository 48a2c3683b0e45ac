#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the real Distribution server can be told to do otherwise than usual: relative addresses, a store
# behind redirects, no deletes, read-only, lists in pages.

load helper

# start NAME YAML: a server with these settings besides; its address is in NAME.address.
start() {
	local port
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
	echo "127.0.0.1:$port" >"$1.address"
	cat >"$1.yml" <<-END
		version: 0.1
		log: {level: error}
		auth: {htpasswd: {realm: "a, b", path: $PWD/htpasswd}}
		http: {addr: "127.0.0.1:$port", relativeurls: true, headers: {Warning: ['299 - "this \\"registry\\" moves"', '199 - "not this"']}}
		$2
	END
	docker-registry serve "$1.yml" >"$1.log" 2>&1 3>&- 4>&- &
	echo $! >"$1.pid"
	timeout 20 bash -c "until curl -s http://127.0.0.1:$port/v2/ >/dev/null; do sleep 0.1; done"
}

setup_file() {
	local data=$BATS_FILE_TMPDIR/data store
	cd "$BATS_FILE_TMPDIR" || return 1
	htpasswd -Bbn ops s3cret >htpasswd
	mkdir data
	python3 "$BATS_TEST_DIRNAME/../standin/store.py" . data 3>&- 4>&- &
	echo $! >store.pid
	while [ ! -e store.port ]; do sleep 0.05; done
	store=$(cat store.port)
	start usual "storage: {filesystem: {rootdirectory: $data}}"
	start other "storage: {filesystem: {rootdirectory: $data}, maintenance: {readonly: {enabled: true}}}
middleware: {storage: [{name: redirect, options: {baseurl: \"http://localhost:$store\"}}]}"
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 3 1
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	kill "$(cat usual.pid)" "$(cat other.pid)" "$(cat store.pid)"
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	A=$(cat "$F/usual.address")
	OTHER=$(cat "$F/other.address")
	mkdir -p "$HOME/.docker"
	printf '{"auths": {"%s": {"auth": "b3BzOnMzY3JldA=="}, "%s": {"auth": "b3BzOnMzY3JldA=="}}}' \
		"$A" "$OTHER" >"$HOME/.docker/config.json"
	rm -f "$F/store.log"
}

@test "relative addresses of uploads" {
	curl -si -u ops:s3cret -X POST "http://$A/v2/lab/x/blobs/uploads/" | grep -qi '^location: /v2/lab/x/blobs/uploads/'
	apart ringup -q --json push "oci:$F/image:1" "$A/lab/relative:1"
	json 'd["blobs"]["moved"] == 3'
}

@test "blobs from a store on another host: no password goes there; it sends all where a range was asked for" {
	local layer part
	ringup -q push "oci:$F/image:1" "$A/lab/stored:1" >/dev/null
	apart ringup -q pull "$OTHER/lab/stored:1" oci:one:1
	[ "$status" -eq 0 ]
	diff -r "$F/image/blobs" one/blobs
	[ "$(wc -l <"$F/store.log")" -ge 3 ]
	! grep -v ' 200 None None$' "$F/store.log"
	# half of a layer is there: the store knows no ranges
	layer=$(find one/blobs/sha256 -size +2M)
	part=one/blobs/.partial-${layer##*/}
	head -c 1500000 "$layer" >"$part"
	rm "$layer"
	: >"$F/store.log"
	apart ringup -q --json pull "$OTHER/lab/stored:1" oci:one:1
	[ "$status" -eq 0 ]
	json 'd["bytes_resumed"] == 1500000'
	grep -q ' 200 None bytes=1500000-' "$F/store.log"
	diff -r "$F/image/blobs" one/blobs
}

@test "a damaged blob in the store is refused, and nothing stays of it" {
	local blob hex
	python3 "$ROOT/tests/fault/image.py" own 2
	ringup -q push oci:own:1 "$A/lab/damaged:1" >/dev/null
	hex=$(find own/blobs/sha256 -size +1M -printf %f)
	cp -r "$F/data/docker/registry/v2/blobs/sha256/${hex:0:2}/$hex" kept
	blob=$F/data/docker/registry/v2/blobs/sha256/${hex:0:2}/$hex/data
	printf x | dd of="$blob" bs=1 seek=100000 conv=notrunc status=none
	apart ringup -q pull "$OTHER/lab/damaged:1" oci:bad:1
	says 1 "$hex" 'another digest'
	[ -z "$(find bad -name "*$hex*")" ]
	cp kept/data "$blob"
}

@test "deletes are switched off, and a server that only reads" {
	ringup -q push "oci:$F/image:1" "$A/lab/stays:1" >/dev/null
	apart ringup rm "$A/lab/stays:1"
	says 1 'HTTP 405'
	apart ringup -q push "oci:$F/image:1" "$OTHER/lab/none:1"
	says 1 'HTTP 405' 'read-only'
	[ "$(ringup ls "$A/lab/stays")" = 1 ]
}

@test "a list of repositories in pages, and one of 1201 tags" {
	local repositories=$F/data/docker/registry/v2/repositories
	ringup -q push "oci:$F/image:1" "$A/lab/many:1" >/dev/null
	for i in {1001..2200}; do cp -r "$repositories/lab/many/_manifests/tags/1" "$repositories/lab/many/_manifests/tags/t$i"; done
	[ "$(ringup ls "$A/lab/many" | wc -l)" -eq 1201 ]
	mkdir -p "$repositories"/r{1001..2100}/_layers
	before=$(grep -c 'GET /v2/_catalog' "$F/usual.log" || true)
	[ "$(ringup ls "$A" | grep -c '^r')" -eq 1100 ]
	[ $(($(grep -c 'GET /v2/_catalog' "$F/usual.log") - before)) -eq 2 ]
}

@test "through a proxy, and past it with NO_PROXY" {
	local name=registry.example:5000
	# the server takes requests as they are sent to a proxy
	printf '{"auths": {"%s": {"auth": "b3BzOnMzY3JldA=="}}}' "$name" >"$HOME/.docker/config.json"
	for variable in http_proxy HTTP_PROXY all_proxy; do
		apart env "$variable=http://$A" ringup -q push --plain-http "oci:$F/image:1" "$name/lab/proxied:1"
		[ "$status" -eq 0 ]
		apart env "$variable=http://$A" NO_PROXY=registry.example ringup ls --plain-http "$name/lab/proxied"
		says 1 'registry.example'
		# with its port, as Docker and Podman take it
		apart env "$variable=http://127.0.0.1:1" NO_PROXY=$name ringup ls --plain-http "$name/lab/proxied"
		says 1 'cannot resolve'
		apart env "$variable=http://127.0.0.1:1" ringup ls --plain-http "$name/lab/proxied"
		says 1 'the proxy does not answer' 'NO_PROXY'
	done
	# a proxy that opens no tunnel
	https_proxy=http://$A apart ringup ls "$name/lab/proxied"
	says 1 'the proxy does not let us through (CONNECT tunnel failed, response '
	! grep -q certificate ../err
	# loopback addresses never go through one
	printf '{"auths": {"%s": {"auth": "b3BzOnMzY3JldA=="}}}' "$A" >"$HOME/.docker/config.json"
	http_proxy=http://127.0.0.1:1 apart ringup ls "$A/lab/proxied"
	[ "$status" -eq 0 ]
}

@test "a registry that registries.conf calls insecure: for every command" {
	local name=registry.example:5000
	printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$name" >registries.conf
	export CONTAINERS_REGISTRIES_CONF=$PWD/registries.conf http_proxy=http://$A https_proxy=http://127.0.0.1:1
	ringup login -u ops "$name" <<<s3cret
	ringup -q push "oci:$F/image:1" "$name/lab/insecure:1" >/dev/null
	[ "$(ringup ls "$name/lab/insecure")" = 1 ]
	ringup inspect "$name/lab/insecure:1" | grep -q '^digest'
	ringup -q pull "$name/lab/insecure:1" oci:back >/dev/null
	diff -r "$F/image/blobs" back/blobs
	apart ringup ls registry.example:5001/lab/insecure
	says 1 'https://registry.example:5001'
}

@test "what the registry wants people to know is shown once, and changes nothing" {
	apart ringup push "oci:$F/image:1" "$A/lab/warned:1"
	[ "$status" -eq 0 ]
	[ "$(grep -c "registry $A says: this \"registry\" moves\$" ../err)" -eq 1 ]
	[ "$(grep -c says: ../err)" -eq 1 ]
}

@test "a wrong password, and none" {
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$A" "$(printf ops:s4cret | base64)" >"$HOME/.docker/config.json"
	apart ringup push "oci:$F/image:1" "$A/lab/no:1"
	says 1 "refused user 'ops'"
	! grep -q s4cret ../err
	rm "$HOME/.docker/config.json"
	apart ringup pull "$A/lab/no:1" oci:no
	says 1 "ringup login $A"
}
