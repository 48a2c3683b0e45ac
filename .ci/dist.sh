#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dist.sh FOLDER: writes FOLDER/ringup-VERSION.tar.gz. The same sources give the same bytes.
#
# In a git checkout these are the files that git tracks, with the time of the last commit. In an unpacked
# tarball they are all files but those that .gitignore names too, with the time of the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^#define RINGUP_VERSION "\(.*\)"$/\1/p' lib/core/base.h)
[[ -n $version ]] || { echo "dist: lib/core/base.h names no version" >&2; exit 1; }
name=ringup-$version
list=$(mktemp)
trap 'rm -f "$list"' EXIT

if [[ -e .git ]]; then
	git ls-files -z --deduplicate | while IFS= read -r -d '' path; do
		if [[ -e $path ]]; then printf '%s\0' "$path"; fi
	done >"$list"
	seconds=$(git log -1 --format=%ct)
else
	find . \( -path ./build -o -path './build-*' -o -path ./.ringup -o -name __pycache__ \) -prune -o -type f \
		! -path ./cluster.yaml ! -path ./ringup.lock ! -path './ringup-*.tar.gz' -printf '%P\0' >"$list"
	seconds=$(stat -c %Y Makefile)
fi
[[ -s $list ]] || { echo "dist: no files in $PWD" >&2; exit 1; }
mkdir -p "$1"
LC_ALL=C sort -z "$list" | tar -c --null -T - --format=ustar --mode=u=rwX,go=rX --owner=root:0 --group=root:0 \
	--mtime="@$seconds" --transform="s,^,$name/," | gzip -9n >"$1/$name.tar.gz.new"
mv "$1/$name.tar.gz.new" "$1/$name.tar.gz"
echo "$1/$name.tar.gz"
