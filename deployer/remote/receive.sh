#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes a tar on stdin into the cluster's folder on this host: receive.sh FOLDER CA_FILE TAKE KEEP
# The tar's file `owner` says whose cluster it is. If FOLDER has another owner, nothing changes: the script prints
# that owner and ends with status 76, unless TAKE is `take`. CA_FILE may be empty. With KEEP `keep`, the files
# that are there are kept in ssh.before, for replace.sh.
# Moves files into place one by one, so that a running container never sees half a file. ssh/mesh comes last,
# because it says that all the others are there.
set -eu
folder=$1 ca=$2 take=$3 keep=${4:-}
umask 077

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

# Whoever owns a folder, or may write to it, can exchange what lies in it.
close_folder() {
	[ ! -L "$1" ] || fail "$1 is a symbolic link; remove it"
	[ "$(stat -c %u "$1")" = "$(id -u)" ] || fail "$1 belongs to the user $(stat -c %U "$1"), not to $(id -un)"
	chmod "$2" "$1"
}

id_of() {
	sed -n 's/^id=//p' "$1" | head -n 1
}

# Of two people who come at the same time one is the owner: ln fails when the file is there already.
claim() {
	if [ "$take" = take ] && [ -f "$folder/owner" ] && [ "$(id_of "$folder/owner")" != "$(id_of "$new/owner")" ]; then
		mv -f "$new/owner" "$folder/owner"
		return
	fi
	ln "$new/owner" "$folder/owner" 2>/dev/null || true
	[ "$(id_of "$folder/owner")" = "$(id_of "$new/owner")" ] && return
	sed 's/^/owner_/' "$folder/owner"
	exit 76
}

# The CA file is one that ringup put there, for this cluster or another one: whoever is purged last removes it.
note_ca() {
	{
		grep -vF " $ca" "$folder/ca-files" || true
		echo "$(sha256sum "$ca" | cut -d' ' -f1) $ca"
	} >"$folder/ca-files.new"
	mv -f "$folder/ca-files.new" "$folder/ca-files"
}

mkdir -p "$folder"
close_folder "${folder%/*}" go-w
close_folder "$folder" 0700
new=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
tar -x -p -f - -C "$new"
claim
rm -f "$new/owner"
mkdir -p "$folder/ssh"
chmod 755 "$folder/ssh"
if [ "$keep" = keep ]; then
	rm -rf "$folder/ssh.before"
	cp -a "$folder/ssh" "$folder/ssh.before"
fi
# A rename each, by as few processes as there are folders.
for part in . ssh bin; do
	[ -d "$new/$part" ] || continue
	mkdir -p "$folder/$part"
	find "$new/$part" -maxdepth 1 -type f ! -name mesh -exec sh -c 'to=$1; shift; exec mv -f "$@" "$to/"' move "$folder/$part" {} +
done
if [ -f "$new/ssh/mesh" ]; then
	mv -f "$new/ssh/mesh" "$folder/ssh/mesh"
fi
if [ -n "$ca" ] && [ -f "$folder/registry-ca.crt" ]; then
	# purge.sh removes what stands in the list, also the file of an earlier address
	[ -f "$folder/ca-files" ] || : >"$folder/ca-files"
	if cmp -s "$folder/registry-ca.crt" "$ca"; then
		for list in "${folder%/*}"/*/ca-files; do
			! grep -qF " $ca" "$list" || note_ca
		done
	else
		if ! said=$({ (umask 022 && mkdir -p "${ca%/*}") && cp "$folder/registry-ca.crt" "$ca" && chmod 644 "$ca"; } 2>&1); then
			fail "$said; the engine looks for the registry's CA there: let root run 'install -D -m 644 $folder/registry-ca.crt $ca' on the host once, or set ssh.sudo"
		fi
		note_ca
	fi
fi
