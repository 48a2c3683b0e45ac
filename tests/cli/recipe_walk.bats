#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A recipe for every pair of catalog values that can stand together: each is a Dockerfile, its shell
# parses, hadolint is silent, and versions, checksums and keys are pinned.

load helper
setup() {
	common_setup
	PATH="$PATH:$(cd "$ROOT" && realpath "${BUILD:-build}")/tools/bin" # 'make deps' puts hadolint there
}

@test "25 recipes, each whole (tests/long has 1000)" {
	unset RINGUP_CATALOG # the real one
	run python3 "$ROOT/tests/recipe/walk.py" --least 25 --seed "${RECIPE_SEED:-1}"
	echo "$output" | tail -n 20
	[ "$status" -eq 0 ]
}
