#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The licence is in the first three lines of every source file.
set -euo pipefail
source .ci/lib/files.sh
findings=$({ files_like '\.(c|h|sh|py|bats|recipe)$|(^|/)Makefile$'; shell_files; } | sort -u |
	xargs -d '\n' awk 'FNR <= 3 && /SPDX-License-Identifier: MIT/ { has[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has))
			print ARGV[i] ":1: no line '\''SPDX-License-Identifier: MIT'\'' in the first three" }')
report "$findings"
