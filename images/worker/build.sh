#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the all-reduce worker into a directory, with nothing but a C compiler: build.sh OUTDIR
# The MPI plug-in is built too if there is an mpicc; without it, only --backend mpi is missing.
# STATIC=1 makes one program without a loader, for images with another libc: cpu is its only backend.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: build.sh OUTDIR" >&2
	exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
plugin=backend/mpi/plugin.c
flags="-O3 -g -std=gnu11 -Wall -Wextra -I. ${CFLAGS:-}"
static=${STATIC:+-static -DALLREDUCE_STATIC}

# each file backend_NAME.c is a backend: X(cpu)X(mpi)X(nccl)
backends=$(find "$here" -name 'backend_*.c' | sed 's,.*/backend_\(.*\)\.c$,X(\1),' | sort | tr -d '\n')

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# One compiler runs per processor. The sources are named from this folder, since the debugging data holds their paths and
# must not differ from one build to the next. backend/cpu/ring.c becomes backend.cpu.ring.o.
cd "$here"
# shellcheck disable=SC2016
find . -name '*.c' ! -path "./$plugin" ! -path './job/*' | sed 's,^\./,,' | sort |
	xargs -n 1 -P "$(nproc)" sh -c 'exec $0 -c -pthread -o "$1/$(echo "${2%.c}" | tr / .).o" "$2"' "${CC:-gcc} $flags $static -DWORKER_BACKENDS=$backends" "$objects"
# shellcheck disable=SC2086
"${CC:-gcc}" $static -pthread -o "$out/allreduce" "$objects"/*.o -ldl -lm -lrt
echo "built $out/allreduce"

# nccl-tests' programs are links to it
"$out/allreduce" --programs | while read -r name; do ln -sf allreduce "$out/$name"; done

# ringup-job runs a host's part of a training job.
# shellcheck disable=SC2086
"${CC:-gcc}" $flags $static -o "$out/ringup-job" job/*.c
echo "built $out/ringup-job"

if [ -n "$static" ]; then
	echo "linked statically: no allreduce-mpi.so, no --backend nccl"
elif command -v "${MPICC:-mpicc}" >/dev/null 2>&1; then
	# shellcheck disable=SC2086
	"${MPICC:-mpicc}" $flags -shared -fPIC -o "$out/allreduce-mpi.so" "$plugin"
	echo "built $out/allreduce-mpi.so"
else
	echo "no mpicc here: allreduce-mpi.so not built, --backend mpi will say so"
fi
