#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/hosts.sh [ROUNDS]: the all-reduce worker between the containers of two lab hosts (network namespaces,
# veth pairs), one rank on each, started by `ringup bench`. In turn with it runs MPI_Allreduce in the same
# program under mpirun. Prints medians of the rounds' p50. With more ranks than this machine has cores, Open
# MPI spins (8 ms for 4 bytes), because it sees two machines, and the comparison is useless. Needs root. BUILD
# is the folder with ringup.
set -euo pipefail
ROUNDS=${1:-3}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
lab_up 2
sed -i 's/slots: [0-9]*/slots: 1/' cluster.yaml
ringup -q up

# once FROM TO WARMUPS WHOSE BENCH_WORDS -- WORKER_WORDS: lines "SIZE WHOSE MICROSECONDS", the better placement's p50
once() {
	local from=$1 to=$2 warmups=$3 whose=$4 words=()
	shift 4
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	ringup -q --json bench "${words[@]}" -- -b "$from" -e "$to" -f 4 -n 100 -w "$warmups" "$@" |
		jq -r --arg whose "$whose" 'select(.verdict == "pass") | .results | group_by(.bytes)[] |
			"\(.[0].bytes) \($whose) \(map(.p50_usec) | min)"' >>results
}

for ((round = 0; round < ROUNDS; round++)); do
	for range in "4 65536 1000" "262144 67108864 5"; do
		read -r from to warmups <<<"$range"
		once "$from" "$to" "$warmups" ours -- --backend cpu
		once "$from" "$to" "$warmups" theirs --launcher mpirun -- --backend mpi
	done
done

python3 - results <<'END'
import collections
import statistics
import sys

rows = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[1], encoding="utf-8"):
    size, whose, usec = line.split()
    rows[int(size)][whose].append(float(usec))
print(f"{'BYTES':>10} {'OURS us':>10} {'MPI us':>10} {'RATIO':>6}")
for size, both in sorted(rows.items()):
    ours, theirs = (statistics.median(both[whose]) for whose in ("ours", "theirs"))
    print(f"{size:>10} {ours:>10.1f} {theirs:>10.1f} {ours / theirs:>6.2f}")
END
