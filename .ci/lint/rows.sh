#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The catalog as ringup itself reads it: every cell parses, every version, OS and package fits its
# kind, and what a row names is there.
set -euo pipefail

status=0
"$BUILD/ringup" --catalog recipes/catalog matrix --check || status=1
exit $status
