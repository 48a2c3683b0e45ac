#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/build.sh [ROUNDS]: building and pushing images, beside the tools a user would pick instead: umoci,
# Docker Engine (one of its own, in namespaces) and Buildah, in turns, to a real Distribution server.
# Medians of wall seconds; for the files alone CPU seconds too. Needs root. BUILD is the folder with
# ringup; MIRROR an apt archive for the build. Tools that are not there are left out. All is done in memory:
# on ext4 (recently_deleted() in fs/ext4/ialloc.c) a tool pays for the files that the one before it removed.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
ROUNDS=${1:-5}
BUILD=$(realpath "${BUILD:-$root/build}")
export PATH="$BUILD:$PATH"
WORK=$(mktemp -d "${BENCH_FOLDER:-/dev/shm}/ringup-bench.XXXXXX")
RUN=/run/$(basename "$WORK")
REGISTRY_PID='' ENGINE_PID=''
cleanup() {
	[ -z "$REGISTRY_PID" ] || kill "$REGISTRY_PID" || true
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
export HOME=$WORK XDG_CACHE_HOME=$WORK/cache
export BUILDAH_ISOLATION=chroot

PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ADDRESS=127.0.0.1:$PORT
cat >registry.yml <<END
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $WORK/store}, delete: {enabled: true}}
http: {addr: "$ADDRESS"}
END
docker-registry serve registry.yml >registry.log 2>&1 </dev/null &
REGISTRY_PID=$!
timeout 20 bash -c "until curl -sf http://$ADDRESS/v2/ >/dev/null; do sleep 0.1; done"
unshare --mount --pid --mount-proc --fork --kill-child sh "$root/tests/lab/engine.sh" "$WORK/engine" "$RUN" >engine.log 2>&1 </dev/null &
ENGINE_PID=$!
export DOCKER_HOST=unix://$RUN/docker.sock DOCKER_BUILDKIT=0
timeout 30 bash -c 'until docker version >/dev/null 2>&1; do sleep 0.2; done'

# measure NAME WORD...: "NAME wall cpu" in results; what an engine's daemon spends is not in its CPU
measure() {
	python3 - "$WORK/results" "$@" <<-'END'
		import resource
		import subprocess
		import sys
		import time

		begin = time.monotonic()
		done = subprocess.run(sys.argv[3:], capture_output=True, text=True)
		wall = time.monotonic() - begin
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		if done.returncode:
		    print("bench:", *sys.argv[3:], "failed:", done.stderr[-500:], file=sys.stderr)
		else:
		    with open(sys.argv[1], "a", encoding="utf-8") as out:
		        print(sys.argv[2], f"{wall:.3f} {used.ru_utime:.3f} {used.ru_stime:.3f}", file=out)
	END
}

empty_registry() { rm -rf "$WORK/store/docker"; }

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
python3 - <<'END'
import os
import random

random.seed(1)
text = b"".join(b"%08x some words of a text that packs\n" % random.getrandbits(32) for _ in range(400))
for part in "ab":
    for i in range(15000):
        folder = f"{part}/{i // 100:03d}"
        os.makedirs(folder, exist_ok=True)
        size = 9600 + i % 200
        body = random.randbytes(size // 2) + text[: size - size // 2]
        with open(f"{folder}/{i}.dat", "wb") as file:
            file.write(body)
END
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

# forget_all_but_base: the base stays unpacked, as the other tools' does; nothing is packed
forget_all_but_base() {
	local base
	base=$(dirname "$(dirname "$(dirname "$(ls cache/ringup/native/layers/*/tree/etc/debian_version)")")")
	mv "$base/tree" base
	rm -rf cache/ringup/native/layout cache/ringup/native/layers/*
	mkdir "$base"
	mv base "$base/tree"
}

# --- the worker image, from its base root filesystem to an empty registry; then nothing new; then one file
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
export ADDRESS
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

python3 - "$WORK/results" <<'END'
import collections
import statistics
import sys

rows = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    name, wall, user, system = line.split()
    rows[name].append((float(wall), float(user) + float(system)))
print(f"{'WHAT':26} {'WALL S':>8} {'CPU S':>8} {'RINGUP / IT':>12}")
for name, values in rows.items():
    what, tool = name.split("/")
    wall = statistics.median(v[0] for v in values)
    ours = statistics.median(v[0] for v in rows[what + "/ringup"])
    cpu = statistics.median(v[1] for v in values)
    shown = f"{cpu:8.2f}" if tool in ("ringup", "umoci") else f"{'daemon':>8}" if tool == "docker" else f"{cpu:8.2f}"
    print(f"{name:26} {wall:8.2f} {shown} {ours / wall:12.2f}")
END
