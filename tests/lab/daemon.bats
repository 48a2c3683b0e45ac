#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Images to and from a real Docker Engine, and through it to a registry.

load build_helper

setup_file() {
	WORK=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/ringup-daemon-test.XXXXXX")")
	REPO=$(realpath "$BATS_TEST_DIRNAME/../..")
	RUN=/run/$(basename "$WORK")
	export WORK REPO RUN XDG_CACHE_HOME=$WORK/cache DOCKER_HOST=unix://$RUN/docker.sock
	cd "$WORK" || return
	registry_up
	export REGISTRY
	engine_up
	python3 "$REPO/tests/fault/archive.py" image.tar lab/daemon:1 3 1
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "docker-daemon: an archive into the engine, and out of it the same layers" {
	ringup -q copy docker-archive:image.tar docker-daemon:lab/daemon:1
	[ "$(docker image inspect --format '{{len .RootFS.Layers}}' lab/daemon:1)" = 2 ]
	ringup -q copy docker-daemon:lab/daemon:1 oci:out:1
	ringup -q copy docker-archive:image.tar oci:direct:1
	[ "$(docker image inspect --format '{{json .RootFS.Layers}}' lab/daemon:1)" = "$(tar xOf image.tar \
		"$(tar xOf image.tar manifest.json | jq -r '.[0].Config')" | jq -c .rootfs.diff_ids)" ]
	# the same plain bytes give the same blobs, whichever way they come
	jq -c .layers "out/blobs/sha256/$(jq -r '.manifests[0].digest' out/index.json | cut -d: -f2)" >a
	jq -c .layers "direct/blobs/sha256/$(jq -r '.manifests[0].digest' direct/index.json | cut -d: -f2)" >b
	diff a b
}

@test "docker-daemon to a registry: the second time nothing is saved or sent" {
	ringup -q copy docker-archive:image.tar docker-daemon:lab/daemon:1
	ringup -q --json push docker-daemon:lab/daemon:1 "$REGISTRY/lab/daemon:1" >first
	[ "$(jq .blobs.moved first)" = 3 ]
	ringup -v --json push docker-daemon:lab/daemon:1 "$REGISTRY/lab/daemon:2" >second 2>log
	[ "$(jq .blobs.moved second)" = 0 ]
	[ "$(jq -r .digest first)" = "$(jq -r .digest second)" ]
	grep -q 'it is not saved' log
	# another repository of a registry that lacks the layers: they are saved and sent
	ringup -q --json push docker-daemon:lab/daemon:1 "$REGISTRY/lab/other:1" >third
	[ "$(jq .blobs.moved third)" = 3 ]
	[ "$(jq -r .digest first)" = "$(jq -r .digest third)" ]
}

@test "from a registry into the engine" {
	ringup -q push docker-archive:image.tar "$REGISTRY/lab/daemon:3"
	ringup -q pull "$REGISTRY/lab/daemon:3" docker-daemon:lab/pulled:3
	[ "$(docker image inspect --format '{{len .RootFS.Layers}}' lab/pulled:3)" = 2 ]
}

@test "what the engine says reaches the person: no such image, no engine" {
	run ringup copy docker-daemon:lab/none:1 oci:none
	[ "$status" = 1 ]
	[[ "$output" == *"lab/none:1"* ]] || { echo "$output" && false; }
	DOCKER_HOST=unix://$WORK/none.sock run ringup push docker-daemon:lab/daemon:1 "$REGISTRY/lab/x:1"
	[ "$status" = 1 ]
	[[ "$output" == *none.sock* ]] || { echo "$output" && false; }
}
