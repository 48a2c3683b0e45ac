# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The probe's sections against recorded outputs of real hosts. tests/cases/probe/README.md has the form of the cases.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
TOOLS='awk basename cat cut date dirname expr find getconf grep head id ls paste printf readlink sed sleep sort tail test tr uname uniq wc'

# unpack CASE: its commands as stand-ins in bin/, its files below root/ and sys/, and what is expected.
unpack() {
	rm -rf case && mkdir -p case/said case/root case/sys && cp -a tools case/bin && cd case || return 1
	local name
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
		[ -e "bin/$name" ] || ln -s "$ROOT/tests/standin/recorded" "bin/$name"
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
	awk -v name="$1" '
		FILENAME == "out" {said[$0] = 1; key = $0; sub(/=.*/, "", key); of[key] = of[key] "\n  " $0; next}
		/^!/ {if ((key = substr($0, 2)) in of) {print name ": it says " key of[key]; bad = 1}; next}
		!($0 in said) {key = $0; sub(/=.*/, "", key); print name ": it does not say: " $0 of[key]; bad = 1}
		END {exit bad}' out case/expected || { cat err; return 1; }
	[ ! -s err ] || { echo "$1: it complains"; cat err; return 1; }
}

# in_shell CASE SHELL...: what that shell says of the case that is unpacked.
in_shell() {
	local file=$1
	shift
	sections "$@" >out 2>err
	matches "$* $file"
}

# recorded_hosts SHELLS: every case, in each of dash, bash and busybox ("all"), or in one of them by turns ("one").
recorded_hosts() {
	local file tool count=0
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir tools
	for tool in $TOOLS; do ln -s "$(command -v "$tool")" "tools/$tool"; done
	for file in "$ROOT"/tests/cases/probe/*/*.txt; do
		unpack "$file"
		[ -s case/expected ] || { echo "$file expects nothing"; return 1; }
		[[ $1 = one && $((count % 3)) != 0 ]] || in_shell "$file" "$(command -v dash)" || return
		[[ $1 = one && $((count % 3)) != 1 ]] || in_shell "$file" "$(command -v bash)" --posix || return
		[[ $1 = one && $((count % 3)) != 2 ]] || in_shell "$file" "$(command -v busybox)" sh || return
		count=$((count + 1))
	done
	[ "$count" -ge 20 ]
}
