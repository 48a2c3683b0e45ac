#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Three hosts without containers (`engine: none`): each has its own Debian, the stack that the script of
# `ringup recipe --format script` put into a virtual environment (TensorFlow and Horovod), and Debian's PyTorch.

load helper

# A chief, two workers and a parameter server.
SERVER=(-n 4 --launcher tf --roles 'chief=1,worker=2,ps=1')

# host_begin NODE: an sshd on port 2222 of the lab's host, which sees the machine's files as its own.
host_begin() {
	local root=$LAB/$1/root
	mkdir -p "$root" "$LAB/$1/upper" "$LAB/$1/work"
	# shellcheck disable=SC2016 # expanded there
	inside "$1" sh -c 'set -e
		mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
		cd "$1/root"
		mount -t proc proc proc
		mount --rbind /dev dev
		mount -t tmpfs tmpfs dev/shm
		mount -t tmpfs tmpfs run
		mkdir -p run/sshd root/.ssh
		printf "127.0.0.1 localhost\n%s %s\n" "$4" "$5" >etc/hosts
		cp "$3/ssh_host_ed25519_key" etc/ssh/
		cp "$3/authorized_keys" root/.ssh/
		exec chroot . /usr/sbin/sshd -o Port=2222 -o ListenAddress="$4" -o StrictModes=no' \
		sh "$LAB/$1" "$MACHINE" "$LAB/.ringup/lab/$1" "$(address "$1")" "$1"
}

setup_file() {
	local begin=$SECONDS name
	frameworks_begin
	ringup -q lab up --hosts 3 3>&- 4>&-
	cp cluster.yaml lab.yaml
	machine_cluster
	sed -i 's|port: 22,|port: 2222,|' cluster.yaml
	machine_make
	for name in $(hosts); do
		host_begin "$name"
	done
	sed -E 's/^([0-9.]+) /[\1]:2222 /' .ringup/lab/known_hosts >>.ringup/lab/known_hosts.2222
	cat .ringup/lab/known_hosts.2222 >>.ringup/lab/known_hosts
	ringup up >up.log 2>&1 3>&- 4>&- || {
		cat up.log
		return 1
	}
	note "hosts up: $((SECONDS - begin)) s"
	alone /usr/bin/python3 torch_ddp.py
}

teardown_file() {
	frameworks_end
}

setup() {
	cd "$LAB"
}

@test "torch by env, 3 ranks" {
	trains 3 --ppn 1 --launcher env -- /usr/bin/python3 torch_ddp.py
}

@test "torch by torchrun, 6 ranks" {
	trains 6 --launcher torchrun -- /usr/bin/python3 torch_ddp.py
}

@test "MultiWorkerMirroredStrategy by tf, 3 ranks" {
	trains 3 --ppn 1 --launcher tf -- $PYTHON tf_multiworker.py
}

@test "Horovod by mpirun, 3 ranks" {
	trains 3 --ppn 1 --launcher mpirun "${HOROVOD[@]}" -- python3 horovod_tf.py
}

@test "Horovod by horovodrun, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun "${HOROVOD[@]}" -- python3 horovod_tf.py
}

@test "Horovod by horovodrun --gloo, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun-gloo "${HOROVOD[@]}" -- python3 horovod_tf.py
}

@test "ParameterServerStrategy by tf: a chief, two workers and a server" {
	job "${SERVER[@]}" -- $PYTHON tf_parameter_server.py --epochs "$EPOCHS"
	[ "$status" = 0 ]
	# the chief's alone; its workers are not in step, so the weights differ each time
	reports 1
	near_alone 0.03
	nothing_of_the_job
}

@test "horovodrun --gloo: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher horovodrun-gloo "${HOROVOD[@]}" -- python3 faulty.py horovod_tf.py
}

@test "horovodrun --gloo: a host whose own name is no address for the others" {
	local line
	line="$(address node02) node02"
	ringup exec -H node02 -- sed -i 's/^.* node02$/127.0.1.1 node02/' /etc/hosts # as Debian's installer writes it
	job -n 3 --ppn 1 --launcher horovodrun-gloo "${HOROVOD[@]}" -- python3 horovod_tf.py
	ringup exec -H node02 -- sed -i "s/^.* node02\$/$line/" /etc/hosts
	[ "$status" = 125 ]
	grep "node02, has 127.0.1.1 here.* put the line '$line' into its /etc/hosts" err
	nothing_of_the_job
}

@test "horovodrun --gloo: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher horovodrun-gloo "${HOROVOD[@]}" -- python3 faulty.py horovod_tf.py
}

@test "tf: a worker of a parameter server dies" {
	job_begins '^\[0 node01\] batch 10' "${SERVER[@]}" -e FAULT=wait:0 -- $PYTHON faulty.py tf_parameter_server.py
	signal_task '"task":{"type":"worker","index":1}' KILL
	job_ends
	[ "$status" = 137 ]
	grep -q 'rank 2 on node02 was ended by signal 9' err
	nothing_of_the_job
}

@test "env: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher env -- /usr/bin/python3 faulty.py torch_ddp.py
}

@test "env: a rank dies" {
	one_dies 3 --ppn 1 --launcher env -- /usr/bin/python3 faulty.py torch_ddp.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "horovodrun --gloo: a rank dies" {
	one_dies 3 --ppn 1 --launcher horovodrun-gloo "${HOROVOD[@]}" -- python3 faulty.py horovod_tf.py
}

@test "tf: a worker dies" {
	one_dies 3 --ppn 1 --launcher tf -- $PYTHON faulty.py tf_multiworker.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "tf: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher tf -- $PYTHON faulty.py tf_multiworker.py
}

# A worker that is stopped would be noticed by TensorFlow itself, which misses its heartbeat after 10 s.
@test "tf: a worker hangs" {
	KIND=sleep one_hangs 3 --ppn 1 --launcher tf -- $PYTHON faulty.py tf_multiworker.py
}

@test "env: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher env -- /usr/bin/python3 faulty.py torch_ddp.py
}
