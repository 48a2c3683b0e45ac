#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Work that is left to do is recorded as an issue, not in the code.
set -euo pipefail
source .ci/lib/files.sh
words='TO''DO|FIX''ME|XX''X|HA''CK'
findings=$(files_like '\.(c|h|sh|py|bats|recipe|csv|yaml)$|(^|/)Makefile$|^\.ci/run$' | tr '\n' '\0' |
	xargs -0 -r grep -HnwE "$words" || true)
report "$findings"
