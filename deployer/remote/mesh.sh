#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks inside a worker that it can log in to each of the others: mesh.sh SECONDS NAME... It prints "NAME: reason"
# for each failed login, and then fails. A login that fails is tried again until SECONDS have passed, since the sshd
# and the settings of a container that was just started need a moment; one that nobody answers has waited enough.
# The key exchange costs most of a login's time: sntrup761, the default since OpenSSH 9.0, takes 70 ms of CPU on
# either side, curve25519 10 ms. The stronger one does not help the command `true`, so the script takes curve25519, or
# the default where curve25519 is forbidden (FIPS).
log_in() {
	ssh -o BatchMode=yes -o ConnectTimeout=10 "$@" true 2>&1 </dev/null
}

# Any key exchange is good where the quick one is forbidden.
log_in_somehow() {
	said=$(log_in -o KexAlgorithms=curve25519-sha256@libssh.org "$1") && return
	case $said in
		*"key exchange"* | *KexAlgorithms*) said=$(log_in "$1") ;;
		*) return 1 ;;
	esac
}

log_in_patiently() {
	until log_in_somehow "$1"; do
		case $said in *"timed out"*) return 1 ;; esac
		[ "$(date +%s)" -lt "$deadline" ] || return 1
		sleep 1
	done
}

deadline=$(($(date +%s) + $1)) failed=0
shift
if command -v ringup-hosts >/dev/null; then
	ringup-hosts || failed=1
fi
for name in "$@"; do
	log_in_patiently "$name" && continue
	printf '%s: %s\n' "$name" "$(printf '%s' "$said" | tail -n 1 | tr -d '\r')"
	failed=1
done
exit $failed
