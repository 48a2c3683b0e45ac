#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/registry.sh [ROUNDS]: pushes and pulls with ringup and with other tools in turn, on one machine, with
# the real Distribution server. Prints medians of wall seconds, CPU seconds and the client's peak memory as a
# table. BUILD is the folder with ringup. The tools are skopeo, docker (without its daemon's memory), and
# `skopeo-new` for a later build of skopeo. Missing ones are left out.
set -euo pipefail
ROUNDS=${1:-5}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
export HOME=$WORK
registry_up
python3 "$root/bench/layers.py" "$WORK/image.tar" bench:1
python3 "$root/tests/fault/image.py" "$WORK/image" 140 130 110 90 50 30 8 4

if command -v dockerd >/dev/null && [ "$(id -u)" = 0 ]; then
	engine_up
fi

# From a registry to files that can be run: what `docker pull` does, and umoci behind skopeo.
unpack() {
	rm -rf "$WORK/root" "$WORK/pulled" "$WORK/bundle"
	measure unpack/ringup ringup -q pull --plain-http "$ADDRESS/bench:2" "rootfs:$WORK/root"
	rm -rf "$WORK/root"
	[ -z "$ENGINE_PID" ] || {
		measure unpack/docker docker pull -q "$ADDRESS/bench:2"
		docker image rm "$ADDRESS/bench:2" >/dev/null
	}
	if command -v umoci >/dev/null && command -v skopeo >/dev/null; then
		# shellcheck disable=SC2016
		measure unpack/skopeo+umoci sh -c 'skopeo copy -q --src-tls-verify=false "docker://$1/bench:2" "oci:$2/pulled:1" &&
			umoci unpack --image "$2/pulled:1" "$2/bundle"' sh "$ADDRESS" "$WORK"
		rm -rf "$WORK/pulled" "$WORK/bundle"
	fi
}

empty() {
	empty_registry
	rm -rf "$WORK/pulled"
}

for ((round = 0; round < ROUNDS; round++)); do
	for tool in ringup skopeo skopeo-new; do
		command -v "$tool" >/dev/null || continue
		push=("$tool" copy -q --dest-tls-verify=false "oci:$WORK/image:1" "docker://$ADDRESS/bench:1")
		pull=("$tool" copy -q --src-tls-verify=false "docker://$ADDRESS/bench:1" "oci:$WORK/pulled:1")
		if [ "$tool" = ringup ]; then
			push=(ringup -q push --plain-http "oci:$WORK/image:1" "$ADDRESS/bench:1")
			pull=(ringup -q pull --plain-http "$ADDRESS/bench:1" "oci:$WORK/pulled:1")
		fi
		empty
		measure "push-ready/$tool" "${push[@]}"
		measure "push-warm/$tool" "${push[@]}"
		measure "pull/$tool" "${pull[@]}"
		diff -rq "$WORK/image/blobs" "$WORK/pulled/blobs" >&2 || echo "$tool: pulled something else" >&2
		archive=("$tool" copy -q --dest-tls-verify=false "docker-archive:$WORK/image.tar" "docker://$ADDRESS/bench:2")
		if [ "$tool" = ringup ]; then
			archive=(ringup -q push --plain-http "docker-archive:$WORK/image.tar" "$ADDRESS/bench:2")
			rm -rf "$WORK/.cache/ringup"
		fi
		empty
		measure "push-archive/$tool" "${archive[@]}"
		measure "push-archive-warm/$tool" "${archive[@]}"
		[ "$tool" = ringup ] || { # ringup's layers are gzip; beside each row
			empty
			measure "push-archive/$tool-zstd" "${archive[@]}" --format oci --dest-compress-format zstd
		}
		[ "$tool" != ringup ] || unpack
	done
done

table
