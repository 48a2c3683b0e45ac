#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The recipes of tests/golden/recipe/list: what is printed is what a reviewer read, and linters are silent.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
	PATH="$PATH:$(cd "$ROOT" && realpath "${BUILD:-build}")/tools/bin" # 'make deps' puts hadolint there
}

@test "each recipe of the list is as it was read" {
	run python3 "$ROOT/tests/recipe/golden.py" compare
	echo "$output" | tail -n 60
	[ "$status" -eq 0 ]
}

@test "rules, hadolint and shellcheck find nothing in a thirtieth of them (tests/long has all)" {
	run python3 "$ROOT/tests/recipe/golden.py" check 30
	echo "$output" | tail -n 60
	[ "$status" -eq 0 ]
}

@test "a thirtieth of them with all pinned: each package of each has an exact version, and each image a digest" {
	run python3 "$ROOT/tests/recipe/golden.py" pinned 30
	echo "$output" | tail -n 60
	[ "$status" -eq 0 ]
}
