#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A stack is for one processor: --arch, arch==, the hosts or the GPUs say which, and ringup.lock keeps it.

load helper
setup() {
	common_setup
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	other=aarch64
	[ "$(uname -m)" != aarch64 ] || other=x86_64
}

# cluster WORD...: a cluster file whose stack this is, with two hosts.
cluster() {
	printf 'name: lab\nhosts: [a, b]\nstack: [%s]\n' "$(printf '"%s", ' "$@" | sed 's/, $//')" >cluster.yaml
}

# hosts PROCESSOR PROCESSOR: facts of a and b, each with a GPU.
hosts() {
	local host='{"host": "%s", "arch": "%s", "driver": "580.95.05", "gpus": [{"name": "NVIDIA GH200 480GB"}]}'
	# shellcheck disable=SC2059  # the format is ours
	printf "{\"hosts\": [$host, $host]}\n" a "$1" b "$2" >facts.json
}

locked() {
	python3 -c 'import json; print(json.load(open("ringup.lock")).get("arch"))'
}

@test "--arch and arch== name the processor; the GPUs imply it" {
	for words in '--arch aarch64' '--arch arm64' arch==aarch64 arch==sbsa gpu==GH200 gpu==GB200 'gpu==GB10'; do
		# shellcheck disable=SC2086  # words
		apart ringup resolve --json --no-lock torch $words
		json 'd["arch"] == "aarch64"'
	done
	apart ringup resolve --json --no-lock torch gpu==H100
	json '"arch" not in d'
	apart ringup resolve --no-lock torch arch==aarch64
	grep -q '^arch  *aarch64' ../out
	apart ringup resolve --no-lock --explain torch arch==aarch64
	grep -q '^arch  *aarch64' ../out
	# the repositories and wheels are those of Arm servers
	apart ringup recipe torch gpu==GH200 os==ubuntu24.04
	grep -q '/sbsa ' ../out
	! grep -i 'x86_64\|amd64' ../out
}

@test "a processor that no stack is for, and two of them" {
	apart ringup resolve --arch ppc64le torch
	says 2 '--arch' ppc64le 'x86_64 and aarch64'
	apart ringup resolve torch arch==riscv64
	says 2 arch==riscv64
	apart ringup resolve --arch arm64 torch arch==x86_64
	says 2 arch==x86_64 'one processor'
	apart ringup resolve torch 'arch>=aarch64'
	says 2 'arch==aarch64'
	apart ringup resolve --arch x86_64 torch gpu==GB200
	says 3 'hosts with the GB200 are aarch64' 'stack is for x86_64'
	apart ringup resolve --arch aarch64 --no-lock mxnet
	says 3 'the catalog has no mxnet for aarch64'
}

@test "the lock keeps the processor, and shows that it moves" {
	cluster torch==2.13.0 os==ubuntu24.04
	ringup resolve --arch aarch64
	[ "$(locked)" = aarch64 ]
	ringup resolve
	[ "$(locked)" = aarch64 ]
	apart ringup resolve --update
	says 0 'nothing moves'
	[ "$(locked)" = aarch64 ]
	apart ringup recipe
	grep -q '^# arch aarch64' ../out
	apart ringup resolve --arch x86_64
	says 0 'arch: aarch64 -> x86_64'
	[ "$(locked)" = None ]
}

@test "a lock of another processor is refused" {
	cluster torch==2.13.0 os==ubuntu24.04
	ringup resolve --arch aarch64
	apart ringup recipe --arch x86_64
	says 3 ringup.lock 'arch==x86_64' 'the stack is for aarch64' 'ringup resolve --update'
	[ ! -s ../out ]
	sed -i 's/"aarch64"/"riscv64"/' ringup.lock
	apart ringup recipe
	says 2 ringup.lock riscv64
}

@test "a lock that was made before there were processors is of x86_64" {
	cluster torch==2.13.0 os==ubuntu24.04
	ringup resolve
	! grep '"arch"' ringup.lock
	apart ringup recipe
	[ "$status" -eq 0 ]
	! grep '^# arch' ../out
	apart ringup recipe --arch aarch64
	says 3 'the stack is for x86_64'
}

@test "hosts of two processors have a plan each; --arch takes one, and refuses the other hosts" {
	cluster torch
	hosts aarch64 x86_64
	apart ringup resolve --no-lock --facts facts.json
	says 0
	grep -qE '^arch +x86_64, aarch64' ../out
	apart ringup resolve --no-lock --json --facts facts.json
	json 'd["other"]["arch"] == "aarch64" and d["stack"]["torch"]["version"] == d["other"]["stack"]["torch"]["version"]'
	apart ringup resolve --arch aarch64 --facts facts.json
	says 3 'host a (aarch64)' 'host b (x86_64)' 'an image is for one processor' 'host a -> arch==aarch64' 'host b -> arch==x86_64'
	apart ringup resolve --arch aarch64 --json --facts facts.json
	json 'd["allow"] == ["arch"] and [g["stack"] for g in d["groups"]] == ["arch==aarch64", "arch==x86_64"]'
	hosts x86_64 x86_64
	apart ringup resolve --arch aarch64 --facts facts.json
	says 3 'hosts a, b (x86_64): they are x86_64, and the stack is for aarch64'
	! grep 'split the cluster' ../err
	[ ! -e ringup.lock ]
	hosts aarch64 aarch64
	ringup resolve --facts facts.json
	[ "$(locked)" = aarch64 ]
}

@test "another machine's image is not built here, and its archives are not asked here" {
	cluster openmpi==4.1.4 os==debian12 "arch==$other"
	printf 'accelerator: cpu\n' >>cluster.yaml
	ringup resolve
	apart ringup build
	says 1 "the image is for $other, and this machine is $(uname -m)" "ringup build --on HOST"
	apart ringup resolve --pin
	says 1 "the image is for $other" 'run this on a host'
	# what would be done can be seen anywhere
	apart ringup build --dry-run
	[ "$status" -eq 0 ]
}

@test "a catalog without an OS for the processor has no stack for it" {
	RINGUP_CATALOG=$ROOT/tests/golden/catalog apart ringup resolve --no-lock openmpi arch==aarch64
	says 3 'the catalog has no os for aarch64'
	[ ! -s ../out ]
}

@test "a script for a bare host looks at its processor" {
	cluster openmpi==4.1.4 os==debian12 "arch==aarch64"
	printf 'accelerator: cpu\n' >>cluster.yaml
	ringup resolve
	ringup recipe --format script >script
	# root and the OS are asked for elsewhere
	sed -n '/^((EUID/s/((EUID == 0)) || die [^;]*; //p' script >asked
	grep -q 'uname -m' asked
	printf 'die() { echo "$*"; exit 1; }\nuname() { echo x86_64; }\n' | cat - asked >other
	run bash other
	[ "$status" -eq 1 ]
	[[ $output == *'this host is x86_64, and the stack is for aarch64'* ]]
	printf 'die() { echo "$*"; exit 1; }\nuname() { echo aarch64; }\n' | cat - asked >own
	bash own
}

@test "the tables of a processor" {
	apart ringup matrix torch arch==arm64 version==2.8.0
	grep -q '^2\.8\.0 .*whl/cu129' ../out
	apart ringup matrix torch.aarch64 version==2.8.0
	grep -q '^2\.8\.0 .*whl/cu129' ../out
	apart ringup matrix gpu arch==aarch64 # a column of its own
	grep -q '^GH200 ' ../out
	! grep '^H100' ../out
	apart ringup matrix
	grep -q '^torch.aarch64 .*aarch64: PyTorch wheels' ../out
	apart ringup matrix torch arch==riscv64
	says 2 arch==riscv64
}

@test "an OS that NVIDIA has for another processor only" {
	apart ringup resolve --no-lock torch os==centos7 arch==aarch64
	says 3 'no stack for aarch64' 'os==centos7'
	apart ringup resolve --no-lock torch os==center7 arch==aarch64
	says 2 center7
	apart ringup resolve --json --no-lock mxnet==1.9.1 arch==aarch64
	json 'd["arch"] == "aarch64" and d["conflict"][0]["request"] == "mxnet==1.9.1"'
}
