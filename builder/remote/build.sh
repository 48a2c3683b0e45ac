#!/bin/sh
# SPDX-License-Identifier: MIT
# A build's context for an engine of this machine: build.sh BYTES COMMAND..., with a tar of BYTES on stdin, runs the
# command in a folder with the tar's content and leaves nothing of it. Whoever asked for it holds stdin open meanwhile:
# its end ends the command.
set -u
bytes=$1
shift
folder=$(mktemp -d) || exit
build='' watch=''
trap 'kill $watch 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit
exec 3<&0
head -c "$bytes" <&3 | tar -xf - || exit
"$@" </dev/null 3<&- &
build=$!
(
	cat <&3
	kill "$build"
) >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$build"
