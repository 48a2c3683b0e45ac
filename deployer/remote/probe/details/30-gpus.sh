# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# More of each NVIDIA GPU, and what the PCI bus has.

# What `nvidia-smi -q -x` says, which has a form that goes on from driver to driver: a fact per line, ';' between GPUs.
# Its own name of each value stands behind the names of the elements that hold it: "ecc_errors/volatile/dram_uncorrectable".
gpu_details() {
	nvidia-smi -q -x 2>/dev/null | awk '
	function add(name, value) {
		if (value ~ /^(N\/A|\[N\/A\]|\[?Not Supported\]?|Requested functionality has been deprecated)$/) value = "-"
		if (!((name, gpu) in facts)) facts[name, gpu] = value
	}
	function count(name, value) {
		if (value ~ /^[0-9]+$/) {facts[name, gpu] += value}
	}
	function take(path, value) {
		if (path == "serial") add("gpu_serials", value)
		else if (path == "persistence_mode") add("gpu_persistence", value)
		else if (path == "compute_mode") add("gpu_compute_modes", value)
		else if (path == "mig_mode/current_mig") add("gpu_mig", value)
		else if (path == "ecc_mode/current_ecc") add("gpu_ecc", value)
		else if (path == "ecc_mode/pending_ecc") add("gpu_ecc_pending", value)
		else if (path == "fb_memory_usage/total") add("gpu_memory_mib", value + 0)
		else if (path == "fb_memory_usage/used") add("gpu_memory_used_mib", value + 0)
		else if (path == "temperature/gpu_temp") add("gpu_celsius", value ~ /^[0-9]/ ? value + 0 : "-")
		else if (path ~ /^(gpu_)?power_readings\/(current_|enforced_)power_limit$/) add("gpu_power_cap_w", value ~ /^[0-9]/ ? value + 0 : "-")
		else if (path ~ /^(gpu_)?power_readings\/default_power_limit$/) add("gpu_power_default_w", value ~ /^[0-9]/ ? value + 0 : "-")
		else if (path ~ /^ecc_errors\/volatile\/([ds]ram_uncorrectable(_parity|_secded)?|double_bit\/total)$/) count("gpu_ecc_errors", value)
		else if (path ~ /^remapped_rows\/remapped_row_pending$/) add("gpu_remap_pending", value)
		else if (path ~ /^remapped_rows\/remapped_row_failure$/) add("gpu_remap_failure", value)
		else if (path ~ /^remapped_rows\/remapped_row_unc$/) count("gpu_remapped_rows", value)
		else if (path == "retired_pages/pending_retirement" || path == "retired_pages/pending_blacklist") {
			if (value == "Yes") facts["gpu_retire_pending", gpu] = "Yes"
		}
		else if (path == "pci/pci_gpu_link_info/pcie_gen/max_link_gen") gen_most = value
		else if (path == "pci/pci_gpu_link_info/pcie_gen/current_link_gen") gen_now = value
		else if (path == "pci/pci_gpu_link_info/link_widths/max_link_width") wide_most = value + 0
		else if (path == "pci/pci_gpu_link_info/link_widths/current_link_width") {
			wide_now = value + 0
			if (wide_most > 0) add("gpu_pcie", gen_now "x" wide_now " of " gen_most "x" wide_most)
		}
		else if (path == "fabric/state") add("gpu_fabric", value)
		else if (path == "gpu_recovery_action") add("gpu_recovery", value)
		else if (path ~ /^processes\/process_info\/pid$/) count("gpu_processes", 1)
		else if (path ~ /^clocks_(throttle|event)_reasons\// && value == "Active") {
			sub(/.*_reason_/, "", path)
			if (path != "gpu_idle" && path != "applications_clocks_setting")
				slow[gpu] = slow[gpu] (slow[gpu] == "" ? "" : "+") path
		}
	}
	function end() {
		if (slow[gpu] != "") add("gpu_throttle", slow[gpu])
		if (!(("gpu_processes", gpu) in facts)) facts["gpu_processes", gpu] = 0
	}
	{
		sub(/\r$/, "")
		sub(/^[ \t]+/, "")
		if (/^<gpu id=/) {gpu++; depth = 0; path = ""; next}
		if (/^<\/gpu>/) {end(); next}
		if (!gpu) {
			if (/^<cuda_version>/) {gsub(/<[^>]*>/, ""); cuda = $0}
			next
		}
		if (/^<\//) {
			if (depth > 0) depth--
		} else if (/^<[a-zA-Z0-9_]+>.*<\/[a-zA-Z0-9_]+>$/) {
			name = $0; sub(/>.*/, "", name); sub(/^</, "", name)
			value = $0; sub(/^<[^>]*>/, "", value); sub(/<\/[^<]*$/, "", value)
			path = ""
			for (i = 1; i <= depth; i++) path = path names[i] "/"
			take(path name, value)
		} else if (/^<[a-zA-Z0-9_]+( .*)?>$/ && !/\/>$/) {
			name = $0; sub(/[ >].*/, "", name); sub(/^</, "", name)
			names[++depth] = name
		}
	}
	END {
		if (cuda != "") print "driver_cuda=" cuda
		n = split("gpu_serials gpu_memory_mib gpu_memory_used_mib gpu_celsius gpu_persistence gpu_compute_modes gpu_mig gpu_ecc gpu_ecc_pending " \
			"gpu_ecc_errors gpu_remapped_rows gpu_remap_pending gpu_remap_failure gpu_retire_pending gpu_pcie gpu_power_cap_w " \
			"gpu_power_default_w gpu_throttle gpu_fabric gpu_recovery gpu_processes", order, " ")
		for (i = 1; i <= n; i++) {
			text = ""; known = 0
			for (g = 1; g <= gpu; g++) {
				value = (order[i], g) in facts ? facts[order[i], g] : "-"
				if (value != "-") known = 1
				text = text (g > 1 ? ";" : "") value
			}
			if (known) print order[i] "=" text
		}
	}'
}

[ -n "$gpus" ] && gpu_details

# GPUs and displays that the PCI bus has, whatever drivers say: "10de 0302 0000:17:00.0".
list_displays() {
	for pci in "$sys"/bus/pci/devices/*; do
		first_line "$pci/class" || continue
		case $line in
			0x03*) ;;
			*) continue ;;
		esac
		class=${line#0x}
		[ -e "$pci/physfn" ] && continue
		first_line "$pci/vendor"
		printf '%s %.4s %s\n' "${line#0x}" "$class" "${pci##*/}"
	done
}
displays=$(list_displays)
nvidia_cards=$(printf '%s\n' "$displays" | grep -c '^10de ')
[ "$nvidia_cards" -gt 0 ] && say pci_gpus "$nvidia_cards"
say pci_displays "$(printf '%s\n' "$displays" | awk '$1 == "10de" {print "nvidia"} $1 == "8086" {print "intel"} $1 == "1002" {print "amd"} $1 == "1a03" {print "aspeed"} $1 == "102b" {print "matrox"}' | sort -u | joined)"

# NVIDIA's open kernel module is for Turing (device 1e02) and newer, and Grace Hopper and Blackwell (2900 and newer) work with no
# other (NVIDIA/open-gpu-kernel-modules, README, "Compatible GPUs"; NVIDIA's driver installation guide, "Kernel Modules").
open_module() {
	for pci in "$sys"/bus/pci/devices/*; do
		first_line "$pci/vendor"
		[ "$line" = 0x10de ] || continue
		first_line "$pci/class" || continue
		case $line in 0x03*) ;; *) continue ;; esac
		if [ -e "$pci/physfn" ] || ! first_line "$pci/device"; then continue; fi
		case $line in 0x[0-9a-f][0-9a-f][0-9a-f][0-9a-f]) ;; *) continue ;; esac
		if [ $((line)) -lt $((0x1e02)) ]; then
			echo impossible
		elif [ $((line)) -ge $((0x2900)) ] || [ "$line" = 0x2342 ] || [ "$line" = 0x2348 ]; then
			echo needed
		else
			echo possible
		fi
	done | sort | awk 'NR == 1 {said = $0} $0 == "needed" && said != "impossible" {said = $0} END {print said}'
}
say open_module "$(open_module)"
