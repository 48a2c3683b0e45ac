# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# What the tests of --health have in common: three simulated cards, and what is wrong with them.

# shellcheck source=tests/cli/worker_helper.bash
source "$BATS_TEST_DIRNAME/../cli/worker_helper.bash"

bats_require_minimum_version 1.5.0

setup() {
	worker_setup
	unset CUDA_VISIBLE_DEVICES
	export RINGUP_SIMULATED="$BATS_TEST_TMPDIR" ASAN_OPTIONS=detect_leaks=0
	mkdir "$BATS_TEST_TMPDIR/lib"
	ln -s "$(realpath "${BUILD:-build}/simulated-cuda.so")" "$BATS_TEST_TMPDIR/lib/libcuda.so.1"
	ln -s "$(realpath "${BUILD:-build}/simulated-nvml.so")" "$BATS_TEST_TMPDIR/lib/libnvidia-ml.so.1"
	echo "550.54.15 12.4" >"$BATS_TEST_TMPDIR/driver"
	for index in 0 1 2; do
		echo "$index|GPU-0000000$index-0000-0000-0000-000000000000|0000:1$index:00.0|NVIDIA H100 80GB HBM3|81559|9.0|18|26.562|700"
	done >"$BATS_TEST_TMPDIR/gpus"
}

# health STATUS LINES...: runs it; each of LINES of the file `health` is what is wrong with a card
health() {
	local wanted=$1
	shift
	printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/health"
	run --separate-stderr env "LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib" "$ALLREDUCE" --health --host node01 --timeout "${SECONDS_LEFT:-60}"
	echo "$output$stderr"
	[ "$status" -eq "$wanted" ]
}

# lines EXPRESSION: in Python, with `all` the documents, `host` the first, and `c[CARD, PHASE]`
lines() {
	printf '%s\n' "$output" | python3 -c "
import json, sys
all = [json.loads(line) for line in sys.stdin]
host = all[0]
c = {(d['card'], d['phase']): d for d in all if 'card' in d}
phases = lambda card: [d['phase'] for d in all if d.get('card') == card and 'peer' not in d]
pairs = sorted((d for d in all if 'peer' in d), key=lambda d: (d['card'], d['peer']))
assert $1, all"
}
