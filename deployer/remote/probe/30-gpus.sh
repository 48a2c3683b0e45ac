# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# NVIDIA GPUs. nvidia-smi is asked as seldom as can be: without persistence mode each call takes seconds.
say_line driver "$sys/module/nvidia/version"
[ -z "${RINGUP_SIMULATED:-}" ] || say_line simulated "$RINGUP_SIMULATED/simulated"

# nvidia-smi prints what is wrong where the GPUs would stand, so its exit status decides. Drivers before 510 do not
# know compute_cap.
gpu_names() {
	said=$(nvidia-smi --query-gpu=name,uuid,compute_cap --format=csv,noheader 2>&1)
	status=$?
	case $said in
		*'not a valid field'*)
			said=$(nvidia-smi --query-gpu=name,uuid --format=csv,noheader 2>&1) || return
			said=$(printf '%s\n' "$said" | sed 's/$/, /')
			;;
		*) return $status ;;
	esac
}

# MIG devices, numbered within their GPU as gpus: and leases do it (lease.sh). A driver that knows MIG has a folder of
# capabilities, with a folder for each GPU instance (docs.nvidia.com/datacenter/tesla/mig-user-guide, "/proc based nvidia-capabilities"),
# so that nvidia-smi is asked again only where there are some.
say_parts() {
	capabilities=$root/proc/driver/nvidia/capabilities
	[ -z "${RINGUP_SIMULATED:-}" ] || capabilities=$RINGUP_SIMULATED/capabilities
	[ -d "$capabilities" ] || return 0
	parts=
	for part in "$capabilities"/gpu*/mig/gi*; do
		[ ! -d "$part" ] || parts=$(nvidia-smi -L 2>/dev/null | awk '
			/^GPU [0-9]+:/ {number = $2 + 0; parts = 0}
			/^[ \t]+MIG / && match($0, /UUID: [A-Za-z0-9\/-]+/) {
				print number ":" parts++ " " substr($0, RSTART + 6, RLENGTH - 6)}' | joined)
		break
	done
	say gpu_parts "${parts:-none}"
}

gpus=
if have nvidia-smi; then
	if gpu_names; then
		gpus=$(printf '%s\n' "$said" | awk -F ', ' '{print $1}' | joined)
		say gpus "$gpus"
		say gpu_uuids "$(printf '%s\n' "$said" | awk -F ', ' '{print $2}' | joined)"
		say_parts
		say gpu_compute "$(printf '%s\n' "$said" | awk -F ', ' '$3 != "" {print $3}' | joined)"
	else
		status=$?
		say gpu_error "nvidia-smi ends with status $status: $(printf '%s\n' "$said" | sed -n '/./{p;q;}')"
	fi
elif [ -e "$sys/module/nvidia/version" ]; then
	say gpu_error "the kernel has the driver, but there is no nvidia-smi"
fi
