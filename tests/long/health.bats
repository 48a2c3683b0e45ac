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

@test "ptxas assembles the kernels for cards from 2014 to 2024, without spilling" {
	python3 -m venv "$BATS_TEST_TMPDIR/venv"
	"$BATS_TEST_TMPDIR/venv/bin/pip" -q install nvidia-cuda-nvcc-cu12
	# print: the kernels and the least capability of each; print NAME: its text
	cat >"$BATS_TEST_TMPDIR/print.c" <<-'END'
		#include "backend/nccl/verify_kernel.h"
		#include "health/burn_kernel.h"
		#include <stdio.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			static char text[BURN_TEXT_BYTES];
			const struct burn_kernel *kernel;

			for (kernel = burn_kernels; kernel < burn_kernels + BURN_KINDS; kernel++) {
				if (argc == 1) {
					printf("%s %d\n", kernel->name, kernel->capability);
				} else if (strcmp(kernel->name, argv[1]) == 0) {
					kernel->text(text);
					return fputs(text, stdout) < 0;
				}
			}
			return argc == 1 ? puts("verify 50") < 0 : fputs(verify_text, stdout) < 0;
		}
	END
	cc -std=gnu11 -Wall -Werror -Iimages/worker -o "$BATS_TEST_TMPDIR/print" "$BATS_TEST_TMPDIR/print.c" \
		images/worker/health/burn_kernel.c images/worker/backend/nccl/verify_kernel.c -lm
	"$BATS_TEST_TMPDIR/print" >"$BATS_TEST_TMPDIR/kernels"
	ptxas=$(find "$BATS_TEST_TMPDIR/venv" -name ptxas -type f)
	while read -r name capability; do
		"$BATS_TEST_TMPDIR/print" "$name" >"$BATS_TEST_TMPDIR/$name.ptx"
		for arch in 50 70 80 90 100; do
			((arch >= capability)) || continue
			echo "$name for sm_$arch"
			run "$ptxas" -v -arch "sm_$arch" -o "$BATS_TEST_TMPDIR/$name.cubin" "$BATS_TEST_TMPDIR/$name.ptx"
			echo "$output"
			[ "$status" -eq 0 ]
			[[ "$output" == *"0 bytes spill stores, 0 bytes spill loads"* ]]
			[ "$(grep -c '[1-9][0-9]* bytes spill' <<<"$output")" -eq 0 ]
		done
	done <"$BATS_TEST_TMPDIR/kernels"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/kernels")" -eq 3 ]
}
