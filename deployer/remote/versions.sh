#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints lines NAME=VERSION of the libraries that a job's ranks load: versions.sh PYTHON MPI GPUS
# PYTHON is the program that runs the job, "" for none, and "stack" for that of the script of `ringup recipe --format
# script` (recipes/host), or python3 where that is not. MPI and GPUs count when they are not "" and not 0.
# Every host of a job must print the same lines.
python=$1
if [ "$python" = stack ]; then
	python=/opt/ringup/venv/bin/python
	[ -x "$python" ] || python=python3
fi
if [ -n "$python" ]; then
	"$python" -c '
import os, re, sys
known = """torch tensorflow tensorflow-cpu tensorflow-gpu keras jax jaxlib horovod mxnet mpi4py deepspeed
accelerate transformers lightning pytorch-lightning megatron-core transformer-engine flash-attn
nvidia-nccl-cu11 nvidia-nccl-cu12 nvidia-nccl-cu13 nvidia-cudnn-cu11 nvidia-cudnn-cu12 nvidia-cudnn-cu13""".split()
seen = {}
for folder in sys.path:
    try:
        names = os.listdir(folder or ".")
    except OSError:
        continue
    for name in names:
        found = re.match(r"(.+?)-([0-9][^-]*)(-.*)?[.](dist|egg)-info$", name)
        library = found and re.sub("[-_.]+", "-", found.group(1)).lower()
        if library in known:
            seen.setdefault(library, found.group(2))
print("python=%d.%d" % sys.version_info[:2])
for library in sorted(seen):
    print("%s=%s" % (library, seen[library]))
' 2>/dev/null
fi
if [ -n "$2" ]; then
	# "mpirun (Open MPI) 4.1.4", or MPICH, which has a line "    Version:    4.0.2"
	mpirun --version 2>/dev/null </dev/null |
		sed -n -e 's/^mpi[a-z]* (Open MPI) /mpi=Open MPI /p' -e 's/^ *Version: */mpi=MPICH /p' | head -n 1
fi
if [ "${3:-0}" != 0 ]; then
	library=$(ldconfig -p 2>/dev/null | sed -n 's/.*libnccl\.so\.2 .*=> //p' | head -n 1)
	[ -z "$library" ] || basename "$(readlink -f "$library")" | sed -n 's/^libnccl\.so\.\(.*\..*\)/nccl=\1/p' # a file libnccl.so.2 says no more
fi
exit 0
