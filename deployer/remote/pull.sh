#!/bin/sh
# SPDX-License-Identifier: MIT
# Logs in, pulls and forgets the login again: pull.sh FOLDER LOGIN_LINE PULL_LINE, the password on stdin.
# The lines are the engine record's words, each quoted where they were put together; an empty LOGIN_LINE
# pulls without. FOLDER holds the login and is removed also when we are cut off in between.
folder=$1
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM
if [ -n "$2" ]; then
	sh -c "$2" >/dev/null || exit 41
fi
sh -c "$3" </dev/null
