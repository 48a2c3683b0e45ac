#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The recipes of tests/golden/recipe/list: linters are silent on all of them.

load ../cli/helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
	PATH="$PATH:$(cd "$ROOT" && realpath "${BUILD:-build}")/tools/bin" # 'make deps' puts hadolint there
}

@test "rules, hadolint and shellcheck find nothing in them" {
	run python3 "$ROOT/tests/recipe/golden.py" check
	echo "$output" | tail -n 60
	[ "$status" -eq 0 ]
}

@test "with all pinned, each package of each has an exact version, and each image a digest" {
	run python3 "$ROOT/tests/recipe/golden.py" pinned
	echo "$output" | tail -n 60
	[ "$status" -eq 0 ]
}
