#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Commands on a cluster with containers that is up (containers.bash): exec, logs, down, bench, and the hosts that they take.

load helper
load containers
setup() { containers_setup; }

@test "exec: the status is the command's, the highest one of the hosts" {
	apart ringup exec -- sh -c 'exit 7'
	says 7 'node01, node02, node03: sh ended with status 7'
	# shellcheck disable=SC2016 # for the shell on the host
	apart ringup exec -- sh -c 'exit ${HOST_FOLDER##*.}'
	says 3 'node02: sh ended with status 2'
	# shellcheck disable=SC2016
	apart ringup --json exec -- sh -c 'exit ${HOST_FOLDER##*.}'
	says 3
	json '[h["status"] for h in d["hosts"]] == [1, 2, 3]'
	apart ringup exec -- true
	says 0
}

@test "exec: a host that cannot be reached, and a command that fails on another" {
	host_has 2 away 'connection refused'
	apart ringup exec -- true
	says 4 'node02' 'refused' '1 of 3 hosts failed'
	apart ringup exec -- sh -c 'exit 9'
	says 9 'node02' 'refused' 'status 9'
}
