# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# What the tests of hangs have in common: tests/cli/worker_hang.bats has one case of each kind, tests/long/worker_hang.bats
# all of them.

source "$BATS_TEST_DIRNAME/../cli/worker_helper.bash"

setup() {
	worker_setup
	export ALLREDUCE
	export -f free_port hosts mpi same_status
	started=()
	RUN=(-n 2 -w 1 -e 64 --timeout 2 --host here)
}

ALL_PHASES="bootstrap first run pairs one sum server async"

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

# each_phase KIND STATUS RANK TEXT PHASES FLAGS...: the fault KIND of RANK in each of the PHASES; TEXT follows the phase's
# name. They run until `finish`.
each_phase() {
	local kind=$1 wanted=$2 rank=$3 text=$4 phase phases flags
	read -r -a phases <<<"$5"
	shift 5
	for phase in "${phases[@]}"; do
		read -r -a flags <<<"$(flags_of "$phase")"
		ends "$wanted" "in phase $(name_of "$phase")$text" "$ALLREDUCE" --procs 3 "${RUN[@]}" "$@" "${flags[@]}" \
			--fault-inject "$kind:$rank@$phase"
	done
}

# rank_0_stops PHASES FLAGS...: the others name rank 0, which is stopped in each of the PHASES, until `finish`
rank_0_stops() {
	local phase phases flags where
	read -r -a phases <<<"$1"
	shift
	for phase in "${phases[@]}"; do
		read -r -a flags <<<"$(flags_of "$phase")"
		where="timeout: no progress for 2 s in phase $(name_of "$phase"): rank 0 (here) does not answer"
		case $phase in bootstrap | one) where="rank 0 (here) does not answer in phase $(name_of "$phase")" ;; esac
		ends 4 "$where" "$ALLREDUCE" --procs 3 "${RUN[@]}" "$@" "${flags[@]}" --fault-inject "stop:0@$phase"
	done
}

# leave_one_out KIND STATUS TEXT: rank 1, which dies, is stopped or drops out while it is left out, is named
leave_one_out() {
	local flags
	read -r -a flags <<<"$(flags_of leave-one-out)"
	ends "$2" "$3" "$ALLREDUCE" --procs 3 "${RUN[@]}" "${flags[@]}" --fault-inject "$1:1@leave-one-out"
	finish
}

# collective_hangs NAME: who is stopped or drops out is named, on every path
collective_hangs() {
	local path
	for path in --quiet --no-shm; do
		ends 4 "in phase run: rank 1 (here) does not answer" "$ALLREDUCE" --procs 3 "${RUN[@]}" -b 64K -e 64K \
			--collective "$1" $path --fault-inject stop:1
		ends 4 "in phase run: rank 1 (here) is behind the others" "$ALLREDUCE" --procs 3 "${RUN[@]}" -b 64K -e 64K \
			--collective "$1" $path --fault-inject drop:1@run
	done
	ends 4 "in phase run: rank 2 (host1) does not answer" hosts 2 2 -n 2 -w 1 -b 64K -e 64K --timeout 2 \
		--collective "$1" --fault-inject stop:2
	finish
}

# mpi_hangs PHASE: who is stopped or drops out is named though MPI does not let go of the others
mpi_hangs() {
	local flags
	read -r -a flags <<<"$(flags_of "$1")"
	ends 4 "in phase $(name_of "$1"): rank 1 (here) does not answer" \
		mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" "${flags[@]}" --fault-inject "stop:1@$1"
	ends 4 "in phase $(name_of "$1"): rank 1 (here) is behind the others" \
		mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" "${flags[@]}" --fault-inject "drop:1@$1"
}
