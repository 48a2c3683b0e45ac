#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ~/.ssh/config where only the system's ssh can do what it says, with real sshds.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 3
	three
	mkdir -p "$HOME/.ssh"
}

teardown() {
	[ -z "${AGENT:-}" ] || kill "$AGENT" || true
	ssh_hosts_teardown
}

# config LINE...: ~/.ssh/config, with what all hosts need at its end.
config() {
	{
		printf '%s\n' "$@"
		printf 'Host *\n  IdentityFile %s/ed25519\n  UserKnownHostsFile %s/known\n' "$PWD" "$PWD"
	} >"$HOME/.ssh/config"
}

# hosts TRANSPORT NAME...: a cluster of these names, all else is in ~/.ssh/config.
hosts() {
	local transport=$1
	shift
	printf 'hosts: [%s]\nssh: {transport: %s}\ncontainer: {engine: none}\naccelerator: cpu\n' "$(printf '"%s",' "$@")" "$transport" >cluster.yaml
}

@test "what a command or the last pass decides: port, user and address are those of ssh" {
	local transport
	for transport in auto openssh; do
		hosts $transport one
		for match in 'Match exec true' 'Match final' 'Match originalhost = one exec true'; do
			config "$match" "  Port $PORT" 'Host one' '  HostName 127.0.0.1'
			apart ringup exec -l -- sh -c 'echo "$SSH_CONNECTION"'
			[ "$status" = 0 ] || { echo "$match"; cat ../err; return 1; }
			grep -q "127.0.0.1 $PORT\$" ../out
			config "$match" '  User nobody' 'Host one' "  Port $PORT" '  HostName 127.0.0.1'
			apart ringup exec -l -- true
			says 1 nobody
		done
		# what cluster.yaml says counts more
		cluster "transport: $transport" "address: one, user: root, port: $PORT"
		config 'Match exec true' '  User nobody' '  Port 1' '  HostName 127.0.0.1'
		apart ringup exec -l -- true
		says 0
	done
	config 'Match exec true' '  Nonsense 1'
	apart ringup exec -l -- true
	says 2 'one: ssh -G one: ' 'nonsense'
}

@test "ProxyJump where ssh must be asked, as on Fedora and RHEL, whose own files have a Match final; a file of its own beside cluster.yaml" {
	local transport final
	for transport in auto openssh; do
		for final in 'Match final' 'Match exec true' 'CanonicalizeHostname yes'; do
			hosts $transport one
			config 'Host one' '  HostName 127.0.0.3' "  Port $PORT" '  ProxyJump two' 'Host two' '  HostName 127.0.0.1' "  Port $PORT" \
				"$final" '  ServerAliveInterval 10'
			apart ringup exec -l -- sh -c 'echo "$SSH_CONNECTION"'
			[ "$status" = 0 ] || { echo "$transport $final"; cat ../err; return 1; }
			grep -q "127.0.0.3 $PORT\$" ../out
		done
	done
	mv "$HOME/.ssh/config" own
	printf 'hosts: [one]\nssh: {config: ./own}\ncontainer: {engine: none}\naccelerator: cpu\n' >cluster.yaml
	apart ringup exec -l -- true
	says 0
}

@test "ProxyCommand and ProxyJump: for host keys and passwords too, and errors name them" {
	: >sudo.rules
	start_users first:/bin/sh
	# nothing listens on that port but what the command leads to
	config 'Host one' '  HostName 127.0.0.9' '  Port 1' "  ProxyCommand sh -c 'touch \"\$1\"; exec ssh -F none -oBatchMode=yes -oUserKnownHostsFile=$PWD/known -i $PWD/ed25519 -p $PORT -W %h:$PORT 127.0.0.1' sh $PWD/used"
	hosts auto one
	cp known before
	: >known
	trust 127.0.0.1
	typed yes ringup hosts trust
	grep -q "127.0.0.9\]:1 ssh-ed25519" known || { cat ../out known; return 1; }
	[ -e used ]
	cluster "key: ed25519" "address: one, user: first"
	end_sshd 9
	AUTHORIZED=.ssh/authorized_keys start_users first:/bin/sh
	rm used
	apart sh -c 'echo secret | ringup keys install --password-stdin'
	cat ../out ../err
	[ -e used ]
	says 0
	# by ProxyJump, which the last of several hosts reaches
	cp before known
	config 'Host one' '  HostName 127.0.0.3' "  Port $PORT" '  ProxyJump two,three' 'Host two' '  HostName 127.0.0.1' "  Port $PORT" 'Host three' '  HostName 127.0.0.2' "  Port $PORT"
	hosts auto one
	grep -v '127.0.0.3' before >known
	typed yes ringup hosts trust
	grep -q '127.0.0.3' known
	config 'Host one' '  HostName 127.0.0.3' "  Port $PORT" '  ProxyJump two' 'Host two' '  HostName 127.0.0.1' "  Port $PORT" '  User nosuchuser'
	hosts openssh one
	apart ringup exec -l -- true
	says 1 "one (127.0.0.3 port $PORT): not reached by ProxyJump two of ~/.ssh/config: "
	config 'Host one' '  HostName 127.0.0.3' "  Port $PORT" '  ProxyCommand no-such-program %h'
	apart ringup exec -l -- true
	says 1 "not reached by ProxyCommand of ~/.ssh/config: " 'no-such-program'
}

@test "RemoteCommand, RequestTTY and LogLevel are for people's logins" {
	hosts openssh one
	config 'Host one' '  HostName 127.0.0.1' "  Port $PORT" '  RemoteCommand tmux a' '  RequestTTY force' '  LogLevel QUIET'
	apart ringup exec -l -- printf 'a\nb\n'
	says 0
	[ "$(cat ../out)" = "$(printf 'one: a\none: b')" ]
	: >authorized
	apart ringup exec -l -- true
	says 1 'the host refused'
}

# cipher: what the sshd 1 took for the last login
cipher() {
	sed -n 's/.*kex: client->server cipher: \([^ ]*\).*/\1/p' sshd1.log | tail -n1
}

@test "AES-GCM comes first, unless a file names ciphers; a host that has only others is reached" {
	end_sshd 1
	start_sshd 1 -o LogLevel=DEBUG1
	hosts openssh one
	config 'Host one' '  HostName 127.0.0.1' "  Port $PORT"
	apart ringup exec -l -- true
	says 0
	[ "$(cipher)" = aes128-gcm@openssh.com ]
	config 'Match exec true' '  Ciphers aes256-ctr' 'Host one' '  HostName 127.0.0.1' "  Port $PORT"
	apart ringup exec -l -- true
	says 0
	[ "$(cipher)" = aes256-ctr ]
	end_sshd 1
	start_sshd 1 -o LogLevel=DEBUG1 -o Ciphers=chacha20-poly1305@openssh.com
	config 'Host one' '  HostName 127.0.0.1' "  Port $PORT"
	apart ringup exec -l -- true
	says 0
	[ "$(cipher)" = chacha20-poly1305@openssh.com ]
}

@test "an agent with many keys: the key of cluster.yaml comes first, by both transports" {
	local n transport
	end_sshd 1
	start_sshd 1 -o MaxAuthTries=3
	eval "$(ssh-agent -s 3>&- 4>&-)"
	AGENT=$SSH_AGENT_PID
	for n in $(seq 8); do
		ssh-keygen -q -t ed25519 -N '' -f "other$n"
		ssh-add -q "other$n"
	done
	for transport in auto libssh2 openssh; do
		cluster "key: ed25519, known_hosts: known, config: none, transport: $transport" "${THREE[0]}"
		apart ringup exec -l -- true
		says 0
	done
	# and where it is not the one, the agent is asked
	ssh-add -q -D
	ssh-add -q ed25519
	cluster "key: other1, known_hosts: known, config: none, transport: openssh" "${THREE[0]}"
	apart ringup exec -l -- true
	says 0
}

@test "a login shell that runs nothing is no refused login" {
	: >sudo.rules
	start_users first:/usr/sbin/nologin
	cluster "key: ed25519, known_hosts: known, transport: openssh" "address: 127.0.0.9, port: $PORT, user: first"
	apart ringup exec -l -- true
	says 1 'user first can log in, and runs no commands there' 'not available' '/etc/passwd'
}

@test "a host with a certificate of @cert-authority needs no line of its own, also for a password" {
	: >sudo.rules
	AUTHORIZED=.ssh/authorized_keys start_users first:/bin/sh
	ssh-keygen -q -t ed25519 -N '' -f ca
	ssh-keygen -q -t ed25519 -N '' -f other_ca
	cp host_key.pub certified.pub
	ssh-keygen -q -s ca -I one -h -n '127.0.0.1,127.0.0.9' certified.pub
	end_sshd 1 9
	start_sshd 1 -o "HostCertificate=$PWD/certified-cert.pub"
	cluster "key: ed25519, known_hosts: known" "${THREE[0]}"
	echo "@cert-authority *.1,[127.0.0.*]:$PORT $(cut -d' ' -f1,2 ca.pub)" >known
	cp known before
	apart ringup exec -l -- true
	says 0
	apart ringup --json hosts trust </dev/null
	says 0
	json '[k["state"] for k in d["keys"]] == ["certified"] and d["added"] == 0'
	cmp known before
	# one of another authority, and a host that shows none, are strangers
	echo "@cert-authority [127.0.0.*]:$PORT $(cut -d' ' -f1,2 other_ca.pub)" >known
	apart ringup hosts trust </dev/null
	[ "$status" != 0 ]
	grep -q ' new ' ../out
	cp before known
	cluster "key: ed25519, known_hosts: known" "${THREE[1]}"
	apart ringup hosts trust </dev/null
	[ "$status" != 0 ]
	grep -q ' new ' ../out
	# a password goes to the certified host
	AUTHORIZED=.ssh/authorized_keys SSHD_MORE="-o HostCertificate=$PWD/certified-cert.pub" start_users first:/bin/sh
	cp before known
	cluster "key: ed25519, known_hosts: known" "address: 127.0.0.9, name: one, port: $PORT, user: first"
	apart sh -c 'echo secret | ringup keys install --password-stdin'
	says 0
	cp known after
	cmp before after
}
