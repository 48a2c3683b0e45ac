#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The probe against recorded outputs of real hosts. Each runs in one of the shells that a host may have as sh; tests/long has
# all of them.

load probe_sections

@test "recorded hosts, in dash, bash and busybox by turns" {
	recorded_hosts one
}

@test "every case names its source" {
	local file
	for file in "$ROOT"/tests/cases/probe/*/*.txt; do
		head -n 1 "$file" | grep -qE '^# source: ' || { echo "$file has no source"; return 1; }
	done
}

# silent SHELL...: what the network's sections say in it where getent hangs, in files that its name begins.
silent() {
	local name=$BATS_TEST_TMPDIR/${1##*/}
	{ cat "$ROOT"/deployer/remote/probe/00-begin.sh "$ROOT"/deployer/remote/probe/50-network.sh \
		"$ROOT"/deployer/remote/probe/details/50-network.sh && echo 'exit 0'; } |
		PATH="$BATS_TEST_TMPDIR/bin:$PATH" timeout 300 "$@" -s lab some-name none x x x >"$name.out" 2>"$name.err"
}

@test "name servers that do not answer cost seconds, not the whole probe" {
	local shell
	mkdir "$BATS_TEST_TMPDIR/bin"
	# it hangs as getent does where packets to name servers are dropped
	printf '#!/bin/sh\nexec sleep 600\n' >"$BATS_TEST_TMPDIR/bin/getent"
	chmod +x "$BATS_TEST_TMPDIR/bin/getent"
	silent "$(command -v dash)" &
	silent "$(command -v bash)" --posix &
	silent "$(command -v busybox)" sh &
	wait
	for shell in dash bash busybox; do
		grep -qx 'names_silent_s=3' "$BATS_TEST_TMPDIR/$shell.out" || { echo "$shell"; cat "$BATS_TEST_TMPDIR/$shell".*; return 1; }
		! grep -q '^own_name=' "$BATS_TEST_TMPDIR/$shell.out"
		grep -q '^clock_at_end=' "$BATS_TEST_TMPDIR/$shell.out"
		[ ! -s "$BATS_TEST_TMPDIR/$shell.err" ] || { echo "$shell complains"; cat "$BATS_TEST_TMPDIR/$shell.err"; return 1; }
	done
}
