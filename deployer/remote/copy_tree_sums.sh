#!/bin/sh
# SPDX-License-Identifier: MIT
# The sums of a folder's files: copy_tree_sums.sh PATH NAME HOST. With a NAME, PATH is where `cp -r` puts a folder of that name:
# in PATH where that is a folder, else as PATH. A folder that an earlier copy began as PATH is that one. The input is names in
# the folder, with NUL behind each. Prints path_ends=, what has to follow PATH (copy.h), then a line for each name: its SHA-256,
# or "-" where there is no such file.
path=$1 ends=
if [ -n "$2" ]; then
	case $path in
	*/) ends=name path=$path$2 ;;
	*) [ ! -d "$path" ] || [ -f "$path.$3.ringup-part" ] || ends=slash path=$path/$2 ;;
	esac
	folder=${path%/*}
	[ "$folder" != "$path" ] || folder=.
	[ -d "${folder:-/}" ] || {
		echo "there is no folder $folder" >&2
		exit 1
	}
fi
[ ! -e "$path" ] || [ -d "$path" ] || {
	echo "$path is no folder" >&2
	exit 1
}
printf 'path_ends=%s\n' "$ends"
[ -d "$path" ] || exec xargs -0 sh -c 'for file; do echo -; done' sh
cd -- "$path" || exit
# shellcheck disable=SC2016 # of the inner shell
exec xargs -0 sh -c 'for file; do
	if [ -f "$file" ] && [ ! -L "$file" ]; then sha256sum <"$file" | cut -d" " -f1; else echo -; fi
done' sh
