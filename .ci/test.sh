#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# .ci/test.sh SUITE...: runs the suites (unit, cli, lab, long, fault, gpu, frameworks, kubernetes) under one prove, so that there is one
# total, and ends with the ten files that took longest and the ten that took most of the processors. BUILD is the folder with ringup and tests/ (default:
# build); it stands first in PATH. TEST_JOBS files run at once (default: one more than three times the number of
# processors, since most of them wait most of the time; fewer of the long ones, which compile); those of
# tests/testrules.yml that say so run alone.
set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=$(realpath "${BUILD:-build}")
export BUILD PATH="$BUILD:$PATH" LC_ALL=C.UTF-8
(($# > 0)) || set -- unit cli lab
# A make that a test starts is no part of the one that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL

# The tests' Python is the system's, for which deps.sh installs what they import. Another python3 in PATH may be a script that
# looks for the right one (pyenv), or import at each of the thousands of starts what somebody installed for it.
mkdir -p "$BUILD/tests/bin"
ln -sfn /usr/bin/python3 "$BUILD/tests/bin/python3"
PATH=$BUILD:$BUILD/tests/bin:${PATH#"$BUILD:"}

die() {
	echo "test: $*" >&2
	exit 2
}

# What compiles a framework has more time, and less company.
lanes=$((3 * $(nproc) + 1))
if [[ " $* " == *" long "* ]]; then
	lanes=$((3 * $(nproc)))
	export TEST_TIMEOUT="${TEST_TIMEOUT:-2400}"
fi

# The files of the suites, named as prove sees them from tests/: first those of tests/first.txt, then the largest, so that
# no lane ends alone.
tests=() programs=()
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
		programs+=("${found[@]}")
		;;
	cli | lab | long | fault | gpu | frameworks | kubernetes)
		for file in tests/"$suite"/*.bats; do
			found+=("${file#tests/}")
		done
		tests+=("${found[@]}")
		;;
	*) die "no suite '$suite'; there are unit, cli, lab, long, fault, gpu, frameworks, kubernetes" ;;
	esac
	((${#found[@]} > 0)) || die "suite $suite has no files"
done
if ((${#tests[@]} > 0)); then
	mapfile -t tests < <(cd tests && { grep -xFf <(printf '%s\n' "${tests[@]}") first.txt || true; ls -S "${tests[@]}"; } | awk '!seen[$0]++')
fi
tests+=(${programs[@]+"${programs[@]}"})

log=$(mktemp "${TMPDIR:-/tmp}/ringup-test.XXXXXX")
TEST_CPU=$(mktemp "${TMPDIR:-/tmp}/ringup-test.XXXXXX")
export TEST_CPU
trap 'rm -f "$log" "$TEST_CPU"' EXIT
status=0
(cd tests && exec prove --timer --jobs "${TEST_JOBS:-$lanes}" --exec "$PWD/../.ci/lib/tap.sh" "${tests[@]}") |
	tee "$log" || status=$?

echo
echo "the slowest files (ms):"
sed -nE "s|^\[[0-9:]+\] ($BUILD/)?(\S+) \.+ .*[^0-9]([0-9]+) ms.*|\3 \2|p" "$log" | sort -rn | awk 'NR <= 10 { print "  " $0 }'
echo "the files that took most of the processors (ms):"
sort -rn "$TEST_CPU" | sed "s|$BUILD/tests/||" | awk 'NR <= 10 { print "  " $0 }'
exit $status
