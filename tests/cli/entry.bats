#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # words for other shells
# images/entry: what a container's first process prepares, so that each rank finds the same names whichever way it
# is started. The lab's tests have it in real containers.

load helper
load namespaces
bats_require_minimum_version 1.5.0

setup() {
	common_setup
	ENTRY=$ROOT/images/entry
	OWN=$(cat /proc/sys/kernel/hostname)
	printf '%s\n' '10.0.0.1 node01' '10.0.0.2 Two' 'fd00::3 node03' >cluster
}

# --- ringup-hosts ------------------------------------------------------------------------------

@test "hosts: the cluster's names come first, and the file's own lines stay" {
	printf '%s\n' '# of the engine' '127.0.0.1 localhost' '' '10.9.9.9	files.site files # disk' >hosts
	cp hosts engine
	RINGUP_HOST=Two "$ENTRY/ringup-hosts" cluster hosts
	{
		echo '10.0.0.1 node01 # ringup'
		echo "10.0.0.2 Two $OWN # ringup"
		echo 'fd00::3 node03 # ringup'
		cat engine
	} | diff - hosts
}

@test "hosts: no other line keeps a name of the cluster, nor the host's own" {
	printf '%s\n' '127.0.1.1 node01.site NODE01 # Debian' '127.0.1.1 two' "127.0.0.1 localhost $OWN" '::1 node03#x' >hosts
	RINGUP_HOST=node01 "$ENTRY/ringup-hosts" cluster hosts
	[ "$(grep -v ' # ringup$' hosts)" = $'127.0.1.1 node01.site\n127.0.0.1 localhost' ]
}

@test "hosts: a name that is not this host's gets no alias, and neither does a host without one" {
	echo '127.0.0.1 localhost' >hosts
	RINGUP_HOST=other "$ENTRY/ringup-hosts" cluster hosts
	run ! grep -w "$OWN" hosts
	env -u RINGUP_HOST "$ENTRY/ringup-hosts" cluster hosts
	run ! grep -w "$OWN" hosts
	[ "$(wc -l <hosts)" = 4 ]
}

@test "hosts: again: nothing is written; a changed list replaces the lines, in place" {
	local before
	echo '127.0.0.1 localhost' >hosts
	"$ENTRY/ringup-hosts" cluster hosts
	before=$(stat -c '%i %Y %Z' hosts)
	sleep 0.05
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(stat -c '%i %Y %Z' hosts)" = "$before" ]
	echo '10.0.0.4 node04' >cluster
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(cat hosts)" = $'10.0.0.4 node04 # ringup\n127.0.0.1 localhost' ]
	[ "$(stat -c %i hosts)" = "${before%% *}" ]
	: >cluster
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(cat hosts)" = '127.0.0.1 localhost' ]
}

@test "hosts: programs find exactly the cluster's address" {
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 node01 two' >hosts
	RINGUP_HOST=node01 "$ENTRY/ringup-hosts" cluster hosts
	run own_namespaces --mount sh -c 'mount --bind hosts /etc/hosts && for name; do getent ahosts "$name"; done | cut -d" " -f1 | uniq | xargs' \
		sh node01 two node03 localhost "$OWN"
	[ "$status" = 0 ]
	[[ "$output" =~ ^"10.0.0.1 10.0.0.2 fd00::3 "(::1|127.0.0.1)" 10.0.0.1"$ ]] || { echo "$output" && false; }
}

@test "hosts: a file that cannot be written stays, and a missing list is an error" {
	echo '127.0.0.1 localhost' >hosts
	run own_namespaces --mount sh -c 'mount --bind hosts hosts && mount -o remount,bind,ro hosts && "$0" cluster hosts' "$ENTRY/ringup-hosts"
	[ "$status" = 0 ]
	[[ "$output" == *"hosts cannot be written"* ]]
	[ "$(cat hosts)" = '127.0.0.1 localhost' ]
	run "$ENTRY/ringup-hosts" missing hosts
	[ "$status" = 1 ]
	[[ "$output" == *"missing is missing: run 'ringup up'"* ]]
}

@test "hosts: 4096 of them beside 20000 lines of a site" {
	seq 4096 | awk '{print "10.0." int($1 / 256) "." $1 % 256, "node" $1}' >cluster
	seq 20000 | awk '{print "10.1." int($1 / 256) "." $1 % 256, "site" $1, "node" $1}' >hosts
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(grep -c ' # ringup$' hosts)" = 4096 ]
	[ "$(wc -l <hosts)" = 24096 ]
	run ! grep -E '^10\.1\..* node(1|4096)$' hosts
	grep -q '^10\.1\..* node4097$' hosts
}
