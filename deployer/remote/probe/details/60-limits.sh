# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC3045
# Limits of this login, and of the kernel. Those of containers come from the engine's service.
limit() {
	awk -v name="$1" 'index($0, name) == 1 {print $(NF - 1) == "unlimited" ? "unlimited" : $(NF - 1)}' /proc/self/limits 2>/dev/null
}
say limit_memlock "$(limit 'Max locked memory' | awk '{print}')"
say limit_files "$(limit 'Max open files')"
say limit_stack "$(limit 'Max stack size')"
say limit_processes "$(awk 'index($0, "Max processes") == 1 {print $3}' /proc/self/limits 2>/dev/null)"
for pair in max_map_count:vm/max_map_count overcommit:vm/overcommit_memory pid_max:kernel/pid_max threads_max:kernel/threads-max \
	ptrace_scope:kernel/yama/ptrace_scope inotify_instances:fs/inotify/max_user_instances zone_reclaim:vm/zone_reclaim_mode \
	shmmax:kernel/shmmax user_namespaces:user/max_user_namespaces; do
	say_setting "kernel_${pair%%:*}" "${pair#*:}"
done
service_limit() {
	systemctl show docker -p "$1" 2>/dev/null | sed -n "s/^$1=//p"
}
if have systemctl && have docker; then
	say engine_memlock "$(service_limit LimitMEMLOCK)"
	say engine_enabled "$(systemctl is-enabled docker 2>/dev/null)"
fi
