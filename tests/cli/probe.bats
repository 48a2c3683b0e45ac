#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What `ringup probe` shows of hosts: clocks, details, and what differs.

load helper
load fleet_hosts
setup() {
	common_setup
	fleet_setup
}

@test "a clock that differs is shown, by probe and by every command that asks the hosts" {
	on_host 2 date '/bin/date -d "+1 hour" "$@"'
	apart ringup probe
	says 0
	# less what the probe took, by which the clocks might agree
	grep -Eq "node02: its clock is 3(600|5[0-9]{2}) s ahead of this machine's" ../err
	grep -q '^node01 .* 0 s ' ../out
	grep -Eq '^node02 .* \+3(600|5[0-9]{2}) s ' ../out
	apart ringup status
	grep -Eq "node02: its clock is 3(600|5[0-9]{2}) s ahead" ../err
}

@test "a slow login is no difference of clocks" {
	on_host 2 sh 'case $1 in -s) sleep 6 ;; esac; exec /bin/sh "$@"'
	apart ringup probe
	says 0
	[ "$(grep -c clock ../err)" = 0 ]
}

@test "hosts whose clocks differ the same way share a line" {
	for n in 1 3; do on_host "$n" date '/bin/date -d "-1 hour" "$@"'; done
	on_host 2 date '/bin/date -d "+1 hour" "$@"'
	apart ringup probe
	says 0
	grep -Eq "node\[01,03\]: their clocks are 3(600|5[0-9]{2})( to 3(600|5[0-9]{2}))? s behind this machine's" ../err
	grep -Eq "node02: its clock is 3(600|5[0-9]{2}) s ahead of this machine's" ../err
	[ "$(grep -c clock ../err)" = 2 ]
}

@test "--diff: what differs between hosts, and from the last probe" {
	for n in 1 2 3; do on_host "$n" ip 'exit 1'; done # one machine: lo has the first one's address alone
	on_host 3 uname 'case $1 in -r) echo 4.18.0-old ;; *) exec /bin/uname "$@" ;; esac'
	apart ringup probe --diff
	says 0
	cat ../out
	grep -q '^between the hosts: 1 difference$' ../out
	grep -qx '    node03: 4.18.0-old' ../out
	grep -q '^    node\[01-02\]: ' ../out
	grep -q '3 of 3 hosts had not been probed before' ../out
	on_host 3 uname 'exec /bin/uname "$@"'
	apart ringup probe --diff
	grep -q '^between the hosts: 0 differences$' ../out
	grep -q '^  node03 kernel: .*, was 4.18.0-old$' ../out
	apart ringup --json probe --diff
	json 'd["differences"] == [] and d["changes"] == []'
}

@test "details are in the facts, and a short probe keeps them" {
	apart ringup --json probe -o facts.json
	json 'd["hosts"][0]["shm_bytes"] > 0 and d["hosts"][0]["package_manager"] == "apt"'
	apart ringup status
	python3 -c 'import json; assert json.load(open(".ringup/facts.json"))["hosts"][2]["package_manager"] == "apt"'
}

@test "only the hosts that are named are asked" {
	apart ringup probe node02
	says 0 '1 of 1 hosts'
	[ "$(grep -c '^node' ../out)" = 1 ]
}
