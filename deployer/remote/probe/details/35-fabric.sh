# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# What joins GPUs: NVLinks, NVSwitches and the service that sets them up, and the modules for memory that GPUs share.
say nvlinks_inactive "$(printf '%s\n' "$nvlink_status" | awk '
	/^GPU [0-9]/ {if (seen++) list = list n ";"; n = 0}
	/^[ \t]*Link [0-9]+:.*inactive/ {n++; some = 1}
	END {if (seen && some) printf "%s%d", list, n}')"
# NVSwitches are bridges of NVIDIA's (class 0680).
switches=0
for pci in "$sys"/bus/pci/devices/*; do
	first_line "$pci/vendor"
	[ "$line" = 0x10de ] || continue
	first_line "$pci/class"
	case $line in
		0x0680*) switches=$((switches + 1)) ;;
	esac
done
[ $switches -gt 0 ] && say nvswitches $switches
if have nv-fabricmanager; then
	say fabric_manager "$(nv-fabricmanager --version 2>/dev/null | awk '{for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9.]+$/) {print $i; exit}}')"
	say fabric_manager_state "$(systemctl is-active nvidia-fabricmanager 2>/dev/null)"
fi
say persistenced_state "$(systemctl is-active nvidia-persistenced 2>/dev/null | grep -v unknown)"
if [ -d "$sys/module/nvidia_peermem" ]; then
	say peermem nvidia_peermem
elif [ -d "$sys/module/nv_peer_mem" ]; then
	say peermem nv_peer_mem
elif [ -e "$sys/module/nvidia/version" ]; then
	say peermem no
fi
[ -d "$sys/module/gdrdrv" ] && say gdrcopy yes
