#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The catalog as ringup reads it: every cell parses, every version, OS and package has the right
# form, and everything that a row names exists.
set -euo pipefail

status=0
"$BUILD/ringup" --catalog recipes/catalog matrix --check || status=1
exit $status
