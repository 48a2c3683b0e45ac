#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/receive.sh and purge.sh: what they put on a host and take away again, also when something cannot be
# removed, and when two clusters use one registry's CA.

load helper
setup() {
	common_setup
	HOST_SHELL=$(command -v dash || echo sh)
	umask 022
	mkdir state certs
	CA=$PWD/certs/reg:5000/ca.crt
}

# receive CLUSTER CA_TEXT CA_FILE: the cluster's files arrive.
receive() {
	rm -rf parcel
	mkdir -p parcel/ssh
	echo "id=$1" >parcel/owner
	echo "$2" >parcel/registry-ca.crt
	echo key >parcel/ssh/id_ed25519
	echo digest >parcel/ssh/mesh
	tar -cf - -C parcel . | "$HOST_SHELL" "$ROOT/deployer/remote/receive.sh" "$PWD/state/$1" "$3" ''
}

purge() {
	"$HOST_SHELL" "$ROOT/deployer/remote/purge.sh" "$PWD/state/$1" "${2:-$CA}"
}

@test "nothing is left: no file, no CA and no empty folder of it" {
	receive lab one "$CA"
	[ "$(cat "$CA")" = one ]
	purge lab
	[ -z "$(find state certs -mindepth 1 2>/dev/null)" ]
}

@test "the registry's address has changed: the CA of the earlier one goes, too" {
	receive lab one "$CA"
	receive lab one "$PWD/certs/reg:6000/ca.crt"
	purge lab "$PWD/certs/reg:6000/ca.crt"
	[ -z "$(find certs -mindepth 1 2>/dev/null)" ]
}

@test "a CA that another cluster uses stays, until that is purged" {
	receive lab one "$CA"
	receive other one "$CA"
	purge lab
	[ "$(cat "$CA")" = one ]
	purge other
	[ ! -e "$CA" ]
}

@test "a CA that was there before, and one that somebody changed, stay" {
	mkdir -p "${CA%/*}"
	echo one >"$CA"
	receive lab one "$CA"
	purge lab
	[ "$(cat "$CA")" = one ]
	rm "$CA"
	receive lab one "$CA"
	echo two >"$CA"
	purge lab
	[ "$(cat "$CA")" = two ]
	[ ! -e state/lab ]
}

@test "files of an earlier ringup, without a list of CA files" {
	receive lab one "$CA"
	rm state/lab/ca-files
	purge lab
	[ ! -e "$CA" ]
}

@test "a CA that this user cannot put there: what root has to do; then the files are enough" {
	rmdir certs
	echo >certs # no folder for anybody, root included
	run receive lab one "$PWD/certs/reg:5000/ca.crt"
	[ "$status" != 0 ]
	[[ $output == *"let root run 'install -D -m 644 $PWD/state/lab/registry-ca.crt $PWD/certs/reg:5000/ca.crt' on the host once, or set ssh.sudo"* ]]
	rm certs
	install -D -m 644 "$PWD/state/lab/registry-ca.crt" "$PWD/certs/reg:5000/ca.crt"
	receive lab one "$PWD/certs/reg:5000/ca.crt"
	# who put it there keeps it
	[ ! -s state/lab/ca-files ]
}

@test "a CA file that cannot be removed: it is said, and the keys are gone all the same" {
	local as=()
	receive lab one "$CA"
	chmod 555 "${CA%/*}"
	if [ "$(id -u)" = 0 ]; then
		chmod -R a+rX "$BATS_TEST_TMPDIR"
		chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_SUITE_TMPDIR"
		chown -R 65534 state
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fi
	cp "$ROOT/deployer/remote/purge.sh" .
	status=0
	"${as[@]}" "$HOST_SHELL" "$PWD/purge.sh" "$PWD/state/lab" "$CA" >../out 2>../err || status=$?
	chmod 755 "${CA%/*}"
	says 1 "$CA"
	[ ! -e state/lab ]
}
