#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# resolve against programs that share no code with it: random catalogs and random requests, with
# fixed seeds. What each program looks for stands at its top in tests/property/. A finding names the
# seed and the item that replay it:
#   python3 tests/property/answers.py --seed 1 --item 13 --keep /tmp/catalogs
# PROPERTY_SEED=N begins with another seed, PROPERTY_TIMES=N takes N times as many items; tests/long takes more than ten
# times as many.

load helper

# property NAME COUNT [SEED]: runs it once for all tests below; findings go to NAME.out.
property() {
	local name=$1 count=$(($2 * ${PROPERTY_TIMES:-1})) seed=${PROPERTY_SEED:-${3:-1}}
	echo "# tests/property/$name.py --seed $seed --count $count" >&3
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/property/$name.py" --ringup "$(command -v ringup)" \
		--seed "$seed" --count "$count" >"$BATS_FILE_TMPDIR/$name.out" 2>&1 || true
}

setup_file() {
	local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	common_setup
	unset RINGUP_CATALOG
	property answers 8
	property monotone 3
	property real 5 5 # the first seeds have refusals only
}

# holds TAG: no program found anything about this property.
holds() {
	! grep -F "[$1]" "$BATS_FILE_TMPDIR"/*.out
}

@test "the checker finds what is wrong in a stack" {
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/property/test_checker.py"
}

@test "every program came to its end, and tested stacks and refusals" {
	local name
	for name in answers monotone real; do
		echo "# $(grep '^[0-9]* items,' "$BATS_FILE_TMPDIR/$name.out")" >&3
		grep -q '^[0-9]* items, .* stacks' "$BATS_FILE_TMPDIR/$name.out" ||
			{ tail -n 20 "$BATS_FILE_TMPDIR/$name.out"; return 1; }
		! grep -E '^(not once|more than)' "$BATS_FILE_TMPDIR/$name.out" || return 1
	done
}

@test "a stack or a refusal for every request, as trying everything finds it" {
	holds exit
}

@test "every stack keeps every rule" {
	holds rules
}

@test "no stack is preferred to the one that is given" {
	holds best
}

@test "--all: every stack once, the best first" {
	holds all
}

@test "a conflict is refused, and nothing can be left out of it" {
	holds minimal
}

@test "a suggestion works" {
	holds suggestion
}

@test "the rules that a refusal names are enough, all needed, and all that the stack breaks" {
	holds allow
}

@test "hosts and words that say the same give the same" {
	holds facts
}

@test "one more fact takes no stack away" {
	holds monotone
}
