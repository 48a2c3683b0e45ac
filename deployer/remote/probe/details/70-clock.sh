# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Who keeps the clock, and whether it does. The skew itself comes from the first section.
say clock_synchronized "$(timedatectl show -p NTPSynchronized --value 2>/dev/null || timedatectl 2>/dev/null | sed -n 's/.*\(NTP\|System clock\) synchronized: *//p')"
time_services() {
	# each line has the names of one service: on Debian one is another's alias
	for names in 'chronyd chrony' 'ntpd ntp ntpsec' systemd-timesyncd ptp4l openntpd; do
		for name in $names; do
			[ "$(systemctl is-active "$name" 2>/dev/null)" = active ] || continue
			echo "$name"
			break
		done
	done
}
say time_service "$(time_services | sort -u | joined)"
# "System time     : 0.000012 seconds slow of NTP time"
say clock_offset_s "$(chronyc tracking 2>/dev/null | awk '/^System time/ {print ($6 == "slow" ? "-" : "") $4}')"
say timezone "$(timedatectl show -p Timezone --value 2>/dev/null)"
