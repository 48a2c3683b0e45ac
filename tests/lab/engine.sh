#!/bin/sh
# SPDX-License-Identifier: MIT
# A Docker Engine for tests of builds, in namespaces of its own but on the machine's network:
# engine.sh STATE RUN_FOLDER. Ending the process that started it ends all of it.
set -eu
state=$1 run=$2

# What it would write to /etc/docker stays in the test's folder.
mkdir -p "$state/etc/docker" "$run" /etc/docker
mount --bind "$state/etc/docker" /etc/docker
exec dockerd --host "unix://$run/docker.sock" --data-root "$state/docker" --exec-root "$run" \
	--pidfile "$run/docker.pid" --bridge none --iptables=false --ip-forward=false --ip-masq=false \
	--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$(basename "$run")"
