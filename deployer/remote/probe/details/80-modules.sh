# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The driver's module in the kernel against the libraries that programs load: both must be of one version.
[ -d "$sys/module/nouveau" ] && say nouveau yes
if grep -q 'Open Kernel Module' "$root/proc/driver/nvidia/version" 2>/dev/null; then
	say driver_module open
elif [ -e "$root/proc/driver/nvidia/version" ]; then
	say driver_module proprietary
fi
say driver_library "$(for file in "$root"/usr/lib/*/libnvidia-ml.so.*.* "$root"/usr/lib64/libnvidia-ml.so.*.* "$root"/usr/lib/libnvidia-ml.so.*.*; do
	[ -e "$file" ] && printf '%s\n' "${file##*libnvidia-ml.so.}"
done | sort -u | joined)"
# The module that the next boot would load.
say driver_on_disk "$(modinfo -F version nvidia 2>/dev/null | head -n 1)"
[ -e "$sys/module/nvidia" ] && if [ -d "$sys/module/nvidia_uvm" ]; then say nvidia_uvm yes; else say nvidia_uvm no; fi
say nvidia_devices "$(find "$root/dev" -maxdepth 1 -name 'nvidia[0-9]*' 2>/dev/null | grep -c . | grep -v '^0$')"
# Errors that the driver wrote into the kernel's log since boot, by number (docs.nvidia.com/deploy/xid-errors).
say xid_errors "$(dmesg 2>/dev/null | sed -n 's/.*NVRM: Xid ([^)]*): \([0-9][0-9]*\),.*/\1/p' | sort -n | uniq -c | awk '{print $2 " x" $1}' | joined)"
