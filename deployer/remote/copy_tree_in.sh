#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes a tar on stdin into a folder: copy_tree_in.sh PATH HOST. Owners are those of the login. A file beside a new folder says
# that it is not whole yet (copy_tree_sums.sh).
part=$1.$2.ringup-part
[ -d "$1" ] || : >"$part"
mkdir -p -- "$1" && tar -x -o -p -f - -C "$1" && rm -f -- "$part"
