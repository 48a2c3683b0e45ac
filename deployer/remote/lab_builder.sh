#!/bin/sh
# SPDX-License-Identifier: MIT
# The lab's Docker Engine for builds, in namespaces of its own but on the machine's network:
# lab_builder.sh STATE RUN_FOLDER CGROUP
set -eu
state=$1 run=$2 cgroup=$3

# What it would write to /etc/docker stays in the lab.
mkdir -p "$state/etc/docker" /etc/docker
mount --bind "$state/etc/docker" /etc/docker
exec dockerd --host "unix://$run/docker.sock" --data-root "$state/docker" --exec-root "$run" \
	--pidfile "$run/docker.pid" --bridge none --iptables=false --ip-forward=false --ip-masq=false \
	--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "$cgroup"
