#!/bin/sh
# SPDX-License-Identifier: MIT
# Replaces a file of the host by what comes on standard input, in one step, and keeps the first one that was there as
# PATH.before-ringup.
#   setup_file.sh PATH
path=$1
umask 022
mkdir -p "$(dirname "$path")" || exit 1
new=$path.ringup-new
cat >"$new" || exit 1
if [ -e "$path" ]; then
	[ -e "$path.before-ringup" ] || cp -p "$path" "$path.before-ringup" || exit 1
	chmod "$(stat -c %a "$path")" "$new"
fi
sync "$new" 2>/dev/null || sync
mv "$new" "$path"
