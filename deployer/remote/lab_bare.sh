#!/bin/sh
# SPDX-License-Identifier: MIT
# A lab host with a system of its own, in two steps:
#   lab_bare.sh network STATE NETNS CGROUP WORD...   gives the namespace NETNS a way to this machine's network, joins the control
#                                                    group CGROUP, and becomes the command, which ends both with itself
#   lab_bare.sh host STATE SYSTEM NAME ADDRESS PORT  in namespaces of its own: becomes systemd of SYSTEM, with a layer in STATE
set -eu
step=$1 state=$2
shift 2

# Control groups of version 1 are one tree for each controller. cpuset lets nobody in who has not said which processors.
join() {
	for tree in $trees; do
		mkdir -p "$tree$1"
		for file in cpuset.cpus cpuset.mems; do
			[ -e "$tree/cgroup.controllers" ] || [ ! -e "$tree/$file" ] || for group in "${1%/*}" "$1"; do
				cat "$tree/$file" >"$tree$group/$file"
			done
		done
		echo $$ >"$tree$1/cgroup.procs"
	done
}

if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	trees=/sys/fs/cgroup
else
	trees=$(find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d ! -name unified)
fi

case $step in
network)
	netns=$1 cgroup=$2
	shift 2
	# slirp4netns ends when nobody holds the other end of this pipe any more
	rm -f "$state/alive"
	mkfifo "$state/alive"
	(slirp4netns --configure --mtu=65520 --disable-host-loopback --netns-type=path --exit-fd=8 "$netns" lab0 \
		8<"$state/alive" >"$state/network.log" 2>&1 &)
	exec 9>"$state/alive"
	join "$cgroup"
	exec "$@"
	;;
esac

system=$1 name=$2 address=$3 port=$4
root=$state/root
mount --make-rprivate /
for folder in upper work root docker containerd containers; do mkdir -p "$state/$folder"; done
mount -t overlay overlay -o "lowerdir=$system,upperdir=$state/upper,workdir=$state/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
# of this machine's devices only those that every system may use: systemd would take its terminals
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/net"
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
for device in null zero full random urandom tty fuse net/tun; do
	[ -e "/dev/$device" ] || continue
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${stream%:*}" "$root/dev/${stream#*:}"; done
# the host's own trees: their top is the group that it is in
if [ "$trees" = /sys/fs/cgroup ]; then
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
	mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
	for tree in $trees; do
		tree=${tree##*/}
		case $tree in systemd) controller=none,name=systemd ;; *) controller=$tree ;; esac
		mkdir "$root/sys/fs/cgroup/$tree"
		mount -t cgroup -o "$controller" cgroup "$root/sys/fs/cgroup/$tree" || rmdir "$root/sys/fs/cgroup/$tree"
	done
	if [ ! -d "$root/sys/fs/cgroup/systemd" ]; then
		mkdir "$root/sys/fs/cgroup/systemd"
		mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
	fi
fi
# an engine's layers cannot lie in a layer
for folder in docker containerd containers; do
	mkdir -p "$root/var/lib/$folder"
	mount --bind "$state/$folder" "$root/var/lib/$folder"
done

hostname "$name"
echo "$name" >"$root/etc/hostname"
printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$name" >"$root/etc/hosts" # as Debian's installer has it
echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
mkdir -p "$root/root/.ssh" "$root/etc/ssh/sshd_config.d"
chmod 700 "$root/root/.ssh"
cp "$state/authorized_keys" "$root/root/.ssh/authorized_keys"
cp "$state/ssh_host_ed25519_key" "$state/ssh_host_ed25519_key.pub" "$root/etc/ssh/"
printf '%s\n' "ListenAddress $address" "Port $port" 'PasswordAuthentication no' 'HostKey /etc/ssh/ssh_host_ed25519_key' \
	'MaxStartups 200' >"$root/etc/ssh/sshd_config.d/lab.conf"
mkdir -p "$root/mnt"
cd "$root"
pivot_root . mnt
umount -l /mnt
exec env -i container=lab PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /sbin/init
