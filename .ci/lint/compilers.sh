#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gcc and clang both compile every source without a warning, because each finds what the other
# misses.
set -euo pipefail
source .ci/lib/files.sh
mapfile -t flags < <(compile_flags)
if command -v mpicc >/dev/null; then
	read -r -a mpi < <(mpicc --showme:compile)
	flags+=("${mpi[@]}")
fi
export FLAGS="${flags[*]}"
# shellcheck disable=SC2016 # expanded by the inner shell
files_like "^($modules|images)/.*\.c$" | xargs -r -P "$(nproc)" -n 4 bash -c '
	status=0
	for source; do
		for compiler in gcc clang; do
			$compiler $FLAGS -Iimages/worker -fsyntax-only "$source" || status=1
		done
	done
	exit $status' compile >&2 || exit 1
