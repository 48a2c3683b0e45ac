#!/bin/sh
# SPDX-License-Identifier: MIT
# What `setup` must know of Docker Engine before it changes daemon.json, as lines NAME=VALUE, and behind the line "file"
# the text of daemon.json as it is.
#   engine_process  of the dockerd that runs
#   flag_NAME       the value of a flag of it, in its long spelling; "yes" where it has none
#   managed         systemd, where systemd runs that dockerd
#   containers      how many run
#   live_restore    true where they go on running while dockerd restarts
#   setup_look.sh PATH
path=${RINGUP_ROOT:-}$1

# The flags of a command line whose words end in zero bytes.
flags() {
	tr '\n\0' ' \n' <"$1" 2>/dev/null | awk '
		function flag(name, value) {
			if (name == "g" || name == "graph") name = "data-root"
			if (name != "") print "flag_" name "=" (value == "" ? "yes" : value)
		}
		NR == 1 {next}
		/^--?[a-zA-Z]/ {
			flag(waits, ""); waits = ""
			name = $0; sub(/^--?/, "", name)
			at = index(name, "=")
			if (at) flag(substr(name, 1, at - 1), substr(name, at + 1)); else waits = name
			next
		}
		{flag(waits, $0); waits = ""}
		END {flag(waits, "")}'
}

process=$(pidof dockerd 2>/dev/null)
process=${process%% *}
if [ -n "$process" ]; then
	echo "engine_process=$process"
	flags "/proc/$process/cmdline"
	if systemctl is-active --quiet docker 2>/dev/null; then echo managed=systemd; fi
	if running=$(docker ps -q 2>/dev/null); then echo "containers=$(printf '%s\n' "$running" | grep -c .)"; fi
	echo "live_restore=$(docker info --format '{{.LiveRestoreEnabled}}' 2>/dev/null)"
fi
echo file
cat "$path" 2>/dev/null
exit 0
