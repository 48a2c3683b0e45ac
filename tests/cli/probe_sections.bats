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
