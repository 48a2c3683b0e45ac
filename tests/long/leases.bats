#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Leases of GPUs that are not there, on loopback hosts: jobs of two clusters side by side, one after the other, and killed.

load ../lab/helper

setup_file() {
	lab_begin
	ringup -q lab up --loopback --hosts 2 --gpus 4xH100,node02=2xA100 --nvlink 3>&- 4>&-
	ringup -q up 3>&- 4>&-
	mkdir other
	sed "s/^name:.*/name: other/; s,\.ringup/lab,$LAB/.ringup/lab,g" cluster.yaml >other/cluster.yaml
	(cd other && ringup -q up 3>&- 4>&-)
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# uuid HOST INDEX
uuid() {
	awk -F '|' -v n="$2" '$1 == n {print $2}' ".ringup/lab/$1/gpus/gpus"
}

# free: how many GPUs of both hosts are free.
free() {
	ringup --json ps --gpus 2>/dev/null | jq '[.gpus[] | select(.state == "free")] | length'
}

# until_free COUNT: waits for it.
until_free() {
	for _ in {1..100}; do
		[ "$(free)" != "$1" ] || return 0
		sleep 0.2
	done
	return 1
}

# hold NAME N: a job with N ranks of one GPU each, which runs until the file NAME.end is there.
hold() {
	ringup -q run -d --gpus 1 -n "$2" --name "$1" -- sh -c "while [ ! -e '$LAB/$1.end' ]; do sleep 0.1; done" >/dev/null 2>&1 3>&- 4>&-
}

@test "jobs of two clusters never have the same GPU" {
	local pids=()
	for i in 1 2 3; do
		ringup -q run --gpus 1 -n 4 --wait --name "a$i" -- sh -c 'exec 9>>"$0/$CUDA_VISIBLE_DEVICES"; flock -n 9 || echo TWICE
			echo one; sleep 0.2' "$LAB" >"a$i.out" 2>/dev/null 3>&- 4>&- &
		pids+=($!)
		(cd other && exec ringup -q run --gpus 1 -n 3 --wait --name "b$i" -- sh -c 'exec 9>>"$0/$CUDA_VISIBLE_DEVICES"
			flock -n 9 || echo TWICE; echo one; sleep 0.2' "$LAB" >"b$i.out" 2>/dev/null 3>&- 4>&-) &
		pids+=($!)
	done
	wait "${pids[@]}"
	! grep -h TWICE a*.out other/b*.out
	[ "$(cat a*.out other/b*.out | wc -l)" = 21 ]
	[ "$(free)" = 6 ]
	rm -- *.out other/*.out GPU-*
}

@test "what others have is named, and -n takes the rest" {
	hold train 3
	cd other
	fails 1 run --gpus 2 -n 2 -- true
	cd ..
	says "2 ranks with 2 GPUs each are wanted, and there is room for 1 now" "node01: GPU 0,1,2: job train of cluster lab" "--wait"
	[ "$(cd other && ringup -q run --gpus 2 -n 1 -- sh -c 'echo $CUDA_VISIBLE_DEVICES' 2>/dev/null)" = \
		"[0 node02] $(uuid node02 0),$(uuid node02 1)" ]
	touch train.end
	ringup -q wait train
	[ "$(free)" = 6 ]
	rm train.end
}

@test "a job without --gpus has all that its ranks see, and begins when nobody else has one of them" {
	ringup -q run -d -n 1 --name whole -- sh -c "while [ ! -e '$LAB/whole.end' ]; do sleep 0.1; done" >/dev/null 2>&1 3>&- 4>&-
	[ "$(free)" = 2 ]
	cd other
	fails 1 run -n 1 -- true
	cd ..
	says "its ranks would see GPUs that others have" "node01: GPU 0,1,2,3: job whole of cluster lab" "--force" \
		"-e CUDA_VISIBLE_DEVICES="
	[ "$(cd other && ringup -q run --gpus 1 -n 1 -- echo here 2>/dev/null)" = "[0 node02] here" ]
	[ "$(cd other && ringup -q run -n 1 -e CUDA_VISIBLE_DEVICES= -- echo here 2>/dev/null)" = "[0 node01] here" ]
	[ "$(cd other && ringup -q run -n 1 --force -- echo here 2>/dev/null)" = "[0 node01] here" ]
	(sleep 1; touch whole.end) &
	[ "$(cd other && ringup -q run -n 1 --wait -- ls "$LAB/whole.end" 2>/dev/null)" = "[0 node01] $LAB/whole.end" ]
	ringup -q wait whole
	[ "$(free)" = 6 ]
	rm whole.end
}

@test "--spread takes few GPUs of many hosts, else many of few" {
	[ "$(ringup -q run --gpus 1 -n 2 --spread -- hostname 2>/dev/null | cut -d' ' -f2 | sort | xargs)" = "node01] node02]" ]
	[ "$(ringup -q run --gpus 1 -n 2 -- hostname 2>/dev/null | cut -d' ' -f2 | sort | xargs)" = "node02] node02]" ]
}

@test "kill -9 of ringup: its GPUs are free when nothing of the job is left" {
	ringup -q run --gpus 1 --name killed -- sleep 300 >/dev/null 2>&1 3>&- 4>&- &
	pid=$!
	# before it runs, a host may still be writing a lease
	wait_for 60 eval "ringup --json ps | jq -e '.jobs[] | select(.job == \"killed\") | .state == \"running\"'"
	[ "$(free)" = 0 ]
	kill -9 $pid
	wait $pid || true
	sed -i 's/^until=.*/until=1/' .ringup/lab/*/state/ringup/.leases/*.job
	until_free 6
}

@test "kill -9 of ringup: 'stop' frees its GPUs at once, and so does the next job that wants some" {
	local way
	for way in stop run look; do
		ringup -q run --gpus 1 --name "gone-$way" -- sleep 300 >/dev/null 2>&1 3>&- 4>&- &
		pid=$!
		wait_for 60 eval "ringup --json ps | jq -e '.jobs[] | select(.job == \"gone-$way\") | .state == \"running\"'"
		kill -9 $pid
		wait $pid || true
		if [ $way != run ]; then
			[ $way = look ] || ringup stop gone-stop
			[ "$(free)" = 6 ]
		else
			[ "$(ringup -q run --gpus 1 -- echo here | wc -l)" = 6 ]
		fi
	done
}

@test "the same job gets GPUs again when it is started again" {
	ringup -q run --gpus 1 -n 6 --retries 1 --name again -- sh -c "exit 3" >out 2>&1 || status=$?
	cat out
	[ "$status" = 3 ]
	ringup --json ps | jq -e '.jobs[] | select(.job == "again") | .attempts | length == 2'
	[ "$(free)" = 6 ]
}

@test "a job that waits needs no terminal" {
	hold first 6
	ringup --json run -d --gpus 1 -n 1 --wait --name later -- echo begun 2>err | jq -e '.job == "later" and .state == "waiting"'
	grep -F 'job first of cluster lab' err
	ringup --json ps | jq -e '.jobs[] | select(.job == "later") | .state == "waiting"'
	touch first.end
	ringup -q wait later
	[ "$(cat .ringup/jobs/later/rank-0.log)" = begun ]
	ringup -q wait first
	rm err first.end
}

@test "a job that waits gives up its place on Ctrl-C" {
	hold first 6
	ringup -q run --gpus 1 -n 1 --wait --name second -- true 2>/dev/null 3>&- 4>&- &
	pid=$!
	for _ in {1..100}; do
		[ "$(ringup --json ps --gpus 2>/dev/null | jq '.waiting | length')" != 2 ] || break
		sleep 0.1
	done
	kill -INT $pid
	wait $pid || status=$?
	[ "$status" = 130 ]
	ringup --json ps --gpus 2>/dev/null | jq -e '.waiting == []'
	ringup --json ps | jq -e '.jobs[] | select(.job == "second") | .state == "stopped"'
	touch first.end
	ringup -q wait first
	rm first.end
}

@test "a job that waits is listed, and can be stopped; it does not keep anybody from changing the cluster" {
	hold first 6
	ringup -q run --gpus 1 -n 1 --wait --name third -- echo begun >/dev/null 2>&1 3>&- 4>&- &
	pid=$!
	wait_for 20 eval "ringup --json ps | jq -e '.jobs[] | select(.job == \"third\") | .state == \"waiting\"'"
	ringup ps | grep -E '^third +waiting'
	fails 1 logs third
	says "third has printed nothing yet"
	timeout 60 ringup logs -f third >third.out 2>&1 3>&- 4>&- &
	logs=$!
	fails 2 run --gpus 1 -n 1 --wait --name third -- true
	says "a job 'third' runs"
	touch first.end
	ringup -q wait first
	rm first.end
	wait $pid
	wait $logs
	grep -q begun third.out
	ringup --json ps | jq -e '.jobs[] | select(.job == "third") | .state == "done"'
	# all GPUs are the other cluster's: nothing runs here, and this cluster may be changed
	(cd other && hold first 6)
	ringup -q run --gpus 1 -n 1 --wait --name fifth -- true 2>/dev/null 3>&- 4>&- &
	pid=$!
	wait_for 20 eval "ringup --json ps | jq -e '.jobs[] | select(.job == \"fifth\") | .state == \"waiting\"'"
	ringup -q up
	touch first.end
	wait $pid
	(cd other && ringup -q wait first)
	rm first.end
	hold first 6
	ringup -q run --gpus 1 -n 1 --wait --name fourth -- true 2>/dev/null 3>&- 4>&- &
	pid=$!
	wait_for 20 eval "ringup --json ps | jq -e '.jobs[] | select(.job == \"fourth\") | .state == \"waiting\"'"
	touch first.end
	ringup -q stop first fourth
	rm first.end
	wait $pid || status=$?
	[ "$status" = 130 ] || [ "$status" = 143 ]
	ringup --json ps --gpus 2>/dev/null | jq -e '.waiting == []'
	[ "$(free)" = 6 ]
}

@test "a GPU that a process uses without a lease is not given out" {
	echo "$(uuid node01 0), $$" >.ringup/lab/node01/gpus/apps
	fails 1 run --gpus 1 -n 6 -- true
	says "node01: GPU 0: process $$ of" "without a lease"
	[ "$(ringup -q run --gpus 1 -n 5 -- true 2>&1 | grep -c error)" = 0 ]
	ringup ps --gpus 2>/dev/null | grep -E '^node01 +0 +used +process'
	rm .ringup/lab/node01/gpus/apps
}

@test "options that ask for the impossible" {
	fails 2 run --spread -- true
	says "--spread is about the GPUs of --gpus N"
	fails 2 run --wait --local -- true
	says "--wait is about the GPUs of --gpus N"
	fails 2 run --wait -e CUDA_VISIBLE_DEVICES= -- true
	says "--wait waits for GPUs"
	fails 2 run --force --gpus 1 -- true
	says "--force does not go with --gpus"
	fails 2 run --gpus 5 -- true
	says "--gpus 5 is more than any host has for one rank" "node01 4, node02 2"
}
