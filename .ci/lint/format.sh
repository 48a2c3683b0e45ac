#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# C is formatted as .clang-format says; 'make format' does it.
set -euo pipefail
source .ci/lib/files.sh
mapfile -t sources < <(files_like '\.[ch]$')
((${#sources[@]})) || exit 0
status=0
output=$(clang-format --dry-run -Werror "${sources[@]}" 2>&1) || status=1
# One line per file, at its first place: the fix is the same for all of them.
awk -F: '/^[^ ]+:[0-9]+:[0-9]+: (error|warning)/ { if (!count[$1]++) line[$1] = $2 }
	END { for (f in count) printf "%s:%d: %d places; run '\''make format'\''\n", f, line[f], count[f] }' \
	<<<"$output" | sort
if ((status)) && ! grep -qF 'clang-format-violations' <<<"$output"; then
	printf '%s\n' "$output"
fi
exit $status
