#!/usr/bin/env bash
# Cluster host for ubuntu18.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# torch 1.4.0 - the newest that 'torch==1.4.0' admits; default on PyPI; compute capabilities as 1.7.1 of the same CUDA; cuDNN 7 is inferred from its neighbours [pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# cuda 10.1.243 - the newest that works; torch 1.4.0 needs CUDA ==10.1.*; what torch 1.4.0 was tested with; cuDNN 7.6.5.32 (built for CUDA 10.1) needs CUDA ==10.1.*; NCCL 2.8.3-1 (built for CUDA 10.1) needs CUDA ==10.1.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# cudnn 7.6.5.32 - the newest that works; torch 1.4.0 needs cuDNN ==7.*; its builds for CUDA 10.1; first image 2019-11-26 [nvidia-container-images;common-knowledge;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# nccl 2.8.3-1 - the newest that works; its builds for CUDA 10.1; first image 2021-01-14 [nvidia-container-images]
# os ubuntu18.04 - the only one that 'os==ubuntu18.04' admits; Ubuntu 18.04 bionic; extended support: ESM 2028 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.27 - the newest that works; for ubuntu18.04; torch 1.4.0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# gcc 7.5.0 - the newest that works; for ubuntu18.04; CUDA 10.1.243 needs gcc >=4.4.7,<9; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images]
# python 3.6 - the newest that works; for ubuntu18.04; torch 1.4.0 needs Python ==2.7.* or >=3.5,<3.9; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# openmpi 4.0.3 - the only one that 'openmpi==4.0.3' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 418.39 - the oldest known driver that runs CUDA 10.1.243; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
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
export PATH=/usr/local/cuda/bin:$PATH
export LD_LIBRARY_PATH=/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=/opt/ringup/venv/bin:$PATH
export PATH=/opt/openmpi/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
END
# shellcheck source=/dev/null
source /etc/profile.d/ringup.sh

# ---- the stack; each step is a subshell, so that nothing of it stays for the next
# the driver is the host's own
if command -v nvidia-smi >/dev/null; then
	driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -V | sed -n 1p)
	[[ $(printf '%s\n' "$driver" 418.39 | sort -V | sed -n 1p) == 418.39 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 418.39 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 418.39 or newer" >&2
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
	packages ca-certificates curl gnupg
	add() { ! grep -rqsF "https://$1" /etc/apt/sources.list.d /etc/yum.repos.d || return 0
	  curl -fsSL --retry 3 "https://$1/$2" -o /var/lib/ringup/recipe/nvidia.pub
	  [ "$(gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep -c '^pub:')" = 1 ]
	  gpg --with-colons --with-fingerprint /var/lib/ringup/recipe/nvidia.pub 2>/dev/null | grep "^fpr:::::::::$3:" >/dev/null
	  gpg --dearmor </var/lib/ringup/recipe/nvidia.pub >"/usr/share/keyrings/nvidia-$4.gpg"
	  echo "deb [signed-by=/usr/share/keyrings/nvidia-$4.gpg] https://$1 /" >"/etc/apt/sources.list.d/nvidia-$4.list"
	  rm -rf /var/lib/ringup/recipe/nvidia.pub
	}
	add developer.download.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
	add developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1804/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
	apt-get update
	packages \
	  cuda-toolkit-10-1=10.1.243-1 \
	  libcudnn7=7.6.5.32-1+cuda10.1 \
	  libnccl2=2.8.3-1+cuda10.1
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn7-dev=7.6.5.32-1+cuda10.1 \
	  libnccl-dev=2.8.3-1+cuda10.1
)

[[ -e /usr/local/cuda ]] || ln -s cuda-10.1 /usr/local/cuda

# an environment of its own for the stack's Python packages
packages python3.6-venv
python3.6 -m venv /opt/ringup/venv

# the OS's pip is too old for the wheels and indexes of today
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir pip==21.3.1 setuptools==59.6.0 wheel==0.37.1
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

# Open MPI 4.0.3 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.3.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.0.3.tar.bz2
	echo "1402feced8c3847b3ab8252165b90f7d1fa28c23b6b2ca4632b6e4971267fd03  /var/lib/ringup/recipe/openmpi-4.0.3.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.0.3.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda
	make -j"$(nproc)" install
	echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /
	rm -rf /var/lib/ringup/recipe/*
)

# torch 1.4.0 by pip
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir 'torch==1.4.0'
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
/opt/ringup/venv/bin/python -c 'import ssl'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "7.6.5.32".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "2.8.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.0.3
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import torch'
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
