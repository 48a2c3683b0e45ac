#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The all-reduce worker, where it takes long: large sizes, and a compiler that optimises.

load ../cli/worker_helper

setup() {
	worker_setup
}

@test "mpi backend: large sizes over TCP, which MPI sends only while it is called" {
	beside_other_work mpi -n 4 --mca btl self,tcp --mca btl_tcp_if_include lo "$ALLREDUCE" --backend mpi -b 2M -e 16M -n 20 --timeout 40 --quiet
}

@test "it builds and runs with what gcc 4.8 has, CentOS 7's" {
	old_gcc -O3
}
