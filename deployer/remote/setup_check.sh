#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a container on this host without a registry: its image is the host's own /bin/true with the libraries that it
# needs. The image goes afterwards.
#   setup_check.sh ENGINE
engine=$1
name=ringup-setup-check
true=$(readlink -f "$(command -v true)")
# a shell's own "true" is no program
[ -x "$true" ] || true=/bin/true
files=$({ echo "$true"; ldd "$true" 2>/dev/null | grep -o '/[^ ]*'; } | sort -u)
# shellcheck disable=SC2086  # a file each
tar -chf - $files 2>/dev/null | "$engine" import - "$name" >/dev/null || exit 1
"$engine" run --rm --network none "$name" "$true"
status=$?
"$engine" image rm -f "$name" >/dev/null 2>&1
exit $status
