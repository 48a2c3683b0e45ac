# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# InfiniBand and RoCE beside the ports' speed.

# GIDs of RoCE ports by which another host can be reached, "mlx5_0 1 3 v2 10.0.0.1": index 0 is the link's own address
# (NVIDIA/nccl, issue 769).
list_gids() {
	for types in "$sys"/class/infiniband/*/ports/*/gid_attrs/types; do
		port=${types%/gid_attrs/types}
		device=${port%/ports/*}
		first_line "$port/link_layer"
		[ "$line" = Ethernet ] || continue
		for type in "$types"/*; do
			first_line "$type" || continue
			case $line in
				*v2) version=v2 ;;
				*) version=v1 ;;
			esac
			first_line "$port/gids/${type##*/}" || continue
			case $line in
				fe80:* | 0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
				0000:0000:0000:0000:0000:ffff:*)
					pair=${line#0000:0000:0000:0000:0000:ffff:}
					low=${pair#*:} pair=${pair%:*}
					gid=$((0x${pair%??})).$((0x${pair#??})).$((0x${low%??})).$((0x${low#??}))
					;;
				*) gid=$line ;;
			esac
			printf '%s %s %s %s %s\n' "${device##*/}" "${port##*/}" "${type##*/}" "$version" "$gid"
		done
	done
}
say roce_gids "$(list_gids | head -n 64 | joined)"
say rdma_stack "$(ofed_info -s 2>/dev/null | tr -d ':' | head -n 1)"
# Firmware and driver of each device: cards of one kind behave alike only with the same.
say infiniband_firmware "$(for device in "$sys"/class/infiniband/*; do
	first_line "$device/fw_ver" && printf '%s %s\n' "${device##*/}" "$line"
done | joined)"
