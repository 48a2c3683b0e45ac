#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/versions.sh: what a host says of the libraries that a job loads there.

load helper

SCRIPT=$BATS_TEST_DIRNAME/../../deployer/remote/versions.sh

# with_shells ARG...: the script under each shell that hosts have; all must print the same.
with_shells() {
	sh "$SCRIPT" "$@" >said
	bash "$SCRIPT" "$@" | cmp said -
	busybox sh "$SCRIPT" "$@" | cmp said -
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir bin first second
	PATH=$PWD/bin:$PATH
	export PYTHONPATH=$PWD/first:$PWD/second
}

@test "Python's version, and the packages that jobs load: what comes first in the path counts" {
	mkdir first/torch-2.4.0+cu124.dist-info second/torch-2.1.0.dist-info second/Horovod-0.28.1-py3.11.egg-info \
		second/nvidia_nccl_cu12-2.20.5.dist-info second/unknown-1.0.dist-info second/torch_geometric-2.5.dist-info
	with_shells python3 "" 0
	grep -x 'python=3\.[0-9]*' said
	grep -x 'torch=2.4.0+cu124' said
	grep -x 'horovod=0.28.1' said
	grep -x 'nvidia-nccl-cu12=2.20.5' said
	! grep -q 'unknown\|geometric' said
}

@test "mpirun: Open MPI and MPICH as they say it" {
	printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\necho\necho "Report bugs to http://www.open-mpi.org/community/help/"\n' >bin/mpirun
	chmod +x bin/mpirun
	with_shells "" mpi 0
	[ "$(cat said)" = "mpi=Open MPI 4.1.4" ]
	printf '#!/bin/sh\necho "HYDRA build details:"\necho "    Version:                                 4.2.1"\necho "    Release Date:  Wed"\n' >bin/mpirun
	with_shells "" mpi 0
	[ "$(cat said)" = "mpi=MPICH 4.2.1" ]
}

@test "the system's NCCL, with GPUs only" {
	touch libnccl.so.2.18.3
	ln -s libnccl.so.2.18.3 libnccl.so.2
	# as glibc's ldconfig -p prints it
	printf '#!/bin/sh\nprintf "1 libs found in cache\\n\\tlibnccl.so.2 (libc6,x86-64) => %s/libnccl.so.2\\n"\n' "$PWD" >bin/ldconfig
	chmod +x bin/ldconfig
	with_shells "" "" 4
	[ "$(cat said)" = "nccl=2.18.3" ]
	with_shells "" "" 0
	[ ! -s said ]
	# a file of that name says no version
	rm libnccl.so.2
	touch libnccl.so.2
	with_shells "" "" 4
	[ ! -s said ]
}

@test "\"stack\" is the Python of the host script, or python3" {
	printf '#!/bin/sh\necho python=9.9\n' >bin/python3
	chmod +x bin/python3
	with_shells stack "" 0
	[ -x /opt/ringup/venv/bin/python ] || [ "$(cat said)" = "python=9.9" ]
}

@test "no such Python: nothing is said, and that is no error" {
	with_shells no-such-python "" 0
	[ ! -s said ]
}
