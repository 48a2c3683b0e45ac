#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the kernel's messages of the last SECONDS: kernel_log.sh SECONDS. Nothing where they may not be read.
# dmesg's "[  123.456789] " counts seconds since the boot, as /proc/uptime does.
since=$(awk -v ago="$1" '{printf "%.6f", $1 - ago}' /proc/uptime)
if said=$(dmesg 2>/dev/null); then
	printf '%s\n' "$said" | awk -v since="$since" -F '[][]' '$2 + 0 >= since + 0' | tail -n 500
else # kernel.dmesg_restrict, for users who may still read the journal
	journalctl --dmesg --quiet --no-pager --output=short-monotonic --since="-${1}s" 2>/dev/null | tail -n 500
fi
exit 0
