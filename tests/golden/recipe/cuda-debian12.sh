#!/usr/bin/env bash
# Cluster host for debian12, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# cuda 12.6.3 - the only one that 'cuda==12.6.3' admits; cuDNN 9.10.2.21 (built for CUDA 12) needs CUDA >=12,<13; NCCL 2.23.4-1 (built for CUDA 12.6) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;nvidia-container-images;cudnn-support-matrix-9.0]
# cudnn 9.10.2.21 - the newest that works; its builds for CUDA 12; first image 2025-06-24 [nvidia-container-images;common-knowledge;cudnn-support-matrix-9.0]
# nccl 2.23.4-1 - the newest that 'nccl==2.23.4-1' admits; its builds for CUDA 12.6; first image 2024-10-14 [nvidia-container-images]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; comes with the base root filesystem [debian-bookworm]
# gcc 12.2.0 - the newest that works; for debian12; CUDA 12.6.3 needs gcc >=6,<14; compiles the worker in the build stage [debian-bookworm;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# python 3.11.2 - the newest that works; for debian12; Debian's own interpreter [debian-bookworm]
# openmpi 5.0.6 - the only one that 'openmpi==5.0.6' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.6.3; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
	[[ $(printf '%s\n' "$driver" 525.60.13 | sort -V | sed -n 1p) == 525.60.13 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 525.60.13 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 525.60.13 or newer" >&2
fi

# what the OS has packages of
(
	packages \
	  ca-certificates \
	  openssh-server \
	  openssh-client \
	  iproute2 \
	  procps \
	  python3=3.11.2-1+b1
)

# the compiler, and headers
(
	packages \
	  libc6-dev \
	  gcc=4:12.2.0-3 \
	  gcc-12=12.2.0-14+deb12u1
)

# NVIDIA's repository, and what of the stack comes from it
(
	packages ca-certificates curl gnupg
	add() { ! grep -rqsF "https://$1" /etc/apt/sources.list.d /etc/yum.repos.d || return 0
	  curl -fsSL --retry 3 "https://$1/$2" -o /var/lib/ringup/recipe/nvidia.pub
	  [ "$(gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep -c '^pub:')" = 1 ]
	  gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep "^fpr:::::::::$3:" >/dev/null
	  gpg --dearmor </var/lib/ringup/recipe/nvidia.pub >"/usr/share/keyrings/nvidia-$4.gpg"
	  echo "deb [signed-by=/usr/share/keyrings/nvidia-$4.gpg] https://$1 /" >"/etc/apt/sources.list.d/nvidia-$4.list"
	  rm -rf /var/lib/ringup/recipe/nvidia.pub
	}
	add developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
	apt-get update
	packages \
	  cuda-toolkit-12-6=12.6.3-1 \
	  libcudnn9-cuda-12=9.10.2.21-1 \
	  libnccl2=2.23.4-1+cuda12.6
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn9-dev-cuda-12=9.10.2.21-1 \
	  libcudnn9-headers-cuda-12=9.10.2.21-1 \
	  libnccl-dev=2.23.4-1+cuda12.6
)

[[ -e /usr/local/cuda ]] || ln -s cuda-12.6 /usr/local/cuda

# frameworks come by pip
(
	packages \
	  python3-pip \
	  python3-dev
)

# C++, for what is built against them
(
	packages \
	  g++=4:12.2.0-3 \
	  g++-12=12.2.0-14+deb12u1
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

# Open MPI 5.0.6 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.6.tar.bz2 -o /var/lib/ringup/recipe/openmpi-5.0.6.tar.bz2
	echo "bd4183fcbc43477c254799b429df1a6e576c042e74a2d2f8b37d537b2ff98157  /var/lib/ringup/recipe/openmpi-5.0.6.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-5.0.6.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.10.2.21".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.23.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 5.0.6
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
