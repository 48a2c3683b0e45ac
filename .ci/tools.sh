#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# .ci/tools.sh DIR: installs what .ci/tools.txt lists from PyPI into DIR. Nothing else on the
# machine changes. When nothing is missing it prints nothing and contacts no server.
set -euo pipefail
cd "$(dirname "$0")/.."
list=.ci/tools.txt target=${1:?a folder}

cmp -s "$list" "$target/tools.txt" && exit 0
echo "tools: installing what $list lists into $target" >&2
rm -rf "$target"
mkdir -p "$target"
if ! output=$(/usr/bin/python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes \
	--disable-pip-version-check --root-user-action ignore --target "$target" -r "$list" 2>&1); then
	echo "tools: pip could not install them: $(tail -n 3 <<<"$output"). Put that right, then run the same command again" >&2
	exit 1
fi
cp "$list" "$target/tools.txt"
