#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The probe against recorded outputs of real hosts, in each shell that a host may have as sh. tests/cases/probe/README.md
# has the form of the cases.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
TOOLS='awk basename cat cut date dirname expr find getconf grep head id ls paste printf readlink sed sort tail test tr uname uniq wc'

# unpack CASE: its commands as stand-ins in bin/, its files below root/ and sys/, and what is expected.
unpack() {
	rm -rf case && mkdir -p case/bin case/said case/root case/sys && cd case || return 1
	local tool name
	for tool in $TOOLS; do ln -s "$(command -v "$tool")" "bin/$tool"; done
	awk '
		/^\$ / {n++; file = "said/" n; print substr($0, 3) >"said/index"; printf "" >file; next}
		/^\? [0-9]+$/ {print $2 >(file ".status"); next}
		/^@ / {file = $2; sub(/[^\/]*$/, "", $2); system("mkdir -p \"" $2 "\""); printf "" >file; next}
		/^-> / {sub(/[^\/]*$/, "", $2); folder = $2; $0 = $0; split($0, w, " "); system("mkdir -p \"" folder "\" \"" folder w[3] "\"; ln -s \"" w[3] "\" \"" w[2] "\""); next}
		/^=$/ {file = "expected"; printf "" >file; next}
		file != "" {print >file}' "$1"
	[ -e said/index ] || : >said/index
	# what every host has, where the case says nothing of it
	mkdir -p root/proc/sys/kernel
	[ -e root/proc/meminfo ] || echo 'MemTotal: 1024 kB' >root/proc/meminfo
	echo recorded >root/proc/sys/kernel/hostname
	echo df >said/names && cat said/index >>said/names
	while read -r name _; do
		[ -e "bin/$name" ] || { cp "$ROOT/tests/standin/recorded" "bin/$name" && chmod +x "bin/$name"; }
	done <said/names
	cut -d' ' -f1 said/names | sort -u >said/functions
	cd ..
}

# sections SHELL...: what the whole probe says of the case.
sections() {
	# busybox takes its own df before one on PATH, and a function before its own
	{ sed -n 's,^[a-z]*$,&() { "'"$PWD"'/case/bin/&" "$@"\; },p' case/said/functions; cat "$ROOT"/deployer/remote/probe/*.sh "$ROOT"/deployer/remote/probe/details/*.sh && echo 'exit 0'; } |
		env -i PATH="$PWD/case/bin" HOME=/nonexistent RECORDED="$PWD/case/said" RINGUP_ROOT="$PWD/case/root" RINGUP_SYS="$PWD/case/sys" \
			"$@" -s lab 10.0.0.1 none x x x
}

# matches CASE: each expected line was said, and a key behind "!" was not.
matches() {
	local line
	while read -r line; do
		case $line in
			!*) ! grep -q "^${line#!}=" out || { echo "$1: it says ${line#!}"; grep "^${line#!}=" out; return 1; } ;;
			*) grep -qxF -- "$line" out || { echo "$1: it does not say: $line"; grep "^${line%%=*}=" out; cat err; return 1; } ;;
		esac
	done <case/expected
	[ ! -s err ] || { echo "$1: it complains"; cat err; return 1; }
}

# in_shell CASE SHELL...: what that shell says of the case that is unpacked.
in_shell() {
	local file=$1
	shift
	sections "$@" >out 2>err
	matches "$* $file"
}

@test "recorded hosts, in dash, bash and busybox" {
	local file count=0
	cd "$BATS_TEST_TMPDIR" || return 1
	for file in "$ROOT"/tests/cases/probe/*/*.txt; do
		unpack "$file"
		[ -s case/expected ] || { echo "$file expects nothing"; return 1; }
		in_shell "$file" "$(command -v dash)"
		in_shell "$file" "$(command -v bash)" --posix
		in_shell "$file" "$(command -v busybox)" sh
		count=$((count + 1))
	done
	[ "$count" -ge 20 ]
}

@test "every case names its source" {
	local file
	for file in "$ROOT"/tests/cases/probe/*/*.txt; do
		head -n 1 "$file" | grep -qE '^# source: ' || { echo "$file has no source"; return 1; }
	done
}
