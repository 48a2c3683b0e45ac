#!/bin/sh
# SPDX-License-Identifier: MIT
# Inside of a worker: can it log in to each of the others? mesh.sh NAME... prints "NAME: reason" for each
# that it cannot, and fails then. What the keys are exchanged by costs most of a login's time (sntrup761, the
# default since OpenSSH 9.0: 70 ms of CPU on either side; curve25519: 10 ms) and is of no use to `true`;
# where it is forbidden (FIPS), the default is taken.
log_in() {
	ssh -o BatchMode=yes -o ConnectTimeout=10 "$@" true 2>&1 </dev/null
}

failed=0
for name in "$@"; do
	said=$(log_in -o KexAlgorithms=curve25519-sha256@libssh.org "$name") && continue
	case $said in
		*"key exchange"* | *KexAlgorithms*) said=$(log_in "$name") && continue ;;
	esac
	printf '%s: %s\n' "$name" "$(printf '%s' "$said" | tail -n 1 | tr -d '\r')"
	failed=1
done
exit $failed
