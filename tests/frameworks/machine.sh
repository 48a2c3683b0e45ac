#!/bin/sh
# SPDX-License-Identifier: MIT
# machine.sh BASE SCRIPT FOLDER WHEELS: makes the root file system of a machine without containers: BASE (a tar file of Debian 12),
# what the host script of `ringup recipe --format script` installs, and Debian's PyTorch. It runs in a mount and a process namespace
# of its own, so that nothing of it is left. pip trusts what this machine trusts. What the script compiles stays in WHEELS.
set -eu
base=$1 script=$2 folder=$3 wheels=$4
[ -n "${IN_NAMESPACE:-}" ] || exec env IN_NAMESPACE=1 unshare --mount --pid --fork --kill-child sh "$0" "$@"
mkdir "$folder"
tar -xf "$base" -C "$folder" --numeric-owner
cp /etc/resolv.conf "$folder/etc/"
cp "$script" "$folder/root/stack.sh"
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
unset REQUESTS_CA_BUNDLE # pip would take it for --cert
mount -t proc proc "$folder/proc"
mount --rbind /dev "$folder/dev"
mkdir "$folder/wheels"
mount --bind "$wheels" "$folder/wheels"
export RINGUP_WHEELS=/wheels PIP_CERT=/etc/ssl/certs/ca-certificates.crt TMPDIR=/tmp PIP_FIND_LINKS="" DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d" # no service starts here
chmod 755 "$folder/usr/sbin/policy-rc.d"
chroot "$folder" bash /root/stack.sh
# Horovod was compiled; from now on its wheel is installed
chroot "$folder" bash /root/stack.sh >"$folder/root/again.log" 2>&1 || {
	cat "$folder/root/again.log"
	exit 1
}
if grep 'running build_ext' "$folder/root/again.log"; then
	exit 1
fi
grep 'what was compiled stays in' "$folder/root/again.log"
chroot "$folder" apt-get install -y --no-install-recommends python3-torch libopenblas0-pthread
chroot "$folder" apt-get clean
