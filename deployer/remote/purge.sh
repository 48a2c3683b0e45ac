#!/bin/sh
# SPDX-License-Identifier: MIT
# Removes every trace of the cluster from this host: purge.sh FOLDER [CA_FILE]
set -eu
folder=$1
ca=${2:-}
# Removes the registry's CA only if it is still the one that ringup put there.
if [ -n "$ca" ] && [ -f "$folder/registry-ca.crt" ] && cmp -s "$folder/registry-ca.crt" "$ca"; then
	rm -f "$ca"
	certs=${ca%/*}
	rmdir "$certs" "${certs%/*}" 2>/dev/null || true
fi
rm -rf "$folder"
rmdir "${folder%/*}" 2>/dev/null || true
