#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# .ci/test.sh SUITE...: runs the suites (unit, cli, lab) under one prove, so that there is one total.
# BUILD is the folder with ringup and tests/ (default: build); it stands first in PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=$(realpath "${BUILD:-build}")
export BUILD PATH="$BUILD:$PATH" LC_ALL=C.UTF-8
(($# > 0)) || set -- unit cli lab

die() {
	echo "test: $*" >&2
	exit 2
}

tests=()
shopt -s nullglob
for suite; do
	found=()
	case $suite in
	unit)
		# The list comes from the sources: a program left from a removed source is no test.
		for source in tests/unit/*/test_*.c; do
			program=${source#tests/unit/} program=$BUILD/tests/${program%.c}
			[[ -x $program ]] || die "$source: not built: $program; run 'make test'"
			found+=("$program")
		done
		;;
	cli | lab | fault | gpu | long) found=("tests/$suite"/*.bats) ;;
	*) die "no suite '$suite'; there are unit, cli, lab, fault, gpu, long" ;;
	esac
	((${#found[@]} > 0)) || die "suite $suite has no files"
	tests+=("${found[@]}")
done

# One file after another: the lab's tests share one machine.
exec prove --timer --jobs 1 --exec .ci/lib/tap.sh "${tests[@]}"
