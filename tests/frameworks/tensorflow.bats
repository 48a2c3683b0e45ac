#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TensorFlow on three Docker hosts, in an image that ringup resolves and builds: with Horovod by mpirun and horovodrun, and with
# its own strategies by TF_CONFIG.

load helper

# The three hosts share this machine's processors, which Open MPI does not know: a rank that waits lets others work.
YIELD=OMPI_MCA_mpi_yield_when_idle=1

setup_file() {
	frameworks_begin
	containers_up '["tensorflow==2.13.1", horovod, openmpi, "os==debian12"]'
	job -n 1 --launcher env -- python3 tf_multiworker.py
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

@test "Horovod by mpirun, 3 ranks" {
	trains 3 --ppn 1 --launcher mpirun -e $YIELD -- python3 horovod_tf.py
}

@test "Horovod by horovodrun, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun -e $YIELD -- python3 horovod_tf.py
}

@test "Horovod by horovodrun --gloo, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun-gloo -- python3 horovod_tf.py
}

@test "MultiWorkerMirroredStrategy by tf, 3 ranks" {
	trains 3 --ppn 1 --launcher tf -- python3 tf_multiworker.py
}

@test "ParameterServerStrategy by tf: a chief, two workers and a server" {
	job -n 4 --launcher tf --roles chief=1,worker=2,ps=1 -- python3 tf_parameter_server.py
	[ "$status" = 0 ]
	# the chief's; its workers are not in step, so the weights are others each time
	reports 1
	near_alone 0.02
	nothing_of_the_job
}

@test "mpirun: a rank dies" {
	one_dies 3 --ppn 1 --launcher mpirun -e $YIELD -- python3 faulty.py horovod_tf.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "mpirun: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher mpirun -e $YIELD -- python3 faulty.py horovod_tf.py
}

@test "mpirun: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher mpirun -e $YIELD -- python3 faulty.py horovod_tf.py
}

@test "horovodrun: a rank dies" {
	one_dies 3 --ppn 1 --launcher horovodrun -e $YIELD -- python3 faulty.py horovod_tf.py
}

@test "horovodrun --gloo: a rank dies" {
	one_dies 3 --ppn 1 --launcher horovodrun-gloo -- python3 faulty.py horovod_tf.py
}

@test "horovodrun --gloo: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher horovodrun-gloo -- python3 faulty.py horovod_tf.py
}

@test "horovodrun --gloo: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher horovodrun-gloo -- python3 faulty.py horovod_tf.py
}

@test "tf: a worker dies" {
	one_dies 3 --ppn 1 --launcher tf -- python3 faulty.py tf_multiworker.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "tf: a worker hangs" {
	one_hangs 3 --ppn 1 --launcher tf -- python3 faulty.py tf_multiworker.py
}

@test "tf: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher tf -- python3 faulty.py tf_multiworker.py
}

# A job with a parameter server that goes on for ever.
SERVER=(-n 4 --launcher tf --roles 'chief=1,worker=2,ps=1' -e FAULT=wait:0)

@test "tf: a worker of a parameter server dies" {
	job_begins '^\[0 node01\] batch 10' "${SERVER[@]}" -- python3 faulty.py tf_parameter_server.py
	signal_task '"task":{"type":"worker","index":1}' KILL
	job_ends
	[ "$status" = 137 ]
	grep -q 'rank 2 on node02 was ended by signal 9' err
	nothing_of_the_job
}

@test "tf: a parameter server hangs" {
	job_begins '^\[0 node01\] batch 10' --hang-timeout 10 "${SERVER[@]}" -- python3 faulty.py tf_parameter_server.py
	signal_task '"task":{"type":"ps"' STOP
	job_ends
	[ "$status" = 124 ]
	grep -q 'it hangs: no rank printed a line for 10 s' err
	nothing_of_the_job
}
