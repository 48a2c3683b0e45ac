# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# What the engine may give to containers: the highest limits and the capabilities of the process that starts them, which
# is this one for an engine without a daemon; NVIDIA's devices; InfiniBand for who is not root.
if [ "$engine" != none ] && have "$engine"; then
	case $engine_process in
		'' | *[!0-9]*) engine_process=self ;;
	esac
	mask=$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$engine_process/status" 2>/dev/null)
	# Who is not root has all of them in a namespace of their own.
	if [ "$engine_process" != self ] || [ "$(id -u)" = 0 ]; then say can_capabilities "$mask"; fi
	say_setting can_last_capability kernel/cap_last_cap
	# CAP_SYS_RESOURCE, bit 24, sets any limit; files have one all the same (getrlimit(2)).
	case ${mask:-0} in
		*[13579bdf]??????) say can_limits "nofile:$(cat /proc/sys/fs/nr_open 2>/dev/null)" ;;
		*) say can_limits "$(awk '
			/^Max locked memory/ {hard("memlock")} /^Max open files/ {hard("nofile")} /^Max processes/ {hard("nproc")}
			/^Max stack size/ {hard("stack")} /^Max core file size/ {hard("core")} /^Max realtime priority/ {hard("rtprio")}
			/^Max msgqueue size/ {hard("msgqueue")} /^Max pending signals/ {hard("sigpending")} /^Max nice priority/ {hard("nice")}
			function hard(name) {
				sub(/^Max [a-z ]*[a-z]/, "")
				if ($2 ~ /^[0-9]+$/) {printf "%s%s:%s", sep, name, $2; sep = ";"}
			}' "/proc/$engine_process/limits" 2>/dev/null)" ;;
	esac
	if have nvidia-container-runtime-hook || have nvidia-container-toolkit; then say can_gpu_hook yes; fi
	cdi_files | while read -r file; do
		grep -q 'nvidia.com/gpu' "$file" 2>/dev/null && say can_cdi yes && break
	done
	for verbs in "$root"/dev/infiniband/uverbs*; do
		[ -e "$verbs" ] && [ "$(id -u)" != 0 ] && ! [ -w "$verbs" ] && say can_rdma no && break
	done
fi
