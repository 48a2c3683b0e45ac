#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ranks that learn from their launcher's environment who they are and where rank 0 is.

bats_require_minimum_version 1.5.0

load worker_helper

setup() {
	worker_setup
	export ALLREDUCE
}

# job "VARIABLES OF RANK 0" "VARIABLES OF RANK 1"... -- FLAGS: one process for each; output and status are rank 0's.
job() {
	local ranks=() pids=() words status=0 rank
	while [ "$1" != -- ]; do ranks+=("$1") && shift; done
	shift
	for ((rank = ${#ranks[@]} - 1; rank > 0; rank--)); do
		read -r -a words <<<"${ranks[rank]}"
		env "${words[@]}" "$ALLREDUCE" --timeout 10 "$@" >/dev/null &
		pids+=($!)
	done
	read -r -a words <<<"${ranks[0]}"
	env "${words[@]}" "$ALLREDUCE" -e 64 --timeout 10 "$@" || status=$?
	same_status "$status" "${pids[@]}"
}

# network: loopback up and two addresses as other hosts have them, in a network of this test's own
network() {
	ip link set lo up
	ip address add 10.9.8.1/32 dev lo
	ip address add 10.9.8.2/32 dev lo
}

# known LINE...: what /etc/hosts says from here on, in a mount namespace of this test's own
known() {
	local file
	file=$(mktemp -p "$BATS_TEST_TMPDIR")
	printf '%s\n' "127.0.0.1 localhost" "$@" >"$file"
	mount --bind "$file" /etc/hosts
}

# apart FUNCTION WORDS...: calls it where it can have a network, names and a host name of its own
apart() {
	export BATS_TEST_TMPDIR
	export -f job network known same_status "$1"
	own_namespaces --net --mount --uts bash -c 'network; "$@"' - "$@"
}

@test "torchrun that srun started: torchrun says who the ranks are" {
	torch="SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_JOB_ID=1 TORCHELASTIC_RUN_ID=bats$$ WORLD_SIZE=2 LOCAL_WORLD_SIZE=2"
	run job "$torch RANK=0" "$torch RANK=1" -- --json
	[ "$status" -eq 0 ]
	json 'd["world"] == 2'
}

@test "Hydra in a batch job of Slurm: Hydra says who the ranks are" {
	hydra="SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_JOB_ID=1 PMI_SIZE=2 MPI_LOCALNRANKS=2"
	run job "$hydra PMI_RANK=0" "$hydra PMI_RANK=1" -- --json
	[ "$status" -eq 0 ]
	json 'd["world"] == 2'
}

@test "torchrun on one host: no secret, whatever MASTER_ADDR is, and jobs of one name do not meet" {
	torch="TORCHELASTIC_RUN_ID=none WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=192.0.2.1"
	run job "$torch MASTER_PORT=29401 RANK=0" "$torch MASTER_PORT=29401 RANK=1" -- -n 20000 -b 64 &
	run job "$torch MASTER_PORT=29402 RANK=0" "$torch MASTER_PORT=29402 RANK=1" --
	echo "$output"
	[ "$status" -eq 0 ]
	wait
}

slurm_job() {
	known "10.9.8.1 node07"
	slurm="SLURM_NTASKS=2 SLURM_NNODES=2 SLURM_JOB_ID=77 SLURM_STEP_ID=3 SLURM_STEP_NODELIST=node[07-08] $1"
	job "$slurm SLURM_PROCID=0" "$slurm SLURM_PROCID=1" --
}

@test "Slurm on two hosts: rank 0 is on the first one, and the secret is needed" {
	run apart slurm_job RINGUP_SECRET=x
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *" on "*"(10.9.8.1)"*"# verdict: pass"* ]]
	run apart slurm_job A=B
	[ "$status" -eq 1 ]
	[[ "$output" == *"--root node07:"*"not on loopback"*'$RINGUP_SECRET'*'$RINGUP_SECRET_FILE'* ]]
}

@test "Slurm's lists of hosts, and its reserved ports" {
	while read -r list first; do
		SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=2 SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=$list \
			SLURM_STEP_RESV_PORTS=20111-20113 run own_namespaces --net "$ALLREDUCE" --timeout 1
		echo "$list: $output"
		[ "$status" -eq 1 ]
		[[ "$output" == *"--root $first:20111: "* ]]
	done <<-END
		na.invalid,nb.invalid na.invalid
		n[08-11,20].invalid,big1 n08.invalid
		n[3].invalid n3.invalid
		r[1-2]n[05,07].invalid r1n05.invalid
	END
	for list in '' 'n[08-11' '[]' "$(printf 'n%.0s' {1..300})"; do
		SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=2 SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=$list run "$ALLREDUCE"
		[ "$status" -eq 1 ]
		[[ "$output" == *"Slurm started ranks on several hosts"*"--root HOST:PORT"*MASTER_ADDR* ]]
	done
}

# Ranks 0 and 1 are on node07, which calls itself 127.0.1.1 as Debian does; rank 2 knows it by its address.
debian() {
	local pid
	# shellcheck disable=SC2016
	unshare --mount bash -c 'known "127.0.1.1 node07"
		node07=("$ALLREDUCE" --world 3 --host node07 --root node07:7000 "$@")
		"${node07[@]}" --rank 1 &
		exec "${node07[@]}" --rank 0' - "$@" &
	pid=$!
	known "10.9.8.1 node07"
	"$ALLREDUCE" --rank 2 --world 3 --host node08 --root node07:7000 "$@" &
	wait "$pid"
}

@test "a host that knows itself as 127.0.1.1 only is reached by the others" {
	RINGUP_SECRET=x run apart debian --timeout 4 -e 64K --collective alltoall --no-shm
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"on node07 (10.9.8.1)"*"on node07 (10.9.8.1)"*"on node08 (10.9.8.1)"*"# verdict: pass"* ]]
}

# Rank 0 listens on the second address of its name only.
several_addresses() {
	local pid
	known "10.9.8.1 node07" "10.9.8.2 node07"
	"$ALLREDUCE" --rank 0 --world 2 --host node07 --root 10.9.8.2:7000 "$@" &
	pid=$!
	"$ALLREDUCE" --rank 1 --world 2 --host node08 --root node07:7000 "$@"
	wait "$pid"
}

@test "every address of rank 0's name is tried" {
	RINGUP_SECRET=x run apart several_addresses --timeout 4 -e 64
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"on node08 (10.9.8."*"# verdict: pass"* ]]
}

@test "without a secret such a host does not listen to others" {
	run apart debian --timeout 2 -e 64
	[ "$status" -eq 4 ]
	[[ "$output" == *"not on loopback"* ]]
}

# Pod 0's name becomes known a second after pod 1 has started.
pods() {
	local pid
	known "10.9.8.1 train-0.pods.team.svc.cluster.local train-0" "10.9.8.2 train-1.pods.team.svc.cluster.local train-1"
	hostname train-0
	(sleep 1.5 && JOB_COMPLETION_INDEX=0 exec "$ALLREDUCE" "$@") &
	pid=$!
	sleep 0.3
	unshare --mount --uts bash -c '
		known "10.9.8.2 train-1.pods.team.svc.cluster.local train-1"
		hostname train-1
		JOB_COMPLETION_INDEX=1 "$ALLREDUCE" "$@" &
		sleep 1
		printf "10.9.8.1 train-0.pods.team.svc.cluster.local\n" >>/etc/hosts
		wait $!' - "$@" >/dev/null
	wait $pid
}

@test "the pods of a Kubernetes Job with a headless service find pod 0, though its name comes late" {
	export RINGUP_SECRET=x WORLD_SIZE=2
	run apart pods -e 64 --timeout 10 --json
	echo "$output"
	[ "$status" -eq 0 ]
	json 'd["world"] == 2 and [r["host"] for r in d["ranks"]] == ["train-0", "train-1"]'
}

@test "pods of a Kubernetes Job with several ranks each" {
	export RINGUP_SECRET=x
	run apart pods -e 64 --timeout 10 --procs 2 --world 4 --json
	echo "$output"
	[ "$status" -eq 0 ]
	json '[r["host"] for r in d["ranks"]] == ["train-0", "train-0", "train-1", "train-1"]'
}

# pod NAME LINE: a pod of that host name, /etc/hosts with that line
pod() {
	known "$2"
	hostname "$1"
	"$ALLREDUCE" --timeout 2
}

@test "a pod of a Kubernetes Job says what is missing" {
	JOB_COMPLETION_INDEX=1 run "$ALLREDUCE"
	[ "$status" -eq 1 ]
	[[ "$output" == *"JOB_COMPLETION_INDEX"*"rank 1"*"set WORLD_SIZE or --world"* ]]
	export JOB_COMPLETION_INDEX=1 WORLD_SIZE=2
	run apart pod train-1 "10.9.8.1 train-1"
	[ "$status" -eq 1 ]
	[[ "$output" == *"Kubernetes started ranks on several hosts"*MASTER_ADDR*subdomain*"headless service"* ]]
	run apart pod train-1 "10.9.8.1 train-1.pods.team.svc train-1"
	[ "$status" -eq 4 ]
	[[ "$output" == *"rank 1 (train-1) cannot find rank 0: train-0.pods.team.svc in phase join, after 2 s"* ]]
	JOB_COMPLETION_INDEX=0 run apart pod train-0 "10.9.8.1 train-0.pods.team.svc train-0"
	[ "$status" -eq 1 ]
	[[ "$output" == *'$RINGUP_SECRET_FILE'* ]]
}

@test "the secret may stand in a file" {
	port=$(free_port)
	file=$BATS_TEST_TMPDIR/secret
	echo first >"$file"
	run job "RANK=0 RINGUP_SECRET_FILE=$file" "RANK=1 RINGUP_SECRET=first" -- --world 2 --root "127.0.0.1:$port"
	[ "$status" -eq 0 ]
	run job "RANK=0 RINGUP_SECRET_FILE=$file" "RANK=1 RINGUP_SECRET=other" -- --world 2 --root "127.0.0.1:$port" --timeout 2
	[[ "$output" == *"turned away a connection from 127.0.0.1: wrong secret"* ]]
	for bad in "" "$(printf '%128s' x)"; do
		echo "$bad" >"$file"
		RINGUP_SECRET_FILE=$file run "$ALLREDUCE" -e 8
		[ "$status" -eq 1 ]
		[[ "$output" == *"$file: 1 to 127 bytes"* ]]
	done
	RINGUP_SECRET_FILE=$BATS_TEST_TMPDIR/none run "$ALLREDUCE" -e 8
	[ "$status" -eq 1 ]
	[[ "$output" == *"RINGUP_SECRET_FILE $BATS_TEST_TMPDIR/none: No such file"* ]]
}

# spread BACKEND WORDS...: three ranks of a real mpirun, each of which takes itself for the only one on its host
spread() {
	local backend=$1
	shift
	mpi -np 3 env "$@" OMPI_COMM_WORLD_LOCAL_SIZE=1 "$ALLREDUCE" -e 64K -f 64 --backend "$backend" --json
}

@test "mpirun on several hosts: MPI says where rank 0 listens, whatever the backend" {
	for backend in cpu mpi; do
		run spread "$backend"
		[ "$status" -eq 0 ]
		json "d['world'] == 3 and d['verdict'] == 'pass' and d['backend'] == '$backend'"
	done
	run spread cpu RINGUP_SECRET=ours
	[ "$status" -eq 0 ]
}

@test "mpirun on several hosts: without a plug-in, and with an MPI of another mpirun, the way out is named" {
	run spread cpu RINGUP_MPI_PLUGIN=/no/such
	[ "$status" -ne 0 ]
	[[ "$output" == *"several hosts"*--root*"MPI cannot tell: cannot open the MPI plug-in: /no/such"* ]]
	run env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2 "$ALLREDUCE"
	[ "$status" -eq 1 ]
	[[ "$output" == *"several hosts"*--root*"MPI has 1 ranks, this run 4"* ]]
}

# two_hosts: a second network "far", and in both what many hosts have: an address that every other one has, too
two_hosts() {
	mkdir -p /run/netns && mount -t tmpfs none /run/netns
	ip netns add far
	for network in "" "-n far"; do
		# shellcheck disable=SC2086
		printf '%s\n' "link set lo up" "link add docker0 type bridge" "address add 172.17.0.1/16 dev docker0" \
			"link set docker0 up" | ip $network -batch -
	done
	ip link add near type veth peer name near netns far
	ip address add 10.9.7.1/24 dev near
	ip link set near up
	ip -n far address add 10.9.7.2/24 dev near
	ip -n far link set near up
	printf '#!/bin/sh\nwhile [ "$1" != 10.9.7.2 ]; do shift; done\nshift\nexec ip netns exec far sh -c "$*"\n' >"$BATS_TEST_TMPDIR/ssh"
	chmod +x "$BATS_TEST_TMPDIR/ssh"
	mpi -np 4 --host 10.9.7.1:2,10.9.7.2:2 --mca plm_rsh_agent "$BATS_TEST_TMPDIR/ssh" --mca btl self,tcp \
		--mca btl_tcp_if_include 10.9.7.0/24 \
		--mca oob_tcp_if_include 10.9.7.0/24 "$ALLREDUCE" --no-shm -e 64K -f 64 --timeout 60 --json
}

@test "mpirun on two hosts: rank 0's address is one that the other host does not have itself" {
	export BATS_TEST_TMPDIR
	export -f mpi two_hosts
	# Open MPI may say on stderr that its ssh was quicker than itself: "setpgid failed in parent"
	run --separate-stderr own_namespaces --net --mount bash -c two_hosts
	# shellcheck disable=SC2154
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	json "d['world'] == 4 and d['verdict'] == 'pass'"
}

@test "an MPI that does not answer is given up after --timeout" {
	cat >"$BATS_TEST_TMPDIR/stuck.c" <<-END
		#include "$BATS_TEST_DIRNAME/../../images/worker/backend/mpi/plugin.h"
		#include <unistd.h>
		static int meet(void *data, size_t bytes, int processes, char *why, size_t why_bytes)
		{
			(void)data, (void)bytes, (void)processes, (void)why, (void)why_bytes;
			for (;;)
				pause();
		}
		const struct mpi_plugin mpi_plugin = {.abi = MPI_PLUGIN_ABI, .meet = meet};
	END
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/stuck.so" "$BATS_TEST_TMPDIR/stuck.c"
	run env RINGUP_MPI_PLUGIN="$BATS_TEST_TMPDIR/stuck.so" OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 \
		OMPI_COMM_WORLD_LOCAL_SIZE=1 timeout 10 "$ALLREDUCE" --timeout 1
	[ "$status" -eq 4 ]
	[[ "$output" == *"phase join"*"within 1 s"*--root* ]]
}
