#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `exec` on the hosts themselves: outputs gathered or behind names, the worst status, quoting.

load helper
load fleet_hosts

setup() {
	common_setup
	fleet_setup
}

@test "--local: on the hosts, each line behind its name, and the worst status" {
	apart ringup exec --local -- sh -c 'echo "one  two"; echo bad >&2; exit "${HOST_FOLDER##*.}"'
	says 3 'node01: bad' 'node03: sh ended with status 3'
	[ "$(sort ../out)" = "$(printf 'node0%s: one  two\n' 1 2 3)" ]
	apart ringup exec -l -- printf '%s\n' "it's \\ a!" $'two\nlines'
	says 0
	[ "$(grep -c "it's \\\\ a!" ../out)" = 3 ]
}

@test "--gather: equal outputs once, with the hosts folded" {
	on_host 3 hostname 'echo another; echo "a warning" >&2'
	on_host 1 hostname 'echo same'
	on_host 2 hostname 'echo same'
	apart ringup exec -b -l hostname
	says 0 'node03: a warning'
	diff ../out - <<-'END'
		---------------
		node[01-02] (2)
		---------------
		same
		---------------
		node03 (1)
		---------------
		another
	END
	apart ringup exec -b -l -- true
	[ ! -s ../out ]
	apart ringup --json exec -b -l -x node03 -- hostname
	json '[h["stdout"] for h in d["hosts"]] == ["same\n", "same\n"]'
}

@test "--local: what it started ends with it" {
	apart timeout -s INT 1 ringup exec -l -H node01 -- sh -c "sleep 43210 & exec sleep 43211"
	for _ in $(seq 50); do
		pgrep -f 'sleep 4321[01]' >/dev/null || return 0
		sleep 0.1
	done
	pgrep -af 'sleep 4321[01]'
	false
}

@test "a set without hosts is no host, and not all of them" {
	: >empty
	for set in 'node01&node02' 'node01!node0*' '^empty'; do
		apart ringup exec -l -H "$set" -- touch ../ran
		says 2 "'$set' names no host"
	done
	apart ringup down -H 'node01&node02'
	says 2 "names no host"
	[ ! -e ../ran ]
	apart ringup exec -l -H node01 -H 'node[01-02]' -x 'node01&node02' -- true
	says 0
}

@test "a NUL byte hides nothing of what a command prints" {
	apart ringup exec -l -H node01 -- printf 'a\nb\0c\nd\n'
	says 0
	[ "$(cat ../out)" = "$(printf 'node01: %s\n' a 'b?c' d)" ]
	apart ringup --json exec -l -H node01 -- printf 'b\0c'
	json 'd["hosts"][0]["stdout"] == "b?c"'
}

@test "ssh HOST -- CMD" {
	apart ringup ssh node01 -- printf '%s.' one 'two  words'
	says 0
	[ "$(cat ../out)" = "one.two  words." ]
	# one word with blanks is a line, as ssh takes it
	apart ringup ssh node01 'cd / && pwd; echo "$((1 + 1))"'
	says 0
	[ "$(cat ../out)" = "/
2" ]
}

@test "cp: several files go into a folder; a shell that greets, and a full disk here, are named" {
	echo 1 >a
	echo 2 >b
	apart ringup cp a b "node01:$PWD/there"
	says 1 "there is no folder $PWD/there"
	mkdir there
	apart ringup cp a b "node01:$PWD/there"
	says 0
	[ "$(cat there/a there/b)" = "$(printf '1\n2')" ]
	head -c 3M /dev/zero >there/big
	mkdir full
	apart unshare -rm sh -c 'mount -t tmpfs -o size=1m none full; ringup cp "node01:$PWD/there/big" full/; rc=$?; ls -A full; exit $rc'
	says 1 "no space left on this machine's disk: 3.0 MiB are to come"
	[ ! -s ../out ] # nothing of it fills the disk
	on_host 1 sh 'case $1 in -s) ;; *) echo "Welcome to node01" ;; esac; exec /bin/sh "$@"'
	apart ringup cp "node01:$PWD/there/a" here
	says 1 "node01: its shell prints text of its own before it runs a command (Welcome to node01)" ".bashrc"
	[ ! -e here ]
}

@test "cp: a file that becomes shorter on its way is no copy, though both sums are of what came" {
	head -c 100 /dev/zero >there
	on_host 1 cat 'printf abc'
	on_host 1 openssl "printf abc | sha256sum"
	apart ringup cp "node01:$PWD/there" here
	says 1 "node01: $PWD/there became shorter while it was copied; copy it again"
	[ ! -e here ]
	on_host 1 cat 'exit 3'
	apart ringup cp "node01:$PWD/there" here
	says 1 'node01'
	[ ! -e here ]
}
