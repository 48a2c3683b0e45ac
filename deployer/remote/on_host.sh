#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs "$@" on the host for `exec --local`. Its own input is empty. When this script's input ends, so when ringup or the
# connection is gone, the command and all that it started end: they are one process group.
command -v setsid >/dev/null || exec "$@" </dev/null
exec 3<&0
setsid "$@" </dev/null 3<&- &
command=$!
(
	cat <&3
	kill -s TERM -- "-$command"
	sleep 3
	kill -s KILL -- "-$command"
) >/dev/null 2>&1 &
guard=$!
exec 3<&-
wait "$command"
status=$?
kill "$guard" 2>/dev/null
exit "$status"
