#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trains in the four ways of comparison.py on three loopback hosts of this machine, and prints a table for each case.
# Needs ringup in PATH and a python3 with PyTorch: PYTHON (default /usr/bin/python3, for Debian's python3-torch).
# ROUNDS (3): how often, in turns; the table has each way's median round. EPOCHS (10): how long each trains.
set -euo pipefail
script=$(cd "$(dirname "$0")" && pwd)/comparison.py
python=${PYTHON:-/usr/bin/python3} rounds=${ROUNDS:-3} epochs=${EPOCHS:-10}
"$python" -c 'import torch' || {
	echo "comparison.sh: $python has no PyTorch: install python3-torch and libopenblas0-pthread, or set PYTHON" >&2
	exit 1
}
work=$(mktemp -d)
trap 'cd "$work" && ringup -q lab down; rm -rf "$work"' EXIT
cd "$work"
ringup -q lab up --loopback --hosts 3 2>log || { cat log >&2 && exit 1; }
ringup -q up

# train WAY WORDS...: one run on three hosts, or on one host for the single process; its line without the prefix
train() {
	local way=$1 ranks=3
	shift
	[[ $way != one ]] || ranks=1
	# a thread per rank, since the three hosts are one machine
	ringup -q run -n "$ranks" --ppn 1 -e OMP_NUM_THREADS=1 -- "$python" "$script" --way "$way" --epochs "$epochs" "$@" |
		sed 's/^\[0 node01\] //'
}

# compare TITLE WORDS...: a table of all ways
compare() {
	local way round one=''
	printf '\n%s\n%-11s %8s %9s %10s %8s %12s  %s\n' "$1" WAY "MS/STEP" IMAGES/S EFFICIENCY ACCURACY "SAME WEIGHTS" "MB SENT/STEP"
	shift
	rm -f ./*.runs
	for ((round = 0; round < rounds; round++)); do
		for way in one ring-sync ring-async ps-sync ps-async; do
			train "$way" "$@" >>"$way.runs"
		done
	done
	for way in one ring-sync ring-async ps-sync ps-async; do
		# columns: way, ms, images/s, accuracy, same, megabytes
		sort -n -k 3 "$way.runs" | awk -v middle=$(((rounds + 1) / 2)) 'NR == middle' >median
		[[ $way != one ]] || one=$(awk '{print $3}' median)
		awk -v one="$one" '{printf "%-11s %8.1f %9.0f %10.2f %8.3f %12s  %s\n", $1, $2, $3, $3 / one / ($1 == "one" ? 1 : 3), $4, $5, $6}' median
	done
}

echo "$("$python" -c 'import torch; print("PyTorch", torch.__version__)'), $(nproc) cores, medians of $rounds rounds of $epochs epochs"
compare "the CPU computes"
compare "the CPU computes, and rank 2 is 20 ms late with each gradient" --slow-ms 20
compare "a sleep of 90 ms per batch stands for a GPU" --batch 60 --device-ms 90
compare "the same, and rank 2 is 20 ms late with each gradient" --batch 60 --device-ms 90 --slow-ms 20
