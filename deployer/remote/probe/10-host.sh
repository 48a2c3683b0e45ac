# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The host: its names, system, kernel, compilers, size.
say hostname "$(hostname 2>/dev/null || cat "$root/proc/sys/kernel/hostname")"
say kernel "$(uname -r)"
say arch "$(uname -m)"

# A field of os-release, with or without quotes. The file is data: no shell runs it.
os_field() {
	sed -n "s/^$1=//p" "$root/etc/os-release" 2>/dev/null | sed -n '1{s/^["'\'']//;s/["'\'']$//;p;}'
}
say os "$(os_field ID)$(os_field VERSION_ID)"
say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"
say gcc "$(gcc -dumpfullversion 2>/dev/null)"
say python "$(python3 -V 2>/dev/null | cut -d' ' -f2)"
say cpus "$(getconf _NPROCESSORS_ONLN)"
say memory_bytes "$(awk '/^MemTotal:/ {printf "%.0f", $2 * 1024}' "$root/proc/meminfo")"
# The marks of Docker, Podman and systemd (systemd-detect-virt reads the last one). A lab's simulated sysfs has what is for
# its host alone.
if [ -n "${RINGUP_SIMULATED:-}" ]; then
	:
elif [ -e "$root/.dockerenv" ] || [ -e "$root/run/.containerenv" ] || [ -e "$root/run/systemd/container" ]; then
	say in_container yes
fi
