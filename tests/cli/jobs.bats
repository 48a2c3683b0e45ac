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
