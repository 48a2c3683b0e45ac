#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures ringup and what a user would take instead, side by side in one run, and prints medians and ratios.
# Needs root and Docker; it makes its own lab and removes it. BUILD is the folder of the programs, and ROUNDS
# (5) the number of repetitions. The resolver comes first (resolve.sh), and the worker last (worker.sh).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/${BUILD:-build}
export PATH="$build:$PATH"
rounds=${ROUNDS:-5}
"$root/bench/resolve.sh"
echo
work=$(mktemp -d)
cd "$work"
trap 'tail -n 5 "$work/log" >&2' ERR
trap 'ringup -q lab down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# Seconds that a command takes; its output goes to a log.
seconds() {
	local start end
	start=$(date +%s%N)
	"$@" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; return 1; }
	end=$(date +%s%N)
	awk -v ns=$((end - start)) 'BEGIN {printf "%.3f\n", ns / 1e9}'
}

median() {
	sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}

# row NAME OURS THEIRS THEIR_NAME: a ratio below 1 means that ringup is faster
row() {
	awk -v n="$1" -v a="$2" -v b="$3" -v t="$4" \
		'BEGIN {printf "%-34s %10s %10s  %5.2f  %s\n", n, a, b, a / b, t}'
}

echo "making a lab (first build included) ..." >&2
ringup -q lab up --hosts 3 >>log
first=$(seconds ringup -q up)
printf '%-34s %10s %10s  %5s  %s\n' "WHAT (median of $rounds)" "OURS" "THEIRS" "RATIO" "THEIRS IS"
printf '%-34s %10s\n' "first 'up' on 3 hosts, s" "$first"

# --- fan-out: the state of every host, one connection each
key=.ringup/lab/id_ed25519 known=.ringup/lab/known_hosts
addresses=$(sed -n 's/.*address: \([0-9.]*\), port.*/\1/p' cluster.yaml)
fan_out() {
	# shellcheck disable=SC2086  # one word per host
	printf '%s\n' $addresses | xargs -P 64 -I % ssh -i $key -o UserKnownHostsFile=$known \
		-o BatchMode=yes root@% docker container inspect ringup-lab
}
for _ in $(seq "$rounds"); do
	seconds ringup -q status >>state
	seconds fan_out >>fanout
	seconds ringup -q up >>again
done
row "state of 3 hosts, s" "$(median <state)" "$(median <fanout)" "xargs -P ssh docker inspect"
row "second 'up', nothing to do, s" "$(median <again)" "$(median <fanout)" "xargs -P ssh docker inspect"

# --- images and registries, then the all-reduce worker, on this machine
echo
"$root/bench/build.sh" "$rounds"
echo
"$root/bench/up.sh" "$rounds"
echo
"$root/bench/registry.sh" "$rounds"
echo
"$root/bench/worker.sh"
