#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/up.sh [ROUNDS]: one source file changes, until containers of the new image run on three lab hosts. Ours is
# `ringup up`; beside it docker build, docker push, and docker pull and run on all hosts at once by ssh,
# with the layers before the files' in every cache. Medians of wall seconds. Needs root; BUILD is the folder
# with ringup. FILES_MIB of files (default 1) lie beside the one that changes.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
ROUNDS=${1:-5}
BUILD=$(realpath "${BUILD:-$root/build}")
export PATH="$BUILD:$PATH"
WORK=$(mktemp -d "${BENCH_FOLDER:-/dev/shm}/ringup-bench.XXXXXX")
RUN=/run/$(basename "$WORK")
ENGINE_PID=''
cleanup() {
	cd "$WORK"
	ringup -q lab down || true
	[ -z "$ENGINE_PID" ] || kill -KILL "$ENGINE_PID" || true # unshare is deaf to TERM
	cd /
	for _ in $(seq 50); do
		if rm -rf --one-file-system "$WORK" "$RUN" 2>/dev/null; then break; fi
		sleep 0.2 # the engine's mounts take a moment to go
	done
	find /sys/fs/cgroup -depth -type d -path "*/$(basename "$WORK")*" -exec rmdir {} + || true
}
trap cleanup EXIT
cd "$WORK"

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
unshare --mount --pid --mount-proc --fork --kill-child sh "$root/tests/lab/engine.sh" "$WORK/engine" "$RUN" >engine.log 2>&1 </dev/null &
ENGINE_PID=$!
export DOCKER_HOST=unix://$RUN/docker.sock DOCKER_BUILDKIT=0 DOCKER_CONFIG=$WORK/docker
timeout 30 bash -c 'until docker version >/dev/null 2>&1; do sleep 0.2; done'
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

# measure NAME WORD...: "NAME wall" in results
measure() {
	python3 - "$WORK/results" "$@" <<-'END'
		import subprocess
		import sys
		import time

		begin = time.monotonic()
		done = subprocess.run(sys.argv[3:], capture_output=True, text=True)
		wall = time.monotonic() - begin
		if done.returncode:
		    print("bench:", *sys.argv[3:], "failed:", done.stderr[-800:], file=sys.stderr)
		else:
		    with open(sys.argv[1], "a", encoding="utf-8") as out:
		        print(sys.argv[2], f"{wall:.3f}", file=out)
	END
}

bash -c docker_up >/dev/null # what is before the files is in every cache
for ((round = 1; round <= ROUNDS; round++)); do
	echo "print($round)" >src/train.py
	measure one-file-up/ringup ringup -q up
	echo "print($round)" >context/files/0/train.py
	measure one-file-up/docker bash -c docker_up
done

python3 - "$WORK/results" <<'END'
import collections
import statistics
import sys

rows = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    name, wall = line.split()
    rows[name].append(float(wall))
print(f"{'WHAT':26} {'WALL S':>8} {'RINGUP / IT':>12}")
for name, values in rows.items():
    wall = statistics.median(values)
    ours = statistics.median(rows[name.split("/")[0] + "/ringup"])
    print(f"{name:26} {wall:8.2f} {ours / wall:12.2f}")
END
