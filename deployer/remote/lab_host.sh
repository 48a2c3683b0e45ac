#!/bin/sh
# SPDX-License-Identifier: MIT
# First process of a lab host, in namespaces of its own: lab_host.sh STATE NAME ADDRESS PORT CGROUP ENGINE ENVIRONMENT USER
# ENGINE is docker or podman; STATE/engine.up is there when it can be asked. ENVIRONMENT is for sessions, as sshd's SetEnv takes it.
# USER is who logs in; "": root.
# When it ends, the kernel ends all processes of the host and drops its mounts.
set -eu
state=$1 name=$2 address=$3 port=$4 cgroup=$5 engine=$6 environment=$7 user=$8

mount --make-rprivate /
hostname "$name"
mount -t proc proc /proc
# A user is made in a layer over /etc, since packages of the machine replace the files there.
if [ -n "$user" ]; then
	mkdir -p "$state/etc.upper" "$state/etc.work"
	mount -t overlay overlay -o "lowerdir=/etc,upperdir=$state/etc.upper,workdir=$state/etc.work" /etc
fi
# Another lab that goes down removes these folders when they are empty. The lock keeps it from doing so here.
exec 9</run
flock 9
for folder in /etc/docker /etc/containers /etc/cdi /var/lib/ringup /var/lib/containers /dev/infiniband; do
	# Podman's settings are files of its package; the host has its own copy
	[ "$folder" != /etc/containers ] || [ ! -d "$folder" ] || cp -a "$folder" "$state/etc/"
	mkdir -p "$state$folder" "$folder"
	mount --bind "$state$folder" "$folder"
done
exec 9<&-
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lock
mkdir -p "$state/docker"
keys=$state/authorized_keys

# A user of this host alone, with a home and subordinate ids. The folder of the lab is root's alone.
make_user() {
	for file in passwd group subuid subgid; do
		case $file in
			passwd) line=$user:x:6431:6431::/run/home:/bin/sh ;;
			group) line=$user:x:6431: ;;
			*) line=$user:400000:65536 ;;
		esac
		grep -q "^$user:" "/etc/$file" 2>/dev/null || printf '%s\n' "$line" >>"/etc/$file"
	done
	mkdir -p "$state/home" /run/home /run/user/6431
	mount --bind "$state/home" /run/home
	chown 6431:6431 /run/home /run/user/6431
	chmod 700 /run/home /run/user/6431
	cp "$keys" /run/authorized_keys
	chmod 644 /run/authorized_keys
	keys=/run/authorized_keys
}
[ -z "$user" ] || make_user

# sshd of this host: keys only, on its own address.
/usr/sbin/sshd -f /dev/null -h "$state/ssh_host_ed25519_key" -E "$state/sshd.log" \
	-o PidFile=/run/sshd.pid -o "ListenAddress=$address" -o "Port=$port" \
	-o "SetEnv=$environment" -o "AuthorizedKeysFile=$keys" -o StrictModes=no -o UsePAM=no \
	-o PasswordAuthentication=no -o KbdInteractiveAuthentication=no \
	-o PermitRootLogin=prohibit-password -o MaxStartups=200

# Docker Engine of this host: no bridge and no firewall rules; containers use the host's network. Its control
# groups are plain folders under the lab's name, even where systemd runs the machine. It takes --gpus when its PATH
# has NVIDIA's hook, which simulated GPUs bring.
start_docker() {
	PATH=$state/gpus/bin:$PATH dockerd --data-root "$state/docker" --bridge none --iptables=false --ip-forward=false \
		--ip-masq=false --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "$cgroup" >"$state/dockerd.log" 2>&1 &
	until grep -q 'API listen on' "$state/dockerd.log"; do sleep 0.1; done
	[ -z "$user" ] || chgrp 6431 /run/docker.sock
	touch "$state/engine.up"
}

# Podman has no daemon. Without systemd it is told where its control groups and its events are, and it takes the limits
# of this machine: it would raise them, which a machine that is a container itself does not allow.
start_podman() {
	files=$(sed -n 's/^Max open files *[^ ]* *\([0-9]*\).*/\1/p' /proc/self/limits)
	processes=$(sed -n 's/^Max processes *[^ ]* *\([0-9]*\).*/\1/p' /proc/self/limits)
	[ -n "$processes" ] || processes=-1
	cat >/etc/containers/containers.conf <<-END
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		[containers]
		default_ulimits = ["nofile=$files:$files", "nproc=$processes:$processes"]
	END
	# Without root, Podman 4.3 takes a driver that copies every layer unless it is told that the kernel can do better.
	[ -z "$user" ] || printf '[storage]\ndriver = "overlay"\n' >/etc/containers/storage.conf
	touch "$state/engine.up"
}

"start_$engine" &
# Reaps orphaned processes and stays until the host ends.
while :; do
	wait || true
	sleep 3600 &
done
