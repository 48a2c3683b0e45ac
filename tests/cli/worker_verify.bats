#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Results are verified where they are, in the GPU's memory, by kernels. With stand-ins of CUDA and NCCL, which do in C what
# the kernels' names say; what their text says is done by tests/unit/worker/test_worker_verify.c.

load worker_helper

setup_file() {
	export STANDIN="$BATS_FILE_TMPDIR/standin"
	mkdir "$STANDIN"
	standin_build "$STANDIN"
}

setup() {
	standin_setup
	export STANDIN_NCCL=22403
}

# kernels NAME: how many were launched
kernels() {
	grep -c " ringup_$1\$" "$BATS_TEST_TMPDIR/log" || true
}

@test "every check is two fills and a comparison on the GPU, and nothing large is copied" {
	standin "$ALLREDUCE" "${NCCL[@]}" -b 1M -e 1M --quiet
	[ "$status" -eq 0 ]
	# 2 ranks, in place and not, before the times and after them
	[ "$(kernels fill_4)" -eq 16 ]
	[ "$(kernels compare_4)" -eq 8 ]
	[ "$(grep -c "large copy" "$BATS_TEST_TMPDIR/log")" -eq 0 ]
	[[ "$output" != *warning* ]]
	rm "$BATS_TEST_TMPDIR/log"
	standin "$ALLREDUCE" "${NCCL[@]}" -b 1M -e 1M --quiet -c 3 --collective all_gather -d u8
	[ "$status" -eq 0 ]
	[ "$(kernels fill_1)" -eq 32 ]
	[ "$(kernels compare_1)" -eq 32 ] # a block from each of two ranks
	[ "$(kernels 'fill_[248]')" -eq 0 ]
}

@test "what is wrong is found by the kernel of each width (every type and operation: tests/long)" {
	local width type
	while read -r width type; do
		STANDIN_WRONG=last standin "$ALLREDUCE" "${NCCL[@]}" -n 1 -w 0 -b 8K -e 8K -d "$type" --json
		[ "$status" -eq 2 ]
		json "{r['wrong'] for r in d['results']} == {2} and d['failure']['index'] == 8192 // $width - 1"
		[ "$(kernels "compare_$width")" -gt 0 ]
	done <<<$'1 u8\n2 bf16\n4 f32\n8 f64'
	[ "$(grep -c "large copy" "$BATS_TEST_TMPDIR/log")" -eq 0 ]
}

@test "a driver that loads no kernels: the host verifies, and one line says so" {
	STANDIN_MODULE=222 standin "$ALLREDUCE" "${NCCL[@]}" -b 1M -e 1M --host here --json
	[ "$status" -eq 0 ]
	[ "$(kernels '.*')" -eq 0 ]
	[ "$(grep -c "large copy" "$BATS_TEST_TMPDIR/log")" -eq 24 ]
	[ "$(grep -c "^allreduce: warning: here: results are verified on the host, not on the GPU (rank [01]): .*error 222" <<<"$output")" -eq 1 ]
	json 'len(w) == 1 and "cuModuleLoadData: CUDA error 222" in w[0]["why"]'
	for what in missing last; do
		STANDIN_WRONG=$what STANDIN_MODULE=222 standin "$ALLREDUCE" "${NCCL[@]}" -b 1K -e 1K --quiet
		[ "$status" -eq 2 ]
	done
}

# unchecked WORDS...: with -c 0 the report says so, and a corrupt result is none of its business
unchecked() {
	standin "$@" -n 2 -w 1 -b 1M -e 1M -c 0 --timeout 20 --fault-inject corrupt:1
	[ "$status" -eq 0 ] || return 1
	[[ "$output" == *" N/A "*"# nothing is checked (-c 0)"*"# verdict: pass"* && "$output" != *"Out of bounds"* ]] || return 1
	unchecked_json "$@"
}

# unchecked_json WORDS...: and so does its document
unchecked_json() {
	standin "$@" -n 2 -w 1 -b 1M -e 1M -c 0 --timeout 20 --fault-inject corrupt:1 --json
	[ "$status" -eq 0 ] || return 1
	json 'd["checks"] == 0 and all(r["wrong"] is None for r in d["results"])'
}

@test "-c 0: nothing is filled, compared or copied, on any backend, and the report says that" {
	unchecked "$ALLREDUCE" --backend nccl --procs 2
	export -f mpi
	unchecked_json bash -c 'mpi -n 2 "$@"' - "$ALLREDUCE" --backend mpi
	unchecked_json "$ALLREDUCE" --backend cpu --procs 2
	[ "$(kernels '.*')" -eq 0 ]
	[ "$(grep -c "large copy" "$BATS_TEST_TMPDIR/log")" -eq 0 ]
	standin "$ALLREDUCE" --procs 2 -n 2 -w 1 -b 1M -e 1M --json
	json 'd["checks"] == 1 and all(r["wrong"] == 0 for r in d["results"])'
}
