#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints facts of this host and the state of the cluster's container, as key=value lines in one round trip.
#   probe.sh CLUSTER ADDRESS ENGINE VERSION_LINE DATA_ROOT_LINE STATE_LINE PORTS
# The three lines are the engine record's words, which ringup has quoted. PORTS is "FIRST LAST". Unknown facts are
# left out. The script changes nothing.
cluster=$1 address=$2 engine=$3

say() {
	[ -n "$2" ] && printf '%s=%s\n' "$1" "$2"
}

printf 'clock=%s\n' "$(date +%s.%N)"
say hostname "$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)"
say kernel "$(uname -r)"
say arch "$(uname -m)"
say os "$(. /etc/os-release 2>/dev/null && printf '%s%s' "$ID" "$VERSION_ID")"
say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"
say gcc "$(gcc -dumpfullversion 2>/dev/null)"
say python "$(python3 -V 2>/dev/null | cut -d' ' -f2)"
say cpus "$(getconf _NPROCESSORS_ONLN)"
say memory_bytes "$(awk '/^MemTotal:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)"
# Another /sys than the host's own: for tests, and for lab hosts whose GPUs are not there.
sys=${RINGUP_SYS:-/sys}
say driver "$(cat "$sys/module/nvidia/version" 2>/dev/null)"
say infiniband "$(find "$sys/class/infiniband" -mindepth 1 -maxdepth 1 -printf "%f\n" 2>/dev/null | paste -sd ";" -)"
[ -z "${RINGUP_SIMULATED:-}" ] || say simulated "$(cat "$RINGUP_SIMULATED/simulated" 2>/dev/null)"

# nvidia-smi prints what is wrong where the GPUs would stand, so its exit status decides. One call: without
# persistence mode each takes seconds.
if command -v nvidia-smi >/dev/null 2>&1; then
	if said=$(nvidia-smi --query-gpu=name,uuid --format=csv,noheader 2>&1); then
		say gpus "$(printf '%s\n' "$said" | sed 's/, [^,]*$//' | paste -sd ';' -)"
		say gpu_uuids "$(printf '%s\n' "$said" | sed -n 's/.*, //p' | paste -sd ';' -)"
	else
		say gpu_error "nvidia-smi ends with status $?: $(printf '%s\n' "$said" | sed -n '/./{p;q;}')"
	fi
elif [ -e "$sys/module/nvidia/version" ]; then
	say gpu_error "the kernel has the driver, but there is no nvidia-smi"
fi

# The container toolkit: its version, or "unknown" where only the engine's hook or CDI files tell of it.
toolkit_version() {
	if command -v nvidia-ctk >/dev/null 2>&1; then
		nvidia-ctk --version 2>/dev/null | awk 'NR == 1 {print $NF}'
	elif command -v nvidia-container-cli >/dev/null 2>&1; then
		nvidia-container-cli --version 2>/dev/null | awk '/version:/ {print $NF; exit}'
	elif command -v nvidia-container-runtime-hook >/dev/null 2>&1 || command -v nvidia-container-toolkit >/dev/null 2>&1 ||
		[ -n "$(find /etc/cdi /var/run/cdi -name '*.yaml' 2>/dev/null)" ]; then
		echo unknown
	fi
}
say runtime_gpu "$(toolkit_version)"

# The cluster address in numbers: where it is a name, the address at which ssh came. sudo hides that; then the host
# says what the name means to it.
case $address in
	*:* | '') ;;
	*[!0-9.]*)
		came=$(printf '%s' "${SSH_CONNECTION:-}" | cut -d' ' -f3)
		[ -n "$came" ] || came=$(getent ahosts "$address" 2>/dev/null | awk 'NR == 1 {print $1}')
		address=$came
		;;
esac
say address "$address"

# The interface that owns the cluster address.
interface=$(ip -o addr show 2>/dev/null | awk -v a="$address" '{split($4, p, "/"); if (p[1] == a) {print $2; exit}}')
say interface "$interface"
if [ -n "$interface" ]; then
	say interface_cidr "$(ip -o route show dev "$interface" scope link 2>/dev/null | awk 'NR == 1 {print $1}')"
fi

# How fast the links are, from sysfs. lib/plan/links.h has the form.

# The first line of a file in $line, "" when it cannot be read (the speed of a NIC that is down cannot).
first_line() {
	line=
	{ read -r line <"$1"; } 2>/dev/null
	[ -n "$line" ]
}

# PCI address ("0000:3b:00.0") of the device in this folder, "-" when it has none.
pci_address() {
	link=$(readlink -f "$1/device")
	case ${link##*/} in
		????:??:??.?) printf '%s' "${link##*/}" ;;
		*) printf '%s' - ;;
	esac
}

# Mbit/s of the hardware beneath an interface: its own speed or a bond's, else that of a VLAN's or bridge's
# parts.
speed_beneath() {
	if [ -e "$sys/class/net/$1/device" ] || [ -d "$sys/class/net/$1/bonding" ]; then
		first_line "$sys/class/net/$1/speed" && [ "$line" -gt 0 ] 2>/dev/null && printf '%s' "$line"
		return
	fi
	for lower in "$sys/class/net/$1"/lower_*; do
		[ -e "$lower" ] || continue
		found=$(speed_beneath "${lower##*/lower_}")
		[ -n "$found" ] && printf '%s' "$found" && return
	done
}

# Ethernet NICs that are hardware and up, without virtual functions whose physical function is here too.
list_nics() {
	for nic in "$sys"/class/net/*; do
		if [ ! -e "$nic/device" ] || [ -e "$nic/device/physfn" ]; then continue; fi
		if ! first_line "$nic/type" || [ "$line" != 1 ]; then continue; fi
		if ! first_line "$nic/operstate" || [ "$line" != up ]; then continue; fi
		if ! first_line "$nic/speed" || ! [ "$line" -gt 0 ] 2>/dev/null; then line=0; fi
		printf '%s %s %s;' "${nic##*/}" "$line" "$(pci_address "$nic")"
	done
}

list_infiniband_ports() {
	for port in "$sys"/class/infiniband/*/ports/*; do
		device=${port%/ports/*}
		[ -e "$device/device/physfn" ] && continue
		first_line "$port/state"
		state=${line##* }
		first_line "$port/link_layer"
		layer=$line
		if ! first_line "$port/rate"; then continue; fi
		printf '%s %s %s %s %s %s;' "${device##*/}" "${port##*/}" "$state" "$layer" "$(pci_address "$device")" "$line"
	done
}

# "16.0x16" of the current or max link of a PCI device's folder; fails when it has none.
pci_link() {
	first_line "$1/$2_link_width" && [ "$line" -gt 0 ] 2>/dev/null && width=$line &&
		first_line "$1/$2_link_speed" && printf '%sx%s' "${line%% *}" "$width"
}

# NVIDIA GPUs and network cards: the link's current rate, the card's maximum, the slot's maximum.
list_pci_links() {
	for pci in "$sys"/bus/pci/devices/*; do
		[ -e "$pci/physfn" ] && continue
		first_line "$pci/vendor"
		vendor=$line
		first_line "$pci/class"
		case $line,$vendor in
			0x03*,0x10de) kind=gpu ;;
			0x0200*,* | 0x0207*,*) kind=nic ;;
			*) continue ;;
		esac
		if ! now=$(pci_link "$pci" current) || ! own=$(pci_link "$pci" max); then continue; fi
		if ! slot=$(pci_link "$(dirname "$(readlink -f "$pci")")" max); then slot=$own; fi
		printf '%s %s %s %s %s;' "${pci##*/}" "$kind" "$now" "$own" "$slot"
	done
}

# A /sys that was mounted in another network namespace shows other interfaces with the same names.
sees_our_interfaces() {
	first_line "$sys/class/net/$interface/address"
	case $(ip -o link show dev "$interface" 2>/dev/null) in
		*" $line "*) [ -n "$line" ] ;;
		*) return 1 ;;
	esac
}

if sees_our_interfaces; then
	say interface_mbit "$(speed_beneath "$interface")"
	say nics "$(list_nics | sed 's/;$//')"
fi
# "GPU 3: ...", then "Link 0: 25.781 GB/s" or "Link 3: <inactive>" (Azure/azhpc-diagnostics, issue 73).
if [ -e "$sys/module/nvidia" ]; then
	say nvlinks "$(nvidia-smi nvlink --status 2>/dev/null | awk '
		/^GPU [0-9]/ {if (seen++) printf "%d;", n; n = 0}
		/^[ \t]*Link [0-9]+:.*GB\/s/ {n++}
		END {if (seen) printf "%d", n}')"
fi
say infiniband_ports "$(list_infiniband_ports | sed 's/;$//')"
say pci_links "$(list_pci_links | sed 's/;$//')"

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
say machine "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null) $(readlink /proc/self/ns/net) $(readlink -m "$state_root")"
sed 's/^/owner_/' "$state_root/$cluster/owner" 2>/dev/null
say mesh "$(cat "$state_root/$cluster/ssh/mesh" 2>/dev/null)"

if [ "$engine" != none ]; then
	if command -v "$engine" >/dev/null 2>&1; then
		say engine "$engine"
		if version=$(sh -c "$4" 2>&1); then
			say engine_version "$version"
		else
			say engine_error "$(printf '%s' "$version" | tail -n 1)"
		fi
	fi
	root=$(sh -c "$5" 2>/dev/null)
	say data_root "$root"
	sh -c "$6" 2>/dev/null
fi
# Who listens on the ports for the containers' sshd, on the cluster address or on all.
say listening "$(ss -ltnp 2>/dev/null | awk -v ports="${7:-0 0}" -v address="$address" '
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
disk=${root:-$state_root}
while [ ! -d "$disk" ]; do disk=$(dirname "$disk"); done
say disk_free_bytes "$(df -Pk "$disk" | awk 'NR == 2 {printf "%.0f", $4 * 1024}')"
exit 0
