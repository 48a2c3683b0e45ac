#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's slow-finder (--find-slow): faults put in on purpose are named, and nobody else. No timing is asserted.

setup() {
	ALLREDUCE="${BUILD:-build}/allreduce"
	unset RINGUP_SECRET
	FIND=(--find-slow -n 2 -w 1 -e 8 --timeout 30)
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# json EXPRESSION: evaluates it in Python with `d` bound to the JSON document in $output.
json() {
	printf '%s\n' "$output" | grep -v '^allreduce:' |
		python3 -c "import json, sys; d = json.load(sys.stdin); assert $1, d"
}

@test "a rank that takes twice as long is named, on every path" {
	for rank in 0 3 7; do
		for path in --json --no-shm; do
			run "$ALLREDUCE" --procs 8 "${FIND[@]}" --host here --fault-inject "slow:$rank" "$path" --json
			[ "$status" -eq 8 ] || { echo "$rank $path: $status $output"; return 1; }
			json "d['verdict'] == 'slow' and d['status'] == 8 and d['failure']['rank'] == $rank"
			json "d['failure']['host'] == 'here' and d['reason'].startswith('rank $rank (here) is slow: ')"
			json "[(f['kind'], f['rank']) for f in d['pairs']['findings']] == [('rank', $rank)]"
			json "d['pairs']['leave_one_out']['rank'] == $rank"
		done
	done
}

@test "a link that takes twice as long is named, on every path" {
	for path in --json --no-shm; do
		run "$ALLREDUCE" --procs 6 "${FIND[@]}" --fault-inject link:4-1 "$path" --json
		[ "$status" -eq 8 ] || { echo "$path: $status $output"; return 1; }
		json "[(f['kind'], f['rank'], f['other']) for f in d['pairs']['findings']] == [('link', 1, 4)]"
		json "d['reason'].startswith('the link between rank 1 (')"
	done
}

@test "a slow rank among hosts is named with its host" {
	port=$(free_port)
	for host in 1 2; do
		"$ALLREDUCE" --rank $((host * 2)) --procs 2 --world 6 --host "host$host" --root "127.0.0.1:$port" \
			--fault-inject slow:3 &
	done
	run "$ALLREDUCE" --rank 0 --procs 2 --world 6 --host host0 --root "127.0.0.1:$port" "${FIND[@]}" --json
	[ "$status" -eq 8 ]
	json 'd["failure"]["rank"] == 3 and d["failure"]["host"] == "host1"'
	wait
}

@test "nobody is blamed when nothing is slow" {
	for ranks in 1 2 3 5 8; do
		for path in --json --no-shm; do
			run "$ALLREDUCE" --procs "$ranks" "${FIND[@]}" "$path"
			[ "$status" -eq 0 ] || { echo "$ranks $path: $output"; return 1; }
		done
	done
}

@test "the pair matrix: symmetric, nothing on the diagonal" {
	run "$ALLREDUCE" --procs 5 "${FIND[@]}" --json
	[ "$status" -eq 0 ]
	json 'd["pairs"]["bytes"] == 1 << 20 and d["pairs"]["sweeps"] >= 4 and d["pairs"]["findings"] == [] and d["pairs"]["leave_one_out"] is None'
	json 'all(d["pairs"]["usec"][a][b] == d["pairs"]["usec"][b][a] for a in range(5) for b in range(5))'
	json 'all((d["pairs"]["usec"][a][b] is None) == (a == b) for a in range(5) for b in range(5))'
	run "$ALLREDUCE" --procs 3 "${FIND[@]}"
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -cE '^#   [012]( +[0-9.]+| +-){3}$')" -eq 3 ]
	[[ "$output" == *"# no rank and no link is slow"* ]]
	run "$ALLREDUCE" --procs 2 "${FIND[@]}"
	[[ "$output" == *"nothing to compare it with"* ]]
}

@test "without --find-slow there is no matrix" {
	run "$ALLREDUCE" --procs 2 -e 8 --json
	[ "$status" -eq 0 ]
	json 'd["pairs"] is None'
}

@test "a rank that dies or hangs while pairs are tried is named" {
	run "$ALLREDUCE" --procs 3 "${FIND[@]}" --fault-inject die:1
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank 1 ("* ]]
}

@test "mpi backend: pairs by MPI_Sendrecv" {
	# Open MPI's own libraries leak at exit, and a sanitizer build would count that against us
	ASAN_OPTIONS=detect_leaks=0 run mpirun --allow-run-as-root --oversubscribe -n 3 "$ALLREDUCE" --backend mpi \
		"${FIND[@]}" --json
	[ "$status" -eq 0 ]
	json 'd["backend"] == "mpi" and len(d["pairs"]["usec"]) == 3'
}

@test "--fault-inject link: two ranks are needed" {
	for list in link:1 link:1- link:-1 link:a-b link:1-2x slow:1,link; do
		run "$ALLREDUCE" --fault-inject "$list"
		[ "$status" -eq 1 ] || { echo "$list: $status"; return 1; }
	done
}
