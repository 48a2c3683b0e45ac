#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job, spelled out: three practice hosts on this machine, a cluster on them, proof that it
# works, and a small training job. Writes cluster.yaml and .ringup/ in this folder; git ignores both.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/${BUILD:-build}:$PATH"

step() {
	local status=0
	printf '\n$ %s\n' "$*"
	"$@" || status=$?
	if ((status != 0)); then
		printf '\ndemo: stopped: "%s" ended with status %d after %d s in all.\n' "$*" "$status" "$SECONDS" >&2
		echo 'demo: mend the cause and run "make demo" again: it goes on. "ringup lab down" removes it all.' >&2
		exit "$status"
	fi
}

step ringup lab up --hosts 3
step ringup up
step ringup bench

# The worker trains a network on handwritten digits. Its ranks share a secret, which --sync brings as a file.
mkdir -p .ringup/demo
(umask 077 && openssl rand -hex 32 >.ringup/demo/secret)
step ringup run --sync .ringup/demo --env RINGUP_SECRET_FILE=secret -- allreduce --sgd -b 8 -e 8

cat <<END

Done in $SECONDS s. The cluster keeps running. Try next, with build/ in PATH:
  ringup status                    what runs where
  ringup ps                        the jobs; docs/jobs.md trains with PyTorch and TensorFlow
  ringup bench --launcher mpirun   the same, started by Open MPI
  ringup exec -- hostname          any command in every container
  ringup lab down                  stops the cluster and its hosts
END
