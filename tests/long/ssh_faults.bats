#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What hosts do wrong, with real sshds and, where no sshd would do it, a peer of the test's own. Each ends in time, names the
# host and says what is true; the others' work is kept; both transports say the same where both can.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 1
	three
}

teardown() {
	ssh_hosts_teardown
	[ -z "${PEER:-}" ] || kill "$PEER" 2>/dev/null || true
}

# peer PYTHON: a server on 127.0.0.2 whose connections `c` are treated so.
peer() {
	python3 - "$PORT" "$1" 3>&- 4>&- <<-'END' &
		import socket, sys, threading, time
		def treat(c):
		    try:
		        exec(sys.argv[2], {"c": c, "time": time, "socket": socket, "sys": sys, "threading": threading})
		    except OSError:
		        pass
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.2", int(sys.argv[1])))
		s.listen(50)
		while True:
		    threading.Thread(target=treat, args=(s.accept()[0],), daemon=True).start()
	END
	PEER=$!
	wait_for_port 127.0.0.2
	trust 127.0.0.2
}

# both OPTION... -- STATUS TEXT...: exec on node01, which is fine, and node02, by both transports
both() {
	local transport begin
	local -a options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for transport in auto openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[@]:0:2}"
		begin=$SECONDS
		apart timeout 60 ringup "${options[@]}" exec -l -- echo fine
		says "$@"
		grep -qx 'node01: fine' ../out
		[ $((SECONDS - begin)) -lt 30 ]
	done
}

# same STATUS TEXT...: exec on node02 says so by both transports, in the same words.
same() {
	local transport
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		apart timeout 60 ringup --timeout 2 exec -l -- "${COMMAND:-true}"
		says "$@"
		mv ../err "../err.$transport"
	done
	diff ../err.libssh2 ../err.openssh
}

# same_of_peer PYTHON TEXT: the same of a peer of this kind, and `hosts trust` says so, too.
same_of_peer() {
	peer "$1"
	same 1 "node02 (127.0.0.2 port $PORT): $2"
	apart ringup --json --timeout 2 hosts trust -H node02
	says 1 "node02 (127.0.0.2 port $PORT): $2"
	jq -e '.failed[0] | .host == "node02" and (.error | startswith("node02 (127.0.0.2 port "))' ../out
	kill "$PEER"
	wait "$PEER" || true
}

@test "a port where nobody listens" {
	both -- 4 'node02 (127.0.0.2 port' 'connection refused: nothing listens on port' 'is sshd running?' '1 of 2 hosts failed; the others are fine'
}

@test "one cause of many hosts is said once, with their names folded" {
	printf 'ssh: {key: ed25519, known_hosts: known}\ncontainer: {engine: none}\nhosts:\n' >cluster.yaml
	for n in $(seq -w 30); do printf '  - {name: node%s, address: 127.0.0.2, port: 1}\n' "$n" >>cluster.yaml; done
	apart ringup exec -l -- true
	says 1 'node[01-30]: connection refused'
	[ "$(wc -l <../err)" = 1 ]
}

# A socket whose queue is full drops what comes, as a firewall does (listen(2)).
@test "a network that swallows everything" {
	python3 -c "
import socket, time
s = socket.socket()
s.bind(('127.0.0.2', $PORT))
s.listen(0)
waiting = [socket.socket() for _ in range(3)]
for w in waiting:
    w.setblocking(False)
    w.connect_ex(('127.0.0.2', $PORT))
time.sleep(0.2)
print('full', flush=True)
time.sleep(60)" >full 3>&- 4>&- &
	PEER=$!
	until [ -s full ]; do sleep 0.05; done
	trust 127.0.0.2
	both --timeout 2 -- 4 'node02 (127.0.0.2 port' '1 of 2 hosts failed'
	cluster "key: ed25519, known_hosts: known, transport: libssh2" "${THREE[@]:0:2}"
	apart ringup --timeout 2 exec -l true
	says 4 'no answer: the host is down, or a firewall drops port'
}

@test "what greets is no sshd" {
	local greeting='what listens there is no sshd: it begins with "'
	same_of_peer 'while True: c.sendall(b"welcome to a machine that talks and talks\r\n" * 100)' "${greeting}welcome to a machine that talks and talks\"; is the port right?"
	same_of_peer 'while True: c.sendall(b"no line ends here" * 100)' "${greeting}no line ends here"
	same_of_peer 'c.sendall(b"220 mail.example.com ESMTP\r\n"); c.recv(1000); c.sendall(b"500 no\r\n"); time.sleep(100)' "${greeting}220 mail.example.com ESMTP\""
	same_of_peer 'c.sendall(b"\x15\x03\x01\x00\x02\x02\x0a\x1b[2J")' "${greeting}??????\""
	same_of_peer 'c.sendall(b"SSH-1.5-1.2.33\r\n"); time.sleep(100)' 'it speaks SSH 1 only ("SSH-1.5-1.2.33")'
}

@test "an sshd that says a notice before its version, and a port that says a word and closes" {
	peer 'd = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); c.sendall(b"Authorized use only\r\n")
def copy(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
threading.Thread(target=copy, args=(c, d), daemon=True).start(); copy(d, c)'
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		apart timeout 60 ringup exec -l -- echo fine
		says 0
		grep -qx 'node02: fine' ../out
	done
	kill "$PEER"
	wait "$PEER" || true
	peer 'c.sendall(b"OK"); c.shutdown(socket.SHUT_WR); time.sleep(20)'
	cluster "key: ed25519, known_hosts: known, transport: libssh2" "${THREE[1]}"
	local begin=$SECONDS
	apart ringup --timeout 30 exec -l true
	says 1 'what listens there is no sshd: it begins with "OK"'
	[ $((SECONDS - begin)) -lt 20 ]
}

@test "a port that says nothing first: a stuck sshd, or a web server" {
	same_of_peer 'time.sleep(100)' 'it takes the connection and says nothing'
	same_of_peer 'c.recv(1000); c.sendall(b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nConnection: close\r\n\r\n")' 'it takes the connection and says nothing'
}

@test "an sshd that greets and goes no further" {
	same_of_peer 'c.sendall(b"SSH-2.0-OpenSSH_9.9\r\n"); time.sleep(100)' 'it greets, and the login does not end within 2 s'
	same_of_peer 'c.sendall(b"SSH-2.0-OpenSSH_9.9\r\n"); c.recv(1000); c.shutdown(socket.SHUT_WR); time.sleep(20)' 'it greets, and then the connection ends'
	same_of_peer 'c.sendall(b"SSH-2.0-OpenSSH_9.9\r\n" + b"\xff" * 5000); time.sleep(100)' 'it greets, and then the connection ends or carries no SSH'
	same_of_peer 'c.close()' 'its sshd closes the connection before it says anything: too many logins at once (MaxStartups'
}

@test "old ciphers and key exchanges are refused, and auto says what the host offers" {
	local option
	for option in Ciphers=aes128-cbc KexAlgorithms=diffie-hellman-group1-sha1 MACs=hmac-sha1; do
		start_sshd 2 -o "$option"
		trust 127.0.0.2
		for transport in libssh2 auto openssh; do
			cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
			apart ringup exec -l true
			[ "$option $transport" != 'MACs=hmac-sha1 openssh' ] || { says 0; continue; } # OpenSSH 9 still has it
			[ "$option $transport" != 'MACs=hmac-sha1 auto' ] || { says 0; continue; }
			says 1 "node02 (127.0.0.2 port $PORT): it and this machine have no method in common"
			[ $transport = libssh2 ] || says 1 "heir offer: ${option#*=}"
		done
		end_sshd 2
	done
}

@test "another host key, and a revoked one" {
	ssh-keygen -q -t ed25519 -N '' -f other_key
	cp host_key kept
	start_sshd 2
	echo "[127.0.0.2]:$PORT $(cut -d' ' -f1,2 other_key.pub)" >>known
	both -- 4 'node02 (127.0.0.2 port' "$(ssh-keygen -lf host_key.pub | cut -d' ' -f2)) differs from the one in " 'known:' \
		'someone may be in between' "ssh-keygen -R '[127.0.0.2]:$PORT' -f "
	sed -i '/^\[127.0.0.2\]/d' known
	both -- 4 'node02 (127.0.0.2 port' 'its host key (' ' is not in ' 'then add it: ringup hosts trust'
	sed -i '/^\[127.0.0.2\]/d' known
	echo "@revoked [127.0.0.2]:$PORT $(cut -d' ' -f1,2 host_key.pub)" >>known
	both -- 4 'node02 (127.0.0.2 port' 'revoked'
}

@test "too many logins at once: it is tried again, and works" {
	start_sshd 2 -o MaxStartups=1
	trust 127.0.0.2
	for transport in auto openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		# until ringup has met it
		: >../err
		python3 -c "
import socket, time
c = socket.create_connection(('127.0.0.2', $PORT))
print('holds', flush=True)
for _ in range(250):
    if 'it is tried again' in open('../err').read():
        break
    time.sleep(0.1)" >held 3>&- 4>&- &
		holder=$!
		until [ -s held ]; do sleep 0.05; done
		apart timeout 30 ringup -v exec -l -- echo fine
		wait $holder
		says 0 'it is tried again'
		grep -qx 'node02: fine' ../out
		rm held
	done
}

@test "no session is allowed" {
	start_sshd 2 -o MaxSessions=0
	trust 127.0.0.2
	same 1 "node02 (127.0.0.2 port $PORT): it lets user root log in, and opens no session; see MaxSessions"
}

@test "the connection is cut in the middle of the output" {
	start_sshd 2
	trust 127.0.0.2
	cat >cut <<-'END'
		#!/bin/sh
		echo begun
		pid=$$
		while [ "$(cat /proc/$pid/comm)" != sshd ]; do pid=$(awk '{ print $4 }' /proc/$pid/stat); done
		kill -KILL "$pid"
		sleep 20
	END
	chmod +x cut
	COMMAND=$PWD/cut same 1 "node02 (127.0.0.2 port $PORT): the connection broke while the command ran"
}

@test "a host that lets nobody in by a key says so, and not that it refused this one" {
	start_sshd 2 -o PubkeyAuthentication=no -o KbdInteractiveAuthentication=no
	trust 127.0.0.2
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		apart ringup exec -l true
		says 1 "it lets nobody in by a key alone, and asks for: password; see PubkeyAuthentication"
	done
}

@test "much output, and output that is no text" {
	start_sshd 2
	trust 127.0.0.2
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		apart timeout 120 /usr/bin/env python3 -c "
import resource, subprocess, sys
status = subprocess.run(['ringup', '--json', 'exec', '-l', '--', 'head', '-c', '${OUTPUT_MIB:-512}M', '/dev/zero']).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print('peak', peak, 'MiB', file=sys.stderr)
sys.exit(status or peak > 200)"
		says 0 'only the first'
		apart ringup exec -l -- printf '\377\376\033[31m\n'
		says 0
		[ "$(cat ../out)" = 'node02: ???[31m' ]
	done
}

@test "/tmp is read-only" {
	local short
	short=$(mktemp -d /tmp/ro.XXXXXX) # a longer path has no room for a socket
	start_sshd 2
	trust 127.0.0.2
	# shellcheck disable=SC2016 # of the inner shell
	for transport in auto openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "${THREE[1]}"
		apart unshare -m --propagation private sh -c 'mount -t tmpfs -o ro none "$1" && TMPDIR=$1 exec ringup exec -l -- echo fine' sh "$short"
		[ $transport = auto ] || { says 1 'cannot make a folder in' 'Read-only file system'; continue; }
		says 0
	done
	rmdir "$short"
}
