#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes a tar on stdin into the cluster's folder on this host: receive.sh FOLDER [CA_FILE]
# Moves files into place one by one, so that a running container never sees half a file. ssh/mesh comes last,
# because it says that all the others are there.
set -eu
folder=$1
ca=${2:-}
umask 077
mkdir -p "$folder"
new=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
tar -x -p -f - -C "$new"
mkdir -p "$folder/ssh"
chmod 755 "$folder/ssh"
find "$new" -type f ! -name mesh | while read -r file; do
	to="$folder/${file#"$new"/}"
	mkdir -p "${to%/*}"
	mv -f "$file" "$to"
done
if [ -f "$new/ssh/mesh" ]; then
	mv -f "$new/ssh/mesh" "$folder/ssh/mesh"
fi
if [ -n "$ca" ] && [ -f "$folder/registry-ca.crt" ]; then
	if ! cmp -s "$folder/registry-ca.crt" "$ca"; then
		(umask 022 && mkdir -p "${ca%/*}")
		cp "$folder/registry-ca.crt" "$ca"
		chmod 644 "$ca"
	fi
fi
