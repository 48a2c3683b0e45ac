# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Processors and memory.
say cpu_model "$(sed -n 's/^model name[[:blank:]]*: *//p' "$root/proc/cpuinfo" 2>/dev/null | head -n 1)"
say cpu_sockets "$(sed -n 's/^physical id[[:blank:]]*: *//p' "$root/proc/cpuinfo" 2>/dev/null | sort -u | grep -c .)"
numa=0
for node in "$sys"/devices/system/node/node[0-9]*; do [ -d "$node" ] && numa=$((numa + 1)); done
[ $numa -gt 0 ] && say numa_nodes $numa
say_line cpu_governor "$sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
say_line smt "$sys/devices/system/cpu/smt/control"
say memory_free_bytes "$(awk '/^MemAvailable:/ {printf "%.0f", $2 * 1024}' "$root/proc/meminfo")"
say swap_bytes "$(awk '/^SwapTotal:/ {printf "%.0f", $2 * 1024}' "$root/proc/meminfo")"
say swap_used_bytes "$(awk '/^SwapTotal:/ {t = $2} /^SwapFree:/ {printf "%.0f", (t - $2) * 1024}' "$root/proc/meminfo")"
# "always [madvise] never": the word in brackets.
say hugepages "$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$sys/kernel/mm/transparent_hugepage/enabled" 2>/dev/null)"
say_setting numa_balancing kernel/numa_balancing
first_line "$root/proc/loadavg" && say load "${line%% *}"
