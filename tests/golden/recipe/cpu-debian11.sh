#!/usr/bin/env bash
# Cluster host for debian11, cpu
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# os debian11 - the only one that 'os==debian11' admits; Debian 11 bullseye; extended support: LTS 2026-08; packages go to archive.debian.org after the LTS [cuda-repo-management-1;common-knowledge]
# glibc 2.31 - the newest that works; for debian11; comes with the OS [common-knowledge]
# gcc 10.2.1 - the newest that works; for debian11; the OS's own [common-knowledge]
# python 3.9 - the newest that works; for debian11; the OS's own interpreter [common-knowledge]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
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
[[ $ID == debian && ($VERSION_ID == 11 || $VERSION_ID == 11.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for debian11: ask for a recipe with the right os=="
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

# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2
	echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
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
mpirun --version | grep -F 4.1.6
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
