#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every check in .ci/lint/ (or those named) and says which failed. A check is a program: it
# prints findings as "file:line: text" and exits 1, or exits 0; a line "# ..." is shown beside its
# name. Any other status means that the check itself broke, which fails too.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=.ci/lib/files.sh
source .ci/lib/files.sh

export BUILD=${BUILD:-build} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/.ci/lib LC_ALL=C.UTF-8
list=$(mktemp) output=$(mktemp)
trap 'rm -f "$list" "$output"' EXIT
LINT_FILES='' files >"$list"
[[ -s $list ]] || { echo "lint: git lists no files in $PWD" >&2; exit 1; }
export LINT_FILES=$list

[[ -x $BUILD/ringup ]] || { echo "lint: there is no $BUILD/ringup, which some checks ask; run make" >&2; exit 2; }
for name; do
	compgen -G ".ci/lint/$name.[sp][hy]" >/dev/null || { echo "lint: no check is named: $name" >&2; exit 2; }
done

passed=0 failed=0
for check in .ci/lint/*.[sp][hy]; do
	name=$(basename "${check%.*}")
	(($# == 0)) || [[ " $* " == *" $name "* ]] || continue
	status=0
	case $check in
	*.py) python3 "$check" >"$output" 2>&1 || status=$? ;;
	*) bash "$check" >"$output" 2>&1 || status=$? ;;
	esac
	note=$(sed -n 's/^# //p' "$output" | tail -n 1)
	if ((status == 0)); then
		passed=$((passed + 1))
		echo "ok $name${note:+ ($note)}"
	else
		failed=$((failed + 1))
		echo "FAIL $name${note:+ ($note)}"
		sed -e '/^# /d' -e 's/^/  /' "$output"
		((status == 1)) || echo "  $check: the check itself ended with status $status"
	fi
done
echo "$passed passed, $failed failed"
((failed == 0))
