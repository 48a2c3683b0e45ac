#!/bin/sh
# SPDX-License-Identifier: MIT
# Gives a copied file its name, or removes what came wrong: copy_end.sh PATH MODE|wrong.
part=$1.ringup-part
if [ "$2" = wrong ]; then
	rm -f "$part"
	exit 0
fi
[ -e "$part" ] || : >"$part" || exit
chmod "$2" "$part" && mv -f "$part" "$1"
