#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/logs.sh: which lines of a container's log stay. The lines of sshd are in the words of OpenSSH 9.2 with LogLevel
# VERBOSE (auth.c, packet.c, session.c), with addresses and keys of this test, and end with a carriage return as there.

load helper

setup() {
	common_setup
	cat >talk <<-'END'
		Accepted publickey for root from 10.83.2.1 port 40964 ssh2: ED25519 SHA256:o0NGu
		Accepted key ED25519 SHA256:o0NGu found at /etc/ringup/ssh/authorized_keys:1
		Postponed publickey for root from 10.83.2.1 port 40964 ssh2 [preauth]
		Starting session: command for root from 10.83.2.1 port 40964 id 0
		Close session: user root from 10.83.2.1 port 40964 id 0
		Received disconnect from 10.83.2.1 port 40964:11: disconnected by user
		Disconnected from user root 10.83.2.1 port 40964
		Transferred: sent 2512, received 2364 bytes
		Connection from 10.83.2.1 port 40966 on 10.83.2.2 port 9435 rdomain ""
		Connection closed by 10.83.2.1 port 40966 [preauth]
		Connection reset by fd00::1 port 40966
		User child is on pid 31
		pam_unix(sshd:session): session opened for user root(uid=0) by (uid=0)
	END
	cat >worth <<-'END'
		Server listening on 10.83.2.2 port 9435.
		error: Bind to port 9435 on 10.83.2.2 failed: Address already in use.
		fatal: Cannot bind any address.
		Connection closed by authenticating user root 10.83.2.1 port 40970 [preauth]
		Disconnected from authenticating user root 10.83.2.1 port 40970 [preauth]
		Invalid user nobody2 from 10.83.2.1 port 40972
		Failed publickey for root from 10.83.2.1 port 40974 ssh2: ED25519 SHA256:xyz
		Accepted 3 batches
		Connection to the parameter server lost
	END
	sed -i 's/$/\r/' talk worth
}

# logs COUNT LINE: into out and err
logs() {
	sh "$ROOT/deployer/remote/logs.sh" "$2" "$1" >out 2>err
}

@test "sshd's talk about logins goes; errors, refused keys and the program's own lines stay" {
	logs 100 'paste -d "\n" talk worth | grep . >&2'
	diff worth <(grep . err)
	[ ! -s out ]
}

@test "standard output and error stay apart, and N counts the lines that stay" {
	logs 2 'printf "a\nb\nc\n"; cat worth talk talk >&2'
	[ "$(cat out)" = "$(printf 'b\nc')" ]
	diff <(tail -n 2 worth) err
}

@test "the engine's status and words are handed on" {
	run logs 5 'echo "No such container: ringup-lab" >&2; exit 7'
	[ "$status" -eq 7 ]
	grep -q 'No such container' err
	logs 5 true
	[ ! -s out ] && [ ! -s err ]
}
