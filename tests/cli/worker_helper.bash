# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# What the tests of the all-reduce worker have in common. Each file's setup() calls worker_setup first.

# shellcheck source=tests/cli/namespaces.bash
source "$BATS_TEST_DIRNAME/../cli/namespaces.bash"

worker_setup() {
	ALLREDUCE=$(realpath "${BUILD:-build}/allreduce")
	unset RINGUP_SECRET
	export RINGUP_TEST_ROOT=/nonexistent # no warnings of this machine's own
}

# A port nobody listens on. Programs that tests start as other shells call it, too.
export FREE_PORT="$BATS_TEST_DIRNAME/../free_port.py"
free_port() {
	"$FREE_PORT"
}

# hosts COUNT PER_HOST FLAGS...: COUNT hosts on this machine with PER_HOST ranks each; the output of rank 0's.
hosts() {
	local count=$1 per=$2 port pids=() h status=0
	shift 2
	port=$(free_port)
	for ((h = 1; h < count; h++)); do
		"$ALLREDUCE" --rank $((h * per)) --procs "$per" --world $((count * per)) --host "host$h" \
			--root "127.0.0.1:$port" "$@" >/dev/null &
		pids+=($!)
	done
	"$ALLREDUCE" --rank 0 --procs "$per" --world $((count * per)) --host host0 --root "127.0.0.1:$port" "$@" || status=$?
	same_status "$status" "${pids[@]}"
}

# mixed HOSTS FLAGS...: ranks 0, 1, ... on the hosts of that list, such as "a b a"; the output of rank 0's.
mixed() {
	local port host rank=1 pids=() status=0 names
	read -r -a names <<<"$1"
	shift
	port=$(free_port)
	for host in "${names[@]:1}"; do
		"$ALLREDUCE" --rank "$rank" --world "${#names[@]}" --host "$host" --root "127.0.0.1:$port" "$@" >/dev/null &
		pids+=($!)
		rank=$((rank + 1))
	done
	"$ALLREDUCE" --rank 0 --world "${#names[@]}" --host "${names[0]}" --root "127.0.0.1:$port" "$@" || status=$?
	same_status "$status" "${pids[@]}"
}

# same_status STATUS PIDS...: waits for all of them, says so if one ends with another status, and returns it
same_status() {
	local status=$1 pid
	shift
	for pid; do
		wait "$pid" || [ $? -eq "$status" ] || echo "host statuses differ"
	done
	return "$status"
}

mpi() {
	# Open MPI's own libraries leak at exit, and a sanitizer build would count that against us
	ASAN_OPTIONS=detect_leaks=0 mpirun --allow-run-as-root --oversubscribe "$@"
}

# beside_other_work WORDS...: WORDS succeed while four other processes want the cores
beside_other_work() {
	local others=() status=0
	for _ in 1 2 3 4; do
		timeout 60 sh -c 'while :; do :; done' 3>&- &
		others+=($!)
	done
	"$@" || status=$?
	kill "${others[@]}" 2>/dev/null || true # those of a slow run have ended by themselves
	return "$status"
}

# old_gcc OPTIMISATION: the worker is built without a warning with what gcc 4.8 has, and runs
old_gcc() {
	echo '#error "gcc 4.8 has no <stdatomic.h>"' >"$BATS_TEST_TMPDIR/stdatomic.h"
	CC=gcc CFLAGS="$1 -DWORKER_OLD_GCC -I$BATS_TEST_TMPDIR" run sh "$BATS_TEST_DIRNAME/../../images/worker/build.sh" "$BATS_TEST_TMPDIR"
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	[[ "$output" != *warning* ]] || { echo "$output"; return 1; }
	run "$BATS_TEST_TMPDIR/allreduce" --procs 3 --world 3 -e 64K -f 64
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	[[ "$output" == *"verdict: pass"* ]]
}

# json EXPRESSION: evaluates it in Python with `d` bound to the JSON document in $output, `w` to its warnings and `way` to
# its trainings by name.
json() {
	printf '%s\n' "$output" | grep -v '^allreduce:' | python3 -c "
import json, sys
d = json.load(sys.stdin)
w = d.get('warnings')
way = {r['name']: r for r in (d.get('sgd') or {'runs': []})['runs']}
assert $1, d"
}

# same_sums RANKS PATH: all-reduce and the parameter server of --sgd do the sums of one rank
same_sums() {
	run "$ALLREDUCE" --procs "$1" --sgd -n 1 -w 0 -e 8 --timeout 30 --steps 30 "$2" --json
	[ "$status" -eq 0 ] || { echo "$*: $output"; return 1; }
	json 'abs(way["sum"]["loss"] - way["one"]["loss"]) < 1e-4'
	json 'len(way) == (2 if d["world"] == 1 else 4)'
	json 'd["world"] == 1 or abs(way["server"]["loss"] - way["one"]["loss"]) < 1e-4'
}

# standin_build FOLDER: the stand-ins of CUDA and NCCL
standin_build() {
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -o "$1/libcuda.so.1" images/simulated/cuda.c
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -o "$1/libnccl.so.2" images/simulated/nccl.c
}

# standin_setup: no CUDA and no NCCL but the stand-ins, and flags for a short run
standin_setup() {
	worker_setup
	unset RINGUP_NCCL CUDA_VISIBLE_DEVICES
	export TMPDIR="$BATS_TEST_TMPDIR" ASAN_OPTIONS=detect_leaks=0
	NCCL=(--backend nccl --procs 2 -n 2 -w 1 -e 64K -f 16 --timeout 10)
}

# standin WORDS...: runs them with the stand-ins of $STANDIN
standin() {
	run env "LD_LIBRARY_PATH=$STANDIN" "STANDIN_LOG=$BATS_TEST_TMPDIR/log" "$@"
	echo "$output"
}

# through_device_memory TYPE RANKS: every collective, verified
through_device_memory() {
	local name
	for name in all_reduce reduce_scatter all_gather broadcast alltoall sendrecv reduce gather scatter alltoallv hypercube; do
		[[ $name != hypercube || $2 != 3 ]] || continue
		standin "$ALLREDUCE" "${NCCL[@]}" --procs "$2" -b 3 --collective "$name" -d "$1" -r $(($2 - 1)) --json
		[ "$status" -eq 0 ] || return 1
		json 'd["verdict"] == "pass" and len({r["inplace"] for r in d["results"]}) == (1 if d["collective"] == "alltoallv" else 2)'
		# in place, blocks of these overwrite each other, as with nccl-tests
		json 'all(r["wrong"] == (None if r["inplace"] and d["collective"] in ("alltoall", "sendrecv") else 0) for r in d["results"])'
	done
}

# wrong_is_found WHAT: a reduction that is wrong in that way ($STANDIN_WRONG), in every type and with every operation
wrong_is_found() {
	STANDIN_NCCL=22403 STANDIN_WRONG=$1 standin "$ALLREDUCE" --backend nccl --procs 3 -n 1 -w 0 -b 8K -e 8K -d all -o all --json
	[ "$status" -eq 2 ] || return 1
	# the largest number is the same when it counts twice
	json "all((r['wrong'] > 0) == ('$1' != 'doubled' or r['op'] not in ('min', 'max')) for r in d['results'])"
	json "len({(r['type'], r['op']) for r in d['results']}) == 72"
	json "'$1' != 'last' or ({r['wrong'] for r in d['results']} == {3} and d['failure']['index'] == 8191)"
}
