#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Colour, full disks, closed streams: what stands around the results.

load helper
setup() {
	common_setup
	printf 'hosts: [a]\nstack: [openmpi]\n' >cluster.yaml
}

escape=$'\033'

@test "no colour where stderr is no terminal" {
	apart ringup stauts
	says 2
	! grep -q "$escape" ../err
}

@test "--color always, never, and a word that is none" {
	apart ringup --color always stauts
	grep -q "$escape\[31m" ../err
	apart ringup --color never stauts
	! grep -q "$escape" ../err
	apart ringup --color=sometimes version
	says 2 "--color takes auto, always or never, not 'sometimes'"
	[ ! -s ../out ]
}

# On a terminal of its own: script(1) gives one.
terminal() {
	script -qec "$1" /dev/null
}

@test "a terminal gets colour, NO_COLOR and TERM=dumb take it away" {
	[[ $(TERM=xterm terminal 'ringup stauts' || true) == *"$escape[31m"* ]]
	[[ $(TERM=dumb terminal 'ringup stauts' || true) != *"$escape"* ]]
	[[ $(TERM=xterm NO_COLOR=1 terminal 'ringup stauts' || true) != *"$escape"* ]]
	[[ $(TERM=xterm NO_COLOR=1 terminal 'ringup --color always stauts' || true) == *"$escape[31m"* ]]
	[[ $(TERM=xterm NO_COLOR= terminal 'ringup stauts' || true) == *"$escape[31m"* ]]
	[[ $(TERM=xterm terminal 'ringup --color never stauts' || true) != *"$escape"* ]]
}

@test "results have no colour, ever" {
	apart ringup --color always resolve openmpi
	says 0
	! grep -q "$escape" ../out
}

# full WORD...: stdout is a full disk.
full() {
	status=0
	"$@" >/dev/full 2>../err || status=$?
	says 1 'cannot write to standard output: No space left on device'
}

@test "a reader that has all that it wanted is no failure that is said" {
	[ "$(ringup matrix 2>../err | true; echo "${PIPESTATUS[0]}")" = 141 ]
	[ ! -s ../err ]
}

@test "a full disk is a failure that is said" {
	full ringup version
	full ringup --json version
	full ringup help
	full ringup help resolve
	full ringup resolve openmpi
	full ringup --json resolve openmpi
	full ringup recipe
	full ringup --json recipe
}

@test "a reader that went away is no success" {
	set +o pipefail
	ringup recipe 2>../err | true
	ringup version | head -c 1 >/dev/null
	! grep -qi 'sanitizer' ../err
}

@test "closed streams do no harm" {
	apart bash -c 'ringup resolve openmpi <&-'
	says 0
	grep -q openmpi ../out
	status=0
	ringup version 2>&- >../out || status=$?
	[ "$status" -eq 0 ]
	grep -q '^ringup ' ../out
	# an error that nobody can read keeps its status
	status=0
	ringup stauts 2>&- || status=$?
	[ "$status" -eq 2 ]
	# nothing is written into a file that took the place of stdout
	ringup resolve >&- 2>&- <&- || true
	[ "$(head -c 1 ringup.lock)" = '{' ]
	python3 -c 'import json; json.load(open("ringup.lock"))'
}

@test "-q and -v" {
	apart ringup -q resolve openmpi
	says 0
	[ ! -s ../err ]
	apart ringup -v resolve openmpi
	says 0
}

@test "--json: one document also where a command comes to none" {
	apart ringup --json stauts
	says 2 "there is no command 'stauts'"
	json 'd["ok"] is False and d["status"] == 2 and "there is no command '"'stauts'"'" in d["error"]'
	apart ringup --json -f none.yaml status
	says 2
	json '"none.yaml" in d["error"]'
	apart ringup --json status --no-such-option
	says 2
	json '"--no-such-option" in d["error"]'
	# a conflict has a document of its own
	apart ringup --json resolve openmpi==99
	says 3
	json '"conflict" in d and "error" not in d'
	apart ringup stauts
	[ ! -s ../out ]
}
