#!/bin/sh
# SPDX-License-Identifier: MIT
# Removes every trace of the cluster from this host: purge.sh FOLDER [CA_FILE]
# Keys and secrets go first. What cannot be removed is said, and the rest goes all the same. FOLDER/ca-files has the
# registry's CA files that receive.sh put there, as lines "SHA256 PATH"; CA_FILE is for a folder without that list.
set -u
folder=$1 legacy=${2:-} failed=0

# Anything but a file that is there and cannot be removed is fine.
purge_remove() {
	rm -rf "$@" || failed=1
}

sum_of() {
	sha256sum "$1" 2>/dev/null | cut -d' ' -f1
}

# Whether another cluster's folder beside this one says that it needs the CA file.
is_shared() {
	for other in "${folder%/*}"/*/; do
		other=${other%/}
		[ "$other" != "$folder" ] || continue
		if [ -f "$other/ca-files" ]; then
			grep -qF " $1" "$other/ca-files" && return 0
		elif [ -f "$other/registry-ca.crt" ] && cmp -s "$other/registry-ca.crt" "$1"; then
			return 0
		fi
	done
	return 1
}

# purge_ca SHA256 PATH: removes the file only if it is still the one that ringup put there.
purge_ca() {
	[ -f "$2" ] || return
	[ "$(sum_of "$2")" = "$1" ] || return
	is_shared "$2" && return
	purge_remove "$2"
	rmdir "${2%/*}" 2>/dev/null && rmdir "$(dirname "${2%/*}")" 2>/dev/null
}

purge_remove "$folder/ssh" "$folder/login" "$folder"/new.*
if [ -f "$folder/ca-files" ]; then
	while read -r sum path; do purge_ca "$sum" "$path"; done <"$folder/ca-files"
elif [ -n "$legacy" ] && [ -f "$folder/registry-ca.crt" ]; then
	purge_ca "$(sum_of "$folder/registry-ca.crt")" "$legacy"
fi
purge_remove "$folder"
# Leases of GPUs are for all clusters of the host (lease.sh); an empty folder of them is a trace.
leases=${folder%/*}/.leases
if [ -f "$leases/lock" ] && [ -z "$(find "$leases" -name '*.*' ! -name .leases 2>/dev/null)" ]; then
	flock -n "$leases/lock" rm -f "$leases/lock" "$leases/new" 2>/dev/null
	rmdir "$leases" 2>/dev/null
fi
rmdir "${folder%/*}" 2>/dev/null
exit $failed
