#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's slow-finder (--find-slow) on faults put in on purpose. It takes minutes: `make test SUITES=long`.

load ../cli/worker_helper

setup() {
	worker_setup
	FIND=(--find-slow -n 2 -w 1 -e 8 --timeout 30)
}

# On a busy machine a measurement may not be sure of a pair, and says so: then it is done again. One that is sure and names
# nobody, or another, fails.
measured() { # COMMAND...
	for _ in 1 2 3 4 5; do
		run "$@"
		[ "$status" -eq 0 ] || return 0
		json 'd["pairs"]["unsure"] > 0' || return 0
	done
}

@test "a rank that takes twice as long is named, on every path" {
	local rank path
	for case in '0 --json' '3 --no-shm' '7 --json'; do
		read -r rank path <<<"$case"
		measured "$ALLREDUCE" --procs 8 "${FIND[@]}" --host here --fault-inject "slow:$rank" "$path" --json
		[ "$status" -eq 8 ] || { echo "$rank $path: $status $output"; return 1; }
		json "d['verdict'] == 'slow' and d['status'] == 8 and d['failure']['rank'] == $rank"
		json "d['failure']['host'] == 'here' and d['reason'].startswith('rank $rank (here) is slow: ')"
		json "[(f['kind'], f['rank']) for f in d['pairs']['findings']] == [('rank', $rank)]"
		json "d['pairs']['leave_one_out']['rank'] == $rank"
	done
}

@test "a link that takes twice as long is named, on every path" {
	for path in --json --no-shm; do
		measured "$ALLREDUCE" --procs 6 "${FIND[@]}" --fault-inject link:4-1 "$path" --json
		[ "$status" -eq 8 ] || { echo "$path: $status $output"; return 1; }
		json "[(f['kind'], f['rank'], f['other']) for f in d['pairs']['findings']] == [('link', 1, 4)]"
		json "d['reason'].startswith('the link between rank 1 (')"
	done
}

# Three hosts of two ranks each.
three_hosts() {
	local port status=0
	port=$(free_port)
	for host in 1 2; do
		"$ALLREDUCE" --rank $((host * 2)) --procs 2 --world 6 --host "host$host" --root "127.0.0.1:$port" \
			--fault-inject slow:3 >/dev/null 2>&1 &
	done
	"$ALLREDUCE" --rank 0 --procs 2 --world 6 --host host0 --root "127.0.0.1:$port" "${FIND[@]}" --json || status=$?
	wait
	return "$status"
}

@test "a slow rank among hosts is named with its host" {
	measured three_hosts
	[ "$status" -eq 8 ]
	json 'd["failure"]["rank"] == 3 and d["failure"]["host"] == "host1"'
}

@test "20 runs in which nothing is slow blame nobody" {
	for path in --json --no-shm; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			run "$ALLREDUCE" --procs 8 "${FIND[@]}" "$path"
			[ "$status" -eq 0 ] || { echo "$path: $status $output"; return 1; }
		done
	done
}

@test "each of eight ranks is named in less than 10 seconds" {
	for rank in 0 1 2 3 4 5 6 7; do
		run timeout 10 "$ALLREDUCE" --procs 8 "${FIND[@]}" --fault-inject "slow:$rank" --json
		[ "$status" -eq 8 ] || { echo "$rank: $status $output"; return 1; }
		json "[(f['kind'], f['rank']) for f in d['pairs']['findings']] == [('rank', $rank)]"
	done
}
