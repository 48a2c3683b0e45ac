# shellcheck shell=bash
# SPDX-License-Identifier: MIT

# own_namespaces UNSHARE_FLAGS... COMMAND...: runs it in namespaces of its own, with or without root.
own_namespaces() {
	local user=()
	[ "$(id -u)" -eq 0 ] || user=(--user --map-root-user)
	unshare "${user[@]}" "$@"
}
