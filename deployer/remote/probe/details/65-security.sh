# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# What forbids things: SELinux, AppArmor, Secure Boot, the IOMMU, and ACS, which sends GPU traffic through the root.
if have getenforce; then say selinux "$(getenforce 2>/dev/null | tr '[:upper:]' '[:lower:]')"; fi
first_line "$sys/module/apparmor/parameters/enabled" && [ "$line" = Y ] && say apparmor yes
say secure_boot "$(mokutil --sb-state 2>/dev/null | sed -n 's/^SecureBoot \(enabled\|disabled\).*/\1/p')"
say lockdown "$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$sys/kernel/security/lockdown" 2>/dev/null)"
first_line "$root/proc/cmdline" && say kernel_command_line "$line"
# Groups stand there when an IOMMU is on.
for group in "$sys"/kernel/iommu_groups/*; do
	[ -e "$group" ] && say iommu on
	break
done
first_line "$sys/kernel/iommu_groups/0/type" && say iommu_type "$line"
# "ACSCtl: SrcValid+ ...": bridges that redirect requests between their own ports.
if [ "$(id -u)" = 0 ] && have lspci; then
	say acs_bridges "$(lspci -vvv 2>/dev/null | grep -c 'ACSCtl:.*SrcValid+' | grep -v '^0$')"
fi
say_setting userns_clone kernel/unprivileged_userns_clone
# What this user may do: as root, in the engine's group, by sudo without a password.
say groups "$(id -Gn 2>/dev/null | tr ' ' ';')"
if [ "$(id -u)" = 0 ]; then
	say root_by login
elif have sudo && sudo -n true 2>/dev/null; then
	say root_by sudo
else
	say root_by no
fi
