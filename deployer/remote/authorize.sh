#!/bin/sh
# SPDX-License-Identifier: MIT
# Adds a public key to the user's authorized_keys, as ssh-copy-id does: authorize.sh TYPE BASE64 COMMENT. Prints `there`
# where it is already, else `added`. sshd takes the file only if nobody else may write it or its folder (StrictModes).
umask 077
cd || exit
file=.ssh/authorized_keys
mkdir -p .ssh || exit
if [ -f "$file" ] && grep -F -- "$1 $2" "$file" >/dev/null; then
	echo there
	exit 0
fi
# a last line without an end would swallow the key
[ -z "$(tail -c 1 "$file" 2>/dev/null)" ] || echo >>"$file" || exit
printf '%s %s %s\n' "$1" "$2" "$3" >>"$file" || exit
chmod go-w . .ssh "$file" || exit
command -v restorecon >/dev/null && restorecon -F .ssh "$file" >/dev/null 2>&1
echo added
