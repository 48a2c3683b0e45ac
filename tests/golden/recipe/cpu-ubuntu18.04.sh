#!/usr/bin/env bash
# Cluster host for ubuntu18.04, cpu
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# os ubuntu18.04 - the only one that 'os==ubuntu18.04' admits; Ubuntu 18.04 bionic; extended support: ESM 2028 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.27 - the newest that works; for ubuntu18.04; comes with the OS [cuda-10.1-installation-guide]
# gcc 7.5.0 - the newest that works; for ubuntu18.04; the OS's own [common-knowledge]
# python 3.6 - the newest that works; for ubuntu18.04; the OS's own interpreter [common-knowledge]
# openmpi 4.1.1 - the only one that 'openmpi==4.1.1' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
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
[[ $ID == ubuntu && ($VERSION_ID == 18.04 || $VERSION_ID == 18.04.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for ubuntu18.04: ask for a recipe with the right os=="
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
export PATH=/opt/openmpi/bin:$PATH
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
	  python3 \
	  python3-dev \
	  python3-pip
)

# the compiler, and headers
(
	packages \
	  libc6-dev \
	  gcc \
	  g++
)

# to fetch, unpack and build sources
(
	packages \
	  ca-certificates \
	  curl \
	  bzip2 \
	  xz-utils \
	  make \
	  perl \
	  file
)

# Open MPI 4.1.1 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.1.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2
	echo "e24f7a778bd11a71ad0c14587a7f5b00e68a71aa5623e2157bafee3d44c07cda  /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared
	make -j"$(nproc)" install
	echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /
	rm -rf /var/lib/ringup/recipe/*
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
mpirun --version | grep -F 4.1.1
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
