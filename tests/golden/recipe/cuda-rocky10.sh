#!/usr/bin/env bash
# Cluster host for rockylinux10, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# cuda 13.0.2 - the only one that 'cuda==13.0.2' admits; cuDNN 9.14.0.64 (built for CUDA 13) needs CUDA >=13,<14; NCCL 2.28.3-1 (built for CUDA 13.0) needs CUDA >=13,<14 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;immich-23110;nvidia-container-images]
# cudnn 9.14.0.64 - the newest that works; its builds for CUDA 13; first image 2025-11-05 [pytorch-cudnn-init;immich-23110;nvidia-container-images;common-knowledge]
# nccl 2.28.3-1 - the newest that works; its builds for CUDA 13.0; first image 2025-09-10 [nvidia-container-images]
# os rockylinux10 - the only one that 'os==rockylinux10' admits; Rocky Linux 10 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for rockylinux10; comes with the OS [common-knowledge]
# gcc 14.2.0 - the newest that works; for rockylinux10; CUDA 13.0.2 needs gcc >=6,<16; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.12 - the newest that works; for rockylinux10; the OS's own interpreter [common-knowledge]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
[[ $ID == rocky && ($VERSION_ID == 10 || $VERSION_ID == 10.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for rockylinux10: ask for a recipe with the right os=="
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
export PATH=/usr/local/cuda/bin:$PATH
export LD_LIBRARY_PATH=/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=/opt/openmpi/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
END
# shellcheck source=/dev/null
source /etc/profile.d/ringup.sh

# ---- the stack; each step is a subshell, so that nothing of it stays for the next
# the driver is the host's own
if command -v nvidia-smi >/dev/null; then
	driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -V | sed -n 1p)
	[[ $(printf '%s\n' "$driver" 580.65.06 | sort -V | sed -n 1p) == 580.65.06 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 580.65.06 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 580.65.06 or newer" >&2
fi

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

# NVIDIA's repository, and what of the stack comes from it
(
	packages ca-certificates gnupg2
	add() { ! grep -rqsF "https://$1" /etc/apt/sources.list.d /etc/yum.repos.d || return 0
	  curl -fsSL --retry 3 "https://$1/$2" -o /var/lib/ringup/recipe/nvidia.pub
	  [ "$(gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep -c '^pub:')" = 1 ]
	  gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep "^fpr:::::::::$3:" >/dev/null
	  rpm --import /var/lib/ringup/recipe/nvidia.pub
	  printf '[nvidia-%s]\nname=nvidia-%s\nbaseurl=https://%s\ngpgcheck=1\nenabled=1\n' "$4" "$4" "$1" >"/etc/yum.repos.d/nvidia-$4.repo"
	  rm -rf /var/lib/ringup/recipe/nvidia.pub
	}
	add developer.download.nvidia.com/compute/cuda/repos/rhel10/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
	packages \
	  cuda-toolkit-13-0-13.0.2-1 \
	  libcudnn9-cuda-13-9.14.0.64-1 \
	  libnccl-2.28.3-1+cuda13.0
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn9-devel-cuda-13-9.14.0.64-1 \
	  libnccl-devel-2.28.3-1+cuda13.0
)

[[ -e /usr/local/cuda ]] || ln -s cuda-13.0 /usr/local/cuda

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
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda --with-cuda-libdir=/usr/local/cuda/lib64/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm
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
mkdir /var/lib/ringup/recipe/stub; ln -s /usr/local/cuda/lib64/stubs/libcuda.so /var/lib/ringup/recipe/stub/libcuda.so.1
! command -v allreduce >/dev/null || allreduce --version
python3 -c 'import ssl'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.14.0.64".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.28.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 5.0.8
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
