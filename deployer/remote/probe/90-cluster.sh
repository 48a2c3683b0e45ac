# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2034
# ringup's folder on this host. It needs no root. Lab hosts that share a disk set RINGUP_STATE_ROOT.
if [ -n "${RINGUP_STATE_ROOT:-}" ]; then
	state_root=$RINGUP_STATE_ROOT
elif [ "$(id -u)" = 0 ]; then
	state_root=/var/lib/ringup
else
	state_root=${XDG_STATE_HOME:-$HOME/.local/state}/ringup
fi
say state_folder "$state_root/$cluster"
# The same for two names of one machine. Hosts of a lab share the kernel, and some also the network.
say machine "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null) $(readlink /proc/self/ns/net) $(readlink -m "$state_root" 2>/dev/null || printf %s "$state_root")"
sed 's/^/owner_/' "$state_root/$cluster/owner" 2>/dev/null
say mesh "$(cat "$state_root/$cluster/ssh/mesh" 2>/dev/null)"

data_root=
engine_process=
if [ "$engine" != none ]; then
	if command -v "$engine" >/dev/null 2>&1; then
		say engine "$engine"
		if version=$(sh -c "$4" 2>&1); then
			say engine_version "$version"
		else
			say engine_error "$(printf '%s' "$version" | tail -n 1)"
		fi
	fi
	abilities=$(sh -c "$5" 2>/dev/null)
	printf '%s\n' "$abilities" | grep -E '^(data_root|can_[a-z_]+)='
	data_root=$(printf '%s\n' "$abilities" | sed -n 's/^data_root=//p')
	engine_process=$(printf '%s\n' "$abilities" | sed -n 's/^engine_process=//p')
	sh -c "$6" 2>/dev/null
fi
# Who listens on the ports for the containers' sshd, on the cluster address or on all.
say ports_taken "$(ss -ltnp 2>/dev/null | awk -v ports="${7:-0 0}" -v address="$address" '
	BEGIN {split(ports, range, " ")}
	$1 == "LISTEN" && match($4, /:[0-9]+$/) {
		port = substr($4, RSTART + 1) + 0
		at = substr($4, 1, RSTART - 1)
		gsub(/[][]/, "", at)
		sub(/%.*/, "", at)
		if (port < range[1] || port > range[2] || (at != "*" && at != "0.0.0.0" && at != "::" && at != address)) next
		who = "-"
		if (match($0, /\(\("[^"]*",pid=[0-9]+/)) {
			who = substr($0, RSTART + 3, RLENGTH - 3)
			sub(/",pid=/, "/", who)
		}
		gsub(/[; ]/, "_", who)
		printf "%s%s %s", sep, port, who
		sep = ";"
	}')"
# A folder that does not exist yet will be on its parent's disk.
disk=${data_root:-$state_root}
while [ ! -d "$disk" ]; do disk=$(dirname "$disk"); done
say disk_free_bytes "$(df -Pk "$disk" | awk 'NR == 2 {printf "%.0f", $4 * 1024}')"
