#!/bin/sh
# SPDX-License-Identifier: MIT
# Waits until the pull-through mirror on this host has stored what it hands on: seed_stored.sh STORAGE. It writes a blob into
# a folder of _uploads and moves it from there. An upload that does not grow for 60 s is one that somebody cut off: status 1.
storage=$1 still=0 before=''
while :; do
	now=$(find "$storage/docker/registry/v2/repositories" -path '*/_uploads/*' -name data -printf '%p %s\n' 2>/dev/null)
	[ -n "$now" ] || exit 0
	if [ "$now" = "$before" ]; then
		still=$((still + 1))
		[ $still -lt 300 ] || exit 1
	else
		still=0 before=$now
	fi
	sleep 0.2
done
