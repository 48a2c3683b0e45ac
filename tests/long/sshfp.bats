#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `hosts trust` and the fingerprints that DNS has: real sshds, records that ssh-keygen -r made, and a stand-in for the resolver
# (tests/standin/dns_server.py), which a resolv.conf in a mount namespace leads to. Needs root.

load ../cli/helper
load ssh_hosts

RESOLVER=127.0.53.53

setup() {
	common_setup
	ssh_hosts_setup 2
	ssh-keygen -q -t ed25519 -N '' -f other_key
}

teardown() {
	ssh_hosts_teardown
	if [ -n "${DNS:-}" ]; then kill "$DNS"; fi
}

# records NAME...: each name is 127.0.0.2, with the records of its key.
records() {
	local name
	for name; do
		printf '%s IN A 127.0.0.2\n' "$name"
		ssh-keygen -r "$name" -f host_key.pub
	done
}

# resolver OPTION...: the stand-in answers from the file `zone`; resolv.conf has the options.
resolver() {
	local try
	printf 'nameserver %s\noptions %s\n' "$RESOLVER" "$*" >resolv.conf
	python3 "$ROOT/tests/standin/dns_server.py" "$RESOLVER" zone queries 3>&- 4>&- &
	DNS=$!
	for try in $(seq 100); do
		grep -q " 3535007F:0035 " /proc/net/udp && return
		sleep 0.05
	done
	echo "no resolver after $try tries"
	return 1
}

# trust_of NAME...: `hosts trust` about hosts of these names, with a yes; the file `new` is their known_hosts.
trust_of() {
	local name hosts=()
	for name; do
		hosts+=("address: $name, port: $PORT")
	done
	cluster "key: ed25519, known_hosts: new" "${hosts[@]}"
	# shellcheck disable=SC2016 # of the inner shell
	typed y unshare --mount --propagation private sh -c 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"' sh \
		"$PWD/resolv.conf" ringup hosts trust
	cat ../out
}

@test "DNS counts as a witness where its answer is authenticated, and is shown where it is not" {
	records a.example plain.example long.example longest.example none.example | grep -v 'none.example IN SSHFP' >zone
	resolver trust-ad
	trust_of a.example plain.example long.example longest.example none.example
	grep -q '^a.example .* new  *same (DNS)$' ../out
	grep -q '^plain.example .* new  *DNS, not authenticated$' ../out
	grep -q '^long.example .* new  *same (DNS)$' ../out
	grep -q '^longest.example .* new  *-$' ../out
	grep -q 'DNS: the SSHFP records of longest.example do not fit into one datagram$' ../out
	grep -q '^none.example .* new  *-$' ../out
	grep -q 'asked 1, status 0' ../out
	[ "$(wc -l <new)" = 5 ]
	# what is known is not asked for again
	: >queries
	trust_of a.example
	grep -q '^a.example .* known  *-$' ../out
	! grep -q ' 44$' queries
}

@test "without trust-ad no answer counts; without a yes nothing is written" {
	records a.example >zone
	resolver edns0
	trust_of a.example
	grep -q '^a.example .* new  *DNS, not authenticated$' ../out
	rm new
	without_terminal unshare --mount --propagation private sh -c "mount --bind '$PWD/resolv.conf' /etc/resolv.conf && exec ringup hosts trust"
	says 2 'there is no terminal to ask at; give the fingerprints by --fingerprints FILE'
	[ ! -e new ]
}

@test "a host's key that DNS contradicts is an error, and is added only by a list" {
	records a.example b.example >zone
	ssh-keygen -r plain.example -f other_key.pub >>zone
	printf 'plain.example IN A 127.0.0.2\n' >>zone
	# one record of two is another's
	sed -i "s/^\(b.example IN SSHFP 4 1\) .*/\1 $(ssh-keygen -r b -f other_key.pub | awk '/SSHFP 4 1/ {print $6}')/" zone
	resolver trust-ad
	trust_of a.example b.example plain.example
	grep -q '^a.example .* new  *same (DNS)$' ../out
	grep -q '^b.example .* new  *DNS HAS ANOTHER$' ../out
	grep -q '^plain.example .* new  *DNS HAS ANOTHER, not authenticated$' ../out
	grep -q 'b.example: DNS has the fingerprint of another ssh-ed25519 key (SSHFP of b.example, authenticated)' ../out
	grep -q 'asked 1, status 1' ../out
	[ "$(wc -l <new)" = 1 ]
	ssh-keygen -lf host_key.pub >prints
	apart unshare --mount --propagation private sh -c "mount --bind '$PWD/resolv.conf' /etc/resolv.conf && exec ringup hosts trust --fingerprints prints"
	says 0 '2 keys added'
}

@test "a resolver that fails or is silent is said once, and holds nobody up" {
	local names=() n
	for n in 1 2 3 4 5 6 7 8; do names+=("silent$n.example"); done
	records bogus.example a.example "${names[@]}" >zone
	resolver trust-ad
	trust_of bogus.example a.example
	grep -q 'DNS: no answer to the question for the SSHFP records of bogus.example: the server failed' ../out
	grep -q '^a.example .* same (DNS)$' ../out
	grep -q 'asked 1, status 0' ../out
	rm new
	trust_of "${names[@]}"
	grep -q 'DNS: no answer to the question for the SSHFP records of silent1.example: Connection timed out; and so for 7 more' ../out
	grep -q 'asked 1, status 0' ../out
	[ "$(wc -l <new)" = 8 ]
	# one after the other the time would be over before the last ones
	[ "$(grep '^silent.* 44$' queries | sort -u | wc -l)" = 8 ]
}
