#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/up.sh [ROUNDS]: one source file changes, until containers of the new image run on three lab hosts. Ours is
# `ringup up`; beside it docker build, docker push, and docker pull and run on all hosts at once by ssh,
# with the layers before the files' in every cache. Medians of wall seconds. Needs root; BUILD is the folder
# with ringup. FILES_MIB of files (default 1) lie beside the one that changes.
set -euo pipefail
ROUNDS=${1:-5}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
up_end() {
	cd "$WORK"
	ringup -q lab down || true
	bench_end
}
trap up_end EXIT

ringup -q lab up --hosts 3
mkdir src
for ((i = 0; i < ${FILES_MIB:-1}; i++)); do head -c 1M /dev/urandom >"src/$i.bin"; done
echo 'print(0)' >src/train.py
sed -i '/^image:/d' cluster.yaml
echo 'image: {name: train, files: [{from: ./src, to: /workspace}]}' >>cluster.yaml
ringup -q up
ringup -q recipe -o context

registry=10.83.$(jq -r .subnet .ringup/lab/state.json).254:5000
mkdir -p "engine/etc/docker/certs.d/$registry" docker
cp .ringup/lab/registry/ca.pem "engine/etc/docker/certs.d/$registry/ca.crt"
engine_up
export DOCKER_CONFIG=$WORK/docker
docker login -u lab --password-stdin "$registry" <.ringup/lab/registry/password >/dev/null 2>&1
base=$(awk '/^FROM/ {print $2; exit}' context/Dockerfile)
docker import "$(find "${XDG_CACHE_HOME:-$HOME/.cache}/ringup" -name "ringup-base-$(tr : - <<<"${base#*:}").tar")" "$base" >/dev/null
apt=$(awk '$1 == "apt:" {gsub(/"/, "", $2); print $2}' cluster.yaml)
export IMAGE=$registry/theirs/train:1 APT=${apt:-}

on_all() {
	local pids=() address pid
	for address in $ADDRESSES; do
		ssh -i .ringup/lab/id_ed25519 -o UserKnownHostsFile=.ringup/lab/known_hosts -o BatchMode=yes "root@$address" "$1" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
}
docker_up() {
	docker build -q --network host --build-arg "APT_MIRROR=$APT" -t "$IMAGE" context && docker push -q "$IMAGE" &&
		on_all "export DOCKER_CONFIG=$DOCKER_CONFIG; docker pull -q $IMAGE && { docker rm -f theirs 2>/dev/null; docker run -d --name theirs --network host $IMAGE sleep 600; }"
}
export -f docker_up on_all
ADDRESSES=$(jq -r '.hosts[].address' .ringup/lab/state.json | tr '\n' ' ')
export ADDRESSES

bash -c docker_up >/dev/null # what is before the files is in every cache
for ((round = 1; round <= ROUNDS; round++)); do
	echo "print($round)" >src/train.py
	measure one-file-up/ringup ringup -q up
	echo "print($round)" >context/files/0/train.py
	measure one-file-up/docker bash -c docker_up
done

table
