#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The registry commands against the real Distribution server, which 'registry serve' sets up.

load helper

setup_file() {
	local port build
	build=$(cd "$BATS_TEST_DIRNAME/../.." && realpath "${BUILD:-build}")
	export HOME=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	echo "127.0.0.1:$port" >address
	"$build/ringup" registry serve --as process --folder reg --address "127.0.0.1:$port" >serve.out 3>&- 4>&-
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 2 1
}

teardown_file() {
	local build
	build=$(cd "$BATS_TEST_DIRNAME/../.." && realpath "${BUILD:-build}")
	"$build/ringup" registry stop --folder "$BATS_FILE_TMPDIR/reg"
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	A=$(cat "$F/address")
	printf 'hosts: [a]\nregistry: {address: "%s", ca: %s}\n' "$A" "$F/reg/ca.pem" >cluster.yaml
	ringup login -u ringup "$A" <"$F/reg/password"
}

pushed() {
	ringup -q push "oci:$F/image:1" "$A/$1" >/dev/null
}

# free_port: a port of 127.0.0.1 that nothing listens on.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# mine serve|status|... WORDS...: of a registry of this test alone, in its own folder.
mine() {
	local verb=$1
	shift
	[ "$verb" != serve ] || set -- --as process "$@"
	apart ringup registry "$verb" --folder "$PWD/own" "$@" 3>&- 4>&-
	[ "$status" -eq 0 ] || { cat ../out ../err; return 1; }
}

teardown() {
	local folder
	for folder in "$BATS_TEST_TMPDIR"/work/*/registry.json; do
		[ ! -f "$folder" ] || ringup registry stop --folder "${folder%/*}" >/dev/null 3>&- 4>&-
	done
}

# certificate FIELD: of the registry of this test.
certificate() {
	openssl x509 -in own/server.pem -noout "-$1"
}

@test "registry serve twice is harmless; malformed words are refused" {
	apart ringup registry serve --as process --folder "$F/reg" --address "$A"
	[ "$status" -eq 0 ]
	grep -q 'runs already' ../out
	apart ringup registry serve --folder other --address nonsense
	says 2 HOST:PORT
	apart ringup registry serve --folder "$F/reg" -u somebody
	says 2 "is 'ringup'"
	apart ringup registry serve --folder "$F/reg" --as magic
	says 2 'systemd, process or container'
	apart ringup registry serve --folder "$F/reg" --mirror http://127.0.0.1:1
	says 2 'takes pushes'
	apart ringup registry serve --folder other --mirror hub
	says 2 'no URL'
	apart ringup registry serve --folder other --on 'a b'
	says 2 '[USER@]ADDRESS[:PORT]'
	[ ! -e other ]
}

@test "another address: a new certificate, the old CA, password and images" {
	local before
	mine serve --address "127.0.0.1:$(free_port)"
	before=$(sha256sum own/ca.pem own/ca.key own/password own/htpasswd)
	A=$(jq -r .address own/registry.json)
	ringup login --ca own/ca.pem -u ringup "$A" <own/password
	ringup -q push --ca own/ca.pem "oci:$F/image:1" "$A/lab/moves:1" >/dev/null
	A=localhost:$(free_port)
	mine serve --address "$A"
	[ "$(sha256sum own/ca.pem own/ca.key own/password own/htpasswd)" = "$before" ]
	certificate text | grep -q DNS:localhost
	mine status --json
	json "d['address'] == '$A' and d['running'] and d['repositories'][0]['name'] == 'lab/moves'"
	mine serve
	grep -q 'runs already' ../out
}

@test "gc of a registry that nothing was pushed to" {
	mine serve --address "127.0.0.1:$(free_port)"
	mine gc
	mine status
	grep -q '0 tags in 0 repositories' ../out
}

@test "a certificate near its end: status warns, serve makes a new one from the same CA" {
	local ca
	mine serve --address "127.0.0.1:$(free_port)"
	ca=$(sha256sum own/ca.pem)
	openssl x509 -req -in own/server.csr -CA own/ca.pem -CAkey own/ca.key -days 10 \
		-extfile own/server.ext -out own/server.pem 2>/dev/null
	mine status
	grep -Eq '(9|10) days' ../out
	grep -Eq "ends in (9|10) days.*registry serve --folder $PWD/own" ../err
	mine status --json
	json "d['certificate_days'] <= 10"
	mine serve
	! grep -q 'runs already' ../out
	[ "$(sha256sum own/ca.pem)" = "$ca" ]
	mine status --json
	json "d['certificate_days'] > 800"
	[ ! -s ../err ]
}

@test "what a server does not need it does not get; keys are for their owner alone" {
	[ "$(find "$F/reg" -name '*.key' -o -name password -o -name htpasswd | xargs stat -c %a | sort -u)" = 600 ]
	[ "$(stat -c %a "$F/reg" "$F/reg/server" "$F/reg/data" | sort -u)" = 700 ]
	[ ! -e "$F/reg/server/ca.key" ] && [ ! -e "$F/reg/server/password" ]
	grep -q '^ringup:\$2y\$' "$F/reg/htpasswd"
}

@test "a port that is taken, and a folder with other things in it: says so" {
	apart ringup registry serve --as process --folder "$PWD/other" --address "$A" 3>&- 4>&-
	says 1 'address already in use' "port ${A#*:}"
	mkdir full && touch full/file
	apart ringup registry serve --as process --folder "$PWD/third" --storage full \
		--address "127.0.0.1:$(free_port)" 3>&- 4>&-
	says 1 "$PWD/full holds other things" --storage
}

@test "registry status: repositories, sizes, expiry" {
	pushed lab/status:1
	apart ringup --json registry status --folder "$F/reg"
	json 'd["running"] and any(t["tag"] == "1" and t["bytes"] > 3000000
	      for r in d["repositories"] if r["name"] == "lab/status" for t in r["tags"])'
	json 'd["as"] == "process" and d["bytes"] < d["used_bytes"] and d["tag_count"] >= 1'
	json 'd["repository_count"] == len(d["repositories"])'
	pushed lab/status:2
	before=$(jq .bytes ../out)
	apart ringup --json registry status --folder "$F/reg"
	json "d['bytes'] == $before"
	apart ringup registry status --folder nowhere
	says 2 'registry serve'
}

@test "without the password: says what to do" {
	rm -r .ringup
	apart ringup ls "$A"
	says 1 "ringup login $A"
}

@test "without the CA: says what to do" {
	rm cluster.yaml
	apart ringup ls "$A"
	says 1 'not trusted'
	apart ringup ls --ca "$F/reg/ca.pem" "$A"
	[ "$status" -eq 0 ]
}

@test "the CA and the login as Docker and Podman keep them" {
	pushed lab/certs:1
	rm -r cluster.yaml .ringup
	mkdir -p "$HOME/.config/containers/certs.d/$A" "$HOME/.docker"
	cp "$F/reg/ca.pem" "$HOME/.config/containers/certs.d/$A/ca.crt"
	printf '{"auths": {"https://%s/v2/": {"auth": "%s"}}}' "$A" \
		"$(printf 'ringup:%s' "$(cat "$F/reg/password")" | base64 -w0)" >"$HOME/.docker/config.json"
	apart ringup ls "$A/lab/certs"
	[ "$(cat ../out)" = 1 ]
	touch "$HOME/.config/containers/certs.d/$A/me.cert"
	apart ringup ls "$A/lab/certs"
	says 2 'me.key is missing'
}

@test "a credential helper" {
	rm -r .ringup
	mkdir -p bin "$HOME/.docker"
	cat >bin/docker-credential-fake <<-END
		#!/bin/sh
		read -r server
		[ "\$1 \$server" = "get $A" ] || { echo 'credentials not found in native keychain'; exit 1; }
		printf '{"ServerURL": "%s", "Username": "ringup", "Secret": "%s"}' "\$server" "$(cat "$F/reg/password")"
	END
	chmod +x bin/docker-credential-fake
	PATH=$PWD/bin:$PATH
	printf '{"credHelpers": {"%s": "fake"}}' "$A" >"$HOME/.docker/config.json"
	apart ringup ls "$A"
	[ "$status" -eq 0 ]
	printf '{"credsStore": "fake"}' >"$HOME/.docker/config.json"
	apart ringup ls "$A"
	[ "$status" -eq 0 ]
	printf '{"credsStore": "absent"}' >"$HOME/.docker/config.json"
	apart ringup ls "$A"
	says 1 docker-credential-absent
}

@test "logout forgets" {
	apart ringup logout
	[ "$status" -eq 0 ]
	! grep -q "$A" .ringup/auth.json
	apart ringup ls "$A"
	says 1 'ringup login'
	apart ringup logout
	[ "$(cat ../out)" = "$A: nothing was kept" ]
}

@test "push, pull: the same bytes, and the second time nothing" {
	pushed lab/round:1
	apart ringup -q --json push "oci:$F/image:1" "$A/lab/round:1"
	json 'd["blobs"]["total"] == 3 and d["blobs"]["moved"] == 0'
	apart ringup -q --json pull "$A/lab/round:1" oci:here:x
	json 'd["blobs"]["moved"] == 3 and d["bytes"] > 3000000'
	diff -r "$F/image/blobs" here/blobs
	apart ringup -q --json pull "docker://$A/lab/round:1" oci:here:x
	json 'd["blobs"]["moved"] == 0 and d["bytes"] == 0'
	jq -e '[.manifests[].annotations["org.opencontainers.image.ref.name"]] == ["x"]' here/index.json
}

@test "an archive on the way: to a file, and through a pipe" {
	pushed lab/archive:1
	ringup -q pull "$A/lab/archive:1" docker-archive:image.tar
	[ "$(tar xOf image.tar manifest.json | jq -r '.[0].RepoTags[0]')" = "$A/lab/archive:1" ]
	ringup -q pull "$A/lab/archive:1" docker-archive:- | tar t | grep -qx manifest.json
	[ ! -d "$HOME/.cache/ringup" ] || [ -z "$(ls "$HOME/.cache/ringup")" ]
}

@test "copy to another name mounts; from registry to registry nothing touches the disk" {
	pushed lab/first:1
	apart ringup -q --json copy "$A/lab/first:1" "$A/lab/second:2"
	json 'd["blobs"]["mounted"] == 3 and d["bytes"] == 0'
	[ "$(ringup ls "$A/lab/second")" = 2 ]
}

@test "inspect: text, JSON, the very bytes" {
	pushed lab/look:1
	apart ringup inspect "$A/lab/look:1"
	grep -q '^platform *linux/amd64' ../out
	apart ringup --json inspect "$A/lab/look:1"
	json 'len(d["layers"]) == 2 and d["config"]["os"] == "linux" and d["referrers"] == []'
	digest=$(jq -r .digest ../out)
	[ "sha256:$(ringup inspect --raw "$A/lab/look:1" | sha256sum | cut -c1-64)" = "$digest" ]
}

@test "rm: not the other tags" {
	pushed lab/gone:1
	pushed lab/gone:2
	apart ringup rm "$A/lab/gone:1"
	says 1 'is also tagged 2'
	apart ringup rm --dry-run "$A/lab/gone:1"
	[ "$(cat ../out)" = "ringup rm $A/lab/gone:1" ]
	[ "$(ringup ls "$A/lab/gone" | sort | tr '\n' ' ')" = '1 2 ' ]
	apart ringup rm --all-tags "$A/lab/gone:1"
	[ "$status" -eq 0 ]
	apart ringup rm "$A/lab/gone"
	says 2 'name a tag or a digest'
}

@test "a removed image's space is freed" {
	python3 "$ROOT/tests/fault/image.py" own 5
	ringup -q push oci:own:1 "$A/lab/space:1" >/dev/null
	before=$(du -sm "$F/reg/data" | cut -f1)
	ringup -q rm "$A/lab/space:1" >/dev/null
	apart ringup registry gc --folder "$F/reg" 3>&- 4>&-
	[ "$status" -eq 0 ]
	[ $((before - $(du -sm "$F/reg/data" | cut -f1))) -ge 4 ]
}

@test "an image of Docker Hub comes from the mirror; without it the hub itself is asked" {
	pushed library/hello:1
	echo "mirrors: {docker: \"https://$A\"}" >>cluster.yaml
	apart ringup -q pull docker.io/library/hello:1 oci:hub:1
	[ "$status" -eq 0 ]
	diff -r "$F/image/blobs" hub/blobs
	printf 'hosts: [a]\nmirrors: {docker: "http://127.0.0.1:1"}\n' >cluster.yaml
	https_proxy=http://127.0.0.1:1 apart ringup pull docker.io/library/hello:1 oci:other
	says 1 'mirror http://127.0.0.1:1' 'registry-1.docker.io'
}

@test "wrong words" {
	apart ringup pull "$A/lab/x:1" "$A/lab/y:1"
	says 2 'ringup copy'
	apart ringup push "oci:$F/image:1"
	says 2 'a source and a reference'
	apart ringup push "oci:$F/image:1" oci:there
	says 2 'to a registry'
	apart ringup pull "$A/lab/x:1" oci:
	says 2 'names no folder'
	apart ringup pull --platform amd64 "$A/lab/x:1" oci:x
	says 2 'not a platform'
	apart ringup pull --all --platform linux/amd64 "$A/lab/x:1" oci:x
	says 2 'exclude each other'
	apart ringup pull "$A/lab/none:1" oci:x
	says 1 "$A/lab/none:1"
	apart ringup copy "oci:$F/image:nothing" "$A/lab/x:1"
	says 2 'no image named nothing'
	apart ringup registry dance
	says 2 'serve, status, stop or gc'
}
