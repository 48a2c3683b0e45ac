#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures the all-reduce worker and Open MPI's MPI_Allreduce in turn under the same mpirun, in one program,
# with one kind of timing and verified data, and prints medians of the rounds. Compares with gloo over TCP, up
# to 64 KiB, where gloo.sh can build it. Then measures only the worker: start, slow-finder, training. Needs
# mpirun, but neither root nor Docker. BUILD is the folder of the programs, ROUNDS (5) the repetitions, and
# ITERATIONS (100) the timed calls of a run. WARMUPS (1000) are the calls before them up to 64 KiB (gloo: 5),
# after which the kernel has decided which ranks share a core. RANKS are the numbers of ranks.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$root" && realpath "${BUILD:-build}")
allreduce=$build/allreduce
rounds=${ROUNDS:-5} iterations=${ITERATIONS:-100} warmups=${WARMUPS:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -e $build/allreduce-mpi.so ]] || { echo "worker.sh: no $build/allreduce-mpi.so; is there an mpicc?" >&2; exit 1; }

median() {
	sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}

# times RANKS FROM TO FACTOR MPIRUN_WORDS -- WORKER_WORDS: "SIZE MICROSECONDS" for each size, the better placement's p50
times() {
	local ranks=$1 from=$2 to=$3 factor=$4 words=()
	shift 4
	((to > 65536)) || set -- "$@" -w "$warmups"
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	mpirun --allow-run-as-root --oversubscribe -n "$ranks" "${words[@]}" "$allreduce" --json -n "$iterations" \
		-b "$from" -e "$to" -f "$factor" "$@" 2>>"$work/log" | python3 -c '
import json, sys
d = json.load(sys.stdin)
if d["verdict"] != "pass":
    sys.exit("worker.sh: a run of backend {} that does not count: {}".format(d["backend"], d["reason"]))
best = {}
for r in d["results"]:
    best[r["bytes"]] = min(best.get(r["bytes"], 1e9), r["p50_usec"])
for size, usec in best.items():
    print(size, usec)'
}

# gloo_times RANKS FROM TO FACTOR: the same of gloo, up to 64 KiB
gloo_times() {
	local folder
	[[ -n $gloo ]] && (($3 <= 65536)) || return 0
	folder=$(mktemp -d -p "$work")
	"$gloo" "$folder" "$1" "$2" "$3" "$4" "$iterations"
}

# median_of FILE SIZE: the median of the lines that `times` wrote, or - if there are none
median_of() {
	awk -v s="$2" '$1 == s {print $2}' "$1" | median | grep . || echo -
}

# A run that fails is named and counts in no median.
# compare NAME RANKS FROM TO FACTOR MPIRUN_WORDS -- WORKER_WORDS_OF_OURS
compare() {
	local name=$1 ranks=$2 from=$3 to=$4 factor=$5 words=() size
	shift 5
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	rm -f "$work/ours" "$work/theirs" "$work/gloo"
	for _ in $(seq "$rounds"); do
		times "$ranks" "$from" "$to" "$factor" "${words[@]}" -- --backend cpu "$@" >>"$work/ours" || true
		times "$ranks" "$from" "$to" "$factor" "${words[@]}" -- --backend mpi >>"$work/theirs" || true
		gloo_times "$ranks" "$from" "$to" "$factor" >>"$work/gloo" || true
	done
	awk '!seen[$1]++ {print $1}' "$work/ours" | while IFS= read -r size; do
		awk -v n="$name" -v r="$ranks" -v s="$size" -v a="$(median_of "$work/ours" "$size")" \
			-v b="$(median_of "$work/theirs" "$size")" -v g="$(median_of "$work/gloo" "$size")" \
			'function number(x) {return x == "-" ? x : sprintf("%.1f", x)}
			function ratio(x, y) {return x == "-" || y == "-" ? "-" : sprintf("%.2f", x / y)}
			BEGIN {printf "%-18s %5d %10d %10s %10s %6s %10s %8s\n", n, r, s, number(a), number(b), ratio(a, b),
				number(g), ratio(g, a)}'
	done
}

# seconds NAME WORDS...: the median of the rounds; the command may end with any status
seconds() {
	local name=$1 begin end
	shift
	rm -f "$work/seconds"
	for _ in $(seq "$rounds"); do
		begin=$(date +%s%N)
		"$@" >>"$work/log" 2>&1 || true
		end=$(date +%s%N)
		awk -v ns=$((end - begin)) 'BEGIN {printf "%.3f\n", ns / 1e9}' >>"$work/seconds"
	done
	printf '%-50s %8.3f\n' "$name" "$(median <"$work/seconds")"
}

gloo=$("$root/bench/gloo.sh") || gloo=''
printf '%-18s %5s %10s %10s %10s %6s %10s %8s\n' "PATH" RANKS BYTES "OURS us" "MPI us" RATIO "GLOO us" TIMES
for ranks in ${RANKS:-2 4}; do
	compare "shared memory" "$ranks" 4 65536 4 --
	compare "shared memory" "$ranks" 262144 67108864 4 --
	compare "tcp, loopback" "$ranks" 4 65536 4 --mca btl self,tcp --mca btl_tcp_if_include lo -- --no-shm
	compare "tcp, loopback" "$ranks" 262144 67108864 4 --mca btl self,tcp --mca btl_tcp_if_include lo -- --no-shm
done

echo
printf '%-50s %8s\n' "THE WORKER ALONE (median of $rounds)" SECONDS
seconds "2 ranks from start to the end, one size" "$allreduce" --procs 2 -b 8 -e 8
seconds "--find-slow, 8 ranks, nothing slow" "$allreduce" --procs 8 -e 8 --find-slow
seconds "--find-slow, 8 ranks, one takes twice as long" "$allreduce" --procs 8 -e 8 --find-slow --fault-inject slow:3
echo
"$allreduce" --procs 2 -e 8 --sgd | sed -n '/^# sgd/,/^# verdict/p'
