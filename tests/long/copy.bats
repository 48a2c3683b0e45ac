#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `cp` with real sshds: both ways, by both transports, checked, resumed, and what goes wrong.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 2
	three
	mkdir there
	head -c 3000000 /dev/urandom >file
	chmod 640 file
}

teardown() {
	ssh_hosts_teardown
}

hosts_by() {
	cluster "key: ed25519, known_hosts: known, transport: $1" "${THREE[@]:0:2}"
}

@test "to hosts and from them, by both transports" {
	for transport in libssh2 openssh; do
		hosts_by $transport
		rm -rf there/* back
		mkdir back
		apart ringup cp file "node01:$PWD/there/"
		says 0
		cmp file there/file
		[ "$(stat -c %a there/file)" = 640 ]
		apart ringup --json cp file "node01:$PWD/there/"
		json 'd["files"][0]["bytes_moved"] == 0 and d["files"][0]["bytes_total"] == 3000000'
		apart ringup cp "@*:$PWD/there/file" back/
		says 0
		cmp file back/file.node01
		cmp file back/file.node02
		apart ringup cp "node02:$PWD/there/file" back/other
		cmp file back/other
		: >empty
		apart ringup cp empty file "node01:$PWD/there/"
		says 0
		[ -f there/empty ] && [ ! -s there/empty ]
		apart ringup cp "node01:$PWD/there/empty" back/
		[ -f back/empty ] && [ ! -s back/empty ]
		[ -z "$(find . -name '*.ringup-part')" ]
	done
}

@test "an interrupted copy goes on where it was, and starts anew when the beginning differs" {
	hosts_by auto
	head -c 1000000 file >there/file.ringup-part
	apart ringup --json cp file "node01:$PWD/there/file"
	json 'd["files"][0]["bytes_moved"] == 2000000'
	cmp file there/file
	rm there/file
	head -c 1000000 /dev/urandom >there/file.ringup-part
	apart ringup --json cp file "node01:$PWD/there/file"
	json 'd["files"][0]["bytes_moved"] == 3000000'
	cmp file there/file
	head -c 1234567 file >back.ringup-part
	apart ringup --json cp "node01:$PWD/there/file" back
	json 'd["files"][0]["bytes_moved"] == 3000000 - 1234567'
	cmp file back
}

@test "a large file goes by the system's ssh, also when nothing is open yet" {
	hosts_by auto
	head -c 20000000 /dev/zero >large
	apart ringup -v cp large "node01:$PWD/there/"
	says 0
	cmp large there/large
	apart ringup cp "@*:$PWD/there/large" back
	says 0
	cmp large back.node01
	cmp large back.node02
}

@test "what goes wrong: no folder, no file, a full disk, a folder as a source, neither side on hosts" {
	hosts_by auto
	apart ringup cp file "node01:$PWD/nowhere/file"
	says 1 "there is no folder $PWD/nowhere"
	apart ringup cp "node01:$PWD/nowhere/file" back
	says 1 "there is no file $PWD/nowhere/file"
	[ ! -e back.ringup-part ]
	apart ringup cp there "node01:$PWD/x"
	says 2 'no regular file' 'tar -C'
	apart ringup cp file there/
	says 2 'neither side is on hosts'
	for transport in libssh2 openssh; do
		hosts_by $transport
		mkdir -p small
		mount -t tmpfs -o size=1m small small
		apart ringup cp file "node01:$PWD/small/file"
		ls small >left
		umount small
		says 1 'No space left on device'
		[ ! -s left ]
	done
}
