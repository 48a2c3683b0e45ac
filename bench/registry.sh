#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/registry.sh [ROUNDS]: push and pull against the tools a user would pick instead, on one
# machine, in turns, with the real Distribution server. Prints medians of wall seconds, CPU seconds
# and peak memory of the client as a table. BUILD is the folder with ringup. Tools that are not there
# are left out: skopeo, docker (its daemon's memory is not seen), and `skopeo-new` for one of a later build.
set -euo pipefail
cd "$(dirname "$0")/.."

ROUNDS=${1:-5}
BUILD=$(realpath "${BUILD:-build}")
export PATH="$BUILD:$PATH"
WORK=$(mktemp -d "${BENCH_FOLDER:-/dev/shm}/ringup-bench.XXXXXX")
export HOME=$WORK
RUN=/run/$(basename "$WORK")
REGISTRY_PID='' ENGINE_PID=''
cleanup() {
	[ -z "$REGISTRY_PID" ] || kill "$REGISTRY_PID" || true
	[ -z "$ENGINE_PID" ] || kill -KILL "$ENGINE_PID" || true # unshare is deaf to TERM
	for _ in $(seq 50); do
		if rm -rf --one-file-system "$WORK" "$RUN" 2>/dev/null; then break; fi
		sleep 0.2 # the engine's mounts take a moment to go
	done
	find /sys/fs/cgroup -depth -type d -path "*/$(basename "$WORK")*" -exec rmdir {} + || true
}
trap cleanup EXIT

PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ADDRESS=127.0.0.1:$PORT
cat >"$WORK/registry.yml" <<END
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $WORK/store}, delete: {enabled: true}}
http: {addr: "$ADDRESS"}
END
docker-registry serve "$WORK/registry.yml" >"$WORK/registry.log" 2>&1 </dev/null &
REGISTRY_PID=$!
timeout 20 bash -c "until curl -sf http://$ADDRESS/v2/ >/dev/null; do sleep 0.1; done"
python3 bench/archive.py "$WORK/image.tar" bench:1
python3 tests/fault/image.py "$WORK/image" 140 130 110 90 50 30 8 4

# measure NAME WORD...: a line "NAME wall cpu memory" in $WORK/results
measure() {
	local name=$1
	shift
	if ! /usr/bin/time -f "$name %e %U %S %M" -o "$WORK/time" "$@" >"$WORK/out" 2>&1; then
		tail -n 3 "$WORK/out" >&2
		return 0
	fi
	tail -n 1 "$WORK/time" >>"$WORK/results"
}

if command -v dockerd >/dev/null && [ "$(id -u)" = 0 ]; then
	unshare --mount --pid --mount-proc --fork --kill-child sh tests/lab/engine.sh "$WORK/engine" "$RUN" >"$WORK/engine.log" 2>&1 </dev/null &
	ENGINE_PID=$!
	export DOCKER_HOST=unix://$RUN/docker.sock
	timeout 30 bash -c 'until docker version >/dev/null 2>&1; do sleep 0.2; done'
fi

# From a registry to files that can be run: what `docker pull` does, and umoci behind skopeo.
unpack() {
	rm -rf "$WORK/root" "$WORK/pulled" "$WORK/bundle"
	measure unpack/ringup ringup -q pull --plain-http "$ADDRESS/bench:2" "rootfs:$WORK/root"
	rm -rf "$WORK/root"
	[ -z "$ENGINE_PID" ] || {
		measure unpack/docker docker pull -q "$ADDRESS/bench:2"
		docker image rm "$ADDRESS/bench:2" >/dev/null
	}
	if command -v umoci >/dev/null && command -v skopeo >/dev/null; then
		# shellcheck disable=SC2016
		measure unpack/skopeo+umoci sh -c 'skopeo copy -q --src-tls-verify=false "docker://$1/bench:2" "oci:$2/pulled:1" &&
			umoci unpack --image "$2/pulled:1" "$2/bundle"' sh "$ADDRESS" "$WORK"
		rm -rf "$WORK/pulled" "$WORK/bundle"
	fi
}

empty() { rm -rf "$WORK/store/docker" "$WORK/pulled"; }

for ((round = 0; round < ROUNDS; round++)); do
	for tool in ringup skopeo skopeo-new; do
		command -v "$tool" >/dev/null || continue
		push=("$tool" copy -q --dest-tls-verify=false "oci:$WORK/image:1" "docker://$ADDRESS/bench:1")
		pull=("$tool" copy -q --src-tls-verify=false "docker://$ADDRESS/bench:1" "oci:$WORK/pulled:1")
		if [ "$tool" = ringup ]; then
			push=(ringup -q push --plain-http "oci:$WORK/image:1" "$ADDRESS/bench:1")
			pull=(ringup -q pull --plain-http "$ADDRESS/bench:1" "oci:$WORK/pulled:1")
		fi
		empty
		measure "push-ready/$tool" "${push[@]}"
		measure "push-warm/$tool" "${push[@]}"
		measure "pull/$tool" "${pull[@]}"
		diff -rq "$WORK/image/blobs" "$WORK/pulled/blobs" >&2 || echo "$tool: pulled something else" >&2
		archive=("$tool" copy -q --dest-tls-verify=false "docker-archive:$WORK/image.tar" "docker://$ADDRESS/bench:2")
		if [ "$tool" = ringup ]; then
			archive=(ringup -q push --plain-http "docker-archive:$WORK/image.tar" "$ADDRESS/bench:2")
			rm -rf "$WORK/.cache/ringup"
		fi
		empty
		measure "push-archive/$tool" "${archive[@]}"
		measure "push-archive-warm/$tool" "${archive[@]}"
		[ "$tool" = ringup ] || { # ringup's is gzip; beside each row
			empty
			measure "push-archive/$tool-zstd" "${archive[@]}" --format oci --dest-compress-format zstd
		}
		[ "$tool" != ringup ] || unpack
	done
done

python3 - "$WORK/results" <<'END'
import collections, statistics, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    name, wall, user, system, kib = line.split()
    rows[name].append((float(wall), float(user) + float(system), int(kib) / 1024))
print(f"{'what/client':26} {'wall s':>8} {'CPU s':>8} {'MiB':>8} {'ringup / it':>12}")
for name, runs in sorted(rows.items()):
    wall, cpu, memory = (statistics.median(c) for c in zip(*runs))
    ours = statistics.median(run[0] for run in rows.get(name.split("/")[0] + "/ringup", runs))
    print(f"{name:26} {wall:8.2f} {cpu:8.2f} {memory:8.0f} {ours / max(wall, 0.001):12.2f}")
END
