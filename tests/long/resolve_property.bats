#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# resolve against programs that share no code with it, as tests/cli/resolve_property.bats runs them, with more than ten
# times as many random catalogs and requests.

load ../cli/helper
setup() {
	common_setup
	unset RINGUP_CATALOG
}

# property NAME COUNT: the program comes to its end, tests stacks and refusals, and finds nothing.
property() {
	local count=$(($2 * ${PROPERTY_TIMES:-1}))
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/property/$1.py" --ringup "$(command -v ringup)" \
		--seed "${PROPERTY_SEED:-1}" --count "$count" >../out 2>&1 || { cat ../out; return 1; }
	grep -q '^[0-9]* items, .* stacks' ../out || { tail -n 20 ../out; return 1; }
	! grep -E '^(not once|more than|\[)' ../out
}

@test "random catalogs: what is answered is what trying everything finds" {
	property answers 150
}

@test "one more fact takes no stack away" {
	property monotone 50
}

@test "the real catalog: every rule is kept, every conflict is minimal, every suggestion works" {
	property real 90
}
