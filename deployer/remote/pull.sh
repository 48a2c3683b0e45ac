#!/bin/sh
# SPDX-License-Identifier: MIT
# Pulls an image with a temporary login: pull.sh FOLDER PULL_LINE. The first line of stdin is the engine's
# config.json; an empty line pulls without a login. PULL_LINE is the engine record's words, which ringup has
# quoted. FOLDER holds the login. ringup keeps stdin open as long as it waits: when stdin ends before the pull,
# ringup or the connection is gone, and then the login is removed at once and the pull ends.
folder=$1 pull='' watch=''

# shellcheck disable=SC2317 # the trap calls it
leave() {
	rm -rf "$folder"
	for process in $pull $watch; do kill "$process" 2>/dev/null; done
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
wait "$pull"
status=$?
pull=''
exit $status
