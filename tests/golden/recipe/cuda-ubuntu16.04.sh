#!/usr/bin/env bash
# Cluster host for ubuntu16.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# cuda 9.0.176 - the only one that 'cuda==9.0.176' admits; cuDNN 7.6.4.38 (built for CUDA 9.0) needs CUDA ==9.0.*; NCCL 2.5.6-1 (built for CUDA 9.0) needs CUDA ==9.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;public-dockerfiles]
# cudnn 7.6.4.38 - the best of several that 'cudnn==7.6.4.38' admits; its builds for CUDA 9.0; first image 2019-10-01 [nvidia-container-images;common-knowledge]
# nccl 2.5.6-1 - the best of several that 'nccl==2.5.6-1' admits; its builds for CUDA 9.0 [public-dockerfiles]
# os ubuntu16.04 - the only one that 'os==ubuntu16.04' admits; Ubuntu 16.04 xenial; extended support: ESM 2026-04 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.23 - the newest that works; for ubuntu16.04; comes with the OS [cuda-10.1-installation-guide]
# gcc 5.4.0 - the newest that works; for ubuntu16.04; CUDA 9.0.176 needs gcc >=4.4.7,<7; the OS's own [cuda-10.1-installation-guide;cuda-release-notes;cuda-compatibility;spack-cuda;nvidia-container-images;common-knowledge]
# python 3.5 - the newest that works; for ubuntu16.04; the OS's own interpreter [common-knowledge]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 384.81 - the oldest known driver that runs CUDA 9.0.176; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
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
	[[ $(printf '%s\n' "$driver" 384.81 | sort -V | sed -n 1p) == 384.81 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 384.81 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 384.81 or newer" >&2
fi

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

# NVIDIA's repository, and what of the stack comes from it
(
	packages ca-certificates curl gnupg apt-transport-https
	add() { ! grep -rqsF "https://$1" /etc/apt/sources.list.d /etc/yum.repos.d || return 0
	  curl -fsSL --retry 3 "https://$1/$2" -o /var/lib/ringup/recipe/nvidia.pub
	  [ "$(gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep -c '^pub:')" = 1 ]
	  gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep "^fpr:::::::::$3:" >/dev/null
	  gpg --dearmor </var/lib/ringup/recipe/nvidia.pub >"/usr/share/keyrings/nvidia-$4.gpg"
	  echo "deb [signed-by=/usr/share/keyrings/nvidia-$4.gpg] https://$1 /" >"/etc/apt/sources.list.d/nvidia-$4.list"
	  rm -rf /var/lib/ringup/recipe/nvidia.pub
	}
	add developer.download.nvidia.com/compute/cuda/repos/ubuntu1604/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
	add developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1604/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
	apt-get update
	packages \
	  cuda-toolkit-9-0=9.0.176-1 \
	  libcudnn7=7.6.4.38-1+cuda9.0 \
	  libnccl2=2.5.6-1+cuda9.0
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn7-dev=7.6.4.38-1+cuda9.0 \
	  libnccl-dev=2.5.6-1+cuda9.0
)

[[ -e /usr/local/cuda ]] || ln -s cuda-9.0 /usr/local/cuda

# the OS's pip is too old for the wheels and indexes of today
(
	python3 -m pip install --no-cache-dir pip==20.3.4 setuptools==50.3.2 wheel==0.37.1
	rm -rf /var/lib/ringup/recipe/*
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

# Open MPI 4.0.2 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.2.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.0.2.tar.bz2
	echo "900bf751be72eccf06de9d186f7b1c4b5c2fa9fa66458e53b77778dffdfe4057  /var/lib/ringup/recipe/openmpi-4.0.2.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.0.2.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "7.6.4.38".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.5.6-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.0.2
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
