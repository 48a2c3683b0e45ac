#!/bin/sh
# SPDX-License-Identifier: MIT
# Inside of a worker: can it log in to each of the others? mesh.sh NAME... prints "NAME: reason" for each
# that it cannot, and fails then.
failed=0
for name in "$@"; do
	said=$(ssh -o BatchMode=yes -o ConnectTimeout=10 "$name" true 2>&1 </dev/null) || {
		printf '%s: %s\n' "$name" "$(printf '%s' "$said" | tail -n 1 | tr -d '\r')"
		failed=1
	}
done
exit $failed
