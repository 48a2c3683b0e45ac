#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs one test file for prove: TAP on stdout as it comes, everything the file said only if it fails.
#   - bats files run under bats, which prints the output of a command that a failed test ran, others are cmocka programs;
#   - cmocka 1.1.5 writes "not ok N # SKIP" for a skipped test, which prove would count as a failure;
#   - a file that hangs is ended after TEST_TIMEOUT seconds (default 1200) with all it started.
#   - a file has a TMPDIR of its own, so that files that run at once do not see each other's; its name is
#     short since sockets lie in it.
#   - sshd starts a bash that reads ~/.bashrc, whatever a person has there. As root, bats files run where that file is
#     empty: in a mount namespace of their own.
set -uo pipefail
file=$1
cd "$(dirname "$0")/../.." || exit # the tests name files of the repository
folder=$(mktemp -d "${TMPDIR:-/tmp}/rt.XXXXXX")
# A test that was ended leaves a guard (tests/lab/helper.bash), which takes the lab down by what lies in the folder.
# shellcheck disable=SC2317 # the trap calls it
remove_folder() {
	for ((i = 0; i < 240; i++)); do
		pgrep -f " guard [0-9]+ $folder/" >/dev/null || break
		sleep 0.25
	done
	rm -rf "$folder"
}
trap remove_folder EXIT
mkdir -m 1777 "$folder/tmp" && chmod 755 "$folder"

case $file in
*.bats)
	words=(bats --tap --print-output-on-failure "tests/$file")
	settings=$(getent passwd root | cut -d: -f6)/.bashrc
	if [[ -e $settings ]] && unshare --mount mount --bind /dev/null "$settings" 2>/dev/null; then
		# shellcheck disable=SC2016 # the inner shell's words
		words=(unshare --mount sh -c 'mount --bind /dev/null "$1" && shift && exec "$@"' - "$settings" "${words[@]}")
	fi
	;;
*) words=("$file") ;;
esac
exec 3> >(sed -u -E 's/^not (ok [0-9]+)( - .*)? # SKIP/\1\2 # SKIP/' | tee "$folder/stdout")
filter=$!
# What commands print must not change when the catalog gets old.
export RINGUP_TODAY=2026-11-23
TMPDIR=$folder/tmp CMOCKA_MESSAGE_OUTPUT=TAP timeout --kill-after=10 "${TEST_TIMEOUT:-1200}" "${words[@]}" \
	</dev/null >&3 2>"$folder/stderr" 3>&- &
test=$!
# timeout has a process group of its own, so Ctrl-C does not reach the test directly.
trap 'kill -TERM $test 2>/dev/null' INT TERM HUP
wait $test
status=$?
if kill -0 $test 2>/dev/null; then # a signal came: let the test clean up first
	wait $test
fi
exec 3>&-
wait $filter
# What the file and all that it waited for took of the processors; daemons that it left to a guard do not count.
if [[ -n ${TEST_CPU:-} ]]; then
	times >"$folder/times" # its second line: "1m2.345s 0m6.789s", of the children
	awk -v file="$file" 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); ms += 60000 * t[1] + 1000 * (t[2] + 0) }
		printf "%d %s\n", ms, file }' "$folder/times" >>"$TEST_CPU"
fi

if ((status != 0)); then
	((status != 124)) || echo "$file: ended after ${TEST_TIMEOUT:-1200} s (TEST_TIMEOUT)" >>"$folder/stderr"
	{
		echo
		echo "---- $file: status $status"
		cat "$folder/stdout" "$folder/stderr"
		echo "----"
	} >&2
fi
exit $status
