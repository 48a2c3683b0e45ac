#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No script has any finding of shellcheck.
set -euo pipefail
source .ci/lib/files.sh
mapfile -t scripts < <(shell_files)
((${#scripts[@]})) || exit 0
shellcheck -x -P . -f gcc "${scripts[@]}"
