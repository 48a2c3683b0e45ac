#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Nothing of the worker ever hangs: a rank that dies, is stopped, or takes no further part, and a link that goes dead,
# in every phase and on every path, end the run soon after --timeout, with the rank and the phase named.

load worker_helper

setup() {
	worker_setup
	export ALLREDUCE
	export -f free_port hosts mpi same_status
	started=()
	RUN=(-n 2 -w 1 -e 64 --timeout 2 --host here)
}

# On a machine with nothing else to do a run ends within these seconds: what comes before the fault (--find-slow at most),
# --timeout, and finding out who it was, telling it, killing who hangs.
SOON=$((4 + 2 + 6))
# Whatever takes longer hangs, on any machine. A rank that drops out would end by itself after 120 s.
HANGS=100

# The flags that lead into a phase.
flags_of() {
	case $1 in
	pairs) echo --find-slow ;;
	leave-one-out) echo --find-slow --fault-inject slow:2 ;;
	one | sum | server | async) echo --sgd --steps 20 ;;
	esac
}

# The phase as it is spelled in messages.
name_of() {
	case $1 in
	first) echo first collective ;;
	one | sum | server | async) echo "sgd $1" ;;
	*) echo "$1" ;;
	esac
}

# ends STATUS TEXT WORDS...: WORDS end with STATUS soon enough and say TEXT. They run beside what follows until `finish`.
ends() {
	ended "$@" &
	started+=($!)
}

# seconds_of WORDS...: how long they take
seconds_of() {
	local began=$SECONDS
	timeout -s KILL "$HANGS" bash -c '"$@"' - "$@" &>/dev/null || true
	echo $((SECONDS - began))
}

# healthy WORDS...: sets `words` to WORDS without their last --fault-inject; fails if there is none
healthy() {
	local i
	words=("$@")
	for ((i = $# - 1; i >= 0; i--)); do
		if [ "${words[i]}" = --fault-inject ]; then
			words=("${words[@]:0:i}" "${words[@]:i+2}")
			return
		fi
	done
	return 1
}

# in_time SECONDS TIMEOUT WORDS...: were SECONDS soon enough for WORDS? A machine that has other things to do takes longer for
# the same WORDS without the fault, too: it may be late by four times what that takes now. Without a fault, HANGS counts.
in_time() {
	local took=$1 soon=$((SOON - 2 + $2)) words
	shift 2
	((took > soon)) || return 0
	healthy "$@" || return 0
	((took <= soon + 4 * $(seconds_of "${words[@]}")))
}

# patient TIMEOUT WORDS...: sets `words` to WORDS with that --timeout
patient() {
	local timeout=$1 i
	shift
	words=("$@")
	for ((i = 1; i < $#; i++)); do
		[ "${words[i - 1]}" != --timeout ] || words[i]=$timeout
	done
}

# says_text TEXT: $output has the text; "for 2 s" stands for the seconds that a longer --timeout left for progress.
says_text() {
	[[ $output == *"${1%%for 2 s*}"* && ($1 != *"for 2 s"* || $output == *"${1%%for 2 s*}for "[0-9]*" s${1#*for 2 s}"*) ]]
}

# On a machine that does nothing else for 2 s, a healthy rank is behind the others as well, and the worker says so rightly: a
# wrong answer counts when it also comes with a --timeout of 8 s and of 32 s. Who is late must be late three times, since a
# machine's load comes and goes.
ended() {
	local wanted=$1 text=$2 began took attempt timeout=2 words
	shift 2
	for attempt in 1 2 3; do
		patient "$timeout" "$@"
		set -- "${words[@]}"
		began=$SECONDS
		run timeout -s KILL "$HANGS" bash -c '"$@"' - "$@"
		took=$((SECONDS - began))
		if [[ $status -ne $wanted ]] || ! says_text "$text"; then
			timeout=$((timeout * 4))
		elif in_time "$took" "$timeout" "$@"; then
			return
		fi
	done
	echo "wanted $wanted and '$text' soon, not $status after $took s in attempt $attempt, from: $*"
	echo "$output"
	return 1
}

finish() {
	local pid rc=0
	for pid in "${started[@]}"; do
		wait "$pid" || rc=1
	done
	started=()
	return $rc
}

# each_phase KIND STATUS RANK TEXT FLAGS...: the fault KIND of RANK in each phase but join and version; TEXT follows the
# phase's name
each_phase() {
	local kind=$1 wanted=$2 rank=$3 text=$4 phase flags
	shift 4
	for phase in bootstrap first run pairs one sum server async; do
		read -r -a flags <<<"$(flags_of $phase)"
		ends "$wanted" "in phase $(name_of $phase)$text" "$ALLREDUCE" --procs 3 "${RUN[@]}" "$@" "${flags[@]}" \
			--fault-inject "$kind:$rank@$phase"
	done
	finish
}

@test "a stopped rank is named, in shared memory" {
	each_phase stop 4 1 ": rank 1 (here) does not answer"
}

@test "a stopped rank is named, over TCP" {
	each_phase stop 4 1 ": rank 1 (here) does not answer" --no-shm
}

@test "a stopped rank 0 is named by the others" {
	for phase in first run pairs sum async; do
		read -r -a flags <<<"$(flags_of $phase)"
		for path in --quiet --no-shm; do
			ends 4 "timeout: no progress for 2 s in phase $(name_of $phase): rank 0 (here) does not answer" \
				"$ALLREDUCE" --procs 3 "${RUN[@]}" $path "${flags[@]}" --fault-inject "stop:0@$phase"
		done
	done
	finish
	for phase in bootstrap one; do
		read -r -a flags <<<"$(flags_of $phase)"
		ends 4 "rank 0 (here) does not answer in phase $(name_of $phase)" \
			"$ALLREDUCE" --procs 3 "${RUN[@]}" "${flags[@]}" --fault-inject "stop:0@$phase"
	done
	finish
	run "$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject stop:0 --json
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
			named_in 9 "rank $rank" "$ALLREDUCE" --procs 3 -n 2 -w 1 -e 64 --timeout 8 --fault-inject "stop:$rank@$phase" &
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
	each_phase die 7 1 "; see its own output" --json
	each_phase die 7 0 "; see its own output" --json
}

@test "a killed rank is named, over TCP" {
	each_phase die 7 2 "; see its own output" --no-shm
}

@test "a rank that answers but takes no further part is named, in shared memory" {
	each_phase drop 4 1 ": rank 1 (here) is behind the others"
}

@test "a rank that answers but takes no further part is named, over TCP" {
	each_phase drop 4 2 ": rank 2 (here) is behind the others" --no-shm
	each_phase drop 4 0 ": rank 0 (here) is behind the others" --no-shm
}

@test "leave-one-out: who dies, is stopped or drops out is named" {
	read -r -a flags <<<"$(flags_of leave-one-out)"
	for words in "die 7 rank 1 (here, " "stop 4 leave-one-out: rank 1 (here) does not answer" \
		"drop 4 leave-one-out: rank 1 (here) is behind the others"; do
		read -r kind wanted text <<<"$words"
		ends "$wanted" "$text" "$ALLREDUCE" --procs 3 "${RUN[@]}" "${flags[@]}" --fault-inject "$kind:1@leave-one-out"
		finish
	done
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

@test "collectives: who is stopped or drops out is named, on every path" {
	for name in reduce_scatter all_gather broadcast alltoall sendrecv; do
		for path in --quiet --no-shm; do
			ends 4 "in phase run: rank 1 (here) does not answer" "$ALLREDUCE" --procs 3 "${RUN[@]}" -b 64K -e 64K \
				--collective $name $path --fault-inject stop:1
			ends 4 "in phase run: rank 1 (here) is behind the others" "$ALLREDUCE" --procs 3 "${RUN[@]}" -b 64K -e 64K \
				--collective $name $path --fault-inject drop:1@run
		done
		ends 4 "in phase run: rank 2 (host1) does not answer" hosts 2 2 -n 2 -w 1 -b 64K -e 64K --timeout 2 \
			--collective $name --fault-inject stop:2
		finish
	done
	ends 4 "in phase run: rank 3 (host1) is behind the others" hosts 2 2 -n 2 -w 1 -b 64K -e 64K --timeout 2 \
		--fault-inject drop:3@run
	finish
}

@test "mpi backend: who hangs is named, though MPI does not let go of the others" {
	for phase in bootstrap first run pairs; do
		read -r -a flags <<<"$(flags_of $phase)"
		ends 4 "in phase $(name_of $phase): rank 1 (here) does not answer" \
			mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" "${flags[@]}" --fault-inject "stop:1@$phase"
		ends 4 "in phase $(name_of $phase): rank 1 (here) is behind the others" \
			mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" "${flags[@]}" --fault-inject "drop:1@$phase"
		finish
	done
	ends 4 "in phase run: rank 0 (here) does not answer" \
		mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" --fault-inject stop:0
	finish
}

@test "rank 0 may train alone for longer than --timeout" {
	local steps=100 timeout
	# A busy machine may hold a healthy rank up for 2 s: then the others wait for longer.
	for timeout in 2 8 32; do
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

# dead_link WAIT FLAGS...: three hosts on one bridge; WAIT seconds after the first collective hosts 1 and 2 lose each other.
# The output of rank 0's. In namespaces of its own.
dead_link() {
	local wait=$1 host pids=() status=0 table=$BATS_TEST_TMPDIR/table
	shift
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
	ip -n h1 route add blackhole 10.9.0.3/32
	ip -n h2 route add blackhole 10.9.0.2/32
	same_status 4 "${pids[@]}" || status=$?
	cat "$table"
	return "$status"
}

@test "a link that goes dead is named, though all ranks answer" {
	export -f dead_link same_status
	export RINGUP_SECRET=secret BATS_TEST_TMPDIR
	for flags in "-b 1M -e 1M" "-b 64 -e 64" "-b 64K -e 64K --collective alltoall" "-b 1M -e 1M --collective sendrecv"; do
		read -r -a words <<<"$flags"
		run own_namespaces --net --mount timeout -s KILL "$HANGS" bash -c 'dead_link "$@"' - 1 -n 100000 "${words[@]}"
		[ "$status" -eq 4 ] || { echo "$flags: $status $output"; return 1; }
		[[ "$output" == *"in phase run: nothing comes from rank "[12]" (host"[12]") to rank "[12]" (host"[12]"), though both answer"* ]] ||
			{ echo "$flags: $output"; return 1; }
		[[ "$output" != *differ* ]]
	done
}
