# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the tests of jobs that a scheduler runs: what ringup printed, and what it says of a job.

# has TEXT: the last output has it.
has() {
	[[ $output == *"$1"* ]] || {
		echo "not there: $1"
		echo "$output"
		return 1
	}
}

# state JOB: as `ringup ps` has it.
state() {
	ringup --json ps | jq -r --arg job "$1" '.jobs[] | select(.job == $job) | .state'
}
