#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A RUN of the native engine whose /bin/sh is hostile (tests/standin/hostile_shell.c): each of its attempts on the
# machine is refused, as root and for a person who is not root.

load build_helper

setup_file() {
	build_folder
	chmod 755 "$WORK"
	export RINGUP_SHARE=$REPO
	mkdir -p base/bin base/tmp context
	gcc -static -O1 -o base/bin/sh "$REPO/tests/standin/hostile_shell.c"
	# a base may bring nodes of the machine's devices
	mknod base/base-mem c 1 1
	mknod base/base-kmsg c 1 11
	tar --numeric-owner --owner=0 --group=0 --mtime=@1500000000 -C base -cf base.tar .
	echo secret >secret
	printf 'FROM ringup-base-tiny:1\nARG SOURCE_DATE_EPOCH=1700000000\nRUN %s\n' "$WORK/secret" >context/Dockerfile
	printf 'nobody:100000:65536\n' >subids
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

# hostile CACHE [WORD...]: the build, started by the words; its steps' output is in the file `tried`.
hostile() {
	local cache=$WORK/$1
	shift
	mkdir -p "$cache"
	cp base.tar "$cache/ringup-base-tiny-1.tar"
	[ "${1:-}" != person ] || chown -R nobody:nogroup "$cache"
	"$@" "$BUILD/tests/lab/engine_build" native context "$cache" "$cache/layout" >log 2>&1 3>&- 4>&- ||
		{ cat log && return 1; }
	cat "$cache"/build-*.log >tried
}

# with_subids FILE WORD...: with that /etc/subuid and /etc/subgid, which only these processes see.
with_subids() {
	# shellcheck disable=SC2016  # $1 and $@ are for the inner shell
	unshare --mount --propagation private sh -c 'mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift && exec "$@"' sh "$@"
}

# person WORD...: as who is not root, with subordinate ids that only these processes see.
person() {
	with_subids "$WORK/subids" setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

# All was tried, in the hostile shell's own count, and all was refused.
all_refused() {
	local attempts
	attempts=$(grep -c ': refused (' tried)
	run ! grep 'ALLOWED' tried
	grep -qx "all was tried: $attempts" tried
}

# Docker's default capabilities without CAP_NET_RAW, and a filter of system calls.
limits() {
	grep -qx $'CapBnd:\t00000000a80405fb' tried
	grep -qx $'CapEff:\t00000000a80405fb' tried
	grep -qx $'CapInh:\t0000000000000000' tried
	grep -qx $'Seccomp:\t2' tried
}

# The machine's id for the step's root, and how many ids the step has.
ids() {
	awk '$1 == "ids:" && $2 == 0 {print $3, $4}' tried
}

@test "a hostile shell in a RUN of root's: every attempt on the machine is refused" {
	USERNS=never hostile root
	all_refused
	limits
	[ "$(ids)" = '0 4294967295' ]
}

@test "a hostile shell in a RUN of root's in a user namespace: the same, and its root is nobody outside" {
	USERNS=always hostile always
	all_refused
	limits
	[ "$(ids)" = '2113929216 16777216' ]
	hostile auto
	run ! grep warning log
	[ "$(ids)" = '2113929216 16777216' ]
	# what it made has the owners that it has without a user namespace
	[ "$(digest always/layout)" = "$(digest root/layout)" ]
}

@test "other people's subordinate ids are left alone; without free ids, auto warns and always fails" {
	echo 'other:2113929216:65536' >taken.subids
	hostile taken with_subids "$WORK/taken.subids"
	[ "$(ids)" = '2097152000 16777216' ]
	echo 'other:2013265920:134217728' >all.subids
	hostile all with_subids "$WORK/all.subids"
	[ "$(ids)" = '0 4294967295' ]
	[ "$(grep -c '^warning: ' log)" = 1 ]
	grep -q "the machine's root: /etc/subuid and /etc/subgid leave no ids free" log
	USERNS=always run hostile all-always with_subids "$WORK/all.subids"
	[ "$status" != 0 ]
	grep -q "build.userns is 'always': /etc/subuid and /etc/subgid leave no ids free" log
}

@test "a hostile shell in a RUN without root: the same" {
	hostile person person
	all_refused
	limits
}

@test "build.userns: never is for root: without root it is refused in one sentence" {
	USERNS=never run hostile person-never person
	[ "$status" != 0 ]
	grep -q "it needs root, since build.userns is 'never'" log
}

@test "a runtime without seccomp: one warning says so, and the rest still holds" {
	mkdir bin
	# shellcheck disable=SC2016  # the stand-in's own words
	printf '#!/bin/sh\n[ "$1" = --version ] && { echo "runc version 1"; exit; }\nexec %s "$@"\n' "$(command -v runc)" >bin/runc
	chmod 755 bin/runc
	PATH=$WORK/bin:$PATH hostile without
	[ "$(grep -c 'may make every system call' log)" = 1 ]
	grep -q 'warning: .* this runc was built without libseccomp' log
	grep -qx $'Seccomp:\t0' tried
	grep -q '^/proc/sys/kernel/core_pattern: refused' tried
	grep -q '^files of /proc/sys: refused' tried
	grep -q '^a disk: refused' tried
}

@test "nothing of the builds is left" {
	nothing_runs
}
