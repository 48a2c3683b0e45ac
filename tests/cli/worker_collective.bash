# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# What the tests of the collectives have in common: tests/long/worker_collective.bats has all types, sizes and hosts.

source "$BATS_TEST_DIRNAME/../cli/worker_helper.bash"

setup() {
	worker_setup
	COMMON=(-n 2 -w 1 --timeout 30)
	ALL=(reduce_scatter all_gather broadcast alltoall sendrecv reduce gather scatter alltoallv)
}

# each WORDS...: runs them with each collective
each() {
	local name
	for name in "${ALL[@]}"; do
		run "$@" "${COMMON[@]}" --collective "$name"
		[ "$status" -eq 0 ] || { echo "$name $*: $status $output"; return 1; }
		[[ "$output" != *differ* ]]
	done
}

# reduces TYPE OP: reduce_scatter with them, on every path
reduces() {
	ALL=(reduce_scatter)
	each "$ALLREDUCE" --procs 3 -b 1K -e 200000 -f 50 -d "$1" -o "$2"
	each "$ALLREDUCE" --procs 3 -b 1K -e 200000 -f 50 -d "$1" -o "$2" --no-shm
	each mixed "a a b" -b 1K -e 200000 -f 50 -d "$1" -o "$2"
}

# sized FLAGS...: bytes in those sizes, on every path
sized() {
	each "$ALLREDUCE" --procs 3 "$@" -d u8
	each "$ALLREDUCE" --procs 3 "$@" -d u8 --no-shm
	each mixed "a b b" "$@" -d u8
}
