#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Keys, ~/.ssh/config, jump hosts, sudo and login shells with real sshds: both transports give the same, and what they say is
# true.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 3
	three
}

teardown() {
	local file pid
	for file in sshd?.pid; do # kept connections end with their sshd; the number of one that was killed may be another's now
		pid=$(cat "$file")
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != sshd ] || pkill -KILL -P "$pid" || true
	done
	ssh_hosts_teardown
}

# all_three: the command on all three hosts works, each by its own sshd.
all_three() {
	# shellcheck disable=SC2016 # of the hosts' shell
	apart ringup "$@" exec -l -- sh -c 'echo "$SSH_CONNECTION"'
	[ "$status" = 0 ] || { cat ../err; return 1; }
	for n in 1 2 3; do
		grep -q "^node0$n: .* 127.0.0.$n $PORT$" ../out || { cat ../out; return 1; }
	done
}

@test "keys: RSA without its .pub, ECDSA, one of several" {
	ssh-keygen -q -t rsa -m PEM -N '' -f cloud.pem
	cat cloud.pem.pub >>authorized
	rm cloud.pem.pub
	for key in cloud.pem rsa ecdsa ed25519; do
		cluster "key: $key, known_hosts: known" "${THREE[@]}"
		all_three
	done
	cluster "key: cloud.pem, known_hosts: known" "${THREE[@]}"
	apart ringup -v exec -l -H node01 true
	says 0 "by the system's ssh: no key is one for libssh2 (they are RSA"
	cluster "key: cloud.pem, known_hosts: known, transport: libssh2" "${THREE[@]}"
	apart ringup exec -l -H node01 true
	says 1 "libssh2 cannot do it" "set ssh.transport to auto or openssh"
	# the host takes none that libssh2 tries, and one of those that the system's ssh has more
	ssh-keygen -q -t ed25519 -N '' -f other
	printf 'IdentityFile %s/other\nIdentityFile %s/rsa\n' "$PWD" "$PWD" >config
	cluster "known_hosts: known, config: config" "${THREE[@]}"
	all_three
}

@test "host keys: one of RSA, alone and beside another, is no changed key" {
	ssh-keygen -q -t rsa -N '' -f rsa_host
	end_sshd 1 2
	start_sshd 1 -h "$PWD/rsa_host"
	/usr/sbin/sshd -f /dev/null -h "$PWD/rsa_host" -E "$PWD/sshd2.log" -o "PidFile=$PWD/sshd2.pid" -o ListenAddress=127.0.0.2 -o "Port=$PORT" \
		-o "AuthorizedKeysFile=$PWD/authorized" -o StrictModes=no -o UsePAM=no 3>&- 4>&-
	wait_for_port 127.0.0.2
	: >known
	for n in 1 2; do echo "[127.0.0.$n]:$PORT $(cut -d' ' -f1,2 rsa_host.pub)" >>known; done
	trust 127.0.0.3
	cluster "key: ed25519, known_hosts: known" "${THREE[@]}"
	all_three
	# its fingerprint is shown for trust
	: >none
	sed 's/known_hosts: known/known_hosts: none/' cluster.yaml >trust.yaml
	apart ringup -f trust.yaml hosts trust </dev/null
	grep -F "$(ssh-keygen -lf rsa_host.pub | cut -d' ' -f2)" ../out ../err
	[ ! -s none ]
	# a key that did change is said by every transport
	ssh-keygen -q -t rsa -N '' -f changed
	sed -i "1s,ssh-rsa .*,$(cut -d' ' -f1,2 changed.pub)," known
	apart ringup exec -l -H node01 -- true
	[ "$status" = 1 ]
	says 1 'its host key (RSA SHA256:' 'differs from the one in known:1: someone may be in between'
}

@test "keys: a file that ssh does not load is no key that the host refused" {
	local transport key
	ssh-keygen -q -t rsa -m PEM -N '' -f cloud.pem
	cat cloud.pem.pub >>authorized
	rm cloud.pem.pub
	chmod 644 cloud.pem ed25519
	for transport in auto libssh2 openssh; do
		for key in cloud.pem ed25519; do
			cluster "key: $key, known_hosts: known, transport: $transport" "${THREE[@]}"
			apart ringup exec -l -H node01 -- true
			says 1 "cannot log in as root: the key $key is not used, as other users may read it; chmod 600 mends that"
		done
	done
	chmod 600 ed25519
	head -c 900 ed25519 | head -n 3 >cut
	chmod 600 cut
	cluster "key: cut, known_hosts: known, transport: openssh" "${THREE[@]}"
	apart ringup exec -l -H node01 -- true
	says 1 'Load key'
}

@test "keys: each error says what is true, by both transports" {
	local transport
	ssh-keygen -q -t ed25519 -N '' -f other
	ssh-keygen -q -t ed25519 -N secret -f locked
	cat locked.pub >>authorized
	for transport in auto openssh; do
		cluster "key: other, known_hosts: known, transport: $transport" "${THREE[@]}"
		without_terminal ringup exec -l true
		says 1 "node01, node02, node03: the host refused the key other for user root" "ringup keys install"
		cluster "key: locked, known_hosts: known, transport: $transport" "${THREE[@]}"
		without_terminal ringup exec -l true
		says 1 "the key locked is encrypted, and there is no terminal to ask for its passphrase at" "ssh-add"
		cluster "key: other.pub, known_hosts: known, transport: $transport" "${THREE[@]}"
		without_terminal ringup exec -l true
		says 1 "other.pub is no private key, but a public one"
		cluster "key: none, known_hosts: known, transport: $transport" "${THREE[@]}"
		without_terminal ringup exec -l true
		says 1 "there is no key none, and no ssh-agent has one" "ssh.key"
	done
}

@test "keys: a passphrase is asked for once, and ringup's own agent ends with it" {
	local transport
	ssh-keygen -q -t ed25519 -N secret -f locked
	cp locked.pub authorized
	for transport in auto openssh; do
		cluster "key: locked, known_hosts: known, transport: $transport" "${THREE[@]}"
		typed secret ringup exec -b -l -- echo fine
		grep -q 'asked 1, status 0' ../out || { cat ../out; false; }
		grep -qF 'node[01-03] (3)' ../out
	done
	typed '' ringup exec -l -- true
	grep -q 'its passphrase did not come' ../out
	! pgrep -f "ssh-agent -D -a ${TMPDIR:-/tmp}/ringup-agent" || { sleep 1; ! pgrep -f 'ssh-agent -D -a .*ringup-agent'; }
	# who is told to end while ssh-add asks does so, and leaves nothing
	python3 - <<-'END'
		import os, pty, signal, time
		pid, screen = pty.fork()
		if pid == 0:
		    os.execvp("ringup", ["ringup", "exec", "-l", "--", "true"])
		said = b""
		while b"passphrase" not in said:
		    said += os.read(screen, 4096)
		os.kill(pid, signal.SIGTERM)
		for _ in range(200):
		    ended, status = os.waitpid(pid, os.WNOHANG)
		    if ended:
		        break
		    time.sleep(0.05)
		assert ended and os.waitstatus_to_exitcode(status) not in (0, -9), (ended, status)
	END
	! pgrep -f "ssh-add -q -t .* $PWD/locked"
	# a running agent that has the key comes first
	eval "$(ssh-agent)" >/dev/null
	printf '#!/bin/sh\necho secret\n' >askpass
	chmod +x askpass
	SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=$PWD/askpass ssh-add -q locked
	rm locked.pub
	for transport in libssh2 openssh; do
		cluster "key: locked, known_hosts: known, transport: $transport" "${THREE[@]}"
		all_three
	done
	kill "$SSH_AGENT_PID"
}

@test "config: names, ports, keys, known_hosts, aliases and jumps of ~/.ssh/config, by both transports" {
	local transport
	mkdir -p "$HOME/.ssh"
	cat >"$HOME/.ssh/config" <<-END
		Host node01
		  HostName 127.0.0.1
		  HostKeyAlias whatever
		  UserKnownHostsFile $PWD/aliases
		Host node02
		  HostName 127.0.0.2
		  UserKnownHostsFile $PWD/missing $PWD/known
		Host node03
		  HostName 127.0.0.3
		  ProxyJump node02
		  UserKnownHostsFile $PWD/known
		Host node*
		  User root
		  Port $PORT
		  IdentityFile $PWD/ed25519
	END
	echo "whatever $(cut -d' ' -f1,2 host_key.pub)" >aliases
	for transport in auto openssh; do
		printf 'hosts: ["node[01-03]"]\nssh: {transport: %s}\ncontainer: {engine: none}\n' $transport >cluster.yaml
		all_three -v
		grep -q 'node03: by the system' ../err
	done
	apart ringup ssh node02 echo 'a  b' "\$HOME"
	[ "$(cat ../out)" = "a  b \$HOME" ]
	printf 'Host *\n Port x\n' >"$HOME/.ssh/config"
	apart ringup exec -l true
	says 2 "$HOME/.ssh/config:2: no port: 'x'"
}

@test "a configuration that keeps no host keys: what to name instead" {
	mkdir -p "$HOME/.ssh"
	printf 'Host *\n  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n' >"$HOME/.ssh/config"
	cluster "key: ed25519" "${THREE[0]}"
	apart ringup exec -l true
	says 1 "/dev/null, the UserKnownHostsFile of ~/.ssh/config, keeps none; name a file by ssh.known_hosts in the cluster file"
	ssh-keygen -lf host_key.pub >prints
	apart ringup hosts trust --fingerprints prints
	says 2 "keeps no keys; name a file by ssh.known_hosts in the cluster file"
	printf 'Host *\n  StrictHostKeyChecking no\n' >"$HOME/.ssh/config"
	for transport in auto openssh; do
		cluster "key: ed25519, known_hosts: mine, transport: $transport" "${THREE[0]}"
		apart ringup exec -l true
		says 1 'is not in mine; compare' 'StrictHostKeyChecking of ~/.ssh/config is not followed: ringup never takes a key by itself'
	done
	apart ringup hosts trust --fingerprints prints
	says 0 '1 key added'
	rm "$HOME/.ssh/config"
}

@test "jump hosts: the key of ssh.key, a member among them, and which one fails" {
	local transport
	ssh-keygen -q -t ed25519 -N '' -f other
	for transport in auto libssh2; do
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: node01" "${THREE[@]}"
		all_three
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: 'root@127.0.0.1:$PORT,node02'" "${THREE[@]}"
		all_three
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: node01" "${THREE[0]}, key: other" "${THREE[1]}"
		apart ringup exec -l true
		says 1 "node01 (127.0.0.1 port $PORT): the host refused the key other" \
			"node02 (127.0.0.2 port $PORT): not reached by the jump host node01: root@127.0.0.1: Permission denied" \
			'the jump host does not take the key; put it there, too'
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: node01" "${THREE[0]}" "address: 127.0.0.2, name: node02, port: 1"
		apart ringup exec -l true
		says 4 "node02 (127.0.0.2 port 1): not reached by the jump host node01: channel 0: open failed: connect failed: Connection refused" \
			'nothing listens on port 1 of 127.0.0.2, as seen from there: is sshd running?'
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: 'root@127.0.0.1:1'" "${THREE[1]}"
		apart ringup exec -l true
		says 1 "not reached by the jump host 127.0.0.1: " 'Connection refused' 'it is the jump host that is not reached from here'
		# one whose key nobody knows
		grep -v '127\.0\.0\.3' known >fewer
		cluster "key: ed25519, known_hosts: fewer, transport: $transport, jump: 'root@127.0.0.3:$PORT'" "${THREE[0]}"
		apart ringup exec -l true
		says 1 "not reached by the jump host 127.0.0.3" "Host key verification failed" "ssh-keyscan -p $PORT 127.0.0.3 >>fewer"
		apart ringup hosts trust </dev/null
		says 1 "not reached by the jump host 127.0.0.3" "ssh-keyscan -p $PORT 127.0.0.3 >>fewer"
	done
	# the host behind it opens no session
	end_sshd 2
	start_sshd 2 -o MaxSessions=0
	for transport in auto libssh2; do
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: 'root@127.0.0.1:$PORT'" "${THREE[1]}"
		apart ringup exec -l true
		says 1 "node02 (127.0.0.2 port $PORT): it lets user root log in, and opens no session; see MaxSessions"
	done
	end_sshd 1
	start_sshd 1 -o AllowTcpForwarding=no
	for transport in auto libssh2; do
		cluster "key: ed25519, known_hosts: known, transport: $transport, jump: 'root@127.0.0.1:$PORT'" "${THREE[1]}"
		apart ringup exec -l true
		says 1 "node02 (127.0.0.2 port $PORT): not reached by the jump host 127.0.0.1: " 'see AllowTcpForwarding and PermitOpen of its sshd_config'
	done
}

@test "sudo: without a password, with one that is asked for once, with a wrong one, without a terminal" {
	printf 'root ALL=(ALL:ALL) ALL\nops ALL=(ALL) ALL\nfree ALL=(ALL) NOPASSWD: ALL\n' >sudo.rules
	start_users ops:/bin/bash free:/bin/sh
	local host="address: 127.0.0.9, port: $PORT, sudo: true" transport
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "$host, name: free, user: free" \
			"$host, name: ops1, user: ops" "$host, name: ops2, user: ops"
		apart ringup exec -l -H free -- id -un
		says 0
		[ "$(cat ../out)" = "free: root" ]
		typed secret ringup exec -l -b -- id -un
		grep -q 'asked 1, status 0' ../out || { cat ../out; false; }
		grep -qF 'free,ops[1-2] (3)' ../out
		# the command's own input does not begin with the password
		typed secret ringup probe -H ops1
		grep -q '^ops1 .*x86_64\|^ops1 .*aarch64' ../out || { cat ../out; false; }
	done
	typed wrong ringup exec -l -- id -un
	grep -q 'sudo as ops did not take the password' ../out
	without_terminal ringup exec -l -- id -un
	says 4 'sudo wants a password: there is no terminal to ask at' NOPASSWD
	! grep -rq secret ../out ../err sshd9.log
}

@test "login shells that are no POSIX shells: csh, fish, and one that greets" {
	: >sudo.rules
	start_users cshell:/bin/tcsh fishy:/usr/bin/fish greets:/bin/bash
	echo 'echo welcome to the machine' >users/greets/.bashrc
	local host="address: 127.0.0.9, port: $PORT" transport
	for transport in libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, transport: $transport" "$host, name: cshell, user: cshell" \
			"$host, name: fishy, user: fishy" "$host, name: greets, user: greets"
		apart ringup exec -l -- printf '%s\n' "a\\b!" "it's" $'two\nlines'
		says 0
		for name in cshell fishy greets; do
			[ "$(grep -v welcome ../out | grep "^$name: ")" = "$(printf '%s: %s\n' $name 'a\b!' $name "it's" $name two $name lines)" ] ||
				{ cat ../out; return 1; }
			apart ringup ssh "$name" printf '%s|' '!x' "\\" "it's"
			[ "$(grep -v welcome ../out)" = "!x|\\|it's|" ] || { cat ../out ../err; return 1; }
			apart ringup exec -l -- printf '%s\n' "a\\b!" "it's" $'two\nlines'
		done
		apart ringup probe
		says 0
	done
}

# logins: how many the three sshds have taken.
logins() {
	cat sshd?.log | grep -c 'Accepted publickey'
}

@test "keep: the next command does not log in again, another user does, and the connection ends" {
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -p "$XDG_RUNTIME_DIR/ringup"
	[ ${#XDG_RUNTIME_DIR} -lt 60 ]
	: >"$XDG_RUNTIME_DIR/ringup/another"
	cluster "key: ed25519, known_hosts: known, config: none, keep: 20" "${THREE[@]}"
	all_three
	[ "$(logins)" = 3 ]
	# no ssh process is needed for what is connected already
	mkdir -p none
	printf '#!/bin/sh\nexit 99\n' >none/ssh
	chmod +x none/ssh
	PATH=$PWD/none:$PATH all_three
	rm none/ssh
	[ "$(stat -c %a "$XDG_RUNTIME_DIR/ringup")" = 700 ]
	all_three
	apart ringup exec -l -- sh -c 'head -c 3000000 /dev/zero | wc -c; exit 5'
	says 5
	[ "$(grep -c ': 3000000$' ../out)" = 3 ]
	[ "$(logins)" = 3 ]
	[ -f "$XDG_RUNTIME_DIR/ringup/another" ]
	# another key is another connection
	cluster "key: ecdsa, known_hosts: known, config: none, keep: 5" "${THREE[@]}"
	all_three
	[ "$(logins)" = 6 ]
	for _ in $(seq 300); do
		[ "$(find "$XDG_RUNTIME_DIR/ringup" -type s | wc -l)" != 3 ] || break
		sleep 0.1
	done
	[ "$(find "$XDG_RUNTIME_DIR/ringup" -type s | wc -l)" = 3 ]
	# a host whose sshd ended meanwhile, with all its connections
	pkill -KILL -P "$(cat sshd2.pid)"
	for _ in $(seq 100); do
		[ "$(find "$XDG_RUNTIME_DIR/ringup" -type s | wc -l)" = 3 ] || break
		sleep 0.1
	done
	cluster "key: ed25519, known_hosts: known, config: none, keep: 20" "${THREE[@]}"
	all_three
	[ "$(logins)" = 7 ]
}

@test "keep: a runtime folder with a long path, and one that another user may enter" {
	local long folder
	long=$PWD/$(printf 'x%.0s' $(seq 90))
	mkdir -m 700 "$long"
	cluster "key: ed25519, known_hosts: known, config: none, keep: 1" "${THREE[@]}"
	XDG_RUNTIME_DIR=$long all_three
	[ "$(stat -c '%a %u' "/tmp/ringup-$(id -u)")" = "700 $(id -u)" ]
	folder=$BATS_TEST_TMPDIR/run
	mkdir "$folder"
	ln -s /tmp "$folder/ringup"
	XDG_RUNTIME_DIR=$folder apart ringup exec -l -- true
	says 1 "$folder/ringup"
}
