#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/up.sh [ROUNDS]: the time from a changed source file to containers of the new image on three lab hosts.
# The file is one of 30,000 files of 280 MiB in two layers (those of bench/build.sh), or a single file beside
# 1 MiB. ringup runs `ringup up`. Docker runs docker build, docker push, and docker pull and run on all hosts
# at once by ssh. Everything that did not change is in every cache. Prints medians of wall seconds. Needs
# root. BUILD is the folder with ringup.
set -euo pipefail
ROUNDS=${1:-5}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
lab_up 3
many_files
mkdir src
head -c 1M /dev/urandom >src/1.bin
echo 'print(0)' | tee src/train.py >b/train.py
sed -i '/^image:/d' cluster.yaml
cp cluster.yaml few.yaml
mv cluster.yaml many.yaml
echo 'image: {name: few, files: [{from: ./src, to: /workspace}]}' >>few.yaml
echo 'image: {name: many, files: [{from: ./a, to: /workspace/a}, {from: ./b, to: /workspace/b}]}' >>many.yaml

registry=10.83.$(jq -r .subnet .ringup/lab/state.json).254:5000
mkdir -p "engine/etc/docker/certs.d/$registry" docker
cp .ringup/lab/registry/ca.pem "engine/etc/docker/certs.d/$registry/ca.crt"
engine_up
export DOCKER_CONFIG=$WORK/docker
docker login -u lab --password-stdin "$registry" <.ringup/lab/registry/password >/dev/null 2>&1
ringup -q -f few.yaml build # the base is there
ringup -q -f few.yaml recipe -o few
ringup -q -f many.yaml recipe -o many
base=$(awk '/^FROM/ {print $2; exit}' few/Dockerfile)
docker import "$(find "${XDG_CACHE_HOME:-$HOME/.cache}/ringup" -name "ringup-base-$(tr : - <<<"${base#*:}").tar")" "$base" >/dev/null
apt=$(awk '$1 == "apt:" {gsub(/"/, "", $2); print $2}' few.yaml)
export REGISTRY=$registry APT=${apt:-}

on_all() {
	local pids=() address pid
	for address in $ADDRESSES; do
		ssh -i .ringup/lab/id_ed25519 -o UserKnownHostsFile=.ringup/lab/known_hosts -o BatchMode=yes "root@$address" "$1" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
}
# docker_up CONTEXT
docker_up() {
	local image=$REGISTRY/theirs/$1:1
	docker build -q --network host --build-arg "APT_MIRROR=$APT" -t "$image" "$1" && docker push -q "$image" &&
		on_all "export DOCKER_CONFIG=$DOCKER_CONFIG; docker pull -q $image && { docker rm -f theirs 2>/dev/null; docker run -d --name theirs --network host $image sleep 600; }"
}
export -f docker_up on_all
ADDRESSES=$(jq -r '.hosts[].address' .ringup/lab/state.json | tr '\n' ' ')
export ADDRESSES

# rounds CONTEXT WHAT OURS THEIRS: OURS and THEIRS are the file that changes, for ringup and in docker's
# context
rounds() {
	ringup -q -f "$1.yaml" up # every cache then has everything except the file
	bash -c "docker_up $1" >/dev/null
	for ((round = 1; round <= ROUNDS; round++)); do
		echo "print($round)" | tee "$3" >"$4"
		measure "$2/ringup" ringup -q -f "$1.yaml" up
		measure "$2/docker" bash -c "docker_up $1"
	done
}
rounds many one-of-30000-files b/train.py many/files/1/train.py
rounds few one-small-file src/train.py few/files/0/train.py

table
