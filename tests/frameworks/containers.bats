#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Training on three Docker hosts, in one image that ringup resolves and builds: TensorFlow with Horovod by mpirun and horovodrun,
# TensorFlow's own strategies by TF_CONFIG, and Debian's PyTorch by torchrun and by the variables of `env`.

load helper

# A chief, two workers and a parameter server.
SERVER=(-n 4 --launcher tf --roles 'chief=1,worker=2,ps=1')

setup_file() {
	frameworks_begin
	containers_up '["tensorflow==2.13.1", horovod, openmpi, "os==debian12"]' 'apt: [python3-torch, libopenblas0-pthread]'
	alone python3 torch_ddp.py
}

teardown_file() {
	frameworks_end
}

setup() {
	cd "$LAB"
}

@test "the versions inside are those that were resolved" {
	local name
	for name in tensorflow horovod; do
		[ "$(in_container node01 python3 -c "import importlib.metadata; print(importlib.metadata.version('$name'))")" = \
			"$(jq -r ".stack.$name.version" ringup.lock)" ]
	done
}

@test "Horovod by mpirun, 3 ranks" {
	trains 3 --ppn 1 --launcher mpirun -- python3 horovod_tf.py
}

@test "Horovod by horovodrun, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun -- python3 horovod_tf.py
}

@test "Horovod by horovodrun --gloo, 3 ranks" {
	trains 3 --ppn 1 --launcher horovodrun-gloo -- python3 horovod_tf.py
}

@test "MultiWorkerMirroredStrategy by tf, 3 ranks" {
	trains 3 --ppn 1 --launcher tf -- python3 tf_multiworker.py
}

@test "ParameterServerStrategy by tf: a chief, two workers and a server" {
	job "${SERVER[@]}" -- python3 tf_parameter_server.py --epochs "$EPOCHS"
	[ "$status" = 0 ]
	# the chief's alone; its workers are not in step, so the weights differ each time
	reports 1
	near_alone 0.03
	nothing_of_the_job
}

@test "mpirun: a rank dies" {
	one_dies 3 --ppn 1 --launcher mpirun -- python3 faulty.py horovod_tf.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "mpirun: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher mpirun -- python3 faulty.py horovod_tf.py
}

@test "mpirun: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher mpirun -- python3 faulty.py horovod_tf.py
}

# The chief hands out batches without waiting, so it is quiet when all are handed out.
@test "tf: a parameter server hangs" {
	job_begins '^\[0 node01\] batch 10' --hang-timeout 10 "${SERVER[@]}" -e FAULT=slow:0 -- \
		python3 faulty.py tf_parameter_server.py --epochs 4
	signal_task '"task":{"type":"ps"' STOP
	job_ends
	[ "$status" = 124 ]
	grep -q 'it hangs: no rank printed a line for 10 s' err
	nothing_of_the_job
}

@test "DistributedDataParallel by env, 3 ranks" {
	trains 3 --ppn 1 --launcher env -- python3 torch_ddp.py
}

@test "DistributedDataParallel by torchrun, 6 ranks" {
	trains 6 --launcher torchrun -- python3 torch_ddp.py
}

@test "torchrun: a rank dies" {
	one_dies 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}

@test "torchrun: a rank hangs" {
	one_hangs 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}

@test "torchrun: a host vanishes" {
	host_vanishes 3 --ppn 1 --launcher torchrun -- python3 faulty.py torch_ddp.py
}
