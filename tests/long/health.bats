#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# allreduce --health: what takes time. NVIDIA's own ptxas assembles the kernel, and hangs end at the deadline.

load ../cli/worker_health.bash

@test "a kernel that never ends, and a driver that does not answer: killed and named at the deadline" {
	SECONDS_LEFT=3 health 0 "1 hang 1"
	lines 'c[1, "burn"]["hung"] >= 3 and phases(0)[-1] == "after" and phases(2)[-1] == "after" and all[-1] == {"end": True}'
	SECONDS_LEFT=3 health 0 "2 silent 1"
	lines 'c[2, "identity"]["hung"] >= 3 and phases(0)[-1] == "after"'
}

@test "ptxas assembles the kernel for cards from 2014 to 2022, without spilling" {
	python3 -m venv "$BATS_TEST_TMPDIR/venv"
	"$BATS_TEST_TMPDIR/venv/bin/pip" -q install nvidia-cuda-nvcc-cu12
	cat >"$BATS_TEST_TMPDIR/print.c" <<-'END'
		#include "health/burn_kernel.c"
		int main(void)
		{
			static char text[BURN_TEXT_BYTES];

			return fwrite(text, 1, burn_text(text), stdout) == 0;
		}
	END
	cc -std=gnu11 -Iimages/worker -o "$BATS_TEST_TMPDIR/print" "$BATS_TEST_TMPDIR/print.c" -lm
	"$BATS_TEST_TMPDIR/print" >"$BATS_TEST_TMPDIR/burn.ptx"
	ptxas=$(find "$BATS_TEST_TMPDIR/venv" -name ptxas -type f)
	for arch in 50 70 80 90; do
		run "$ptxas" -v -arch "sm_$arch" -o "$BATS_TEST_TMPDIR/burn.cubin" "$BATS_TEST_TMPDIR/burn.ptx"
		echo "$output"
		[ "$status" -eq 0 ]
		[[ "$output" == *"0 bytes spill stores, 0 bytes spill loads"* ]]
	done
}
