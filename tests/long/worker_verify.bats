#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every type and operation verified in the GPU's memory, with stand-ins of CUDA and NCCL: tests/cli/worker_verify.bats has the
# short form.

load ../cli/worker_helper

setup() {
	export STANDIN="$BATS_TEST_TMPDIR/standin"
	mkdir "$STANDIN"
	standin_build "$STANDIN"
	standin_setup
}

@test "what is wrong in any type and with any operation is found, on the GPU" {
	wrong_is_found missing
	wrong_is_found last
	[ "$(grep -cE ' ringup_compare_[1248]$' "$BATS_TEST_TMPDIR/log")" -eq $((2 * 3 * 288)) ]
	[ "$(grep -c "large copy" "$BATS_TEST_TMPDIR/log")" -eq 0 ]
}
