# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# How fast the links are, from sysfs. lib/plan/links.h has the form.

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

# NVIDIA GPUs of its own driver, and network cards: the link's current rate, the card's maximum, the slot's maximum.
list_pci_links() {
	for pci in "$sys"/bus/pci/devices/*; do
		[ -e "$pci/physfn" ] && continue
		first_line "$pci/vendor"
		vendor=$line
		first_line "$pci/class"
		case $line,$vendor in
			0x03*,0x10de)
				# with another driver (vfio-pci, nouveau) it is not for CUDA; one that was lost has none
				driver=$(readlink "$pci/driver")
				case ${driver##*/} in '' | nvidia) kind=gpu ;; *) continue ;; esac
				;;
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
say infiniband_ports "$(list_infiniband_ports | sed 's/;$//')"
say pci_links "$(list_pci_links | sed 's/;$//')"
cards=$(for device in "$sys"/class/infiniband/*; do
	[ -e "$device" ] && printf '%s\n' "${device##*/}"
done | joined)
say infiniband "$cards"
# Programs open device files for them. A host that is a container sees the cards of its machine, and may have no such file.
if [ -n "$cards" ]; then
	say infiniband_files "$(ls "$root"/dev/infiniband/uverbs* >/dev/null 2>&1 && echo yes || echo no)"
fi
# "GPU 3: ...", then "Link 0: 25.781 GB/s" or "Link 3: <inactive>" (Azure/azhpc-diagnostics, issue 73).
nvlink_status=
if [ -e "$sys/module/nvidia" ]; then
	nvlink_status=$(nvidia-smi nvlink --status 2>/dev/null)
	say nvlinks "$(printf '%s\n' "$nvlink_status" | awk '
		/^GPU [0-9]/ {if (seen++) printf "%d;", n; n = 0}
		/^[ \t]*Link [0-9]+:.*GB\/s/ {n++}
		END {if (seen) printf "%d", n}')"
fi
