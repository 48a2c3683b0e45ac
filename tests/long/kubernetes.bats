#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What 'ringup export' writes, run for real on a lab host's Docker Engine: kubelet.py stands in for Kubernetes and makes
# the pods; sshd, mpirun, the worker and the capabilities are real. Compose is Docker's own.

load ../lab/helper

setup_file() {
	lab_cluster 1
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# pods WORD...: exports, checks the fields, and runs the job on the lab host; output in out, status in $status.
pods() {
	ringup -q export kubernetes "$@" >job.yaml
	python3 "$BATS_TEST_DIRNAME/../cli/manifests.py" job.yaml
	status=0
	inside node01 python3 "$BATS_TEST_DIRNAME/kubelet.py" "$LAB/job.yaml" bench-secret=0123456789abcdef >out 2>&1 || status=$?
}

@test "an Indexed Job: four ranks of ringup's worker in two pods" {
	pods --nodes 2 --ppn 2
	grep 'Rank  3 .* on bench-1 ' out
	grep 'verdict: pass' out
	[ "$status" -eq 0 ]
}

@test "a JobSet: the same ranks, with the names that it gives its pods" {
	pods --kind jobset --nodes 2 --ppn 2
	grep 'Rank  3 .* on bench-node-0-1 ' out
	grep 'verdict: pass' out
	[ "$status" -eq 0 ]
}

@test "an MPIJob: mpirun reaches the workers by ssh that knows them, and they have few capabilities" {
	pods --launcher mpirun --nodes 2 --ppn 2
	grep 'Rank  3 .* on bench-worker-1 ' out
	grep 'verdict: pass' out
	grep 'Accepted publickey for root' out
	[ "$status" -eq 0 ]
	grep -q 'add: \[SETGID, SETUID, SYS_CHROOT\]' job.yaml
}

@test "an MPIJob whose workers have another host key: mpirun trains nothing" {
	ringup -q export kubernetes --launcher mpirun --nodes 2 >job.yaml
	sed -i 's|  -o HostKey=/run/sshd/id_rsa|  -o HostKey=/tmp/other|; s|exec /usr/sbin/sshd|ssh-keygen -q -N "" -f /tmp/other; &|' \
		job.yaml
	status=0
	inside node01 python3 "$BATS_TEST_DIRNAME/kubelet.py" "$LAB/job.yaml" >out 2>&1 || status=$?
	[ "$status" -ne 0 ]
	grep 'Host key verification failed' out
}

@test "a rank fails: its pod ends with its status; three ranks on two pods; another user" {
	# shellcheck disable=SC2016 # for the pod's shell
	pods --nodes 2 --ppn 2 -- sh -c '[ "$RANK" != 3 ] || exit 7; sleep 30'
	[ "$status" -eq 7 ]
	# shellcheck disable=SC2016
	pods --nodes 2 --ppn 2 -n 3 --set user=1234 -- sh -c 'echo "$(id -u) $HOME rank $RANK of $WORLD_SIZE on $NODE_RANK, $$"'
	[ "$status" -eq 0 ]
	[ "$(grep -c '1234 /tmp rank [012] of 3 on [01], [0-9]' out)" -eq 3 ]
}

# followed WORD...: what `run --on kubernetes` would submit.
followed() {
	ringup -q run --on kubernetes --dry-run "$@" >job.yaml
	status=0
	inside node01 python3 "$BATS_TEST_DIRNAME/kubelet.py" "$LAB/job.yaml" >out 2>&1 || status=$?
}

@test "a job that is followed: each line of a pod with several ranks says whose it is" {
	# shellcheck disable=SC2016 # for the pod's shell
	followed --kind job -n 3 --nodes 2 --ppn 2 -- sh -c 'echo "rank $RANK"; echo "its end" >&2'
	[ "$status" -eq 0 ]
	grep -F '[default0]:rank 2' out
	[ "$(grep -cF '[default0]:its end' out)" -eq 2 ]
	[ "$(grep -cF '[default1]:' out)" -eq 2 ]
	# the first that fails ends the pod with its status, and its last line is there
	# shellcheck disable=SC2016
	followed --kind job --nodes 2 --ppn 2 -- sh -c '[ $RANK = 3 ] || exec sleep 60; echo "no data"; exit 7'
	[ "$status" -eq 7 ]
	grep -F '[default1]:no data' out
	# shellcheck disable=SC2016
	followed --launcher mpirun --nodes 2 --ppn 2 -- sh -c 'echo "rank $OMPI_COMM_WORLD_RANK"'
	[ "$status" -eq 0 ]
	grep -F '[1,3]<stdout>:rank 3' out
}

@test "Compose: the worker's ranks pass in one container; a rank's status is the command's" {
	ringup -q export compose -n 3 -o here >/dev/null
	inside node01 docker-compose -f "$LAB/here/compose.yaml" config >out
	inside node01 docker-compose -f "$LAB/here/compose.yaml" up --exit-code-from bench >out 2>&1
	grep 'Rank  2 ' out
	grep 'verdict: pass' out
	inside node01 docker-compose -f "$LAB/here/compose.yaml" down
	# shellcheck disable=SC2016 # for the container's shell
	ringup -q export compose -n 2 --name fails -o here -- sh -c 'exit $((RANK * 5))' >/dev/null
	status=0
	inside node01 docker-compose -f "$LAB/here/compose.yaml" up --exit-code-from fails >out 2>&1 || status=$?
	inside node01 docker-compose -f "$LAB/here/compose.yaml" down
	[ "$status" -eq 5 ]
}
