#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints who owns the cluster of that name on this host, as key=value lines: owner.sh CLUSTER ENGINE STATE_LINE.
# The line is the engine record's words, which ringup has quoted. The script changes nothing.
if [ -n "${RINGUP_STATE_ROOT:-}" ]; then
	state_root=$RINGUP_STATE_ROOT # as in probe/
elif [ "$(id -u)" = 0 ]; then
	state_root=/var/lib/ringup
else
	state_root=${XDG_STATE_HOME:-$HOME/.local/state}/ringup
fi
printf 'state_folder=%s\n' "$state_root/$1"
printf 'mesh=%s\n' "$(cat "$state_root/$1/ssh/mesh" 2>/dev/null)"
sed 's/^/owner_/' "$state_root/$1/owner" 2>/dev/null
[ "$2" = none ] || sh -c "$3" 2>/dev/null
exit 0
