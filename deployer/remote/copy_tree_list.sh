#!/bin/sh
# SPDX-License-Identifier: MIT
# The names in a folder, with NUL behind each: copy_tree_list.sh PATH. The first is others=N: how many are neither file, folder nor
# link.
[ -d "$1" ] || {
	echo "there is no folder $1" >&2
	exit 1
}
cd -- "$1" || exit
printf 'others=%s\0' "$(find . ! -type f ! -type d ! -type l -exec printf x \; | wc -c | tr -d ' ')"
exec find . \( -type f -o -type d -o -type l \) -print0
