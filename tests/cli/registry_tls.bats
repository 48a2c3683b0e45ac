#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Who asks for TLS gets TLS or an error: no request goes out without it, also not on loopback, and no password, token or
# client certificate goes to another place than the registry itself.

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=test -days 2 \
		-addext 'subjectAltName=IP:127.0.0.1' 2>/dev/null
}

setup() {
	common_setup
	F=$BATS_FILE_TMPDIR
	TLS=tls=$F/cert.pem,$F/key.pem
}

teardown() {
	local pid
	for pid in */pid; do
		[ ! -e "$pid" ] || kill "$(cat "$pid")"
	done
}

# registry NAME WORD...: a registry that lies so; its address to $A, its log is NAME/log.
registry() {
	mkdir -p "$1"
	[ ! -f "$1/pid" ] || kill "$(cat "$1/pid")"
	rm -f "$1/port"
	: >"$1/log"
	python3 "$ROOT/tests/standin/lying_registry.py" "$@" >"$1/out" 2>&1 3>&- 4>&- &
	echo $! >"$1/pid"
	while [ ! -e "$1/port" ]; do sleep 0.02; done
	A=127.0.0.1:$(cat "$1/port")
}

# log_in [JSON]: Docker's file has a login for $A.
log_in() {
	mkdir -p "$HOME/.docker"
	printf '{"auths": {"%s": %s}}' "$A" "${1:-{\"auth\": \"b3BzOnMzY3JldA==\"\}}" >"$HOME/.docker/config.json"
}

# trusts [client]: certs.d has the CA of $A, and a client certificate.
trusts() {
	local folder=$HOME/.config/docker/certs.d/$A
	mkdir -p "$folder"
	cp "$F/cert.pem" "$folder/ca.crt"
	[ -z "${1:-}" ] || cp "$F/cert.pem" "$folder/client.cert"
	[ -z "${1:-}" ] || cp "$F/key.pem" "$folder/client.key"
}

# cluster MEMBERS: a cluster file whose registry has these members.
cluster() {
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch}' "registry: {address: \"$A\"$1}" >cluster.yaml
}

# untouched STATUS TEXT WORD...: the command ends so and says so, and the registry without TLS got no request.
untouched() {
	apart "${@:3}"
	says "$1" "$2" || return 1
	[ ! -s plain/log ] || { echo "words: ${*:3}"; cat plain/log; return 1; }
}

@test "a registry on loopback that does not speak TLS: nobody asked for it" {
	registry plain basic
	log_in
	apart ringup inspect "$A/good/x:1"
	says 0
	grep -q 'GET /v2/good/x/manifests/1 login' plain/log
}

@test "--ca: nothing goes to a loopback port without TLS" {
	local word
	registry plain basic
	log_in
	python3 "$ROOT/tests/fault/image.py" image 1
	for word in inspect ls pull push rm login; do
		set -- "$A/good/x:1"
		[ $word != ls ] || set -- "$A/good/x"
		[ $word != pull ] || set -- "$A/good/x:1" oci:pulled
		[ $word != push ] || set -- oci:image:1 "$A/good/x:1"
		[ $word != login ] || set -- -u ops "$A"
		untouched 1 'does not speak TLS' ringup $word --ca "$F/cert.pem" "$@" <<<s3cret
	done
	untouched 1 'does not speak TLS' ringup copy --from-ca "$F/cert.pem" "$A/good/x:1" "$A/y:1"
}

@test "registry.ca: nothing goes to a loopback port without TLS" {
	registry plain basic
	log_in
	cluster ", ca: $F/cert.pem"
	untouched 1 'does not speak TLS' ringup inspect "$A/good/x:1"
	untouched 1 'does not speak TLS' ringup ls "$A/good/x"
}

@test "a folder of certs.d: the same, and registries.conf is overruled with a warning" {
	registry plain basic
	log_in
	trusts
	untouched 1 'does not speak TLS' ringup inspect "$A/good/x:1"
	printf '%s\n' '[[registry]]' "location = \"$A\"" 'insecure = true' >registries.conf
	export CONTAINERS_REGISTRIES_CONF=$PWD/registries.conf
	untouched 1 'does not speak TLS' ringup inspect "$A/good/x:1"
	grep -q "warning: registry $A: registries.conf calls it insecure, but .*certs.d/$A asks for TLS" ../err
	untouched 1 'does not speak TLS' ringup inspect --ca "$F/cert.pem" "$A/good/x:1"
	apart ringup inspect --plain-http "$A/good/x:1"
	says 0
	rm -r "$HOME/.config/docker/certs.d"
	apart ringup inspect "$A/good/x:1"
	says 0
}

@test "the https:// of a mirror's URL means TLS, and its http:// is plain HTTP" {
	export https_proxy=http://127.0.0.1:1
	registry plain basic
	log_in
	cluster ''
	echo "mirrors: {docker: \"https://$A\"}" >>cluster.yaml
	untouched 1 "mirror $A: registry https://$A/v2/ does not speak TLS" ringup inspect docker.io/good/x:1
	untouched 1 "mirror $A: registry https://$A/v2/ does not speak TLS" ringup inspect --plain-http docker.io/good/x:1
	sed -i s,https://,http://, cluster.yaml
	apart ringup inspect docker.io/good/x:1
	says 0
}

@test "wishes that contradict each other are refused" {
	registry plain basic
	log_in
	untouched 2 '--ca asks for TLS and --plain-http for plain HTTP' ringup inspect --ca "$F/cert.pem" --plain-http "$A/good/x:1"
	cluster ", insecure: true, ca: $F/cert.pem"
	untouched 2 "and 'insecure: true' for plain HTTP" ringup inspect "$A/good/x:1"
	cluster ", ca: $F/cert.pem"
	untouched 2 'and --plain-http for plain HTTP' ringup inspect --plain-http "$A/good/x:1"
	cluster ', insecure: true'
	untouched 2 "'insecure: true' of cluster.yaml for plain HTTP" ringup inspect --ca "$F/cert.pem" "$A/good/x:1"
	apart ringup inspect "$A/good/x:1"
	says 0
	cluster ''
	apart ringup inspect --plain-http "$A/good/x:1"
	says 0
}

@test "a token service without TLS gets nothing from a registry with TLS, also not on the same host" {
	local login
	registry plain
	registry tls "$TLS" "realm=http://$A/token"
	for login in '{"auth": "b3BzOnMzY3JldA=="}' '{"auth": "", "identitytoken": "re/fresh"}'; do
		log_in "$login"
		untouched 1 'nothing was sent' ringup inspect --ca "$F/cert.pem" "$A/good/x:1"
		untouched 1 'nothing was sent' ringup pull --ca "$F/cert.pem" "$A/good/x:1" oci:pulled
	done
	[ "$(grep -c login tls/log)" = 0 ]
}

@test "a registry behind a TLS proxy that calls its own port http: asked with TLS" {
	registry tls "$TLS" realm=http://127.0.0.1:@PORT@/token
	log_in
	apart ringup inspect --ca "$F/cert.pem" "$A/good/x:1"
	says 0
	grep -q '^GET /token.* login' tls/log
}

@test "redirects carry neither password nor client certificate to another port, and do not leave TLS" {
	local other plain
	registry plain
	plain=$A
	registry other "$TLS"
	other=$A
	registry tls "$TLS" basic "blobs=https://$other/v2/good/x/blobs"
	log_in
	trusts client
	apart ringup pull "$A/good/x:1" oci:pulled
	says 0
	grep -q 'manifests/1 login certificate' tls/log
	grep -q '^GET /v2/good/x/blobs/sha256:' other/log
	[ "$(grep -cE 'login|certificate' other/log)" = 0 ]
	registry tls "$TLS" basic "port=${A#*:}" "blobs=http://$plain/v2/good/x/blobs"
	untouched 1 'from https to the unprotected' ringup pull "$A/good/x:1" oci:again
}

@test "an upload's Location carries neither password nor client certificate to another port, and does not leave TLS" {
	local other plain
	python3 "$ROOT/tests/fault/image.py" image 1
	registry plain
	plain=$A
	registry other "$TLS"
	other=$A
	registry tls "$TLS" basic "uploads=https://$other"
	log_in
	trusts client
	apart ringup push oci:image:1 "$A/new/x:1"
	says 0
	grep -q '^POST /v2/new/x/blobs/uploads/ login certificate' tls/log
	grep -q '^PUT ' other/log
	[ "$(grep -cE 'login|certificate' other/log)" = 0 ]
	registry tls "$TLS" basic "port=${A#*:}" "uploads=http://$plain"
	untouched 1 'from https to the unprotected' ringup push oci:image:1 "$A/new/x:1"
}
