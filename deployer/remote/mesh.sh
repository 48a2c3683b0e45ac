#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks inside a worker that it can log in to each of the others: mesh.sh NAME... It prints "NAME: reason"
# for each failed login, and then fails. The key exchange costs most of a login's time: sntrup761, the default
# since OpenSSH 9.0, takes 70 ms of CPU on either side, curve25519 10 ms. The stronger one does not help the
# command `true`, so the script takes curve25519, or the default where curve25519 is forbidden (FIPS).
log_in() {
	ssh -o BatchMode=yes -o ConnectTimeout=10 "$@" true 2>&1 </dev/null
}

failed=0
if command -v ringup-hosts >/dev/null; then
	ringup-hosts || failed=1
fi
for name in "$@"; do
	said=$(log_in -o KexAlgorithms=curve25519-sha256@libssh.org "$name") && continue
	case $said in
		*"key exchange"* | *KexAlgorithms*) said=$(log_in "$name") && continue ;;
	esac
	printf '%s: %s\n' "$name" "$(printf '%s' "$said" | tail -n 1 | tr -d '\r')"
	failed=1
done
exit $failed
