#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# There is one way to open a registry: each command finds the same settings for the same registry, whether they
# stand on the command line, in cluster.yaml, in certs.d or in registries.conf.

load helper

free_port() {
	"$BATS_TEST_DIRNAME/../free_port.py"
}

# Two Distribution servers: one with TLS and a password (tls.address), and one with neither (plain.address).
setup_file() {
	local port build
	build=$(cd "$BATS_TEST_DIRNAME/../.." && realpath "${BUILD:-build}")
	export HOME=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	echo "127.0.0.1:$(free_port)" >tls.address
	"$build/ringup" registry serve --as process --folder reg --address "$(cat tls.address)" >serve.out 3>&- 4>&-
	port=$(free_port)
	echo "127.0.0.1:$port" >plain.address
	cat >plain.yml <<-YML
		version: 0.1
		log: {level: error}
		storage: {filesystem: {rootdirectory: $PWD/plain}, delete: {enabled: true}}
		http: {addr: "127.0.0.1:$port"}
	YML
	docker-registry serve plain.yml >plain.log 2>&1 3>&- 4>&- &
	echo $! >plain.pid
	timeout 20 bash -c "until curl -s http://127.0.0.1:$port/v2/ >/dev/null; do sleep 0.1; done"
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 2 1
}

teardown_file() {
	local build
	build=$(cd "$BATS_TEST_DIRNAME/../.." && realpath "${BUILD:-build}")
	kill "$(cat "$BATS_FILE_TMPDIR/plain.pid")"
	"$build/ringup" registry stop --folder "$BATS_FILE_TMPDIR/reg"
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	TLS=$(cat "$F/tls.address")
	PLAIN=$(cat "$F/plain.address")
	NAME=registry.example:5000 # no such host: only a proxy leads there, and that is the server without TLS
}

teardown() {
	[ ! -f silent.pid ] || kill "$(cat silent.pid)"
}

# cluster MEMBERS: a cluster file of an image of one file, and of a registry with these members.
cluster() {
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch, files: [{from: content, to: /content}]}' \
		"registry: {$1}" >cluster.yaml
	echo "$BATS_TEST_NAME $1" >content # so that no test finds another's image
}

# log_in: user and password of the registry with TLS, as Docker keeps them.
log_in() {
	mkdir -p "$HOME/.docker"
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$TLS" \
		"$(printf 'ringup:%s' "$(cat "$F/reg/password")" | base64 -w0)" >"$HOME/.docker/config.json"
}

# proxied: $NAME leads to the server without TLS, and nothing leads anywhere by TLS.
proxied() {
	export http_proxy=http://$PLAIN https_proxy=http://127.0.0.1:1
}

# conf TEXT: this is all that registries.conf says.
conf() {
	printf '%s\n' "$@" >registries.conf
	export CONTAINERS_REGISTRIES_CONF=$PWD/registries.conf
}

# pushes_own: 'push' without arguments builds and sends, the second one finds it there, and so does 'build'.
pushes_own() {
	apart ringup push "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	grep -q ' pushed$' ../out
	apart ringup push "$@"
	grep -q ' is there already$' ../out
}

@test "push without arguments: a CA that only certs.d has" {
	cluster "address: \"$TLS\""
	log_in
	apart ringup push
	says 1 'not trusted'
	mkdir -p "$HOME/.config/docker/certs.d/$TLS"
	cp "$F/reg/ca.pem" "$HOME/.config/docker/certs.d/$TLS/ca.crt"
	pushes_own
	apart ringup build
	grep -q ' is there already' ../out
	grep -q "$TLS/" ../out
}

@test "push without arguments: --ca and --plain-http count" {
	cluster "address: \"$TLS\""
	log_in
	pushes_own --ca "$F/reg/ca.pem"
	cluster "address: \"$NAME\""
	proxied
	apart ringup push
	says 1 "https://$NAME"
	pushes_own --plain-http
}

@test "push without arguments: a registry that only registries.conf calls insecure" {
	cluster "address: \"$NAME\""
	proxied
	conf '[[registry]]' "location = \"$NAME\"" 'insecure = true'
	pushes_own
	apart ringup build
	grep -q ' is there already' ../out
}

@test "push without arguments: --timeout ends the wait for a registry that is silent" {
	local word
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64)
open("silent.port.new", "w").write(str(s.getsockname()[1]))
__import__("os").rename("silent.port.new", "silent.port")
time.sleep(600)' 3>&- 4>&- &
	echo $! >silent.pid
	while [ ! -e silent.port ]; do sleep 0.05; done
	cluster "address: \"127.0.0.1:$(cat silent.port)\", insecure: true"
	for word in push "ls 127.0.0.1:$(cat silent.port)"; do
		# shellcheck disable=SC2086  # words
		apart ringup --timeout 2 $word
		says 1 "127.0.0.1:$(cat silent.port)" 'for 2 s'
	done
}

@test "a registry that registries.conf blocks: every command refuses" {
	local word
	cluster "address: \"$PLAIN\""
	conf '[[registry]]' "location = \"$PLAIN\"" 'blocked = true'
	for word in push "push oci:$F/image:1 $PLAIN/x:1" "pull $PLAIN/x:1 oci:x" "copy $PLAIN/x:1 oci:x" "ls $PLAIN" \
		"ls $PLAIN/x" "inspect $PLAIN/x:1" "rm $PLAIN/x:1" 'login -u me'; do
		# shellcheck disable=SC2086  # words
		apart ringup $word <<<secret
		says 2 "registries.conf blocks $PLAIN"
	done
}

@test "registries.conf speaks of some repositories of a registry only: for pushes, too" {
	proxied
	conf '[[registry]]' "prefix = \"$NAME/open\"" "location = \"$NAME/open\"" 'insecure = true' \
		'[[registry]]' "prefix = \"$NAME/shut\"" "location = \"$NAME/shut\"" 'blocked = true'
	apart ringup -q push "oci:$F/image:1" "$NAME/open/x:1"
	says 0
	apart ringup -q pull "$NAME/open/x:1" oci:back
	says 0
	[ "$(ringup ls "$NAME/open/x")" = 1 ]
	apart ringup inspect "$NAME/open/x:1"
	says 0
	apart ringup -q push "oci:$F/image:1" "$NAME/other/x:1"
	says 1 "https://$NAME"
	apart ringup rm "$NAME/shut/x:1"
	says 2 "registries.conf blocks $NAME/shut"
	# two images of one command: one way each
	apart ringup -q push "oci:$F/image:1" "oci:$F/image:1" "$NAME/open/"
	says 2
	apart ringup rm "$NAME/open/x:1"
	says 0
}

@test "a CA that is named means TLS, whatever registries.conf says" {
	local word
	cluster "address: \"$NAME\", ca: $F/reg/ca.pem"
	proxied
	conf '[[registry]]' "location = \"$NAME\"" 'insecure = true'
	for word in push "push oci:$F/image:1 $NAME/x:1" "pull $NAME/x:1 oci:x" "copy $NAME/x:1 oci:x" "ls $NAME" \
		"ls $NAME/x" "inspect $NAME/x:1" "rm $NAME/x:1"; do
		# shellcheck disable=SC2086  # words
		apart ringup $word
		says 1 "https://$NAME"
	done
	cluster "address: \"$NAME\""
	for word in "push --ca $F/reg/ca.pem" "pull --ca $F/reg/ca.pem $NAME/x:1 oci:x" "ls --ca $F/reg/ca.pem $NAME"; do
		# shellcheck disable=SC2086  # words
		apart ringup $word
		says 1 "https://$NAME"
	done
}

@test "mirrors: every command that reads asks the same ones in the same order" {
	local word
	cluster "address: \"$PLAIN\"" # a base image, which has to be a whole one
	ringup -q build -o oci:base:1 >/dev/null
	apart ringup -q push oci:base:1 "$PLAIN/cache/team/hello:1"
	says 0
	conf '[[registry]]' 'prefix = "nvcr.example"' "location = \"$PLAIN/cache\"" \
		'[[registry.mirror]]' 'location = "127.0.0.1:1/x"' \
		'[[registry.mirror]]' "location = \"$PLAIN/nothing\""
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: "nvcr.example/team/hello:1"}' >cluster.yaml
	for word in 'pull nvcr.example/team/hello:1 oci:pulled:1' "copy nvcr.example/team/hello:1 $PLAIN/copied:1" \
		'inspect nvcr.example/team/hello:1' 'ls nvcr.example/team/hello' 'build --engine native'; do
		# shellcheck disable=SC2086  # words
		apart ringup $word
		says 0 'mirror 127.0.0.1:1: ' "; trying $PLAIN" || { echo "command: $word"; return 1; }
		[ "$(grep -o 'mirror [^ ]*: ' ../err | uniq | tr -d '\n')" = "mirror 127.0.0.1:1: mirror $PLAIN: " ]
	done
	apart ringup --json inspect nvcr.example/team/hello:1
	json 'd["image"] == "nvcr.example/team/hello:1" and len(d["layers"]) == 1'
	apart ringup ls nvcr.example/team/hello
	[ "$(cat ../out)" = 1 ]
	# what writes goes to the very registry that is named
	for word in 'push oci:pulled:1 nvcr.example/team/hello:2' 'rm nvcr.example/team/hello:1'; do
		# shellcheck disable=SC2086  # words
		apart ringup $word
		says 1 'https://nvcr.example'
	done
}
