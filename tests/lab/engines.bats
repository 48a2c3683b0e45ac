#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The native build engine makes of an awkward Dockerfile what its steps made, and the same bytes each time. What other engines
# make of it: tests/long/engines.bats.

load engines

setup_file() {
	engines_begin
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "native: everything awkward is in the image as the steps made it" {
	engine native
	cat native.tree
	! grep -E '^(awkward/(gone/|opaque/below|replaced/|moved )|copied/train.py )' native.tree
	grep -q '^awkward/gone file 644 0 0 ' native.tree
	grep -q '^awkward/opaque/file ' native.tree
	grep -q '^awkward/replaced file ' native.tree
	grep -q '^awkward/moved näme file ' native.tree
	grep -q '^awkward/ünïcödé 名前 file ' native.tree
	grep -q '^awkward/suid file 600 0 0 ' native.tree
	grep -q '^awkward/sgid file 2755 ' native.tree
	grep -q '^awkward/sgid-folder 5 2775 1234 5678 ' native.tree
	grep -q '^awkward/made 5 3770 42 43 ' native.tree
	grep -q '^awkward/made/suid file 6711 7 8 ' native.tree
	grep -q '^awkward/made/pipe 6 ' native.tree
	grep -q '^awkward/null 3 666 ' native.tree
	grep -q '^awkward/capable .*security.capability' native.tree
	grep -q '^awkward/appended .*user.note' native.tree
	grep -q '^awkward/dangling 2 777 0 0 .* /nowhere/at/all' native.tree
	grep -q '^awkward/by-link file ' native.tree
	grep -q '^copied/link.py 2 777 0 0 .* train.py' native.tree
	grep -q '^copied/empty 5 755 ' native.tree
	nothing_runs
}

@test "the same again from nothing with one processor and another umask, time zone and language: same digest" {
	mkdir -p again/ringup
	cp cache/ringup/ringup-base-*.tar again/ringup/
	(
		umask 077
		RINGUP_SHARE=$REPO XDG_CACHE_HOME=$PWD/again TZ=Asia/Tokyo LANG=tr_TR.UTF-8 taskset -c 0 "$BUILD/tests/lab/engine_build" native \
			context "$PWD/again/ringup" native2 >log 2>&1 3>&- 4>&- || { cat log && false; }
	)
	[ "$(digest native)" = "$(digest native2)" ]
}

@test "the same with and without a user namespace for the steps: same digest" {
	local userns
	for userns in always never; do
		mkdir -p "$userns/ringup"
		cp cache/ringup/ringup-base-*.tar "$userns/ringup/"
		RINGUP_SHARE=$REPO USERNS=$userns "$BUILD/tests/lab/engine_build" native context "$PWD/$userns/ringup" "in-$userns" >log 2>&1 3>&- 4>&- ||
			{ cat log && false; }
		[ "$(digest native)" = "$(digest "in-$userns")" ]
	done
}
