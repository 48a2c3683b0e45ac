#!/bin/sh
# SPDX-License-Identifier: MIT
# Gives a copied file of SIZE bytes its name, or removes what came wrong: copy_end.sh PATH MODE|wrong HOST SIZE. A file that is there
# keeps its mode and owner, and a symbolic link stays one: what it leads to is replaced, as scp(1) does it.
part=$1.$3.ringup-part
if [ "$2" = wrong ]; then
	rm -f "$part"
	exit 0
fi
[ "$4" != 0 ] || : >"$part" || exit
[ "$(wc -c <"$part" | tr -d ' ')" = "$4" ] || {
	echo "$part has not the $4 bytes that were sent: somebody else writes or moves it" >&2
	exit 1
}
path=$1 mode=$2
[ ! -L "$path" ] || path=$(readlink -f -- "$path") || exit
if [ -f "$path" ]; then
	mode=$(stat -c %a "$path") || exit
	chown "$(stat -c %u:%g "$path")" "$part" 2>/dev/null || true # who may not keeps it as his own
fi
chmod "$mode" "$part" && mv -f "$part" "$path"
