#!/bin/sh
# SPDX-License-Identifier: MIT
# Replaces a file of the host by what comes on standard input, in one step, and keeps the first one that was there as
# PATH.before-ringup. What PROGRAM refuses does not take the file's place: "dockerd" asks `dockerd --validate`, where it
# knows that (Docker 23 and newer).
#   setup_file.sh PATH [PROGRAM]
path=${RINGUP_ROOT:-}$1
umask 022
mkdir -p "$(dirname "$path")" || exit 1
new=$path.ringup-new
cat >"$new" || exit 1
if [ "${2:-}" = dockerd ] && dockerd --help 2>&1 | grep -q -e --validate; then
	if ! said=$(dockerd --validate --config-file "$new" 2>&1); then
		rm -f "$new"
		echo "$1 stays as it is, because dockerd refuses the new one: $said" >&2
		exit 1
	fi
fi
if [ -e "$path" ]; then
	[ -e "$path.before-ringup" ] || cp -p "$path" "$path.before-ringup" || exit 1
	chmod "$(stat -c %a "$path")" "$new"
fi
sync "$new" 2>/dev/null || sync
mv "$new" "$path"
