# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# How the engine gives GPUs to containers: CDI files, the toolkit's settings, the engine's own.
say cdi_files "$(cdi_files | joined)"
# The driver's version that the CDI files were made for: libraries are named after it.
say cdi_driver "$(cdi_files | while read -r file; do
	sed -n 's/.*libcuda\.so\.\([0-9][0-9]*\.[0-9][0-9.]*\).*/\1/p' "$file"
done | sort -u | joined)"
# false: systemd may take the devices of a container away (NVIDIA/nvidia-container-toolkit, issue 48)
config=$root/etc/nvidia-container-runtime/config.toml
say toolkit_no_cgroups "$(sed -n 's/^[[:blank:]]*no-cgroups *= *//p' "$config" 2>/dev/null | head -n 1)"
say toolkit_mode "$(sed -n 's/^[[:blank:]]*mode *= *"\(.*\)"/\1/p' "$config" 2>/dev/null | head -n 1)"
daemon_file=$root/etc/docker/daemon.json
[ -r "$daemon_file" ] || daemon_file=/dev/null
# The engine's file, on one line and without blanks, as data for the conditions of doctor.
say daemon_json "$(tr -d '\n\t\r ' 2>/dev/null <"$daemon_file" | head -c 4000)"
