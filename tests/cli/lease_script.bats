#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/lease.sh: GPUs are given once, also when many take at the same time, and free themselves when who had
# them is gone. An nvidia-smi of this test prints what real ones printed.

load helper

setup() {
	common_setup
	HOST_SHELL=$(command -v dash || echo sh)
	export RINGUP_STATE_ROOT=$PWD/state
	LEASES=$PWD/state/.leases
	mkdir bin
	PATH="$PWD/bin:$PATH"
	smi 4
}

# smi COUNT: a host with so many GPUs, whose islands are in the file topo and whose processes are in the file apps.
smi() {
	: >apps
	: >topo
	cat >bin/nvidia-smi <<-EOT
		#!/bin/sh
		case "\$*" in
			-L) cat "$PWD/list" ;;
			--query-compute-apps=gpu_uuid,pid*) cat "$PWD/apps" ;;
			"topo -m") cat "$PWD/topo" ;;
			*) exit 2 ;;
		esac
	EOT
	chmod +x bin/nvidia-smi
	for ((i = 0; i < $1; i++)); do printf 'GPU %d: NVIDIA A100-SXM4-40GB (UUID: GPU-%d)\n' "$i" "$i"; done >list
}

lease() {
	"$HOST_SHELL" "$ROOT/deployer/remote/lease.sh" "$@"
}

# taken ID COUNT [KEY=VALUE...]: what the job gets, "0,1" for GPU-0 and GPU-1.
taken() {
	lease take "id=$1" "count=$2" job=train cluster=lab user=alice "${@:3}" | sed -n 's/^taken=//p' | sed 's/GPU-//g'
}

# states [KEY=VALUE...]: of all GPUs.
states() {
	lease list "$@" | sed -n 's/^gpu=[^ ]* [^ ]* //p' | xargs
}

@test "a GPU is given once, and given back" {
	[ "$(taken one 1)" = 0 ]
	[ "$(taken two 2)" = 1,2 ]
	[ -z "$(taken three 2)" ]
	[ "$(states)" = "leased leased leased free" ]
	lease give id=two
	[ "$(taken three 3)" = 1,2,3 ]
	lease list | grep -x 'lease=GPU-1 job 20..-..-..T..:..:..Z lab alice train'
	[ "$(stat -c %a "$LEASES") $(stat -c %a "$LEASES/GPU-1.job")" = "755 644" ]
}

@test "all GPUs go to who asks for all, when nobody has one; and those that are free in any case" {
	printf 'GPU-3, %s\n' $$ >apps
	[ "$(taken one all)" = 0,1,2 ]
	[ -z "$(taken two all)" ]
	[ -z "$(taken two free)" ]
	lease give id=one
	: >apps
	[ "$(taken two 1)" = 0 ]
	[ -z "$(taken one all)" ]
	[ "$(taken one free)" = 1,2,3 ]
}

@test "who asks again gets the same GPUs" {
	[ "$(taken one 2)" = 0,1 ]
	[ "$(taken two 1)" = 2 ]
	[ "$(taken one 2)" = 0,1 ]
}

@test "GPUs that are taken together are held since one time, whatever the clock does meanwhile" {
	printf '#!/bin/sh\necho >>"%s/calls"\necho 2026-01-01T00:00:$(wc -l <"%s/calls")Z\n' "$PWD" "$PWD" >bin/date
	chmod +x bin/date
	[ "$(taken one 3)" = 0,1,2 ]
	[ "$(grep -h ^since= "$LEASES"/* | sort | uniq -c | awk '{print $1}')" = 3 ]
}

@test "a GPU that a process uses without a lease is never given out" {
	echo "GPU-0, $$" >apps
	[ "$(states)" = "used free free free" ]
	lease list | grep -x "process=GPU-0 $$ $(id -un)"
	[ "$(taken one 3)" = 1,2,3 ]
	[ -z "$(taken two 1)" ]
}

@test "many take at the same time: each GPU goes to one of them" {
	smi 8
	for i in {1..16}; do taken "job$i" 1 grace=60 >"got.$i" & done
	wait
	[ "$(cat got.* | sort | xargs)" = "0 1 2 3 4 5 6 7" ]
	[ -z "$(taken last 1)" ]
}

@test "a job that is gone has no GPU: it ended, was killed, or never came" {
	RINGUP_JOB_ID=beef sleep 60 &
	holder=$!
	[ "$(taken beef 1 grace=0)" = 0 ]
	[ "$(states)" = "leased free free free" ]
	kill -9 $holder
	wait $holder || true
	[ "$(states)" = "free free free free" ]
	[ "$(taken next 1 grace=0)" = 0 ]
	[ "$(states)" = "free free free free" ]
}

@test "a job that nobody waits for keeps its GPUs while a process of it lives, and not longer" {
	RINGUP_JOB_ID=beef sleep 60 &
	holder=$!
	[ "$(taken beef 1 grace=60)" = 0 ]
	run lease free id=beef
	[ "$status" = 1 ]
	[[ $output = *"processes of the job still live"* ]]
	[ "$(states)" = "leased free free free" ]
	kill -9 $holder
	wait $holder || true
	lease free id=beef
	[ "$(states)" = "free free free free" ]
}

@test "who looks at the same time holds nothing" {
	# no other process of the machine has this word
	[ "$(taken "looked-at-$$" 2 grace=0)" = 0,1 ]
	printf '#!/bin/sh\nif [ -e "%s/slow" ]; then : >"%s/looks"; sleep 3; fi\nexec %s "$@"\n' "$PWD" "$PWD" "$(command -v grep)" >bin/grep
	chmod +x bin/grep
	: >slow
	lease list >/dev/null &
	while [ ! -e looks ]; do sleep 0.05; done
	rm slow
	[ "$(states)" = "free free free free" ]
	kill -0 $! # it still looks
	wait
}

@test "the supervisor alone holds it: its words have the id" {
	bash -c 'exec -a ringup-job sleep 60' &
	holder=$!
	[ "$(taken 60 1 grace=0)" = 0 ]
	[ "$(states)" = "leased free free free" ]
	kill $holder
}

@test "after a boot a lease is nobody's" {
	[ "$(taken one 4)" = 0,1,2,3 ]
	sed -i 's/^boot=.*/boot=11111111-2222-3333-4444-555555555555/' "$LEASES"/*.job
	[ "$(states)" = "free free free free" ]
	[ "$(taken two 1)" = 0 ]
}

@test "files that are no leases change nothing" {
	taken one 1
	rm "$LEASES"/*.job
	ln -s /etc/passwd "$LEASES/GPU-0.job"
	mkdir "$LEASES/GPU-1.job"
	head -c 100000 /dev/zero | tr '\0' 'x' >"$LEASES/GPU-2.job"
	printf 'id=\033[2J\nuntil=99999999999999999999\nboot=%s\n' "$(cat /proc/sys/kernel/random/boot_id)" >"$LEASES/GPU-3.job"
	[ "$(states)" = "free free free free" ]
	lease list >out
	! grep -q $'\033' out
	[ "$(taken two 1)" = 0 ]
	[ ! -L "$LEASES/GPU-0.job" ]
	[ "$(head -n 1 /etc/passwd | cut -d: -f1)" = root ]
}

@test "a file of another user is no lease" {
	[ "$(taken one 2)" = 0,1 ]
	chown 1234 "$LEASES/GPU-0.job"
	[ "$(states)" = "free leased free free" ]
}

@test "a folder that is a link, or somebody else's, is refused" {
	mkdir -p state elsewhere
	ln -s "$PWD/elsewhere" state/.leases
	run lease take id=one count=1
	[ "$status" = 1 ]
	[[ $output = *"is a symbolic link; remove it"* ]]
	rm state/.leases
	mkdir state/.leases
	chown 1234 state/.leases
	run lease take id=one count=1
	[ "$status" = 1 ]
	[[ $output = *"belongs to the user"* ]]
}

@test "who waits is first in line, and a ticket that nobody renews does not count" {
	[ "$(taken one 4)" = 0,1,2,3 ]
	lease list id=two count=2 ticket=00000000000000000002 >/dev/null
	lease list id=three count=1 ticket=00000000000000000001 job=early cluster=lab user=bob >/dev/null
	lease give id=one
	lease list id=two ticket=00000000000000000002 | grep -x queue=1
	lease list | grep -x 'ticket=1 lab bob early'
	[ -z "$(taken two 2 ticket=00000000000000000002)" ]
	[ -z "$(taken four 1)" ]
	[ "$(taken three 1 ticket=00000000000000000001)" = 0 ]
	[ "$(taken two 2 ticket=00000000000000000002)" = 1,2 ]
	[ -z "$(find "$LEASES" -name '*.ticket')" ]
	lease list id=five count=1 ticket=00000000000000000001 >/dev/null
	[ -z "$(taken six 1)" ]
	sed -i 's/^until=.*/until=1/' "$LEASES"/*.ticket
	[ "$(taken six 1)" = 3 ]
}

@test "GPUs that NVLink joins go together, the smallest island that is large enough first" {
	smi 6
	# pairs by bridges, and one GPU of each of two without; as "topo -m" prints them
	printf '\t\033[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tNIC0\tCPU Affinity\tNUMA Affinity\033[0m\n' >topo
	cat >>topo <<-EOT
		GPU0	 X 	SYS	NV12	SYS	SYS	SYS	PXB	0-31	0
		GPU1	SYS	 X 	SYS	NV12	NV12	SYS	SYS	0-31	0
		GPU2	NV12	SYS	 X 	SYS	SYS	SYS	SYS	0-31	0
		GPU3	SYS	NV12	SYS	 X 	SYS	SYS	SYS	0-31	0
		GPU4	SYS	NV12	SYS	SYS	 X 	SYS	SYS	0-31	0
		GPU5	SYS	SYS	SYS	SYS	SYS	 X 	SYS	0-31	0
		NIC0	PXB	SYS	SYS	SYS	SYS	SYS	 X

		Legend:
		  NV#  = Connection traversing a bonded set of # NVLinks
	EOT
	[ "$(taken one 2)" = 0,2 ]
	[ "$(taken two 1)" = 5 ]
	lease give id=one
	[ "$(taken three 4)" = 0,1,3,4 ]
	[ "$(taken four 1)" = 2 ]
}

@test "only what the cluster gives to its containers is given to jobs: indexes, UUIDs, none" {
	[ "$(states among=2,GPU-0)" = "free outside free outside" ]
	[ "$(taken one 1 among=2)" = 2 ]
	[ -z "$(taken two 1 among=2)" ]
	[ "$(states among=-)" = "outside outside outside outside" ]
}

@test "MIG devices are leased by themselves" {
	cat >list <<-EOT
		GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-aa)
		  MIG 3g.40gb     Device  0: (UUID: MIG-b0)
		  MIG 3g.40gb     Device  1: (UUID: MIG-b1)
		GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-cc)
		  MIG 7g.80gb Device 0: (UUID: MIG-GPU-cc/1/0)
	EOT
	lease list | grep '^gpu=' >out
	[ "$(cat out)" = "$(printf '%s\n' 'gpu=0:0 MIG-b0 free' 'gpu=0:1 MIG-b1 free' 'gpu=1:0 MIG-GPU-cc/1/0 free')" ]
	[ "$(taken one 1 among=1:0)" = MIG-cc/1/0 ]
	[ "$(taken two 1)" = MIG-b0 ]
	[ "$(states)" = "leased free leased" ]
	echo "GPU-aa, 4711" >apps
	[ "$(states)" = "leased free leased" ]
	lease give id=two
	[ "$(states)" = "used used leased" ]
}

@test "up keeps GPUs while the container's label names them" {
	cat >bin/engine <<-EOT
		#!/bin/sh
		cat "$PWD/container" 2>/dev/null && exit 0
		echo "Error: No such container: \$5" >&2
		exit 1
	EOT
	chmod +x bin/engine
	up() {
		lease take kind=up owner="$1" cluster=lab count="$2" grace="$3" engine=engine container=ringup-lab user=bob |
			sed -n 's/^taken=//p' | sed 's/GPU-//g'
	}
	[ "$(up aaaa 2 0)" = 0,1 ]
	[ "$(states)" = "free free free free" ]
	echo 'aaaa shm_size=8g gpus=GPU-0,GPU-1 privileged=no' >container
	[ "$(up aaaa 2 0)" = 0,1 ]
	[ "$(states owner=bbbb)" = "leased leased free free" ]
	[ "$(states owner=aaaa among=up)" = "free free outside outside" ]
	[ "$(taken one 1 owner=aaaa among=up)" = 0 ]
	[ "$(up aaaa 2 0)" = 0,1 ]
	[ "$(up aaaa 3 0)" = 0,1,2 ]
	[ "$(states owner=bbbb)" = "leased leased free free" ]
	echo 'aaaa shm_size=8g gpus=all' >container
	[ "$(states owner=bbbb)" = "leased free free free" ]
	echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >container
	[ "$(states owner=bbbb)" = "leased leased leased free" ]
	lease give kind=up owner=aaaa cluster=lab
	[ "$(states owner=bbbb)" = "leased free free free" ]
}

@test "no GPUs, and a driver that fails: the reason, and no folder" {
	rm bin/nvidia-smi
	PATH=/usr/bin:/bin run lease list
	[ "$status" = 0 ]
	[[ $output = *"none=there is no nvidia-smi"* ]]
	printf '#!/bin/sh\necho Failed to initialize NVML: Driver/library version mismatch\nexit 18\n' >bin/nvidia-smi
	chmod +x bin/nvidia-smi
	lease take id=one count=1 | grep -x 'broken=nvidia-smi fails: Failed to initialize NVML: Driver/library version mismatch'
	[ ! -e state ]
}
