#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# NVIDIA's assembler takes the worker's kernels, for each generation of cards. It belongs to the CUDA toolkit, which nothing
# else here needs: without a ptxas on $PATH only the head of the texts is looked at. (What the texts do is tested without it,
# by tests/unit/worker/test_worker_verify.c.)

texts() {
	cat >"$BATS_TEST_TMPDIR/print.c" <<-'END'
		#include "backend/nccl/verify_kernel.h"
		#include "health/burn_kernel.h"
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			static char text[BURN_TEXT_BYTES];

			(void)argv;
			burn_text(text);
			return fputs(argc > 1 ? text : verify_text, stdout) < 0;
		}
	END
	cc -std=gnu11 -Iimages/worker -o "$BATS_TEST_TMPDIR/print" "$BATS_TEST_TMPDIR/print.c" images/worker/health/burn_kernel.c \
		images/worker/backend/nccl/verify_kernel.c -lm
	"$BATS_TEST_TMPDIR/print" >"$BATS_TEST_TMPDIR/verify.ptx"
	"$BATS_TEST_TMPDIR/print" burn >"$BATS_TEST_TMPDIR/burn.ptx"
}

@test "the kernels are assembled for every generation of cards that this ptxas knows" {
	texts
	for text in verify burn; do
		[ "$(head -2 "$BATS_TEST_TMPDIR/$text.ptx" | tr '\n' ' ')" = ".version 5.0 .target sm_50 " ]
	done
	if ! command -v ptxas; then
		echo "# no ptxas on \$PATH: nothing was assembled" >&3
		return
	fi
	tried=0
	for sm in 50 60 70 75 80 86 89 90 100 120; do
		ptxas --help | grep -q "'sm_$sm'" || continue
		for text in verify burn; do
			ptxas -arch "sm_$sm" -o "$BATS_TEST_TMPDIR/$text.cubin" "$BATS_TEST_TMPDIR/$text.ptx"
		done
		tried=$((tried + 1))
	done
	[ "$tried" -ge 4 ]
}
