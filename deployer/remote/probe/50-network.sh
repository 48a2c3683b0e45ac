# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# The cluster address in numbers: where it is a name, the address at which ssh came. sudo hides that; then the host
# says what the name means to it.
case $address in
	*:* | '') ;;
	*[!0-9.]*)
		came=$(printf '%s' "${SSH_CONNECTION:-}" | cut -d' ' -f3)
		[ -n "$came" ] || came=$(within 3 getent ahosts "$address" | awk 'NR == 1 {print $1}')
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
