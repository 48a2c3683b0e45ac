# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Containers and programs of others that would share the GPUs, and resource managers.
if [ "$engine" != none ] && have "$engine"; then
	running=$("$engine" ps --format '{{.Names}} {{.Image}}' 2>/dev/null)
	say containers_running "$(printf '%s\n' "$running" | grep -c .)"
	say containers_others "$(printf '%s\n' "$running" | grep -v '^ringup-' | head -n 20 | joined)"
fi
managers() {
	for name in slurmd kubelet k3s k3s-agent nomad ray dcgm nvidia-dcgm; do
		[ "$(systemctl is-active "$name" 2>/dev/null)" = active ] && echo "$name"
	done
}
say managers "$(managers | joined)"
# A driver that does not work prints what is wrong with it where the programs would stand.
if programs=$(nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader 2>/dev/null); then
	say gpu_programs "$(printf '%s\n' "$programs" | head -n 20 | joined)"
fi
