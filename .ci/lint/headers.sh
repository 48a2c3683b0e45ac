#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every header includes what it needs: it compiles on its own, also when included first and twice.
set -euo pipefail
source .ci/lib/files.sh
mapfile -t flags < <(compile_flags)
export FLAGS="${flags[*]}"
# shellcheck disable=SC2016 # expanded by the inner shell
files_like "^($modules|images)/.*\.h$" | xargs -r -P "$(nproc)" -n 1 bash -c '
	gcc $FLAGS -Iimages/worker -fsyntax-only -x c "$0" &&
	gcc $FLAGS -Iimages/worker -fsyntax-only -include "$0" -include "$0" -x c /dev/null || exit 1' >&2 || exit 1
