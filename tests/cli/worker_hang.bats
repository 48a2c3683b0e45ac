#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Nothing of the worker ever hangs: a rank that dies, is stopped, or takes no further part, and a link that goes dead,
# end the run soon after --timeout, with the rank and the phase named. tests/long/worker_hang.bats does it in every phase on
# every path.

load worker_hang

@test "a stopped rank is named, in shared memory" {
	each_phase stop 4 1 ": rank 1 (here) does not answer" "$ALL_PHASES"
	finish
}

@test "a rank that is stopped, is killed or drops out is named, over TCP" {
	each_phase stop 4 1 ": rank 1 (here) does not answer" "run pairs" --no-shm
	each_phase die 7 2 "; see its own output" "run async" --no-shm
	each_phase drop 4 2 ": rank 2 (here) is behind the others" "run server" --no-shm
	finish
}

@test "a stopped rank 0 is named by the others" {
	rank_0_stops "bootstrap run sum"
	rank_0_stops run --no-shm
	finish
	run "$ALLREDUCE" --procs 3 "${RUN[@]}" --timeout 1 --fault-inject stop:0 --json
	json 'd["verdict"] == "timeout" and d["failure"]["rank"] == 0 and d["failure"]["host"] == "here"'
}

# named_in SECONDS TEXT WORDS...: TEXT is on stderr within so many seconds of the start, and what the same WORDS take without
# the fault. A machine's load comes and goes, so that who is late must be late three times.
named_in() {
	local seconds=$1 text=$2 words limit
	shift 2
	healthy "$@"
	for _ in 1 2 3; do
		limit=$((seconds + 2 * $(seconds_of "${words[@]}")))
		timeout -s KILL "$HANGS" "$@" 2>&1 >/dev/null | timeout "$limit" grep -m 1 -F "$text" && return 0
	done
	return 1
}

@test "who keeps the others waiting is named within --timeout" {
	for phase in join version bootstrap run; do
		for rank in 0 1; do
			# the second more is for the start
			named_in 7 "rank $rank" "$ALLREDUCE" --procs 3 -n 2 -w 1 -e 64 --timeout 6 --fault-inject "stop:$rank@$phase" &
			started+=($!)
		done
	done
	finish
}

@test "ranks started one by one give up on a stopped rank 0" {
	local port root
	port=$(free_port)
	"$ALLREDUCE" --rank 0 --world 3 --root "127.0.0.1:$port" "${RUN[@]}" --no-shm --fault-inject stop:0 >/dev/null &
	root=$!
	"$ALLREDUCE" --rank 1 --world 3 --root "127.0.0.1:$port" "${RUN[@]}" --no-shm 2>/dev/null &
	ends 4 "in phase run: rank 0 (here) does not answer" \
		"$ALLREDUCE" --rank 2 --world 3 --root "127.0.0.1:$port" "${RUN[@]}" --no-shm
	finish
	kill -KILL "$root"
	wait
}

@test "a killed rank is named, in shared memory" {
	each_phase die 7 1 "; see its own output" "$ALL_PHASES" --json
	each_phase die 7 0 "; see its own output" "run pairs server" --json
	finish
}

@test "a rank that answers but takes no further part is named, in shared memory" {
	each_phase drop 4 1 ": rank 1 (here) is behind the others" "$ALL_PHASES"
	finish
}

@test "leave-one-out: who is stopped is named" {
	leave_one_out stop 4 "leave-one-out: rank 1 (here) does not answer"
}

@test "before the ranks know each other: join and version check" {
	for kind in die stop drop; do
		ends 4 "in phase join 1 of 3 ranks are missing: rank 1" \
			"$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject "$kind:1@join"
		wanted=4
		[ $kind != die ] || wanted=7
		ends $wanted "rank 1 (here" "$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject "$kind:1@version"
	done
	for phase in join version; do
		ends 4 "does not answer in phase join" "$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject "stop:0@$phase"
		ends 7 "ended the connection in phase join" "$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject "die:0@$phase"
	done
	finish
}

@test "alltoall: who is stopped or drops out is named, on every path" {
	collective_hangs alltoall
}

@test "mpi backend: who hangs is named, though MPI does not let go of the others" {
	mpi_hangs run
	finish
}

@test "rank 0 may train alone for longer than --timeout" {
	local steps=100 timeout
	# A busy machine may hold a healthy rank up for 1 s: then the others wait for longer.
	for timeout in 1 8 32; do
		# as many steps as take half a second more than the others wait without a word, by what the last run took
		for _ in 1 2 3 4; do
			run "$ALLREDUCE" --procs 2 -n 1 -w 0 -e 8 --timeout "$timeout" --sgd --steps "$steps" --json
			[ "$status" -eq 0 ] || break
			! json "way['one']['seconds'] > $timeout" 2>/dev/null || return 0
			steps=$(printf '%s\n' "$output" | grep -v '^allreduce:' | jq --argjson timeout "$timeout" --argjson steps "$steps" \
				'.sgd.runs[] | select(.name == "one") | ($timeout + 0.5) / ([.seconds, 0.001] | max) * $steps | ceil | [., 100000] | min')
		done
	done
	echo "$output"
	return 1
}

@test "--fault-inject: a phase only where it makes sense" {
	for list in die:1@ die:1@nowhere slow:1@run corrupt:1@run stop:1@run@run stop:@run; do
		run "$ALLREDUCE" --fault-inject "$list"
		[ "$status" -eq 1 ] || { echo "$list: $status"; return 1; }
	done
}

# dead_link ENDS WAIT FLAGS...: three hosts on one bridge; WAIT seconds after the first collective each of the ENDS
# "HOST:OTHER ..." loses the other one. The output of rank 0's. In namespaces of its own.
dead_link() {
	local ends=$1 wait=$2 host pids=() status=0 table=$BATS_TEST_TMPDIR/table
	shift 2
	: >"$table"
	mount -t tmpfs none /run
	ip link add bridge type bridge
	ip link set bridge up
	for host in 0 1 2; do
		ip netns add "h$host"
		ip link add "v$host" type veth peer name eth0 netns "h$host"
		ip link set "v$host" master bridge up
		ip -n "h$host" addr add "10.9.0.$((host + 1))/24" dev eth0
		ip -n "h$host" link set eth0 up
		ip -n "h$host" link set lo up
	done
	for host in 0 1 2; do
		ip netns exec "h$host" "$ALLREDUCE" --rank "$host" --world 3 --host "host$host" --root 10.9.0.1:7000 --timeout 2 "$@" >>"$table" &
		pids+=($!)
	done
	# the head of the table comes right before the first collective, however long the ranks take to meet
	until [ -s "$table" ] || ! kill -0 "${pids[0]}"; do
		sleep 0.1
	done
	sleep "$wait"
	for host in $ends; do
		ip -n "h${host%:*}" route add blackhole "10.9.0.$((${host#*:} + 1))/32"
	done
	same_status 4 "${pids[@]}" || status=$?
	cat "$table"
	return "$status"
}

# dead_link_named FLAGS...: both ends of the link are named
dead_link_named() {
	run own_namespaces --net --mount timeout -s KILL "$HANGS" bash -c 'dead_link "$@"' - "1:2 2:1" 1 -n 100000 "$@"
	[[ $status -eq 4 && "$output" != *differ* &&
		"$output" == *"in phase run: nothing comes from rank "[12]" (host"[12]") to rank "[12]" (host"[12]"), though both answer"* ]] ||
		{ echo "$*: $status $output"; return 1; }
}

# dead_root_named FLAGS...: rank 0's host loses all others, and blames itself
dead_root_named() {
	run own_namespaces --net --mount timeout -s KILL "$HANGS" bash -c 'dead_link "$@"' - "0:1 0:2 1:0 2:0" 1 -n 100000 "$@"
	[[ $status -eq 4 && "$output" != *differ* &&
		"$output" == *"none of the 2 ranks of other hosts answers rank 0 (host0): its own network is the likely reason"* ]] ||
		{ echo "$*: $status $output"; return 1; }
}

@test "a link that goes dead is named, though all ranks answer; rank 0 that hears nobody blames its own network" {
	export -f dead_link same_status
	export RINGUP_SECRET=secret
	for flags in "-b 1M -e 1M" "-b 64 -e 64" "-b 64K -e 64K --collective alltoall" "-b 1M -e 1M --collective sendrecv"; do
		read -r -a words <<<"$flags"
		export BATS_TEST_TMPDIR="$BATS_TEST_TMPDIR/link"
		mkdir "$BATS_TEST_TMPDIR"
		dead_link_named "${words[@]}" &
		started+=($!)
	done
	export BATS_TEST_TMPDIR="$BATS_TEST_TMPDIR/root"
	mkdir "$BATS_TEST_TMPDIR"
	dead_root_named -b 64K -e 64K &
	started+=($!)
	finish
}
