#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# login, without a registry that would answer.

load helper
setup() {
	common_setup
	printf 'hosts: [a]\nregistry: {address: "127.0.0.1:1"}\n' >cluster.yaml
}

@test "no user name: exit 2" {
	apart ringup login
	says 2 --username 'standard input'
}

@test "no password: exit 2" {
	apart ringup login -u lab </dev/null
	says 2 'no password on standard input'
}

@test "no registry answers: exit 1, nothing is kept, nothing is shown" {
	apart ringup login -u lab <<<'hush-hush-7'
	says 1 '127.0.0.1:1'
	[ ! -e .ringup/auth.json ]
	! grep -q 'hush-hush-7' ../out ../err
	apart ringup -v login -u lab 127.0.0.1:2 <<<'hush-hush-7'
	says 1 '127.0.0.1:2'
	! grep -q 'hush-hush-7' ../out ../err
}

@test "a user name that cannot be one" {
	apart ringup login -u a:b <<<x
	[ "$status" -ne 0 ]
	[ ! -e .ringup/auth.json ]
}

@test "no registry named anywhere: exit 2" {
	echo 'hosts: [a]' >cluster.yaml
	apart ringup login -u lab <<<x
	says 2 registry
}
