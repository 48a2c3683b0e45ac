#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/build.sh [ROUNDS]: builds and pushes images with ringup and with umoci, Docker Engine (a separate one,
# in namespaces) and Buildah, in turn, to a real Distribution server. Prints medians of wall seconds, and for
# the files also CPU seconds. Needs root. BUILD is the folder with ringup, and MIRROR an apt archive for the
# build. Missing tools are left out. Everything is in memory, because on ext4 a tool pays for the files that
# the one before it removed (recently_deleted() in fs/ext4/ialloc.c).
set -euo pipefail
ROUNDS=${1:-5}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
export HOME=$WORK XDG_CACHE_HOME=$WORK/cache
export BUILDAH_ISOLATION=chroot
registry_up
engine_up

cluster() {
	cat <<-END
		name: lab
		hosts: [a]
		accelerator: cpu
		registry: {address: "$ADDRESS", namespace: bench}
		$1
	END
	[ -z "${MIRROR:-}" ] || printf 'mirrors: {apt: "%s"}\n' "$MIRROR"
}

# --- 30,000 files, 280 MiB, two layers, on nothing
many_files
cluster 'stack: []
image: {name: files, base: scratch, files: [{from: ./a, to: /a}, {from: ./b, to: /b}]}' >files.yaml
printf 'FROM scratch\nCOPY a /a\nCOPY b /b\n' >Dockerfile
printf '*\n!a\n!b\n' >.dockerignore

umoci_build() {
	umoci init --layout umoci && umoci new --image umoci:1 &&
		umoci insert --image umoci:1 a /a && umoci insert --image umoci:1 b /b
}
export -f umoci_build
for ((round = 0; round < ROUNDS; round++)); do
	rm -rf cache/ringup/native umoci
	measure files/ringup ringup -q -f files.yaml build
	! command -v umoci >/dev/null || measure files/umoci bash -c umoci_build
	docker system prune -af >/dev/null
	measure files/docker docker build -q -t files .
	! command -v buildah >/dev/null || {
		buildah rmi -a -f >/dev/null 2>&1 || true
		measure files/buildah buildah bud -q -t files .
	}
done
rm -rf cache umoci
buildah rmi -a -f >/dev/null 2>&1 || true

# forget_all_but_base: keeps the unpacked base, as the other tools do, and removes all packed layers
forget_all_but_base() {
	local base
	base=$(dirname "$(dirname "$(dirname "$(ls cache/ringup/native/layers/*/tree/etc/debian_version)")")")
	mv "$base/tree" base
	rm -rf cache/ringup/native/layout cache/ringup/native/layers/*
	mkdir "$base"
	mv base "$base/tree"
}

# --- the worker image, from its base root filesystem to an empty registry; again unchanged; again with one new file
cluster 'stack: [openmpi, python, "os==debian12"]
image: {name: train, files: [{from: ./src, to: /workspace}]}' >cluster.yaml
mkdir src
echo 'print(0)' >src/train.py
ringup -q build
ringup -q recipe -o context
base=$(awk '/^FROM/ {print $2; exit}' context/Dockerfile)
arguments=()
[ -z "${MIRROR:-}" ] || arguments=(--build-arg "APT_MIRROR=$MIRROR")
docker import "$(ls cache/ringup/ringup-base-*.tar)" "$base" >/dev/null

docker_push() {
	docker build -q --network host "$@" -t "$ADDRESS/theirs/train:1" context && docker push -q "$ADDRESS/theirs/train:1"
}
buildah_push() {
	buildah bud -q --layers --network host "$@" -t "$ADDRESS/theirs/train:1" context &&
		buildah push -q --tls-verify=false "$ADDRESS/theirs/train:1"
}
export -f docker_push buildah_push
for ((round = 0; round < ROUNDS; round++)); do
	forget_all_but_base
	empty_registry
	measure image/ringup ringup -q push
	measure nothing/ringup ringup -q build
	echo "print($((round + 1)))" >src/train.py
	measure one-file/ringup ringup -q push
	docker image ls -q --filter "reference=$ADDRESS/theirs/*" | xargs -r docker image rm -f >/dev/null
	docker image prune -f >/dev/null
	empty_registry
	measure image/docker bash -c 'docker_push "$@"' push "${arguments[@]}"
	measure nothing/docker docker build -q --network host "${arguments[@]}" context
	echo "print($((round + 1)))" >context/files/0/train.py
	measure one-file/docker bash -c 'docker_push "$@"' push "${arguments[@]}"
	! command -v buildah >/dev/null || {
		buildah inspect --type image "$base" >/dev/null 2>&1 ||
			ringup -q build --engine buildah
		buildah images -q --filter "reference=$ADDRESS/theirs/train" | xargs -r buildah rmi -f >/dev/null
		buildah rmi -p -f >/dev/null 2>&1 || true
		empty_registry
		measure image/buildah bash -c 'buildah_push "$@"' push "${arguments[@]}"
	}
done

table
