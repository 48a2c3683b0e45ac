# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the bats files: a folder and a home of its own for each test, the program first on PATH,
# and expected outputs in tests/golden/cli.

# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# To be called from setup().
common_setup() {
	local build
	build=$(cd "$ROOT" && realpath "${BUILD:-build}")
	export PATH="$build:$PATH" HOME=$BATS_TEST_TMPDIR/home LC_ALL=C.UTF-8
	# A catalog that does not change when the real one grows.
	export RINGUP_CATALOG=$ROOT/tests/golden/catalog
	# What commands print must not change when the catalog gets old.
	export RINGUP_TODAY=2026-11-23
	unset NO_COLOR TERM CONTAINERS_REGISTRIES_CONF DOCKER_CONFIG DOCKER_HOST REGISTRY_AUTH_FILE XDG_CACHE_HOME RINGUP_SHARE
	mkdir -p "$HOME" "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return 1
}

# apart WORD...: runs it; stdout and stderr go to the files ../out and ../err, the status to $status.
apart() {
	status=0
	"$@" >../out 2>../err || status=$?
}

# says STATUS TEXT...: the last apart() ended with STATUS and stderr holds each TEXT.
says() {
	local text
	[ "$status" -eq "$1" ] || { echo "status $status, not $1"; cat ../out ../err; return 1; }
	shift
	for text; do
		grep -qF -- "$text" ../err || { echo "stderr does not say: $text"; cat ../err; return 1; }
	done
}

# golden NAME: the last apart() wrote what tests/golden/cli/NAME.out and NAME.err hold (none: nothing).
# UPDATE_GOLDEN=1 writes them anew: read the difference before you commit it.
golden() {
	local stream expected
	for stream in out err; do
		expected=$ROOT/tests/golden/cli/$1.$stream
		if [ -n "${UPDATE_GOLDEN:-}" ]; then
			if [ -s "../$stream" ]; then cp "../$stream" "$expected"; else rm -f "$expected"; fi
		fi
		[ -e "$expected" ] || expected=/dev/null
		diff -u "$expected" "../$stream" || return 1
	done
}

# json EXPRESSION: stdout of the last apart() is one JSON document with a schema, and the Python
# expression holds with it as `d`.
json() {
	python3 -c "
import json, sys
d = json.load(open('../out'))
assert d['schema'] == 1, d
assert $1, d" || { cat ../out; return 1; }
}
