#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Training on a real Slurm of three nodes without containers (tests/lab/slurm.bash), which have what the script of
# `ringup recipe --format script` installs, and Debian's PyTorch. What the job loads is compared with the lock first.

load helper
# shellcheck source=tests/lab/slurm.bash
source "$BATS_TEST_DIRNAME/../lab/slurm.bash"

# shellcheck disable=SC2034 # for the helper
ON=(--on slurm)

setup_file() {
	local begin=$SECONDS
	frameworks_begin
	ringup -q lab up --loopback --hosts 3 3>&- 4>&- # its cluster.yaml has three hosts; nothing runs there
	cp cluster.yaml lab.yaml
	machine_cluster
	machine_make
	SLURM_MACHINE=$MACHINE slurm_begin
	ringup -q resolve
	note "Slurm up: $((SECONDS - begin)) s"
	alone /usr/bin/python3 torch_ddp.py
}

teardown_file() {
	slurm_end
	frameworks_end
}

setup() {
	cd "$LAB"
}

# In place of the helper's, which looks at the hosts of a lab.
nothing_of_the_job() {
	slurm_wait slurm_is_idle
	# shellcheck disable=SC2016 # expanded by it
	slurm_wait eval '[ -z "$(slurm_steps)" ]'
}

@test "torch by env, 3 ranks" {
	trains 3 --ppn 1 --launcher env -- /usr/bin/python3 torch_ddp.py
}

@test "torch by torchrun, 6 ranks" {
	trains 6 --launcher torchrun -- /usr/bin/python3 torch_ddp.py
	for rank in {0..5}; do # torchrun's tags have become prefixes
		grep -q "^\[$rank node0$((rank / 2 + 1))\] rank $rank of 6: accuracy" out
	done
}

@test "MultiWorkerMirroredStrategy by tf, 3 ranks" {
	trains 3 --ppn 1 --launcher tf -- "$PYTHON" tf_multiworker.py
}

@test "Horovod by srun and PMIx, 3 ranks" {
	trains 3 --ppn 1 --launcher mpirun "${HOROVOD[@]}" -- python3 horovod_tf.py
}

@test "env: a rank dies" {
	one_dies 3 --ppn 1 --launcher env -- /usr/bin/python3 faulty.py torch_ddp.py
	[ "$status" = 7 ]
	grep -q 'rank 1 on node02 ended with status 7' err
}

@test "torchrun: a rank dies" {
	one_dies 3 --ppn 1 --launcher torchrun -- /usr/bin/python3 faulty.py torch_ddp.py
}

@test "a node that lacks the lock's version does not begin the job" {
	sed -i.lock 's/2\.13\.1/2.13.0/g' ringup.lock
	job -n 3 --ppn 1 --launcher tf -- "$PYTHON" tf_multiworker.py
	mv ringup.lock.lock ringup.lock
	[ "$status" = 1 ]
	grep -q 'node\[01-03\] has tensorflow 2.13.1, where ringup.lock has 2.13.0' err
	! grep -q batch out
}
