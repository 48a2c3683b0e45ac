#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# PyTorch's DistributedDataParallel on three Docker hosts, in an image that ringup builds with Debian's PyTorch: by torchrun and by
# the variables of `env`.

load helper

setup_file() {
	frameworks_begin
	containers_up '[python, "os==debian12"]' 'apt: [python3-torch, libopenblas0-pthread]'
	job -n 1 --launcher env -- python3 torch_ddp.py
	[ "$status" = 0 ]
	reports 1
	# shellcheck disable=SC2154 # set by reports
	export ALONE=$accuracy
}

teardown_file() {
	frameworks_end
}

setup() {
	cd "$LAB"
}

@test "DistributedDataParallel by env, 3 ranks" {
	trains 3 --ppn 1 --launcher env -- python3 torch_ddp.py
}

@test "DistributedDataParallel by torchrun, 3 ranks" {
	trains 3 --ppn 1 --launcher torchrun -- python3 torch_ddp.py
}

@test "DistributedDataParallel by torchrun, 6 ranks" {
	trains 6 --launcher torchrun -- python3 torch_ddp.py
}

@test "env: a rank dies" {
	one_dies 3 --ppn 1 --launcher env -- python3 faulty.py torch_ddp.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "torchrun: a rank dies" {
	one_dies 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}

@test "env: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher env -- python3 faulty.py torch_ddp.py
}

@test "torchrun: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}

@test "env: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher env -- python3 faulty.py torch_ddp.py
}

@test "torchrun: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}
