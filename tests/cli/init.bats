#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup init: the file that it writes, and that other commands take it as it stands.

load helper
load fleet_hosts
setup() {
	common_setup
	fleet_setup
	rm cluster.yaml
	LOGIN=(--key keys/id --known-hosts keys/known_hosts --transport openssh)
}

@test "hosts of CPUs: ranges, comments, and the program takes the file" {
	apart ringup init '127.0.0.[1-3]' "${LOGIN[@]}" --name lab --registry 127.0.0.1:5000
	says 0 'cluster.yaml is written' 'ringup doctor'
	grep -qxF 'hosts: ["127.0.0.[1-3]"]' cluster.yaml
	grep -qF '#   127.0.0.[1-3]: debian12, x86_64' cluster.yaml
	grep -qxF 'accelerator: cpu' cluster.yaml
	apart ringup resolve
	says 0
	apart ringup probe
	says 0 '3 of 3 hosts answer'
}

@test "hosts with GPUs: a stack for them" {
	local n
	for n in 1 2; do
		on_host "$n" nvidia-smi 'case $1 in
			--query-gpu=name,uuid,compute_cap) echo "Tesla V100-SXM2-32GB, GPU-$$, 7.0" ;;
			*) exit 6 ;;
		esac'
	done
	unset RINGUP_CATALOG # the catalog of the tests has no NCCL
	mkdir -p sys/module/nvidia && echo 535.54.03 >sys/module/nvidia/version
	RINGUP_SYS=$PWD/sys apart ringup init 127.0.0.1,127.0.0.2 "${LOGIN[@]}" --registry-on 127.0.0.1
	says 0 'ringup registry serve --on 127.0.0.1'
	grep -qxF 'accelerator: cuda' cluster.yaml
	grep -qF 'nccl' cluster.yaml
	grep -qF '1 x Tesla V100-SXM2-32GB, driver 535.54.03, docker 24.0.7' cluster.yaml
	grep -qF 'registry: {address: "127.0.0.1:5000", ca: ".ringup/registry/127.0.0.1/ca.pem"}' cluster.yaml
	apart ringup resolve
	says 0
	grep -q '^cuda' ../out
}

@test "--engine none: the stack is what all hosts have" {
	local n
	for n in 1 2 3; do
		on_host "$n" mpirun 'echo "mpirun (Open MPI) 4.1.$((4 + '"$n"' / 3 * 2))"'
		on_host "$n" python3 'echo python=3.11; echo torch=2.4.0+cu121'
	done
	unset RINGUP_CATALOG
	apart ringup init '127.0.0.[1-2]' "${LOGIN[@]}" --engine none
	says 0 'cluster.yaml is written'
	grep -qxF 'stack: ["python==3.11", "torch==2.4.0", "openmpi==4.1.4"]' cluster.yaml
	! grep -q 'container engine' cluster.yaml
	apart ringup resolve
	says 0
	grep -q '^torch *2.4.0' ../out
	apart ringup init '127.0.0.[1-3]' "${LOGIN[@]}" --engine none --force
	says 0
	grep -qxF 'stack: ["python==3.11", "torch==2.4.0"]' cluster.yaml
	on_host 1 python3 'echo python=3.11; echo torch=2.4.77'
	apart ringup init 127.0.0.1 "${LOGIN[@]}" --engine none --force
	says 0 'the hosts have python==3.11 torch==2.4.77 openmpi==4.1.4, which does not resolve'
	grep -qF 'stack: ["openmpi", "python"' cluster.yaml
}

@test "a file that is there stays; --force writes over it; --dry-run prints" {
	echo 'mine' >cluster.yaml
	apart ringup init 127.0.0.1 "${LOGIN[@]}" --no-probe --registry r:1
	says 2 'cluster.yaml is there already' '--force'
	[ "$(cat cluster.yaml)" = mine ]
	apart ringup init 127.0.0.1 "${LOGIN[@]}" --no-probe --registry r:1 --dry-run
	says 0
	grep -qxF 'hosts: ["127.0.0.1"]' ../out
	[ "$(cat cluster.yaml)" = mine ]
	apart ringup init 127.0.0.1 "${LOGIN[@]}" --no-probe --registry r:1 --force
	says 0
	grep -q '^name: work$' cluster.yaml
}

@test "hosts that do not answer: some stand in the file with status 4, all write none" {
	echo 'No route to host' >hosts/127.0.0.2/away
	apart ringup init '127.0.0.[1-2]' "${LOGIN[@]}" --registry r:1
	says 4 '127.0.0.2'
	grep -qF '#   127.0.0.2: did not answer' cluster.yaml
	rm cluster.yaml
	cp hosts/127.0.0.2/away hosts/127.0.0.1/
	apart ringup init '127.0.0.[1-2]' "${LOGIN[@]}" --registry r:1
	says 1 'no file was written' '--no-probe'
	[ ! -e cluster.yaml ]
	[ -z "$(find . -maxdepth 1 -name '.cluster.yaml.*')" ]
}

@test "what it cannot use is refused before anything happens" {
	apart ringup init
	says 2 'no hosts'
	apart ringup init 'node[01'
	says 2 "'node[01': a '[' needs its ']'"
	apart ringup init 'a;b'
	says 2 'no name or address'
	apart ringup init 127.0.0.1 --no-probe --registry r:1 --name 'Bad Name'
	says 2 'the file that was to be written'
	for words in '--engine lxc' '--registry-on node99' '--registry 10.0.0.1' '--ca no.pem --registry r:1'; do
		# shellcheck disable=SC2086 # words
		apart ringup init 127.0.0.1 "${LOGIN[@]}" $words
		says 2 "${words%% *} "
	done
	apart ringup init 127.0.0.1 "${LOGIN[@]}" --registry r:1 --stack nonsense==3
	says 2 "nothing is known as 'nonsense'"
	[ ! -e cluster.yaml ]
}

@test "hosts that nobody asked: a set as other commands take it, and a stack for whatever they have" {
	apart ringup init 'node[01-04]!node02' --no-probe --registry r:1
	says 0 'ringup hosts trust' 'ringup keys install' 'ringup init --force' 'ringup login -u USER' 'ringup up'
	grep -qxF 'hosts: ["node[01,03-04]"]' cluster.yaml
	grep -q '^accelerator: auto' cluster.yaml
	[ "$(grep -c 'user:' cluster.yaml)" = 0 ] # that of ~/.ssh/config counts
	apart ringup resolve
	says 0
}
