#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Only the listed files turn a credential into text, so each such place has been looked at.
set -euo pipefail
source .ci/lib/files.sh
list=.ci/lint/secret_users.txt
users=$(awk '!/^#/ && NF { print $1 }' "$list")
findings=$(
	files_like "^($modules|images)/.*\.[ch]$" | { grep -vxF -- "$users" || true; } |
		{ xargs -d '\n' grep -HnE '\<secret_reveal[[:space:]]*\(' || true; } |
		sed -E "s|^([^:]+:[0-9]+):.*|\1: secret_reveal() in a file that is not in $list|"
	while IFS= read -r path; do
		grep -qsF 'secret_reveal(' "$path" || echo "$list:1: $path: no longer needed; remove the line"
	done <<<"$users"
)
report "$findings"
