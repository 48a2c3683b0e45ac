# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `jq -e` of jq 1.6 (Debian 12) takes an empty input for a success: a test that asks it about a command's
# output would pass when the command printed nothing. With this function it fails.
jq() {
	local said status=0
	[[ ${1-} == -e* ]] || { command jq "$@"; return; }
	said=$(command jq "$@") || status=$?
	printf '%s\n' "$said"
	[ "$status" -eq 0 ] && [ -n "$said" ]
}
