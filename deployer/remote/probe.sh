#!/bin/sh
# SPDX-License-Identifier: MIT
# Facts of this host and the state of our container on it, as key=value lines; one run is one round trip.
#   probe.sh CLUSTER ADDRESS ENGINE VERSION_LINE DATA_ROOT_LINE STATE_LINE
# The three lines are the engine record's words, each quoted where they were put together.
# What cannot be found out is left out. Nothing is changed.
cluster=$1 address=$2 engine=$3

say() {
	[ -n "$2" ] && printf '%s=%s\n' "$1" "$2"
}

printf 'clock=%s\n' "$(date +%s.%N)"
say hostname "$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)"
say kernel "$(uname -r)"
say arch "$(uname -m)"
say os "$(. /etc/os-release 2>/dev/null && printf '%s%s' "$ID" "$VERSION_ID")"
say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"
say gcc "$(gcc -dumpfullversion 2>/dev/null)"
say python "$(python3 -V 2>/dev/null | cut -d' ' -f2)"
say cpus "$(getconf _NPROCESSORS_ONLN)"
say memory_bytes "$(awk '/^MemTotal:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)"
say driver "$(cat /sys/module/nvidia/version 2>/dev/null)"
say gpus "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | paste -sd ';' -)"
say runtime_gpu "$(nvidia-ctk --version 2>/dev/null | awk 'NR == 1 {print $NF}')"
say infiniband "$(find /sys/class/infiniband -mindepth 1 -printf "%f\n" 2>/dev/null | paste -sd ";" -)"

# The interface that owns the cluster address, or the one that routes to it.
line=$(ip -o addr show 2>/dev/null | awk -v a="$address" '{split($4, p, "/"); if (p[1] == a) {print $2, $4; exit}}')
say interface "${line%% *}"
if [ -n "$line" ]; then
	say interface_cidr "$(ip -o route show dev "${line%% *}" scope link 2>/dev/null | awk 'NR == 1 {print $1}')"
fi

# Where our files go on this host: needs no root where there is none; lab hosts that share a disk say so.
if [ -n "${RINGUP_STATE_ROOT:-}" ]; then
	state_root=$RINGUP_STATE_ROOT
elif [ "$(id -u)" = 0 ]; then
	state_root=/var/lib/ringup
else
	state_root=${XDG_STATE_HOME:-$HOME/.local/state}/ringup
fi
say state_folder "$state_root/$cluster"
say mesh "$(cat "$state_root/$cluster/ssh/mesh" 2>/dev/null)"

if [ "$engine" != none ]; then
	if command -v "$engine" >/dev/null 2>&1; then
		say engine "$engine"
		if version=$(sh -c "$4" 2>&1); then
			say engine_version "$version"
		else
			say engine_error "$(printf '%s' "$version" | tail -n 1)"
		fi
	fi
	root=$(sh -c "$5" 2>/dev/null)
	say data_root "$root"
	sh -c "$6" 2>/dev/null
fi
# A folder that does not exist yet is on its parent's disk.
disk=${root:-$state_root}
while [ ! -d "$disk" ]; do disk=$(dirname "$disk"); done
say disk_free_bytes "$(df -Pk "$disk" | awk 'NR == 2 {printf "%.0f", $4 * 1024}')"
exit 0
