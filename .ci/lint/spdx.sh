#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The licence is in the first three lines of every source file.
set -euo pipefail
source .ci/lib/files.sh
findings=$({ files_like '\.(c|h|sh|py|bats|recipe)$|(^|/)Makefile$'; shell_files; } | sort -u |
	while IFS= read -r path; do
		head -n 3 "$path" | grep -q 'SPDX-License-Identifier: MIT' ||
			echo "$path:1: no line 'SPDX-License-Identifier: MIT' in the first three"
	done)
report "$findings"
