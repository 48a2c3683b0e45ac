# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154
# What both hooks of NVIDIA's on a lab host have in common, which read it at their start, with the folder of the host's GPUs in $gpus.
# An engine calls a hook before a container starts, with the container's state as JSON on stdin (OCI runtime specification, "State";
# config.json, "Hooks").
state=$(cat)

# member JSON NAME: a text or number of JSON that engines write without blanks.
member() {
	printf '%s' "$1" | sed -n 's/.*"'"$2"'":"\{0,1\}\([^",}]*\).*/\1/p' | head -n 1
}

config=$(cat "$(member "$state" bundle)/config.json")
rootfs=$(printf '%s' "$config" | sed -n 's/.*"root":{"path":"\([^"]*\)".*/\1/p')
case $(uname -m) in
	x86_64) libraries=/usr/lib/x86_64-linux-gnu ;;
	*) libraries=/usr/lib/$(uname -m)-linux-gnu ;;
esac

fail() {
	printf "Auto-detected mode as 'legacy'\nnvidia-container-cli: %s\n" "$1" >&2
	exit 1
}

# choose DEVICE...: a folder in $mine with what the container sees: the lines of its GPUs, numbered from 0. Of a GPU in MIG mode
# it sees the MIG devices that were named, as GPU:DEVICE or by UUID.
choose() {
	mine=$(mktemp -d "$gpus/container.XXXXXX")
	chmod 755 "$mine"
	for device; do
		awk -F '|' -v OFS='|' -v d="$device" '
			d == "all" || $1 == d || $2 == d {print; next}
			{
				n = split($10, mig, " ")
				for (i = 2; i <= n; i++) if (mig[i] == d || $1 ":" (i - 2) == d) {$10 = mig[1] " " mig[i]; print}
			}' "$gpus/gpus" >"$mine/found"
		if [ ! -s "$mine/found" ]; then
			rm -r "$mine"
			fail "device error: $device: unknown device"
		fi
		cat "$mine/found" >>"$mine/all"
	done
	awk -F '|' -v OFS='|' '
		$2 in at {sub(/^[^ ]*/, "", $10); lines[at[$2]] = lines[at[$2]] $10; next}
		{at[$2] = $1 = count + 0; lines[count++] = $0}
		END {for (i = 0; i < count; i++) print lines[i]}' "$mine/all" >"$mine/gpus"
	cp "$gpus/driver" "$gpus/simulated" "$mine/"
	mkdir "$mine/shared"
	rm "$mine/found" "$mine/all"
}

# grant DEVICES CAPABILITIES: notes what the container gets, and shows it there. The hook's in_container runs words where the
# container's mounts are.
grant() {
	printf '%s container=%s devices=%s capabilities=%s uuids=%s\n' "$(date -u +%FT%TZ)" "$(member "$state" id)" "$1" "$2" \
		"$(awk -F '|' '{sub(/^[^ ]* /, "", $10); gsub(/ /, ",", $10); print $10 != "" ? $10 : $2}' "$mine/gpus" |
			paste -sd ',' -)" >>"$gpus/granted.log"
	mkdir -p "$rootfs/run/ringup-simulated"
	in_container mount --bind "$mine" "$rootfs/run/ringup-simulated"
	in_container mount --bind "$gpus/../../shared" "$rootfs/run/ringup-simulated/shared"
}
