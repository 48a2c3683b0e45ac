#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/probe/ against a sysfs of the test's own: what it says of NICs, InfiniBand and PCIe links.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

setup() {
	export RINGUP_SYS=$BATS_TEST_TMPDIR/sys PATH=$BATS_TEST_TMPDIR/bin:$PATH
	mkdir -p "$RINGUP_SYS/class/net" "$RINGUP_SYS/bus/pci/devices" "$BATS_TEST_TMPDIR/bin"
	cd "$RINGUP_SYS" || return 1
	# the probe asks ip for the interface of the address, and for its link
	printf '#!/bin/sh\necho "2: ${INTERFACE:-eth0} inet 10.0.0.1/24 link/ether ${MAC:-02:00:00:00:00:01} brd"\n' >"$BATS_TEST_TMPDIR/bin/ip"
	chmod +x "$BATS_TEST_TMPDIR/bin/ip"
}

# files FOLDER NAME=TEXT...: what the kernel would say there.
files() {
	local folder=$1 pair
	mkdir -p "$folder"
	shift
	for pair; do echo "${pair#*=}" >"$folder/${pair%%=*}"; done
}

# pci ADDRESS SLOT_LINK NOW_LINK OWN_LINK NAME=TEXT...: a device in a slot; a link is SPEED:WIDTH.
pci() {
	local address=$1 slot=$2 now=$3 own=$4 port=devices/pci0000:00/0000:00:${1:5:2}.0
	shift 4
	files "$port" "max_link_speed=${slot%:*}" "max_link_width=${slot#*:}"
	files "$port/$address" "current_link_speed=${now%:*}" "current_link_width=${now#*:}" \
		"max_link_speed=${own%:*}" "max_link_width=${own#*:}" "$@"
	ln -s "../../../$port/$address" "bus/pci/devices/$address"
}

# nic NAME ADDRESS SPEED: an Ethernet NIC on a PCI device; ADDRESS "-": virtual.
nic() {
	files "class/net/$1" type=1 operstate=up address=02:00:00:00:00:01 "speed=$3"
	[ "$2" = - ] || ln -s "$(realpath "bus/pci/devices/$2")" "class/net/$1/device"
}

# fact KEY: what the probe says of it, in dash where there is one: hosts have that as sh.
fact() {
	cat "$ROOT"/deployer/remote/probe/*.sh | "$(command -v dash || echo sh)" -s lab 10.0.0.1 none x x x | sed -n "s/^$1=//p"
}

@test "NICs: hardware alone, with speed and PCI address; virtual functions of the host's own are left out" {
	pci 0000:3b:00.0 '16.0 GT/s PCIe:16' '16.0 GT/s PCIe:8' '16.0 GT/s PCIe:16' vendor=0x15b3 class=0x020000
	pci 0000:3b:00.1 '16.0 GT/s PCIe:16' '16.0 GT/s PCIe:8' '16.0 GT/s PCIe:16' vendor=0x15b3 class=0x020000
	pci 0000:3b:00.2 '16.0 GT/s PCIe:16' 'Unknown:0' 'Unknown:0' vendor=0x15b3 class=0x020000
	mkdir bus/pci/devices/0000:3b:00.2/physfn
	nic eth0 0000:3b:00.0 25000
	nic eth1 0000:3b:00.1 -1
	nic eth2 0000:3b:00.2 25000
	nic veth0 - 10000
	nic lo - 10
	[ "$(fact nics)" = 'eth0 25000 0000:3b:00.0;eth1 0 0000:3b:00.1' ]
	[ "$(fact interface_mbit)" = 25000 ]
	[ "$(fact pci_links)" = '0000:3b:00.0 nic 16.0x8 16.0x16 16.0x16;0000:3b:00.1 nic 16.0x8 16.0x16 16.0x16' ]
}

@test "the interface's speed: a VLAN's and a bridge's beneath, a bond's own, none of a veth" {
	pci 0000:3b:00.0 '8.0 GT/s PCIe:8' '8.0 GT/s PCIe:8' '8.0 GT/s PCIe:8' vendor=0x8086 class=0x020000
	nic eth0 0000:3b:00.0 10000
	nic eth0.7 - 10000
	ln -s ../eth0 class/net/eth0.7/lower_eth0
	nic br0 - 10000
	nic veth0 - 10000
	ln -s ../veth0 class/net/br0/lower_a
	ln -s ../eth0.7 class/net/br0/lower_eth0.7
	nic bond0 - 20000
	mkdir class/net/bond0/bonding
	local name
	for name in eth0 eth0.7 br0; do
		[ "$(INTERFACE=$name fact interface_mbit)" = 10000 ] || { echo "$name"; return 1; }
	done
	[ "$(INTERFACE=bond0 fact interface_mbit)" = 20000 ]
	[ "$(INTERFACE=veth0 fact interface_mbit)" = '' ]
	[ "$(INTERFACE=veth0 fact interface)" = veth0 ]
}

@test "a /sys of another network namespace says nothing of our interfaces" {
	pci 0000:3b:00.0 '8.0 GT/s PCIe:8' '8.0 GT/s PCIe:8' '8.0 GT/s PCIe:8' vendor=0x8086 class=0x020000
	nic eth0 0000:3b:00.0 10000
	[ "$(fact interface_mbit)" = 10000 ]
	[ "$(MAC=02:00:00:00:00:02 fact interface_mbit)$(MAC=02:00:00:00:00:02 fact nics)" = '' ]
	[ "$(MAC=02:00:00:00:00:02 fact pci_links)" = "$(fact pci_links)" ]
}

@test "InfiniBand: every port with its state, layer and rate" {
	pci 0000:5e:00.0 '16.0 GT/s PCIe:16' '16.0 GT/s PCIe:16' '16.0 GT/s PCIe:16' vendor=0x15b3 class=0x020700
	files class/infiniband/mlx5_0/ports/1 'state=4: ACTIVE' link_layer=InfiniBand 'rate=100 Gb/sec (4X EDR)'
	files class/infiniband/mlx5_0/ports/2 'state=1: DOWN' link_layer=InfiniBand 'rate=10 Gb/sec (4X SDR)'
	ln -s "$(realpath bus/pci/devices/0000:5e:00.0)" class/infiniband/mlx5_0/device
	[ "$(fact infiniband_ports)" = 'mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X EDR);mlx5_0 2 DOWN InfiniBand 0000:5e:00.0 10 Gb/sec (4X SDR)' ]
}

@test "InfiniBand: whether there are device files for it" {
	[ "$(fact infiniband_files)" = '' ]
	mkdir -p class/infiniband/mlx5_0
	export RINGUP_ROOT=$BATS_TEST_TMPDIR/root
	mkdir -p "$RINGUP_ROOT/dev/infiniband"
	touch "$RINGUP_ROOT/dev/infiniband/rdma_cm"
	[ "$(fact infiniband_files)" = no ]
	touch "$RINGUP_ROOT/dev/infiniband/uverbs0"
	[ "$(fact infiniband_files)" = yes ]
}

@test "GPUs: the link at the moment, the card's own and the slot's; other vendors' are not ours" {
	pci 0000:17:00.0 '8.0 GT/s PCIe:16' '2.5 GT/s PCIe:16' '16.0 GT/s PCIe:16' vendor=0x10de class=0x030200
	pci 0000:02:00.0 '8.0 GT/s PCIe:16' '8.0 GT/s PCIe:1' '8.0 GT/s PCIe:1' vendor=0x1a03 class=0x030000
	[ "$(fact pci_links)" = '0000:17:00.0 gpu 2.5x16 16.0x16 8.0x16' ]
}

@test "NVLinks: those at work, of each GPU" {
	mkdir -p module/nvidia
	cat >"$BATS_TEST_TMPDIR/bin/nvidia-smi" <<-'END'
		#!/bin/sh
		[ "$1" = nvlink ] || exit 1
		cat <<TEXT
		GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-1)
			 Link 0: 25.781 GB/s
			 Link 1: 25.781 GB/s
		GPU 1: Tesla V100-SXM2-32GB (UUID: GPU-2)
			 Link 0: 25.781 GB/s
			 Link 1: <inactive>
		GPU 2: Tesla T4 (UUID: GPU-3)
		TEXT
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/nvidia-smi"
	[ "$(fact nvlinks)" = '2;1;0' ]
	rmdir module/nvidia
	[ "$(fact nvlinks)" = '' ]
}

@test "a host that says nothing of its links" {
	[ "$(fact nics)$(fact infiniband_ports)$(fact pci_links)$(fact interface_mbit)$(fact nvlinks)" = '' ]
	[ -n "$(fact kernel)" ]
}

@test "who listens on the ports for the containers' sshd: on the cluster's address or on all, and no other port" {
	cat >"$BATS_TEST_TMPDIR/bin/ss" <<-'END'
		#!/bin/sh
		# stand-in: what iproute2 6.1 prints as root, and of another user's process
		cat <<-'TEXT'
			State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
			LISTEN 0      128        10.0.0.1:9435        0.0.0.0:*    users:(("sshd",pid=4242,fd=3))
			LISTEN 0      4096              *:9436              *:*    users:(("node exporter;",pid=7,fd=3),("x",pid=8,fd=3))
			LISTEN 0      128            [::]:9437           [::]:*
			LISTEN 0      128  127.0.0.53%lo:9438        0.0.0.0:*    users:(("a",pid=9,fd=3))
			LISTEN 0      128        10.0.0.2:9439        0.0.0.0:*    users:(("b",pid=9,fd=3))
			LISTEN 0      128        10.0.0.1:9535        0.0.0.0:*    users:(("c",pid=9,fd=3))
			ESTAB  0      0          10.0.0.1:9440      10.0.0.2:555   users:(("d",pid=9,fd=3))
			LISTEN 0      128     10.0.0.1%eth0:9441      0.0.0.0:*    users:(("e",pid=10,fd=3))
		TEXT
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/ss"
	listening() {
		cat "$ROOT"/deployer/remote/probe/*.sh | "$(command -v dash || echo sh)" -s lab 10.0.0.1 none x x x "$1" | sed -n 's/^ports_taken=//p'
	}
	[ "$(listening '9435 9534')" = '9435 sshd/4242;9436 node_exporter_/7;9437 -;9441 e/10' ]
	[ "$(listening '9436 9436')" = '9436 node_exporter_/7' ]
	[ "$(listening '0 0')" = '' ]
}
