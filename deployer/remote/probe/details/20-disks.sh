# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Disks and folders that a cluster writes to.

# free_bytes FOLDER; free_inodes FOLDER; size_bytes FOLDER
free_bytes() {
	df -Pk "$1" 2>/dev/null | awk 'NR == 2 {printf "%.0f", $4 * 1024}'
}
free_inodes() {
	df -Pi "$1" 2>/dev/null | awk 'NR == 2 && $4 ~ /^[0-9]+$/ {print $4}'
}
size_bytes() {
	df -Pk "$1" 2>/dev/null | awk 'NR == 2 {printf "%.0f", $2 * 1024}'
}

say disks "$(lsblk -dnbo NAME,SIZE,ROTA,TYPE,MODEL 2>/dev/null | awk '$4 == "disk" {
	model = ""
	for (i = 5; i <= NF; i++) model = model " " $i
	printf "%s %s %s%s\n", $1, $2, ($3 == 1 ? "rotating" : "flash"), model}' | joined)"
say root_free_bytes "$(free_bytes /)"
say root_free_inodes "$(free_inodes /)"
say tmp_free_bytes "$(free_bytes /tmp)"
if [ ! -w /tmp ]; then say tmp_read_only yes; fi
say shm_bytes "$(size_bytes /dev/shm)"
# /tmp where no program may be started
awk '$2 == "/tmp" && $4 ~ /(^|,)noexec(,|$)/ {found = 1} END {exit !found}' "$root/proc/mounts" 2>/dev/null && say tmp_noexec yes
# File systems that the kernel has made read-only after an error; media and images are so by nature.
say read_only_mounts "$(awk '$4 ~ /^ro(,|$)/ && $3 ~ /^(ext[234]|xfs|btrfs)$/ {print $2}' "$root/proc/mounts" 2>/dev/null | joined)"
say network_mounts "$(awk '$3 ~ /^(nfs4?|lustre|gpfs|beegfs|ceph|cifs|fuse\.(sshfs|glusterfs|juicefs))$/ {print $2 " " $3}' "$root/proc/mounts" 2>/dev/null | joined)"
