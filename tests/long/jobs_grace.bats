#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run --grace' with programs that need longer than anything waits without it, on one loopback host.

load ../lab/helper

setup_file() {
	lab_cluster 1 --loopback
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
	# saver.sh SECONDS FILE: on SIGTERM it needs the seconds to write the file
	cat >saver.sh <<-'END'
		trap 'sleep "$1"; echo saved >"$2"; exit' TERM
		echo begun
		while :; do sleep 0.1; done
	END
}

# begin NAME WORDS...: a job that has begun to wait for its end.
begin() {
	local name=$1
	shift
	ringup -q run -d -n 1 --grace 60 --name "$name" -- "$@" >/dev/null 2>&1 3>&- 4>&-
	wait_for 20 grep -q begun ".ringup/jobs/$name/rank-0.log"
}

@test "stop waits until the work is saved" {
	begin slow sh "$LAB/saver.sh" 24 "$LAB/slow.saved"
	ringup -q stop slow
	[ -s slow.saved ]
	[ "$(jq -r .state .ringup/jobs/slow/job.json)" = stopped ]
}

@test "what is left of a lost job has the same time" {
	# its output ends with the supervisor, so it has none
	begin lost sh -c "setsid sh '$LAB/saver.sh' 7 '$LAB/lost.saved' >'$LAB/lost.out' 2>&1 &
		until [ -s '$LAB/lost.out' ]; do sleep 0.1; done; echo begun; wait"
	kill -9 "$(jq .pid .ringup/jobs/lost/job.json)" "$(pgrep -f "$LAB/.*ringup-job host --id $(jq -r .id .ringup/jobs/lost/job.json)")"
	ringup stop lost >out
	grep -q '^lost was lost; 1 process of it was left and is ended\|^lost was lost; [2-9] processes' out
	[ -s lost.saved ]
}
