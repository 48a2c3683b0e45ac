# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# port_container.sh ENGINE PROCESS: "container=NAME" of the container whose process it is; nothing when it is in none. The
# process's cgroup has the container's id, with Docker and Podman and with both versions of cgroups.
id=$(grep -oE '[0-9a-f]{64}' "/proc/$2/cgroup" 2>/dev/null | head -n 1)
[ -z "$id" ] || "$1" ps --no-trunc --format '{{.ID}} {{.Names}}' 2>/dev/null | sed -n "s/^$id /container=/p"
