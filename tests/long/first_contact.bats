#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# From names and passwords to hosts that ringup logs in to, with real sshds: `hosts trust` and `keys install`.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 3
	three
}

teardown() {
	ssh_hosts_teardown
}

print_of() {
	ssh-keygen -lf "$1" | awk '{print $2}'
}

@test "hosts trust: nothing is written without a yes, and everything with one" {
	cluster "key: ed25519, known_hosts: new/known" "${THREE[@]}"
	without_terminal ringup hosts trust
	says 2 "this needs a yes, and there is no terminal to ask at" --fingerprints
	[ "$(grep -c "$(print_of host_key.pub) *new" ../out)" = 3 ]
	# a program reads the prints, and decides
	without_terminal ringup --json hosts trust
	says 2 "there is no terminal to ask at"
	json '[(k["host"], k["state"]) for k in d["keys"]] == [("node01", "new"), ("node02", "new"), ("node03", "new")] and d["added"] == 0'
	[ ! -e new ]
	typed n ringup hosts trust
	grep -q 'the answer was no' ../out
	[ ! -e new ]
	typed y ringup hosts trust
	grep -q 'asked 1, status 0' ../out
	[ "$(stat -c %a new/known)" = 600 ]
	[ "$(wc -l <new/known)" = 3 ]
	ssh-keygen -F "[127.0.0.2]:$PORT" -f new/known
	apart ringup exec -l true
	says 0
}

@test "hosts trust: a list of fingerprints, other hosts' view, and keys that changed" {
	cluster "key: ed25519, known_hosts: mine" "${THREE[@]}"
	printf '[127.0.0.1]:%s %s' "$PORT" "$(cut -d' ' -f1,2 host_key.pub)" >mine # without a line end
	ssh-keygen -q -t ed25519 -N '' -f other_key
	ssh-keygen -lf host_key.pub >prints
	# node01 is known, and sees the same of node02 and node03
	apart ringup --json hosts trust --fingerprints prints -H node01,node02
	says 0
	json '[(k["host"], k["state"], k["seen_same"]) for k in d["keys"]] == [("node01", "known", 0), ("node02", "new", 1)]'
	json 'd["added"] == 1'
	[ "$(wc -l <mine)" = 2 ]
	# one that is not in the list
	ssh-keygen -lf other_key.pub >prints
	apart ringup hosts trust --fingerprints prints
	says 1 "node03: its key $(print_of host_key.pub) is not in the list of fingerprints"
	[ "$(wc -l <mine)" = 2 ]
	# one that changed is never replaced
	cp mine before
	end_sshd 2
	cp other_key host_key
	start_sshd 2
	ssh-keygen -lf other_key.pub >prints
	apart ringup hosts trust --fingerprints prints -H node02
	says 1 "node02: its key $(print_of other_key.pub) is another one in mine:2" "someone may be in between"
	cmp mine before
	printf 'no print\n' >prints
	apart ringup hosts trust --fingerprints prints
	says 2 'prints:1: there is no SHA256:'
}

@test "hosts trust: over a jump host" {
	cluster "key: ed25519, known_hosts: mine, jump: node01" "${THREE[@]}"
	ssh-keygen -lf host_key.pub >prints
	apart ringup hosts trust --fingerprints prints -H node01
	says 0
	apart ringup hosts trust --fingerprints prints
	says 0 '2 keys added'
	apart ringup exec -l true
	says 0
}

@test "keys install: one password for all, asked for or from standard input; then the key logs in" {
	: >sudo.rules
	AUTHORIZED=.ssh/authorized_keys
	start_users ann:/bin/sh bob:/usr/bin/fish cid:/bin/tcsh
	local host="address: 127.0.0.9, port: $PORT"
	cluster "key: ed25519, known_hosts: known" "$host, name: ann, user: ann" "$host, name: bob, user: bob" "$host, name: cid, user: cid"
	without_terminal ringup keys install
	says 2 'there is no terminal to ask at' --password-stdin
	apart ringup keys install --password-stdin <<<wrong
	says 1 'ann (127.0.0.9' 'the host did not take the password of user bob'
	apart ringup --json keys install -H ann --password-stdin <<<secret
	says 0
	json 'd["hosts"] == [{"host": "ann", "key": "added"}]'
	printf 'ssh-rsa AAAA other' >users/bob/authorized
	mkdir -m 755 users/bob/.ssh
	mv users/bob/authorized users/bob/.ssh/authorized_keys
	chown -R 4702:4702 users/bob
	typed secret ringup keys install
	grep -q 'asked 1, status 0' ../out || { cat ../out; false; }
	grep -q '^ann (1): the key logs in already' ../out
	grep -q '^bob,cid (2): the key was added, and logs in' ../out
	[ "$(wc -l <users/bob/.ssh/authorized_keys)" = 2 ]
	[ "$(stat -c %a users/cid/.ssh users/cid/.ssh/authorized_keys | paste -sd' ')" = '700 600' ]
	apart ringup keys install
	says 0
	grep -q '^ann,bob,cid (3): the key logs in already' ../out
	[ "$(wc -l <users/bob/.ssh/authorized_keys)" = 2 ]
	apart ringup exec -l true
	says 0
	! grep -rq secret ../out ../err .ringup 2>/dev/null
}

@test "keys install: a host whose key is unknown gets no password" {
	: >sudo.rules
	AUTHORIZED=.ssh/authorized_keys
	start_users ann:/bin/sh
	cluster "key: ed25519, known_hosts: missing" "address: 127.0.0.9, port: $PORT, user: ann"
	apart ringup keys install --password-stdin <<<secret
	says 1 'its host key' 'is not in missing'
	! grep -q ' password for ' sshd9.log
}
