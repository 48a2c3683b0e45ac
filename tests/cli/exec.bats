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
