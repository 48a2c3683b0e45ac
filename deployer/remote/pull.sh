#!/bin/sh
# SPDX-License-Identifier: MIT
# Pulls an image with a temporary login: pull.sh FOLDER PULL_LINE. The first line of stdin is the engine's
# config.json; an empty line pulls without a login. PULL_LINE is the engine record's words, which ringup has
# quoted. FOLDER holds the login. ringup keeps stdin open as long as it waits: when stdin ends before the pull,
# ringup or the connection is gone, and then the login is removed at once and the pull ends.
# Prints bytes=N, what has arrived at the host since the pull began, about every two seconds. A pull that stands still for
# STALL_S seconds is ended with status 124 (pull.sh FOLDER PULL_LINE STALL_S): nothing arrives, and the engine writes nothing,
# as it does while it unpacks. What else the host receives counts, too, so that on a busy host a pull may stand still longer.
folder=$1 stall=${3:-60} pull='' watch='' meter='' proc=${RINGUP_ROOT:-}/proc
[ -r "$proc/net/dev" ] || proc=/proc

# shellcheck disable=SC2317 # the trap calls it
leave() {
	rm -rf "$folder"
	for process in $meter $pull $watch; do kill "$process" 2>/dev/null; done
}
trap leave EXIT
trap 'exit 130' HUP INT TERM PIPE

umask 077
IFS= read -r login || exit
rm -rf "$folder"
mkdir -p "$folder" || exit
# printf is the shell's own, so the login stands on no command line.
[ -z "$login" ] || printf '%s' "$login" >"$folder/config.json" || exit
login=''

received() {
	awk 'NR > 2 {sub(/^[^:]*:/, ""); n += $1} END {printf "%.0f", n}' "$proc/net/dev" 2>/dev/null
}

# Bytes that the engine's processes wrote; where the user may not see that, what the host's disks wrote.
written() {
	total=0
	for process in $pull $(pidof dockerd containerd 2>/dev/null); do
		bytes=$(sed -n 's/^wchar: //p' "$proc/$process/io" 2>/dev/null)
		if [ -z "$bytes" ]; then
			awk '{n += $10} END {printf "%.0f", n * 512}' "$proc/diskstats" 2>/dev/null
			return
		fi
		total=$((total + bytes))
	done
	echo $total
}

# Less than 64 KiB is the talk of a machine that does nothing.
measure() {
	begin=$(received) arrived=${begin:-0} wrote=$(written) still=0
	while kill -0 "$pull" 2>/dev/null; do
		sleep 2 >/dev/null 2>&1
		now=$(received) work=$(written) still=$((still + 2))
		echo "bytes=$((${now:-0} - ${begin:-0}))"
		if [ $((${now:-0} - arrived)) -gt 65536 ] || [ $((${work:-0} - ${wrote:-0})) -gt 65536 ]; then
			arrived=${now:-0} wrote=${work:-0} still=0
		elif [ "$still" -ge "$stall" ]; then
			echo "the pull stands still: nothing has arrived for $stall s" >&2
			echo stalled=yes
			kill "$pull"
			exit 124
		fi
	done
}

exec 3<&0
sh -c "exec $2" </dev/null 3<&- &
pull=$!
# A shell waits for its child before it looks at a signal, and sshd sends none, so a second process watches.
(
	trap '' HUP PIPE
	while read -r _; do :; done
	rm -rf "$folder"
	kill "$pull"
) <&3 3<&- >/dev/null 2>&1 &
watch=$!
exec 3<&-
measure </dev/null &
meter=$!
wait "$pull"
status=$?
pull=''
kill "$meter" 2>/dev/null
# An engine that is told to end may say that it has done well.
wait "$meter" 2>/dev/null
[ $? != 124 ] || status=124
exit $status
