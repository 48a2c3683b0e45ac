#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run', wait, stop, ps and logs on hosts that are this machine (jobs.bash).

load helper
load jobs
setup() { jobs_setup; }
teardown() { pkill -9 -f "^$MARK" || true; }

# in_background WORD...: ringup run, whose process is $pid. bash starts background jobs with SIGINT ignored; python
# gives it back.
in_background() {
	: >out
	python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' \
		ringup run "$@" >out 2>err 3>&- 4>&- &
	pid=$!
}

@test "a job runs" {
	job -- sh -c 'echo "$RANK of $WORLD_SIZE"' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 0 of 2
[1 node02] 1 of 2" ]
}

@test "a second Ctrl-C or stop ends the waiting, and the job is called stopped" {
	for signal in INT TERM; do
		in_background -- sh -c "trap '' TERM; echo up; $MARK 100; $MARK 100"
		begins 2
		kill -s $signal $pid
		sleep 0.7
		kill -s $signal $pid
		status=0
		wait $pid || status=$?
		[ "$status" = 130 ]
		grep -q 'node01: it did not say that everything of the job has ended there' err
		ringup ps --json | jq -e '.jobs[-1] | .state == "stopped" and .status == 130'
		# the hosts end it by themselves
		job_left_nothing
	done
}

@test "two signals at once, as of timeout(1), are one" {
	in_background -- sh -c "echo up; exec $MARK 100"
	begins 2
	kill -TERM $pid $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 130 ]
	! grep -q 'did not say' err
	ringup ps --json | jq -e '.jobs[-1].state == "stopped"'
	job_left_nothing
}

@test "a plan larger than a pipe, for a host that is slow to read it" {
	local env=()
	for i in $(seq 8); do
		env+=(-e "LARGE$i=$(head -c 120000 /dev/zero | tr '\0' x)")
	done
	SLOW=6 job "${env[@]}" --ppn 2 --host node01 -- sh -c 'printf "%s\n" "$LARGE8" | wc -c' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 120001
[1 node01] 120001" ]
}

@test "stdin goes to rank 0, every byte of it; the others read /dev/null" {
	head -c 3000000 /dev/urandom >bytes
	job -- sh -c 'cat >got-$RANK' <bytes
	[ "$status" = 0 ]
	cmp bytes state/got-0 || cmp bytes "$(find "$BATS_TEST_TMPDIR" -name got-0)"
	[ ! -s "$(find "$BATS_TEST_TMPDIR" -name got-1)" ]
	echo hello >line
	job --stdin 1 -- sh -c 'read x; echo "<$x>"; true' <line
	[ "$(sort out)" = "[0 node01] <>
[1 node02] <hello>" ]
	job --stdin none -- sh -c 'read x; echo "<$x>"; true' <line
	[ "$(sort out)" = "[0 node01] <>
[1 node02] <>" ]
	job --stdin none -n 1 -- readlink /proc/self/fd/0 <bytes
	[ "$(cat out)" = "[0 node01] /dev/null" ]
	job -n 1 -- readlink /proc/self/fd/0 </dev/null
	[ "$(cat out)" = "[0 node01] /dev/null" ]
	job -n 1 -- readlink /proc/self/fd/0 <&-
	[ "$(cat out)" = "[0 node01] /dev/null" ]
}

@test "a rank that does not read its stdin holds up nothing, and yes ends when nobody reads it" {
	yes | timeout 60 ringup run -n 1 -- sh -c 'sleep 2; echo slept' >out 2>err 3>&- 4>&-
	[ "$(cat out)" = "[0 node01] slept" ]
	yes | timeout 60 ringup run -n 1 -- head -n 1 >out 2>err 3>&- 4>&-
	[ "$(cat out)" = "[0 node01] y" ]
}

@test "stdin: what cannot be" {
	for words in "--stdin 2" "--stdin x" "--stdin -1" "-d --stdin 0" "-d -t" "-t" "-t --stdin none"; do
		# shellcheck disable=SC2086 # words
		job $words -- true < <(echo)
		[ "$status" = 2 ] || { echo "$words: $status"; cat err; false; }
	done
	job -t -- true < <(echo)
	grep -q 'the input device is not a TTY' err
	job --stdin 2 -- true < <(echo)
	grep -q 'the job has the ranks 0 to 1' err
}

# A launcher that names its first host as only that one knows itself, and puts rank 0 on the second.
@test "a rank that joins: stdin, and the address of rank 0's host" {
	cat >bin/torchrun <<-'END'
		#!/bin/sh
		while [ "${1##*/}" != ringup-job ]; do shift; done
		[ "$PET_LOCAL_ADDR" = 127.0.0.2 ] && RANK=0 || RANK=1
		export RANK WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=only-here
		exec "$@"
	END
	chmod 755 bin/torchrun
	job --launcher torchrun -- sh -c 'read x; echo "$RANK <$x> $MASTER_ADDR"' < <(echo hello)
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node02] 0 <hello> 127.0.0.2
[1 node01] 1 <> 127.0.0.2" ]
}

@test "a terminal: keys, size, the modes before, the escape; a job in the background reads nothing" {
	python3 "$ROOT/tests/standin/at_terminal.py" >said 2>&1 || { cat said; false; }
	job_left_nothing
}
