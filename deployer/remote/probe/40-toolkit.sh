# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# NVIDIA's container toolkit: its version, or "unknown" where only the engine's hook or CDI files tell of it.
cdi_files() {
	find "$root/etc/cdi" "$root/var/run/cdi" -name '*.yaml' -o -name '*.json' 2>/dev/null
}
toolkit_version() {
	if have nvidia-ctk; then
		nvidia-ctk --version 2>/dev/null | awk 'NR == 1 {print $NF}'
	elif have nvidia-container-cli; then
		nvidia-container-cli --version 2>/dev/null | awk '/version:/ {print $NF; exit}'
	elif have nvidia-container-runtime-hook || have nvidia-container-toolkit || [ -n "$(cdi_files)" ]; then
		echo unknown
	fi
}
say runtime_gpu "$(toolkit_version)"
