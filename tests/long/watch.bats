#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Partial failure and repair: up --min-hosts, --retry and --watch on loopback hosts.

load ../lab/helper

setup_file() {
	lab_cluster 3 --loopback
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# sshd_of HOST: its process.
sshd_of() {
	cat ".ringup/lab/$1/sshd.pid"
}

# breaks HOST: what the cluster has there is gone.
breaks() {
	rm -rf ".ringup/lab/$1/state/ringup/lab"
}

@test "a host that does not answer: exit 4, and a table with phase, cause and what to do" {
	kill "$(sshd_of node02)"
	fails 4 up
	grep -E '^HOST +PHASE +CAUSE +WHAT TO DO$' "$BATS_TEST_TMPDIR/stdout"
	grep -E '^node02 +probe +.*connection refused' "$BATS_TEST_TMPDIR/stdout"
	grep -F "2 of 3 hosts up" "$BATS_TEST_TMPDIR/stdout"
	ringup -q --json up 2>/dev/null 3>&- 4>&- | jq -e '[.hosts[] | .phase] == [null, "probe", null]'
}

@test "--min-hosts: enough hosts are fine, and fewer change nothing" {
	breaks node01
	fails 1 up --min-hosts 3
	says "2 of 3 hosts can be used, and --min-hosts asks for 3, so nothing was changed" node02
	[ ! -e .ringup/lab/node01/state/ringup/lab ]
	ringup -q up --min-hosts 2 >out 2>err 3>&- 4>&-
	grep -F "2 of 3 hosts up, 1 changed" out
	grep -F "warning: node02" err
	fails 2 up --min-hosts 4
	says "the cluster has 3 hosts"
	rm out err
}

@test "--retry: a host that comes back is a part of it" {
	(sleep 1; ringup -q lab up --hosts 3 --loopback) >/dev/null 2>&1 3>&- 4>&- &
	ringup up --retry 6 >out 2>err 3>&- 4>&-
	grep -F "once more in 2 s, 1 of 6" err
	grep -F "3 of 3 hosts up" out
	rm out err
}

@test "--watch: what breaks is repaired, each change of state is one line, and Ctrl-C ends it" {
	ringup up --watch --every 1 >out 2>err 3>&- 4>&- &
	local pid=$! status=0
	note_pid $pid
	wait_for 60 grep -q 'node03: ready' out
	breaks node02
	wait_for 60 grep -q "node02: repaired by 'up'" out
	[ -e .ringup/lab/node02/state/ringup/lab/ssh/mesh ]
	grep -E '^20..-..-..T..:..:..Z node02: absent: ' out
	grep -F "node02: repair 1 of 5: ringup up node02" out
	[ "$(grep -c 'node01: ' out)" = 1 ]
	kill "$(sshd_of node03)"
	wait_for 60 grep -q 'node03: unreachable: ' out
	ringup lab up --hosts 3 --loopback >lab.out 2>&1 3>&- 4>&- || { cat lab.out .ringup/lab/node03/sshd.log; false; }
	wait_for 60 sh -c 'tail -n 1 out | grep -q "node03: ready"'
	kill -INT $pid
	wait $pid || status=$?
	[ "$status" = 130 ]
	rm out err
}

@test "--watch: a repair that does not help is tried later and later, and then given up" {
	breaks node02
	mkdir -p .ringup/lab/node02/state/ringup
	ln -s /nowhere/there .ringup/lab/node02/state/ringup/lab
	ringup up --watch --every 1 --repairs 2 >out 2>err 3>&- 4>&- &
	local pid=$!
	note_pid $pid
	wait_for 90 grep -q 'node02: is left alone after 2 repairs' out
	[ "$(grep -c 'node02: repair ' out)" = 2 ]
	grep -F "node02: 'up' failed, tries again in" out
	grep -F "run 'ringup up' again" out
	rm .ringup/lab/node02/state/ringup/lab
	ringup -q up 3>&- 4>&-
	wait_for 60 grep -q 'node02: ready' out
	kill -INT $pid
	wait $pid || true
	rm out err
}

@test "options that do not go together" {
	fails 2 up --watch --dry-run
	says "--watch does not go with --dry-run"
	fails 2 --json up --watch
	fails 2 up --every 3
	says "--every is about --watch"
}
