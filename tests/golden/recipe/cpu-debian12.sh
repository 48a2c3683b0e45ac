#!/usr/bin/env bash
# Cluster host for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; comes with the base root filesystem [debian-bookworm]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker in the build stage [debian-bookworm]
# python 3.11.2 - the newest that works; for debian12; Debian's own interpreter [debian-bookworm]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; for debian12; Debian's build; mpirun over SSH and TCP [debian-bookworm]
# shellcheck disable=SC2030,SC2031
set -euo pipefail
umask 022

die() {
	echo "$0: $*" >&2
	exit 1
}
((EUID == 0)) || die "run this as root"
# shellcheck source=/dev/null
source /etc/os-release
[[ $ID == debian && ($VERSION_ID == 12 || $VERSION_ID == 12.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for debian12: ask for a recipe with the right os=="
# shellcheck disable=SC2034 # for what stands beside this script
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# sources are fetched and built here
rm -rf /var/lib/ringup/recipe
mkdir -p /var/lib/ringup
mkdir -m 700 /var/lib/ringup/recipe
packages() {
	apt-get -o Acquire::Retries=3 install -y --no-install-recommends "$@"
}
export DEBIAN_FRONTEND=noninteractive
apt-get -o Acquire::Retries=3 update

# at each login from now on, and here
cat >/etc/profile.d/ringup.sh <<'END'
# made by ringup: what the programs of the stack find each other by
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
END
# shellcheck source=/dev/null
source /etc/profile.d/ringup.sh

# ---- the stack; each step is a subshell, so that nothing of it stays for the next
# what the OS has packages of
(
	packages \
	  ca-certificates \
	  openssh-server \
	  openssh-client \
	  iproute2 \
	  procps \
	  python3=3.11.2-1+b1 \
	  openmpi-bin=4.1.4-3+b1
)

# the compiler, and headers
(
	packages \
	  libc6-dev \
	  gcc=4:12.2.0-3 \
	  gcc-12=12.2.0-14+deb12u1 \
	  libopenmpi-dev=4.1.4-3+b1 \
	  openmpi-bin=4.1.4-3+b1
)

# the all-reduce worker, when its sources are beside this script (ringup recipe --format script -o DIR)
if [[ -d $here/worker ]]; then
	(
		export CC=gcc CXX=g++
		sh "$here/worker/build.sh" /usr/local/bin
	)
fi


# ---- smoke checks: what the stack promises starts
! command -v allreduce >/dev/null || allreduce --version
python3 -c 'import ssl'
mpirun --version | grep -F 4.1.4
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
