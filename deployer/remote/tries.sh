#!/bin/sh
# SPDX-License-Identifier: MIT
# Tries what no file of the host can say: whether it reaches the other hosts. Prints key=value lines.
#   tries.sh MTU PORTS NAME=ADDRESS...
# PORTS has ',' between. Nothing needs to listen there: a host that answers "refused" can be reached, and one that says
# nothing, or that somebody else answers for, cannot. All pairs are tried in the time of one host's, since the hosts
# try side by side, 32 connections of each at once. The script changes nothing.
mtu=$1 ports=$2
shift 2
at_once=32
seconds=3

# try NAME ADDRESS PORT: a line "NAME PORT open|closed|filtered".
try() {
	# shellcheck disable=SC2016  # the words are bash's
	said=$(timeout $seconds bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3" 2>&1)
	status=$?
	case $status,$said in
		0,*) state=open ;;
		*refused*) state=closed ;;
		*) state=filtered ;;
	esac
	printf '%s %s %s\n' "$1" "$3" "$state"
}

try_all() {
	running=0
	for peer; do
		for port in $(printf '%s' "$ports" | tr ',' ' '); do
			try "${peer%%=*}" "${peer#*=}" "$port" &
			running=$((running + 1))
			[ $((running % at_once)) != 0 ] || wait
		done
	done
	wait
}

# passes ADDRESS BYTES: a packet of that size goes there in one piece.
passes() {
	ping -n -q -M 'do' -c 1 -W 2 -s $(($2 - 28)) "$1" >/dev/null 2>&1
}

largest() {
	for size in "$mtu" 9000 8900 4200 4096 2044 1500 1492 1450 1400 1280; do
		[ "$size" -le "$mtu" ] && passes "$1" "$size" && printf '%s' "$size" && return
	done
}

if command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
	try_all "$@" | awk '
		{total[$1]++; if ($3 == "filtered") {silent[$1]++; line[$1] = line[$1] (line[$1] == "" ? "" : ";") $1 ":" $2}}
		END {
			for (name in silent) {
				if (silent[name] == total[name]) none = none (none == "" ? "" : ";") name
				else some = some (some == "" ? "" : ";") line[name]
			}
			if (none != "") print "try_unreachable=" none
			if (some != "") print "try_filtered=" some
		}'
fi
case ${1#*=} in
	*:* | '') ;;
	*) [ -z "$mtu" ] || command -v ping >/dev/null 2>&1 && found=$(largest "${1#*=}") && [ -n "$found" ] && printf 'try_mtu=%s\n' "$found" ;;
esac
exit 0
