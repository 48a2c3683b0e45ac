#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup setup: the plan of hosts, and what it asks before it changes anything. tests/long/setup.bats does it for real.

load helper
load fleet_hosts
setup() {
	common_setup
	fleet_setup
}

@test "the plan: steps with their commands, the hosts folded, nothing changed" {
	apart ringup setup --dry-run --skip limits
	says 0
	grep -qE '^(node\[01-03\]: adds to|node01: adds to) /etc/docker/daemon.json: log-driver, log-opts' ../out || grep -q daemon ../err
	apart ringup setup --dry-run --skip daemon --skip limits --skip time
	says 0
	grep -qx 'every host has all that it needs' ../out
	apart ringup --json setup --dry-run --skip daemon
	json 'isinstance(d["steps"], list) and d["daemon_json"] == []'
}

@test "without a terminal and without --yes nothing is done" {
	apart ringup setup --skip daemon --engine podman --skip limits
	if grep -q '^every host' ../out; then return 0; fi
	says 2 'add --yes to do it'
}

@test "a driver: the reboot is named, and its version is a version" {
	local n
	mkdir -p sys/bus/pci/devices/0000:17:00.0
	echo 0x10de >sys/bus/pci/devices/0000:17:00.0/vendor
	echo 0x030200 >sys/bus/pci/devices/0000:17:00.0/class
	RINGUP_SYS=$PWD/sys apart ringup setup --dry-run --driver 535.183.01 --skip daemon
	says 0
	grep -q '^node\[01-03\]: installs the driver of Debian (non-free); counts after a REBOOT$' ../out
	grep -q "^node\[01-03\]: installs NVIDIA's container toolkit$" ../out
	apart ringup setup --dry-run --driver '1; reboot'
	says 2 'is no version'
	apart ringup setup --dry-run --skip motor
	says 2 "--skip 'motor' is no part"
}
