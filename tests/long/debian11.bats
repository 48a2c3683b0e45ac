#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Another Debian than this machine's, from its own packages: made, built, and its worker run inside of it.

load ../lab/build_helper

setup_file() {
	build_begin
	printf '%s\n' 'name: lab' 'hosts: [a]' 'accelerator: cpu' 'stack: ["os==debian11"]' | cat - mirrors >cluster.yaml
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "Debian 11: the base, the image, and MPI in it" {
	build build -o oci:image
	mkdir root
	jq -r '.layers[].digest' "image/blobs/sha256/$(digest image | cut -d: -f2)" | cut -d: -f2 |
		while read -r layer; do tar -C root --exclude='dev/*' -xf "image/blobs/sha256/$layer"; done
	[[ $(<root/etc/debian_version) == 11.* ]]
	! grep -v '^deb http://deb.debian.org/' root/etc/apt/sources.list
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 run unshare --mount --pid --fork --kill-child sh -c '
		mount -t proc proc root/proc && mount --rbind /dev root/dev
		exec chroot root mpirun --oversubscribe -n 2 allreduce --backend mpi -e 64K -f 64 --json'
	[ "$status" -eq 0 ]
	jq -e '.verdict == "pass" and .ranks[1].rank == 1' <<<"$output"
	nothing_runs
}
