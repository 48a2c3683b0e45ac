# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For build.sh, up.sh, hosts.sh and registry.sh: a folder in memory, a separate registry and engine, and the
# table. The folder and all that runs in it are removed at the end.
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
BUILD=$(realpath "${BUILD:-$root/build}")
export PATH="$BUILD:$PATH"
WORK=$(mktemp -d "${BENCH_FOLDER:-/dev/shm}/ringup-bench.XXXXXX")
RUN=/run/$(basename "$WORK")
REGISTRY_PID='' ENGINE_PID=''

bench_end() {
	[ -z "$REGISTRY_PID" ] || kill "$REGISTRY_PID" || true
	[ -z "$ENGINE_PID" ] || kill -KILL "$ENGINE_PID" || true # unshare ignores TERM
	cd /
	for _ in $(seq 50); do
		if rm -rf --one-file-system "$WORK" "$RUN" 2>/dev/null; then break; fi
		sleep 0.2 # the engine's mounts take a moment to disappear
	done
	find /sys/fs/cgroup -depth -type d -path "*/$(basename "$WORK")*" -exec rmdir {} + || true
}
trap bench_end EXIT
cd "$WORK" || exit

# registry_up: a Distribution server at $ADDRESS, its blobs below $WORK/store
registry_up() {
	ADDRESS=127.0.0.1:$("$root/tests/free_port.py")
	export ADDRESS
	cat >registry.yml <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $WORK/store}, delete: {enabled: true}}
		http: {addr: "$ADDRESS"}
	END
	docker-registry serve registry.yml >registry.log 2>&1 </dev/null &
	REGISTRY_PID=$!
	timeout 20 bash -c "until curl -sf http://$ADDRESS/v2/ >/dev/null; do sleep 0.1; done"
}

empty_registry() { rm -rf "$WORK/store/docker"; }

# engine_up: a Docker Engine in its own namespaces, with $WORK/engine/etc/docker as its /etc/docker
engine_up() {
	unshare --mount --pid --mount-proc --fork --kill-child sh "$root/tests/lab/engine.sh" "$WORK/engine" "$RUN" >engine.log 2>&1 </dev/null &
	ENGINE_PID=$!
	export DOCKER_HOST=unix://$RUN/docker.sock DOCKER_BUILDKIT=0
	timeout 30 bash -c 'until docker version >/dev/null 2>&1; do sleep 0.2; done'
}

# lab_up HOSTS: a lab in $WORK, which is also removed at the end
lab_up() {
	trap lab_end EXIT
	ringup -q lab up --hosts "$1"
}

lab_end() {
	cd "$WORK" || true
	ringup -q lab down || true
	bench_end
}

# many_files: a/ and b/ with 15,000 files of 140 MiB each, half of every file's bytes random
many_files() {
	python3 - <<-'END'
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
}

# measure WHAT/TOOL WORD...: runs the words. CPU time includes their children, but no daemon.
measure() {
	local name=$1 begin
	shift
	begin=$(date +%s%N)
	if ! /usr/bin/time -f "%U %S %M" -o "$WORK/time" "$@" >"$WORK/out" 2>&1; then
		echo "bench: $* failed:" >&2
		tail -n 3 "$WORK/out" >&2
		return 0
	fi
	echo "$name $(($(date +%s%N) - begin)) $(tail -n 1 "$WORK/time")" >>"$WORK/results"
}

# table: medians of all that was measured
table() {
	python3 - "$WORK/results" <<-'END'
		import collections
		import statistics
		import sys

		rows = collections.defaultdict(list)
		for line in open(sys.argv[1], encoding="utf-8"):
		    name, wall_ns, user, system, kib = line.split()
		    rows[name].append((int(wall_ns) / 1e9, float(user) + float(system), int(kib) / 1024))
		print(f"{'WHAT':26} {'WALL S':>8} {'CPU S':>8} {'MIB':>8} {'RINGUP / IT':>12}")
		for name, runs in rows.items():
		    what, tool = name.split("/")
		    wall, cpu, memory = (statistics.median(column) for column in zip(*runs))
		    ours = statistics.median(run[0] for run in rows.get(what + "/ringup", runs))
		    spent = f"{'daemon':>8} {'':8}" if tool == "docker" else f"{cpu:8.2f} {memory:8.0f}"
		    print(f"{name:26} {wall:8.2f} {spent} {ours / max(wall, 0.001):12.2f}")
	END
}
