#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures the resolver: usual requests, the matrix, and both with a catalog of 10 and 100 times the size. It
# installs and starts nothing and needs no root. BUILD is the folder of the program, ROUNDS (11) the number of
# repetitions, SCALE_ROUNDS (7) the same with larger catalogs, and SCALES ("1 10 100") their sizes.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$root" && realpath "${BUILD:-build}")
export PATH="$build:$PATH" RINGUP_SHARE=$root
rounds=${ROUNDS:-11} scale_rounds=${SCALE_ROUNDS:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# neither rows of the user's own nor another catalog
export HOME=$work
unset RINGUP_CATALOG XDG_DATA_HOME
"${CC:-cc}" -O2 -o measure "$root/bench/measure.c"

# 64 hosts, two GPU models, three drivers: a cluster that has grown over time.
python3 - >facts.json <<'END'
import json

drivers = ["535.54.03", "550.54.14", "570.26"]
hosts = [{"host": f"node{i:02}", "driver": drivers[i % 3], "gpus": "H100" if i % 4 == 0 else "V100"} for i in range(64)]
print(json.dumps({"schema": 1, "hosts": hosts}))
END

# row NAME STATUS COMMAND...: time, the same less the program's start, least time, peak resident set
start=0
row() {
	local name=$1 status=$2 result
	shift 2
	result=$(./measure "$rounds" "$status" "$@") || return 1
	[ "$start" != 0 ] || start=${result%% *}
	awk -v n="$name" -v s="$start" '{printf "%-50s %8.1f %10.1f %8.1f %8.1f\n", n, $1, $1 - s, $2, $3}' <<<"$result"
}
resolve() { row "$1" "$2" ringup resolve --no-lock "${@:3}"; }

printf '%-50s %8s %10s %8s %8s\n' "WHAT (median of $rounds)" "MS" "LESS START" "LEAST" "PEAK MIB"
row "start: ringup --version" 0 ringup --version
resolve "torch, newest" 0 torch
resolve "horovod, tensorflow 1.12, centos7" 0 horovod 'tensorflow==1.12.*' os==centos7
resolve "five pins of 2019 (NCCL 2.5.6, Open MPI 4.0)" 0 'nccl==2.5.6-1+cuda9.0' 'tensorflow==1.12.*' \
	'openmpi==4.0.*' python==2.7 horovod
resolve "torch, driver 470.57.02, A100" 0 torch driver==470.57.02 gpu==A100
resolve "torch, V100 and H100" 0 torch gpu==V100 gpu==H100
resolve "torch, 64 hosts, 2 GPUs, 3 drivers (facts)" 0 --facts facts.json torch
resolve "no GPU: openmpi, debian12" 0 openmpi os==debian12
resolve "no stack: gcc 13, cuda 12.1" 3 gcc==13 cuda==12.1
resolve "no stack: torch>=2.1, driver 390.48" 3 'torch>=2.1' driver==390.48
resolve "no stack: K80 and H100, cuda 12.4, torch" 3 torch gpu==K80 gpu==H100 cuda==12.4
resolve "every stack: --all torch>=2.0, H100" 0 --all 'torch>=2.0' gpu==H100
row "matrix: the tables" 0 ringup matrix
row "matrix torch: every row" 0 ringup matrix torch
row "matrix torch that goes with V100, driver 535" 0 ringup matrix torch gpu==V100 driver==535.54.03
row "matrix image --csv" 0 ringup matrix image --csv
row "matrix --check" 0 ringup matrix --check

# --- larger catalogs: each release gets invented patch releases
printf '\n%-8s %8s %8s  %-34s %10s %8s\n' "CATALOG" "ROWS" "MIB" "WHAT (median of $scale_rounds)" "MS" "PEAK MIB"
scaled() {
	local result
	# a command that takes longer than measure's minute is shown as "-"
	result=$(RINGUP_CATALOG=$work/catalog ./measure "$scale_rounds" "$2" "${@:3}") || result="- - -"
	awk -v c="x$scale" -v r="$rows" -v m="$size" -v n="$1" '
		function shown(v) {return v == "-" ? v : sprintf("%.1f", v)}
		{printf "%-8s %8s %8.1f  %-34s %10s %8s\n", c, r, m, n, shown($1), shown($3)}' <<<"$result"
}
for scale in ${SCALES:-1 10 100}; do
	rm -rf catalog
	rows=$(python3 "$root/bench/larger_catalog.py" "$root/recipes/catalog" catalog "$scale")
	size=$(du -sb catalog | awk '{print $1 / 1048576}')
	scaled "torch, newest" 0 ringup resolve --no-lock torch
	scaled "horovod, tensorflow 1.12, centos7" 0 ringup resolve --no-lock horovod 'tensorflow==1.12.*' os==centos7
	scaled "torch, V100 and H100" 0 ringup resolve --no-lock torch gpu==V100 gpu==H100
	scaled "no stack: gcc 13, cuda 12.1" 3 ringup resolve --no-lock gcc==13 cuda==12.1
	scaled "matrix torch: every row" 0 ringup matrix torch
done
