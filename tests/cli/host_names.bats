#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Hosts whose address in cluster.yaml is a name (containers.bash): workers get numbers, whatever the name means where.

load helper
load containers
setup() {
	containers_setup
	sed -i 's/{address: 127.0.0.1, name: node01}/{address: gpu01.test}/; s/{address: 127.0.0.2, name: node02}/{address: gpu02.test}/' cluster.yaml
	mv hosts/127.0.0.1 hosts/gpu01.test
	mv hosts/127.0.0.2 hosts/gpu02.test
	came gpu01.test 10.0.0.1
	came gpu02.test 10.0.0.2
	for host in gpu01.test gpu02.test 127.0.0.3; do
		program $host ip 'echo "2: eth7    inet 10.0.0.1/24 scope global eth7"'
		program $host ssh-keyscan 'echo "x ssh-ed25519 AAAA"'
		finds $host 'exit 2'
	done
}

# program HOST NAME TEXT: a program of the host.
program() {
	printf '#!/bin/sh\n%s\n' "$3" >"hosts/$1/bin/$2"
	chmod +x "hosts/$1/bin/$2"
}

# came HOST ADDRESS: where ssh came to it.
came() {
	echo "$2" >"hosts/$1/came"
}

# finds HOST TEXT: what its resolver does.
finds() {
	program "$1" getent "[ \"\$1\" = ahosts ] || exec /usr/bin/getent \"\$@\"
$2"
}

@test "the address in numbers is the one at which ssh came, and its interface is found" {
	apart ringup --json probe
	says 0
	json '[h.get("address") for h in d["hosts"]] == ["10.0.0.1", "10.0.0.2", "127.0.0.3"]'
	json 'd["hosts"][0]["interface"] == "eth7"'
	apart ringup probe
	grep -q '^gpu01.test .*eth7' ../out
}

@test "behind sudo the host is asked what the name means" {
	rm hosts/gpu01.test/came
	finds gpu01.test 'echo "10.0.0.9 STREAM gpu01.test"'
	apart ringup --json probe
	json 'd["hosts"][0]["address"] == "10.0.0.9"'
}

@test "a name that is 127.0.1.1 on the host itself: another host says the address" {
	came gpu01.test 127.0.1.1
	printf '127.0.1.1 STREAM gpu01.test\n' >own
	finds gpu02.test 'printf "127.0.1.1 STREAM gpu01.test\n10.0.0.1 STREAM gpu01.test\n"'
	# shellcheck disable=SC2016 # for the program
	program gpu01.test ssh-keyscan 'echo "$*" >"$HOST_FOLDER/asked"; echo "x ssh-ed25519 AAAA"'
	apart ringup status
	says 0
	grep -q ' 10.0.0.1$' hosts/gpu01.test/asked
}

@test "a name that leads nowhere: the host fails before anything is built or pulled, and the others go on" {
	came gpu01.test 127.0.1.1
	for words in bench status; do
		# shellcheck disable=SC2086 # words
		apart ringup $words
		grep -q "gpu01.test: the name gpu01.test leads other hosts nowhere: on the host it is 127.0.1.1, and no other host knows it; give 'address' in numbers" ../err || { echo "$words"; cat ../err; return 1; }
		! grep -q 'gpu02.test: ' ../err
	done
	sed '/node03/d' cluster.yaml >two.yaml
	came gpu02.test 127.0.1.1
	for words in up 'up --dry-run'; do
		# shellcheck disable=SC2086 # words
		apart ringup -f two.yaml $words
		says 1 'gpu01.test: the name gpu01.test leads' 'gpu02.test: the name gpu02.test leads'
	done
	! grep -q pull hosts/*/docker.log
}
