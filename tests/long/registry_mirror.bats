#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'registry serve --mirror' between two real Distribution servers: what is missing is pulled through, and
# stays when the one behind is gone.

load ../cli/helper
load ../cli/namespaces

setup() {
	common_setup
	U=127.0.0.1:$(free_port)
	M=127.0.0.1:$(free_port)
	python3 "$ROOT/tests/fault/image.py" image 2 1
}

teardown() {
	local folder
	for folder in mirror own; do
		[ ! -f "$folder/registry.json" ] || ringup registry stop --folder "$folder" >/dev/null
	done
	upstream_down
}

free_port() {
	"$BATS_TEST_DIRNAME/../free_port.py"
}

# upstream_up [TLS]: a Distribution server at $U that lets everybody in.
upstream_up() {
	printf 'version: 0.1\nlog: {level: warn, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %s}}\n' \
		"$PWD/upstream" >upstream.yml
	printf 'http: {addr: "%s"%s}\n' "$U" "${1:-}" >>upstream.yml
	docker-registry serve upstream.yml >upstream.log 2>&1 </dev/null 3>&- 4>&- &
	echo $! >upstream.pid
	for _ in $(seq 50); do
		! (: <"/dev/tcp/${U%:*}/${U#*:}") 2>/dev/null || return 0
		sleep 0.1
	done
	cat upstream.log
	return 1
}

upstream_down() {
	[ -f upstream.pid ] || return 0
	kill "$(cat upstream.pid)"
	wait "$(cat upstream.pid)" || true
	rm upstream.pid
}

# mirror VERB WORDS...
mirror() {
	local verb=$1
	shift
	apart ringup registry "$verb" --folder mirror "$@" 3>&- 4>&-
}

mirror_up() {
	mirror serve --as process --address "$M" --mirror "$@"
	[ "$status" -eq 0 ] || { cat ../err; return 1; }
	ringup login --ca mirror/ca.pem -u ringup "$M" <mirror/password >/dev/null
}

# pulled NAME: it comes from the mirror whole.
pulled() {
	rm -rf got
	ringup -q pull --ca mirror/ca.pem "$M/$1" oci:got:1 >/dev/null
	diff -r image/blobs got/blobs
}

# mirror_holds COUNT: it keeps so many blobs. It stores them beside the pull, which may end sooner.
mirror_holds() {
	for _ in $(seq 100); do
		[ "$(find mirror/data -path '*/blobs/*' -name data | wc -l)" -lt "$1" ] || return 0
		sleep 0.1
	done
	find mirror/data -type f
	return 1
}

@test "what was pulled once is there when the registry behind is gone" {
	upstream_up
	ringup -q push oci:image:1 "$U/library/hello:1" >/dev/null
	mirror_up "http://$U"
	grep -q "mirror of *http://$U" ../out
	pulled library/hello:1
	mirror_holds 4
	upstream_down
	pulled library/hello:1
	mirror serve
	[ "$status" -eq 0 ]
	grep -q 'runs already' ../out
	# An image of Docker Hub by its own name.
	printf 'hosts: [a]\nregistry: {address: "%s", ca: mirror/ca.pem}\nmirrors: {docker: "https://%s"}\n' "$M" "$M" >cluster.yaml
	apart ringup -q pull docker.io/library/hello:1 oci:hub:1
	[ "$status" -eq 0 ]
	diff -r image/blobs hub/blobs
}

@test "status says what it is a mirror of, and looks at nothing that it does not hold" {
	upstream_up
	ringup -q push oci:image:1 "$U/lab/one:1" >/dev/null
	ringup -q push oci:image:1 "$U/lab/two:1" >/dev/null
	mirror_up "http://$U"
	pulled lab/one:1
	mirror_holds 4
	mirror status
	grep -qx "mirror of    http://$U" ../out
	mirror status --json
	json "d['mirror'] == 'http://$U' and [r['name'] for r in d['repositories']] == ['lab/one']"
	json "d['used_bytes'] > 3000000"
}

@test "it takes no pushes and needs no gc: says so" {
	upstream_up
	mirror_up "http://$U"
	apart ringup -q push --ca mirror/ca.pem oci:image:1 "$M/lab/x:1"
	says 1 'read-only or does not allow this' "$M"
	mirror gc
	says 2 'is a mirror'
	apart ringup registry serve --as process --folder own --address "127.0.0.1:$(free_port)" 3>&- 4>&-
	apart ringup registry serve --folder own --mirror "http://$U" 3>&- 4>&-
	says 2 'takes pushes'
}

@test "the registry behind does not answer: says that a mirror cannot start without it" {
	apart ringup registry serve --as process --folder mirror --address "$M" --mirror "http://$U" 3>&- 4>&-
	says 1 'connection refused' "only while http://$U answers"
}

@test "behind it TLS of a CA of its own" {
	apart ringup registry serve --as process --folder own --address "127.0.0.1:$(free_port)" 3>&- 4>&-
	ringup registry stop --folder own >/dev/null
	upstream_up ", tls: {certificate: $PWD/own/server.pem, key: $PWD/own/server.key}"
	ringup -q push --ca own/ca.pem oci:image:1 "$U/lab/tls:1" >/dev/null
	apart ringup registry serve --as process --folder mirror --address "$M" --mirror "https://$U" 3>&- 4>&-
	says 1 'unknown authority'
	mirror_up "https://$U" --mirror-ca own/ca.pem
	pulled lab/tls:1
	# The CA is kept.
	mirror stop
	mirror serve
	[ "$status" -eq 0 ]
	pulled lab/tls:1
}

@test "behind it a password by Basic authentication: pulled through with the login, which no log has" {
	apart ringup registry serve --as process --folder own --address "$U" 3>&- 4>&-
	apart ringup registry serve --as process --folder mirror --address "$M" --mirror "https://$U" --mirror-ca own/ca.pem 3>&- 4>&-
	says 1 "ringup login $U"
	ringup login --ca own/ca.pem -u ringup "$U" <own/password >/dev/null
	ringup -q push --ca own/ca.pem oci:image:1 "$U/lab/basic:1" >/dev/null
	mirror_up "https://$U" --mirror-ca own/ca.pem
	pulled lab/basic:1
	mirror_holds 4
	ringup registry stop --folder own >/dev/null
	pulled lab/basic:1
	# what it does not hold, and cannot fetch now
	apart ringup -q pull --ca mirror/ca.pem "$M/lab/other:1" oci:other:1
	[ "$status" -eq 1 ]
	! grep -rlF "$(cat own/password)" mirror --include='registry.log*'
	! tr '\0' ' ' <"/proc/$(cut -d' ' -f1 mirror/server/registry.pid)/cmdline" | grep -F "$(cat own/password)"
	[ "$(stat -c %a mirror/config.yml mirror/server/config.yml | sort -u)" = 600 ]
	# a password that is not right any more
	ringup registry serve --as process --folder own >/dev/null 3>&- 4>&-
	jq '.auths[].auth = "cmluZ3VwOndyb25n"' .ringup/auth.json >wrong
	cat wrong >.ringup/auth.json
	mirror serve
	says 1 "401"
}

# insecure_registry: for namespaces of its own. A registry without TLS at an address that is not loopback's.
insecure_registry() {
	local entry
	ip link set lo up
	ip addr add 10.99.7.1/32 dev lo
	mkdir -p /etc/docker
	mount -t tmpfs none /etc/docker
	U=10.99.7.1:5000
	upstream_up
	refused() {
		! ringup -q push oci:image:1 "$U/lab/x:1" 2>err && grep -F "10.99.7.1:5000" err
	}
	refused
	for entry in 10.99.7.2:5000 10.99.7.1:5001 10.99.8.0/21 10.99.7.1/33 10.99.7.1/ x/8 fd00::/8 '10.99.7.1:5000/'; do
		printf '{"insecure-registries": ["%s"]}' "$entry" >/etc/docker/daemon.json
		refused
	done
	for entry in 10.99.7.1:5000 10.99.7.1 10.99.7.0/24 10.99.0.0/20 0.0.0.0/0; do
		printf '{"insecure-registries": [7, "other", "%s"]}' "$entry" >/etc/docker/daemon.json
		ringup -q push oci:image:1 "$U/lab/x:1"
		ringup -q pull "$U/lab/x:1" "oci:pulled-${entry%%/*}" || return 1
	done
	# a CA that is named means TLS: on the command line, and in cluster.yaml
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=a test CA" -keyout ca.key -out ca.pem 2>/dev/null
	! ringup -q ls --ca ca.pem "$U/lab/x" 2>err && grep -F "does not speak TLS" err
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch, files: [{from: ca.pem, to: /ca}]}' \
		'registry: {address: "10.99.7.1:5000"}' >cluster.yaml
	ringup -q push | grep ' pushed$'
	sed -i 's/registry: {/&ca: ca.pem, /' cluster.yaml
	! ringup -q push 2>err && grep -F "does not speak TLS" err
	! ringup -q ls "$U/lab/x" 2>err && grep -F "does not speak TLS" err
	rm cluster.yaml
	# the daemon's alone: as if it were not there
	chmod 000 /etc/docker/daemon.json
	! setpriv --bounding-set -dac_override,-dac_read_search --inh-caps -dac_override,-dac_read_search \
		ringup -q ls "$U/lab/x" 2>err && grep -F "does not speak TLS" err
	chmod 644 /etc/docker/daemon.json
	printf '{' >/etc/docker/daemon.json
	! ringup -q ls "$U/lab/x" 2>err && grep -F /etc/docker/daemon.json err
	upstream_down
}

@test "daemon.json: what is among its insecure-registries may be without TLS, by host, port or network" {
	export -f insecure_registry upstream_up upstream_down
	own_namespaces --mount --net bash -euo pipefail -c insecure_registry 3>&- 4>&-
}
