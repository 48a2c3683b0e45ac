#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that building, running and testing need, and only those that are
# missing. When nothing is missing it prints nothing and contacts no package server.
set -euo pipefail

# package[|another that serves as well]   # why
packages='
gcc                    # build: the compiler
clang                  # build: the second compiler; lint wants both silent
make                   # build
pkg-config|pkgconf     # build: flags of the libraries below
git                    # build: lists of files for lint and dist
libc6-dev              # build: C library headers
libcurl4-openssl-dev   # build: registry HTTP
libarchive-dev         # build: layers and archives
libcjson-dev           # build: JSON
libssh2-1-dev          # build: SSH to the hosts
libssl-dev             # build: digests, TLS material
libyaml-dev            # build: cluster.yaml
libisal-dev            # build: fast gzip of layers
libzstd-dev            # build: layers that come compressed with zstd
libexpat1-dev          # build: the lists of rpm repositories
libopenmpi-dev         # build: the worker backend mpi
openmpi-bin            # build: mpicc; run: mpirun
docker.io|docker-ce    # run: the engine of the lab hosts
runc|crun              # run: the steps of a build
uidmap                 # run: builds without root
docker-registry        # run: the private registry
openssh-server         # run: sshd of the lab hosts and of the containers
openssh-client         # run: the system ssh and ssh-keygen
mmdebstrap             # run: base root file systems
slirp4netns            # run: the network of bare lab hosts
iproute2               # run: network namespaces of the lab
apache2-utils          # run: htpasswd for the registry
openssl                # run: the registry CA by hand, and its tests
ca-certificates        # run: TLS to public mirrors
curl                   # run: health checks; the peer in some tests
libcmocka-dev          # test: unit tests
bats                   # test: cli and lab tests
python3                # test: stand-in servers; lint
python3-pip            # test: what .ci/tools.txt lists
shellcheck             # test: lint
clang-format           # test: lint
universal-ctags        # test: lint, lengths of functions
buildah                # test: an engine that builds images
podman                 # test: another one
jq                     # test: looks into --json documents
rpm                    # test: the packages of RPM systems
procps                 # test: ps, pgrep
tcsh                   # test: a login shell of hosts that is no POSIX shell
fish                   # test: another one
sudo                   # test: hosts whose users are not root
busybox-static         # test: the smallest image with a shell
libcap2-bin            # test: setcap
attr                   # test: setfattr
skopeo                 # test: reads and writes layouts as ringup does
umoci                  # test: unpacks what ringup unpacks
docker-compose         # test: runs what ringup exports for it
python3-yaml           # test: reads exported manifests
python3-jsonschema     # test: checks their fields
mpich                  # test: the other MPI, for jobs that it starts
libmpich-dev           # test: its compiler
slurm-wlm              # test: a scheduler, for jobs that go to one
munge                  # test: its logins
'
# Services that these packages would otherwise start now and at each boot.
services='docker.service docker.socket containerd.service docker-registry.service ssh.service munge.service
slurmctld.service slurmd.service'

# Prints the missing ones, one a line; the first name of a group stands for it.
missing() {
	local wanted installed group name
	wanted=$(sed -E 's/ *#.*//; /^$/d' <<<"$packages")
	# shellcheck disable=SC2086 # one word each
	installed=" $(dpkg-query -W -f='${db:Status-Abbrev}:${Package} ' ${wanted//|/ } 2>/dev/null || true)"
	for group in $wanted; do
		for name in ${group//|/ }; do
			# The second letter is the state: i is installed, whatever is wanted of it later.
			[[ $installed == *i\ :"$name "* ]] && continue 2
		done
		echo "${group%%|*}"
	done
}

die() {
	echo "deps: $*" >&2
	exit 1
}

if ! command -v dpkg-query >/dev/null; then
	die "this is no Debian or Ubuntu; install what these packages hold, then 'touch build/.deps':" \
		"$(sed -E 's/ *#.*//; /^$/d; s/\|.*//' <<<"$packages" | tr '\n' ' ')"
fi
list=$(missing)
[[ -n $list ]] || exit 0

if ((EUID != 0)); then
	self=$(realpath "$0")
	sudo -n true 2>/dev/null && exec sudo -n "$self"
	die "missing: ${list//$'\n'/ }. Run this as root, then the same command again: ${self@Q}" \
		"(with sudo: sudo ${self@Q})"
fi

exec 9>/run/ringup-deps.lock
flock 9 # two builds on one machine: the second finds nothing left to do
list=$(missing)
[[ -n $list ]] || exit 0

policy=/usr/sbin/policy-rc.d
log=$(mktemp "${TMPDIR:-/tmp}/ringup-deps.XXXXXX.log")

# A policy of the machine's own stays as it is. One that a killed run of this script left is
# removed.
remove_policy() {
	if grep -qs 'written by ringup' "$policy"; then
		rm -f "$policy"
	fi
}
trap remove_policy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Only the programs are needed, so installing them must not start any server.
if [[ ! -e $policy ]]; then
	printf '#!/bin/sh\n# written by ringup .ci/deps.sh while it installs; safe to remove\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt() {
	apt-get -o DPkg::Lock::Timeout=300 -o Acquire::http::Timeout=60 -y "$@" </dev/null >>"$log" 2>&1
}

# apt touches lists/partial with each update, while the lists carry the server's dates.
lists_are_fresh() {
	[[ -n $(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -print -quit 2>/dev/null) &&
		-n $(find /var/lib/apt/lists/partial -maxdepth 0 -mtime -1 2>/dev/null) ]]
}

mapfile -t names <<<"$list"
echo "deps: installing ${#names[@]} packages: ${names[*]}" >&2
started=$SECONDS
present=' '
for service in $services; do
	[[ -e /lib/systemd/system/$service ]] && present+="$service "
done

if ! lists_are_fresh; then
	apt update || echo "deps: apt-get update failed; trying with the lists that are here" >&2
fi
if ! apt install --no-install-recommends "${names[@]}"; then
	echo "deps: the first try failed; trying once more with fresh lists" >&2
	if ! { apt update && apt install --no-install-recommends "${names[@]}"; }; then
		tail -n 20 "$log" >&2
		reason=$(grep '^E:' "$log" | tail -n 1 || true)
		die "apt-get could not install them: ${reason:-see above}. The whole log: $log." \
			"Put that right, then run the same command again"
	fi
fi
# Services that this run installed must not start at the next boot either.
for service in $services; do
	if [[ $present != *" $service "* && -e /lib/systemd/system/$service ]] && command -v systemctl >/dev/null; then
		systemctl disable "$service" >>"$log" 2>&1 || echo "deps: could not disable $service" >&2
	fi
done
rm -f "$log"
echo "deps: done in $((SECONDS - started)) s" >&2
