#!/bin/sh
# SPDX-License-Identifier: MIT
# Gives a copied file of SIZE bytes its name, or removes what came wrong: copy_end.sh PATH MODE|wrong HOST SIZE.
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
chmod "$2" "$part" && mv -f "$part" "$1"
