#!/usr/bin/env bash
# Cluster host for ubuntu16.04, cpu
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# os ubuntu16.04 - the only one that 'os==ubuntu16.04' admits; Ubuntu 16.04 xenial; extended support: ESM 2026-04 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.23 - the newest that works; for ubuntu16.04; comes with the OS [cuda-10.1-installation-guide]
# gcc 5.4.0 - the newest that works; for ubuntu16.04; the OS's own [cuda-10.1-installation-guide]
# python 3.5 - the newest that works; for ubuntu16.04; the OS's own interpreter [common-knowledge]
# openmpi 4.0.5 - the only one that 'openmpi==4.0.5' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
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
[[ $ID == ubuntu && ($VERSION_ID == 16.04 || $VERSION_ID == 16.04.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for ubuntu16.04: ask for a recipe with the right os=="
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

# Open MPI 4.0.5 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.5.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.0.5.tar.bz2
	echo "c58f3863b61d944231077f344fe6b4b8fbb83f3d1bc93ab74640bf3e5acac009  /var/lib/ringup/recipe/openmpi-4.0.5.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.0.5.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
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
mpirun --version | grep -F 4.0.5
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
