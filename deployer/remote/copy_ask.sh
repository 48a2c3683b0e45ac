#!/bin/sh
# SPDX-License-Identifier: MIT
# What is there before a file is copied to the host: copy_ask.sh PATH NAME SIZE HOST. PATH may be a folder, or end in a slash;
# then the file goes to PATH/NAME. What comes has a name of the host until it is whole: hosts may share the folder.
# Prints path_ends=, what has to follow PATH: "", "NAME" or "/NAME", without its text, which may be of several lines; and for
# a file of that size its sum; for what an earlier copy left, its size and sum.
# The sum of the input: OpenSSL's is several times as fast where coreutils do not use the processor's own instructions.
sum() { if command -v openssl >/dev/null; then openssl dgst -sha256 -r; else sha256sum; fi | cut -d' ' -f1; }
path=$1
ends=
case $path in */) ends=name ;; *) [ ! -d "$path" ] || ends=slash ;; esac
case $ends in name) path=$path$2 ;; slash) path=$path/$2 ;; esac
folder=${path%/*}
[ "$folder" != "$path" ] || folder=.
[ -d "${folder:-/}" ] || {
	echo "there is no folder $folder" >&2
	exit 1
}
[ ! -e "$path" ] || [ -f "$path" ] || {
	echo "$path is no regular file" >&2
	exit 1
}
printf 'path_ends=%s\n' "$ends"
size() { wc -c <"$1" | tr -d ' '; }
if [ -f "$path" ] && [ "$(size "$path")" = "$3" ]; then
	printf 'sum=%s\n' "$(sum <"$path")"
fi
part=$path.$4.ringup-part
if [ -f "$part" ] && [ "$(size "$part")" -gt 0 ]; then
	printf 'part=%s\npart_sum=%s\n' "$(size "$part")" "$(sum <"$part")"
fi
