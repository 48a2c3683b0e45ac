#!/usr/bin/env bash
# Cluster host for rockylinux9, cpu
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# os rockylinux9 - the only one that 'os==rockylinux9' admits; Rocky Linux 9 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.34 - the newest that works; for rockylinux9; comes with the OS [common-knowledge]
# gcc 11.5.0 - the newest that works; for rockylinux9; the OS's own; 11.2 at 9.0 [common-knowledge]
# python 3.9 - the newest that works; for rockylinux9; the OS's own interpreter [common-knowledge]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
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
[[ $ID == rocky && ($VERSION_ID == 9 || $VERSION_ID == 9.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for rockylinux9: ask for a recipe with the right os=="
# shellcheck disable=SC2034 # for what stands beside this script
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# sources are fetched and built here
rm -rf /var/lib/ringup/recipe
mkdir -p /var/lib/ringup
mkdir -m 700 /var/lib/ringup/recipe
packages() {
	dnf install -y --setopt=install_weak_deps=False "$@"
}

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
	  openssh-clients \
	  iproute \
	  procps-ng \
	  python3 \
	  python3-devel \
	  python3-pip
)

# the compiler, and headers
(
	packages \
	  glibc-devel \
	  gcc \
	  gcc-c++
)

# to fetch, unpack and build sources
(
	packages \
	  ca-certificates \
	  tar \
	  xz \
	  bzip2 \
	  diffutils \
	  findutils \
	  make \
	  perl \
	  file
)

# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2 -o /var/lib/ringup/recipe/openmpi-5.0.8.tar.bz2
	echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /var/lib/ringup/recipe/openmpi-5.0.8.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-5.0.8.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
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
mpirun --version | grep -F 5.0.8
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
