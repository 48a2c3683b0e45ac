# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The system: relatives, start, control groups, and who is logged in.
say os_like "$(os_field ID_LIKE)"
say os_codename "$(os_field VERSION_CODENAME)"
say virtualization "$(systemd-detect-virt 2>/dev/null)"
say uptime_s "$(cut -d. -f1 "$root/proc/uptime" 2>/dev/null)"
if [ -d "$root/run/systemd/system" ]; then say init systemd; fi

# v1, v2 or hybrid (v1 for the controllers, and an empty v2 beside it).
if [ -e "$sys/fs/cgroup/cgroup.controllers" ]; then
	say cgroup v2
elif [ -d "$sys/fs/cgroup/unified" ]; then
	say cgroup hybrid
elif [ -d "$sys/fs/cgroup/memory" ]; then
	say cgroup v1
fi
# Of a system that waits for a reboot: Debian's file, or what RHEL's tool says by its status.
if [ -e "$root/run/reboot-required" ] || [ -e "$root/var/run/reboot-required" ]; then
	say reboot_required yes
elif have needs-restarting && ! needs-restarting -r >/dev/null 2>&1; then
	say reboot_required yes
fi
say user "$(id -un 2>/dev/null)"
say login_shell "$(within 3 getent passwd "$(id -u)" | cut -d: -f7)"
