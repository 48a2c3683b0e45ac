# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
# The probe: prints facts of this host and the state of the cluster's container as key=value lines, in one round trip.
# ringup sends the sections of this folder in the order of their names, and for the commands that show and judge hosts
# those of details/ behind them, as one text to `sh -s`:
#   CLUSTER ADDRESS ENGINE VERSION_LINE ABILITIES_LINE STATE_LINE PORTS
# The three lines are the engine record's words, which ringup has quoted. PORTS is "FIRST LAST", those of the containers'
# sshd. A fact that is not known is left out, and one section that fails does not stop the next. The script changes nothing.
# lib/plan/facts_rows.c says what each key means.
cluster=$1 address=$2 engine=$3
# Another /sys, and another root for /etc and /proc, than the host's own: for tests, and for lab hosts whose GPUs are
# not there.
sys=${RINGUP_SYS:-/sys} root=${RINGUP_ROOT:-}

say() {
	[ -n "$2" ] && printf '%s=%s\n' "$1" "$2"
}

have() {
	command -v "$1" >/dev/null 2>&1
}

# The first line of a file in $line, "" when it cannot be read (the speed of a NIC that is down cannot).
first_line() {
	line=
	{ read -r line <"$1"; } 2>/dev/null
	[ -n "$line" ]
}

# say_line KEY FILE
say_line() {
	first_line "$2" && say "$1" "$line"
}

# say_setting KEY NAME: of /proc/sys, which gives a reader of single bytes, as `read` is one, the first byte only.
say_setting() {
	[ -r "$root/proc/sys/$2" ] && say "$1" "$(tr '\t' ' ' 2>/dev/null <"$root/proc/sys/$2")"
}

# Lines as one text with ';' between.
joined() {
	paste -sd ';' -
}

# within SECONDS COMMAND...: what it prints and its status, but 124 where it takes longer: then it is ended. Not every host
# has `timeout`. Name servers that do not answer hold a question for half a minute.
within() (
	limit=$1
	shift
	exec 2>/dev/null
	"$@" </dev/null &
	job=$!
	(
		trap 'kill "$alarm"; exit' TERM
		sleep "$limit" &
		alarm=$!
		wait "$alarm" && kill "$job"
	) </dev/null >/dev/null &
	watch=$!
	wait "$job"
	status=$?
	kill "$watch"
	wait "$watch"
	[ "$status" -ne 143 ] || status=124
	exit "$status"
)

# The clock, first and last of all: what the script and the network take is no difference.
printf 'clock=%s\n' "$(date +%s.%N)"
trap 'printf "clock_at_end=%s\n" "$(date +%s.%N)"' EXIT
