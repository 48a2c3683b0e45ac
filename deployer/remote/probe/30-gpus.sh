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

gpus=
if have nvidia-smi; then
	if gpu_names; then
		gpus=$(printf '%s\n' "$said" | awk -F ', ' '{print $1}' | joined)
		say gpus "$gpus"
		say gpu_uuids "$(printf '%s\n' "$said" | awk -F ', ' '{print $2}' | joined)"
		say gpu_compute "$(printf '%s\n' "$said" | awk -F ', ' '$3 != "" {print $3}' | joined)"
	else
		status=$?
		say gpu_error "nvidia-smi ends with status $status: $(printf '%s\n' "$said" | sed -n '/./{p;q;}')"
	fi
elif [ -e "$sys/module/nvidia/version" ]; then
	say gpu_error "the kernel has the driver, but there is no nvidia-smi"
fi
