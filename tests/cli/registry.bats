#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The registry commands against the real Distribution server, which 'registry serve' sets up.

load helper

setup_file() {
	local port build
	build=$(cd "$BATS_TEST_DIRNAME/../.." && realpath "${BUILD:-build}")
	export HOME=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
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
	"$BATS_TEST_DIRNAME/../free_port.py"
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

# signed NAME SUBJECT [EXTENSION]: front/NAME.crt and .key, by front/ca.crt.
signed() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "front/$1.key" -out new.csr 2>/dev/null
	openssl x509 -req -in new.csr -CA front/ca.crt -CAkey front/ca.key -days 2 -out "front/$1.crt" \
		-extfile <(echo "${3:-basicConstraints=CA:FALSE}") 2>/dev/null
}

@test "a registry that wants a client certificate: certs.d as Docker reads it" {
	local front folder
	mkdir front
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=a test CA" -days 2 \
		-keyout front/ca.key -out front/ca.crt 2>/dev/null
	signed server 127.0.0.1 subjectAltName=IP:127.0.0.1
	signed client someone
	front=127.0.0.1:$("$BATS_TEST_DIRNAME/../free_port.py")
	cat >front/config.yml <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $PWD/front/store}}
		http: {addr: "$front", tls: {certificate: front/server.crt, key: front/server.key, clientcas: [front/ca.crt]}}
	END
	docker-registry serve front/config.yml >front/log 2>&1 3>&- 4>&- &
	echo $! >front.pid
	timeout 20 bash -c "until curl -sf --cacert front/ca.crt --cert front/client.crt --key front/client.key \
		https://$front/v2/ >/dev/null; do sleep 0.1; done"
	folder=$HOME/.config/docker/certs.d/$front
	mkdir -p "$folder"
	cp front/ca.crt "$folder/ca.crt"
	apart ringup ls "$front"
	says 1 'wants a client certificate' 'certs.d'
	cp front/client.crt "$folder/client.cert"
	apart ringup ls "$front"
	says 2 'client.key is missing'
	cp front/client.key "$folder/client.key"
	apart ringup -q push "oci:$F/image:1" "$front/lab/mutual:1"
	[ "$status" -eq 0 ]
	apart ringup -q pull "$front/lab/mutual:1" oci:here
	[ "$status" -eq 0 ]
	diff -r "$F/image/blobs" here/blobs
	# a key of somebody else
	signed other somebody
	cp front/other.key "$folder/client.key"
	apart ringup ls "$front"
	says 2 "$folder/client.key cannot be used together"
	# a certificate of another CA
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=stranger -days 2 \
		-keyout "$folder/client.key" -out "$folder/client.cert" 2>/dev/null
	apart ringup ls "$front"
	says 1 "it does not take the client certificate $folder/client.cert"
	kill "$(cat front.pid)"
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

@test "a connection that is torn in its TLS handshake: another one is tried" {
	local pid address
	pushed lab/torn:1
	python3 "$ROOT/tests/standin/hang_up.py" "$A" 3,4e,5 >port 3>&- 4>&- &
	pid=$!
	while [ ! -s port ]; do sleep 0.05; done
	address=127.0.0.1:$(cat port)
	ringup login --ca "$F/reg/ca.pem" -u ringup "$address" <"$F/reg/password"
	apart ringup -q --json pull --ca "$F/reg/ca.pem" "$address/lab/torn:1" oci:torn
	kill "$pid"
	[ "$status" -eq 0 ] || { cat ../err; false; }
	json 'd["totals"]["retries"] >= 1'
	diff -r "$F/image/blobs" torn/blobs
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

@test "the name in a layout may be a whole reference, as skopeo takes it" {
	local name=registry.lab:5000/team/x:1
	pushed lab/named:1
	ringup -q pull "$A/lab/named:1" "oci:here:$name"
	jq -e --arg name "$name" '[.manifests[].annotations["org.opencontainers.image.ref.name"]] == [$name]' here/index.json
	ringup -q copy "oci:here:$name" "oci:$PWD/there:$name" >/dev/null
	skopeo --insecure-policy copy -q "oci:$PWD/there:$name" "oci:back:$name"
	[ "$(ls)" = $'back\ncluster.yaml\nhere\nthere' ]
	ringup -q push "oci:there:$name" "$A/lab/again/" >/dev/null
	[ "$(ringup ls "$A/lab/again/x")" = 1 ]
}

@test "an archive on the way: to a file, and through a pipe" {
	pushed lab/archive:1
	ringup -q pull "$A/lab/archive:1" docker-archive:image.tar
	[ "$(tar xOf image.tar manifest.json | jq -r '.[0].RepoTags[0]')" = "$A/lab/archive:1" ]
	ringup -q pull "$A/lab/archive:1" docker-archive:- | tar t | grep -qx manifest.json
	# a device or a pipe is written into, not replaced
	ln -s /dev/null null
	ringup -q pull "$A/lab/archive:1" docker-archive:null
	[ -L null ]
	mkfifo pipe
	tar t <pipe >listed &
	ringup -q pull "$A/lab/archive:1" docker-archive:pipe
	wait $!
	grep -qx manifest.json listed
	[ ! -d "$HOME/.cache/ringup" ] || [ -z "$(ls "$HOME/.cache/ringup")" ]
}

@test "an archive that was pushed before: none of its layers is read again" {
	local old
	old=$HOME/.cache/ringup/layers/$(printf 'a%.0s' {1..64})
	mkdir -p "${old%/*}"
	touch -d '7 months ago' "$old"
	python3 "$ROOT/tests/fault/archive.py" image.tar lab/known:1 2 1
	apart ringup -q --json push docker-archive:image.tar "$A/lab/known:1"
	json 'd["blobs"]["moved"] == 3'
	[ ! -e "$old" ]
	digest=$(jq -r .digest ../out)
	python3 "$ROOT/tests/fault/archive.py" --damage image.tar
	apart ringup -v --json push docker-archive:image.tar "$A/lab/known:2"
	json "d['blobs']['moved'] == 0 and d['digest'] == '$digest'"
	! grep -q compressing ../err
	# where the registry lacks a layer, the archive is read, and its damage is seen
	apart ringup push docker-archive:image.tar "$A/lab/elsewhere:1"
	says 1 'the archive is damaged'
	# a cache that lies costs time and nothing else
	python3 "$ROOT/tests/fault/archive.py" image.tar lab/known:1 2 1
	for note in "$HOME"/.cache/ringup/layers/*; do echo '{"diff_id":' >"$note"; done
	apart ringup -q --json push docker-archive:image.tar "$A/lab/known:3"
	json "d['blobs']['moved'] == 0 and d['digest'] == '$digest'"
	for note in "$HOME"/.cache/ringup/layers/*; do
		jq -c '.blob.digest = "sha256:" + ("0" * 64) | .blob.size = 9' "$note" >new && mv new "$note"
	done
	apart ringup -q --json push docker-archive:image.tar "$A/lab/known:4"
	json "d['blobs']['moved'] == 0 and d['digest'] == '$digest'"
}

@test "copy to another name mounts; from registry to registry nothing touches the disk" {
	pushed lab/first:1
	apart ringup -q --json copy "$A/lab/first:1" "$A/lab/second:2"
	json 'd["blobs"]["mounted"] == 3 and d["bytes"] == 0'
	[ "$(ringup ls "$A/lab/second")" = 2 ]
}

# lines EXPRESSION: each line of stderr is a JSON object with an event, and the expression holds with the list `e`.
lines() {
	python3 -c "
import json
e = [json.loads(line) for line in open('../err')]
assert all(isinstance(x['event'], str) for x in e), e
assert $1, e" || { cat ../err; return 1; }
}

@test "the total: one plain line, JSON lines for programs, the same numbers in the document" {
	python3 "$ROOT/tests/fault/image.py" own 3 2
	apart ringup push oci:own:1 "$A/lab/total:1"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^  total ' ../err)" -eq 1 ]
	grep -q '^  total  *5.0 MiB of 5.0 MiB in .*/s$' ../err
	apart ringup push oci:own:1 "$A/lab/total:2"
	grep -q '^  total  *0 B of 0 B .* 5.0 MiB there already$' ../err
	apart ringup --json copy "$A/lab/total:1" "$A/lab/mounted:1"
	json 'd["totals"]["bytes_mounted"] > 5000000 and d["totals"]["bytes_done"] == d["totals"]["bytes_total"] == 0'
	apart ringup --json pull "$A/lab/total:1" oci:out
	json 'd["totals"]["bytes_done"] == d["totals"]["bytes_total"] == d["bytes"] > 5000000'
	lines 'e[-1]["event"] == "total" and e[-1]["ended"] and e[-1]["bytes_done"] == e[-1]["bytes_total"] > 5000000'
	lines 'sorted(x["bytes_total"] for x in e if x["event"] == "blob" and x["ended"] and x["ok"])[1:] == sorted(
	      x["size"] for x in json.load(open("out/blobs/sha256/" + json.load(open("out/index.json"))["manifests"][0]["digest"][7:]))["layers"])'
	apart ringup --json pull "$A/lab/total:9" oci:out
	lines 'e[-1]["event"] == "error" and "lab/total:9" in e[-1]["text"]'
	json 'd["ok"] is False and "lab/total:9" in d["error"]'
	apart ringup -q --json push oci:own:1 "$A/lab/total:2"
	[ ! -s ../err ]
}

@test "the total on a terminal: the last of the live lines" {
	python3 "$ROOT/tests/fault/image.py" own 40
	TERM=xterm script -qec "ringup push oci:own:1 $A/lab/live:1" /dev/null >../out
	grep -q 'total  *[0-9.]* .* of 4[0-9.]* MiB' ../out
	grep -q 'total .* in ' ../out
}

@test "a try that failed counts, and is an event" {
	pushed lab/tried:1
	python3 -c '
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    tries = 0
    def do_GET(self):
        H.tries += 1
        self.send_response(503 if H.tries == 2 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_HEAD = do_GET
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()' >port 3>&- 4>&- &
	server=$!
	for _ in $(seq 50); do
		if [ -s port ]; then break; fi
		sleep 0.1
	done
	apart ringup --json push "oci:$F/image:1" "127.0.0.1:$(cat port)/lab/tried:1"
	kill "$server"
	lines 'sum(x["event"] == "retry" and "503" in x["why"] and x["try"] == 2 for x in e) == 1'
}

@test "--platform of a single image that is for another one: refused on every way" {
	pushed lab/single:1
	for words in "pull $A/lab/single:1 oci:one" "pull $A/lab/single:1 rootfs:two" \
		"copy $A/lab/single:1 $A/lab/other:1" "push oci:$F/image:1 $A/lab/other:1" "copy oci:$F/image:1 oci:three"; do
		# shellcheck disable=SC2086
		apart ringup -q ${words%% *} --platform linux/arm64 ${words#* }
		says 1 'is for linux/amd64, not for linux/arm64'
		# shellcheck disable=SC2086
		apart ringup -q ${words%% *} --platform arm64 ${words#* }
		says 2 "'arm64' is not a platform"
	done
	apart ringup ls "$A/lab/other"
	says 1
	ringup -q copy --platform linux/amd64 "$A/lab/single:1" "$A/lab/other:1" >/dev/null
	[ "$(ringup ls "$A/lab/other")" = 1 ]
}

@test "several sources: each under its own name and tag" {
	python3 "$ROOT/tests/fault/archive.py" a.tar reg.example/team/alpha:1 1
	python3 "$ROOT/tests/fault/archive.py" b.tar beta 1
	python3 "$ROOT/tests/fault/image.py" own 1
	ringup -q copy oci:own:1 oci:own:gamma:3 >/dev/null
	apart ringup -q --json push docker-archive:a.tar docker-archive:b.tar oci:own:gamma:3 "$A/many/"
	json '[i["target"].split("/", 1)[1] for i in d["images"]] == ["many/alpha:1", "many/beta:latest", "many/gamma:3"]'
	apart ringup -q pull "$A/many/alpha:1" "$A/many/gamma:3" oci:both
	[ "$(wc -l <../out)" -eq 2 ]
	jq -e '[.manifests[].annotations["org.opencontainers.image.ref.name"]] | sort == ["alpha:1", "gamma:3"]' both/index.json
	apart ringup -q copy "$A/many/alpha:1" "$A/many/beta" "$A/more/"
	[ "$status" -eq 0 ]
	[ "$(ringup ls "$A/more/alpha") $(ringup ls "$A/more/beta")" = '1 latest' ]
	# one source, and a prefix
	apart ringup -q copy "$A/many/gamma:3" "$A/more/"
	[ "$(ringup ls "$A/more/gamma")" = 3 ]
}

@test "several sources: one that fails does not stop the others" {
	python3 "$ROOT/tests/fault/archive.py" a.tar alpha:1 1
	apart ringup -q --json push docker-archive:a.tar oci:nowhere:beta:1 "$A/some/"
	says 1 'oci:nowhere:beta:1: ' '1 of 2 images failed'
	json 'd["images"][0]["digest"] and "nowhere" in d["images"][1]["error"]'
	[ "$(ringup ls "$A/some/alpha")" = 1 ]
	apart ringup -q pull "$A/some/none:1" "$A/some/alpha:1" "$A/some/none:2" oci:out
	says 1 "$A/some/none:1: " "$A/some/none:2: " '2 of 3 images failed'
	jq -e '.manifests | length == 1' out/index.json
}

@test "several sources: what cannot be meant is said before anything is sent" {
	python3 "$ROOT/tests/fault/archive.py" a.tar x.example/alpha:1 1
	python3 "$ROOT/tests/fault/archive.py" b.tar y.example/alpha:1 1
	apart ringup push docker-archive:a.tar docker-archive:b.tar "$A/clash/"
	says 2 'docker-archive:a.tar and docker-archive:b.tar would both become' 'clash/alpha:1'
	apart ringup push docker-archive:a.tar "oci:$F/image:1" "$A/clash/"
	says 2 'has only a tag, and no name'
	apart ringup push docker-archive:a.tar docker-archive:- "$A/clash/"
	says 2 'docker-archive:- is a pipe'
	apart ringup push docker-archive:a.tar docker-archive:b.tar "$A/clash/one:1"
	says 2 'HOST/PREFIX/'
	apart ringup pull "$A/clash/a:1" "$A/clash/b@sha256:$(printf 'a%.0s' {1..64})" oci:out
	says 2 'a digest and no tag'
	apart ringup pull "$A/clash/a:1" "$A/clash/b:1" oci:out:1
	says 2 'for one image'
	apart ringup ls "$A/clash/alpha"
	says 1
	[ ! -e out ]
}

# tree FOLDER: every file's kind, mode, owner, size, link and content.
tree() {
	(cd "$1" && find . -printf '%y %m %U:%G %p %l\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

# blobs_of REPOSITORY: how many the registry has of it
blobs_of() {
	find "$F/reg/data/docker/registry/v2/repositories/lab/$1/_layers" -name link 2>/dev/null | wc -l
}

# in_two_goes REPOSITORY: archive.tar through a pipe, whose other end comes when a layer is in the registry
in_two_goes() {
	head -c 9M archive.tar
	for _ in $(seq 200); do
		[ "$(blobs_of "$1")" -eq 0 ] || break
		sleep 0.05
	done
	[ "$(blobs_of "$1")" -eq 1 ] && echo one >ahead
	tail -c "+$((9 * 1024 * 1024 + 1))" archive.tar
}

@test "an archive's layers go while those behind them are packed" {
	python3 "$ROOT/tests/fault/archive.py" archive.tar ahead:1 8 8 1
	apart ringup -q --json push docker-archive:- "$A/lab/ahead:1" < <(in_two_goes ahead)
	[ "$status" -eq 0 ]
	grep -qx one ahead || { cat ../err; return 1; }
	# counted once, all together
	json 'd["blobs"]["moved"] == d["blobs"]["total"] == 4 and d["bytes"] > 8 << 20'
	ringup -q pull "$A/lab/ahead:1" docker-archive:back.tar
	apart ringup -q --json push docker-archive:archive.tar "$A/lab/ahead:2"
	json 'd["blobs"]["moved"] == 0'
	# what comes later is damaged: no tag
	rm ahead
	printf 'nonsense' | dd of=archive.tar bs=1 seek=12M conv=notrunc status=none
	apart ringup -q push docker-archive:- "$A/lab/half:1" < <(in_two_goes half)
	[ "$status" -eq 1 ]
	grep -qx one ahead || { cat ../err; return 1; }
	apart ringup ls "$A/lab/half"
	[ ! -s ../out ]
}

@test "pull to rootfs: the tree that umoci unpacks" {
	[ "$(id -u)" = 0 ] || { echo 'owners are set as root alone'; return 1; }
	mkdir -p made/etc made/bin
	echo one >made/etc/one && echo two >made/etc/two && ln -s one made/etc/link && ln made/etc/one made/etc/hard
	printf '#!/bin/sh\n' >made/bin/tool && chmod 4755 made/bin/tool && chown 7:9 made/etc/two && chmod 700 made/bin
	umoci init --layout made.oci && umoci new --image made.oci:1
	umoci unpack --image made.oci:1 bundle >/dev/null 2>&1
	cp -a made/. bundle/rootfs/
	umoci repack --refresh-bundle --image made.oci:1 bundle >/dev/null 2>&1
	rm bundle/rootfs/etc/one && mkdir bundle/rootfs/etc/new && echo three >bundle/rootfs/etc/two
	umoci repack --refresh-bundle --image made.oci:1 bundle >/dev/null 2>&1
	umoci unpack --image made.oci:1 expected >/dev/null 2>&1
	ringup -q push oci:made.oci:1 "$A/lab/tree:1" >/dev/null
	apart ringup -q --json pull "$A/lab/tree:1" rootfs:tree
	json 'd["blobs"]["moved"] == d["blobs"]["total"] == 3'
	diff <(tree expected/rootfs) <(tree tree)
	# nothing else is left, here or in the cache
	[ -z "$(find . -maxdepth 1 -name '*unfinished*')" ]
	[ -z "$(find "$HOME/.cache/ringup" -maxdepth 1 -name 'image-*' 2>/dev/null)" ]
	# from a layout, too; a slash at the end means the same folder
	ringup -q copy oci:made.oci:1 rootfs:from-layout/ >/dev/null
	diff <(tree expected/rootfs) <(tree from-layout)
	apart ringup pull "$A/lab/tree:1" rootfs:tree
	says 2 'tree is not empty'
	apart ringup push rootfs:tree "$A/lab/tree:2"
	says 2 'is a tree of files'
}

@test "pull to rootfs: a layer that is no tar, an interruption: no folder" {
	pushed lab/noise:1
	apart ringup pull "$A/lab/noise:1" rootfs:out
	[ "$status" -eq 1 ]
	[ ! -e out ]
	[ -z "$(find . -maxdepth 1 -name '*unfinished*')" ]
	python3 "$ROOT/tests/fault/archive.py" big.tar big:1 60 60
	ringup -q push docker-archive:big.tar "$A/lab/big:1" >/dev/null
	ringup -q pull "$A/lab/big:1" rootfs:out >../out 2>../err &
	for _ in $(seq 200); do
		if [ -n "$(find . -maxdepth 1 -name '*unfinished*')" ]; then break; fi
		sleep 0.01
	done
	kill -INT $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 130 ]
	[ ! -e out ]
	[ -z "$(find . -maxdepth 1 -name '*unfinished*')" ]
	# kill -9 leaves it; the next pull, two seconds later, does not
	ringup -q pull "$A/lab/big:1" rootfs:out >../out 2>../err &
	for _ in $(seq 200); do
		if [ -n "$(find . -maxdepth 1 -name '*unfinished*')" ]; then break; fi
		sleep 0.01
	done
	kill -KILL $!
	wait $! || true
	[ -n "$(find . -maxdepth 1 -name 'out.unfinished-*')" ]
	sleep 3
	ringup -q pull "$A/lab/big:1" rootfs:out
	[ -e out ]
	[ -z "$(find . -maxdepth 1 -name '*unfinished*')" ]
}

# layout_with_id DIFF_ID: a layout "id" of one layer, which its config names so.
layout_with_id() {
	rm -rf id
	python3 - "$1" <<-'END'
		import hashlib, io, json, os, sys, tarfile
		tar = io.BytesIO()
		tarfile.open(fileobj=tar, mode='w').addfile(tarfile.TarInfo('empty'))
		def put(data, kind):
		    digest = hashlib.sha256(data).hexdigest()
		    open('id/blobs/sha256/' + digest, 'wb').write(data)
		    return {'mediaType': 'application/vnd.oci.image.' + kind, 'digest': 'sha256:' + digest, 'size': len(data)}
		def put_json(value, kind):
		    return put(json.dumps(value).encode(), kind)
		os.makedirs('id/blobs/sha256')
		plain = tar.getvalue()
		diff_id = sys.argv[1].replace('SHA512', hashlib.sha512(plain).hexdigest())
		config = put_json({'os': 'linux', 'architecture': 'amd64', 'rootfs': {'type': 'layers', 'diff_ids': [diff_id]}}, 'config.v1+json')
		manifest = put_json({'schemaVersion': 2, 'config': config, 'layers': [put(plain, 'layer.v1.tar')]}, 'manifest.v1+json')
		open('id/oci-layout', 'w').write('{"imageLayoutVersion": "1.0.0"}')
		json.dump({'schemaVersion': 2, 'manifests': [manifest]}, open('id/index.json', 'w'))
	END
}

@test "to rootfs: a layer's plain bytes are checked by whatever digest the config has" {
	layout_with_id sha512:SHA512
	apart ringup -q copy oci:id rootfs:right
	[ "$status" -eq 0 ]
	[ -e right/empty ]
	layout_with_id "sha512:$(printf 'a%.0s' {1..128})"
	apart ringup -q copy oci:id rootfs:wrong
	says 1 'have the digest sha512:' "the image's config says"
	for id in md5:d41d8cd98f00b204e9800998ecf8427e ''; do
		layout_with_id "$id"
		apart ringup -q copy oci:id rootfs:wrong
		says 1 'names layer 1 by no sha256 or sha512 digest'
	done
	[ ! -e wrong ]
}

# scratch_folders: how many there are in the cache.
scratch_folders() {
	find "$HOME/.cache/ringup" -maxdepth 1 -name 'image-*' | wc -l
}

# cached: the MiB there.
cached() {
	mkdir -p "$HOME/.cache/ringup"
	du -sm "$HOME/.cache/ringup" 2>/dev/null | cut -f1
}

# cut_off SIGNAL WORD...: runs it, ended so as soon as 4 MiB more are in the cache.
cut_off() {
	local signal=$1 before
	shift
	before=$(cached)
	"$@" >../out 2>../err &
	until [ $(($(cached) - before)) -ge 4 ]; do
		kill -0 $! || return 1
	done
	kill "-$signal" $!
	wait $! || true
}

@test "what was received for an archive or a tree is there for the next run" {
	python3 "$ROOT/tests/fault/archive.py" big.tar big:1 150 20 10
	ringup -q push docker-archive:big.tar "$A/lab/kept:1" >/dev/null
	for signal in KILL INT; do
		cut_off "$signal" ringup -q pull "$A/lab/kept:1" rootfs:tree
		[ ! -e tree ]
		[ "$(scratch_folders)" -eq 1 ]
	done
	cut_off KILL ringup -q pull "$A/lab/kept:1" docker-archive:got.tar
	cp -r "$HOME/.cache/ringup"/image-* "$HOME/.cache/ringup/image-old"
	apart ringup -q --json pull "$A/lab/kept:1" docker-archive:got.tar
	json 'd["bytes_resumed"] > 3000000 or d["blobs"]["moved"] < d["blobs"]["total"]'
	# what is left is used or removed; what another process works with is not touched
	[ "$(scratch_folders)" -eq 0 ]
	mkdir "$HOME/.cache/ringup/image-other"
	exec 5<"$HOME/.cache/ringup/image-other"
	flock -n 5
	ringup -q pull "$A/lab/kept:1" docker-archive:got.tar >/dev/null
	[ "$(scratch_folders)" -eq 1 ]
	exec 5<&-
	# nothing came: nothing is kept
	apart ringup pull "$A/lab/nothing:1" docker-archive:none.tar
	says 1 'has no image'
	[ "$(scratch_folders)" -eq 0 ]
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

@test "inspect: what others wrote does not reach the terminal as it is" {
	python3 - <<-'END'
		import hashlib, json, os
		os.makedirs('odd/blobs/sha256')
		def put(value, kind):
		    data = json.dumps(value).encode()
		    digest = hashlib.sha256(data).hexdigest()
		    open('odd/blobs/sha256/' + digest, 'wb').write(data)
		    return {'mediaType': 'application/vnd.oci.image.' + kind, 'digest': 'sha256:' + digest, 'size': len(data)}
		config = put({'os': 'li\x1b[31mnux', 'architecture': 'arm', 'variant': 'v7', 'created': '\x1b]0;t\x07',
		    'config': {'Cmd': ['\x1b[2J', 'a\nb', 'caf\u00e9', 'x\u009b2J']}}, 'config.v1+json')
		manifest = put({'schemaVersion': 2, 'config': config, 'layers': []}, 'manifest.v1+json')
		json.dump({'schemaVersion': 2, 'manifests': [manifest]}, open('odd/index.json', 'w'))
	END
	ringup -q push oci:odd "$A/lab/odd:1" >/dev/null
	apart ringup inspect "$A/lab/odd:1"
	[ "$status" -eq 0 ]
	grep -qx 'platform *li?\[31mnux/arm/v7' ../out
	grep -qx 'command *?\[2J a?b café x?2J' ../out
	! grep -q "$(printf '[\033\007]')" ../out
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
	apart ringup -q pull docker.io/hello:1 oci:hub:1
	[ "$status" -eq 0 ]
	diff -r "$F/image/blobs" hub/blobs
	printf 'hosts: [a]\nmirrors: {docker: "http://127.0.0.1:1"}\n' >cluster.yaml
	https_proxy=http://127.0.0.1:1 apart ringup pull docker.io/library/hello:1 oci:other
	says 1 'mirror 127.0.0.1:1: ' 'trying docker.io' 'registry-1.docker.io'
}

@test "registries.conf: mirrors of any registry, one after another, then where the name leads" {
	pushed cache/team/hello:1
	cat >registries.conf <<-END
		[[registry]]
		prefix = "nvcr.example"
		location = "$A/cache"
		[[registry.mirror]]
		location = "127.0.0.1:1/x"
		[[registry.mirror]]
		location = "$A/nothing"
	END
	export CONTAINERS_REGISTRIES_CONF=$PWD/registries.conf
	apart ringup pull nvcr.example/team/hello:1 oci:one:1
	[ "$status" -eq 0 ]
	grep -q "mirror 127.0.0.1:1: .*connection refused.*; trying $A" ../err
	grep -q "mirror $A: .*nothing/team/hello.*; trying $A" ../err
	diff -r "$F/image/blobs" one/blobs
	apart ringup -q copy nvcr.example/team/hello:1 "$A/copied/hello:1"
	[ "$status" -eq 0 ]
	[ "$(ringup ls "$A/copied/hello")" = 1 ]
	# the mirror has it: nobody else is asked
	printf '[[registry]]\nprefix = "nvcr.example"\nlocation = "127.0.0.1:1"\n[[registry.mirror]]\nlocation = "%s/cache"\n' "$A" >registries.conf
	apart ringup -q pull nvcr.example/team/hello:1 oci:two:1
	[ "$status" -eq 0 ]
	[ ! -s ../err ]
	printf '[[registry]]\nlocation = "blocked.example"\nblocked = true\n' >registries.conf
	apart ringup pull blocked.example/x:1 oci:three
	says 2 'registries.conf blocks blocked.example'
	printf 'location =\n' >registries.conf
	apart ringup pull nvcr.example/x:1 oci:three
	says 2 'registries.conf:1: '
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
