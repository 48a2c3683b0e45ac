#!/usr/bin/env bash
# Cluster host for ubuntu16.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# tensorflow 1.4.1 - the only one that 'tensorflow==1.4.1' admits; system CUDA/cuDNN needed on LD_LIBRARY_PATH; manylinux1 by its tag; some wheels need glibc 2.23; the facts of 1.4.0; Python from the wheels on PyPI [tensorflow-install-source;common-knowledge;pypi]
# cuda 8.0.61 - the newest that works; TensorFlow 1.4.1 needs CUDA ==8.0.*; what TensorFlow 1.4.1 was tested with; cuDNN 6.0.21 (built for CUDA 8.0) needs CUDA ==8.0.*; NCCL 2.1.15-1 (built for CUDA 8.0) needs CUDA ==8.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;tensorflow-install-source;pypi;caffe-492]
# cudnn 6.0.21 - the newest that works; TensorFlow 1.4.1 needs cuDNN ==6.0.*; what TensorFlow 1.4.1 was tested with; its builds for CUDA 8.0; first image 2019-07-11 [nvidia-container-images;common-knowledge;tensorflow-install-source;pypi]
# nccl 2.1.15-1 - the newest that works; its builds for CUDA 8.0 [caffe-492]
# os ubuntu16.04 - the only one that 'os==ubuntu16.04' admits; Ubuntu 16.04 xenial; extended support: ESM 2026-04 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.23 - the newest that works; for ubuntu16.04; TensorFlow 1.4.1 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;tensorflow-install-source;common-knowledge;pypi]
# gcc 5.4.0 - the newest that works; for ubuntu16.04; CUDA 8.0.61 needs gcc >=4.4.7,<6; the OS's own [cuda-10.1-installation-guide;cuda-release-notes;cuda-compatibility;spack-cuda;nvidia-container-images;common-knowledge]
# python 3.5 - the newest that works; for ubuntu16.04; TensorFlow 1.4.1 needs Python ==2.7.* or >=3.3,<3.7; the OS's own interpreter [common-knowledge;tensorflow-install-source;pypi]
# openmpi 3.0.0 - the only one that 'openmpi==3.0.0' admits; binds ranks by default: -bind-to none -map-by slot for Horovod; the release images of Horovod used it [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 375.26 - the oldest known driver that runs CUDA 8.0.61; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
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
	[[ $(printf '%s\n' "$driver" 375.26 | sort -V | sed -n 1p) == 375.26 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 375.26 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 375.26 or newer" >&2
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
	  cuda-toolkit-8-0=8.0.61-1 \
	  libcudnn6=6.0.21-1+cuda8.0 \
	  libnccl2=2.1.15-1+cuda8.0
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn6-dev=6.0.21-1+cuda8.0 \
	  libnccl-dev=2.1.15-1+cuda8.0
)

[[ -e /usr/local/cuda ]] || ln -s cuda-8.0 /usr/local/cuda

# an environment of its own for the stack's Python packages
packages python3.5-venv
python3.5 -m venv /opt/ringup/venv

# the OS's pip is too old for the wheels and indexes of today
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir pip==20.3.4 setuptools==50.3.2 wheel==0.37.1
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

# Open MPI 3.0.0 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v3.0/openmpi-3.0.0.tar.bz2 -o /var/lib/ringup/recipe/openmpi-3.0.0.tar.bz2
	echo "f699bff21db0125d8cccfe79518b77641cd83628725a1e1ed3e45633496a82d7  /var/lib/ringup/recipe/openmpi-3.0.0.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-3.0.0.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda
	make -j"$(nproc)" install
	echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /
	rm -rf /var/lib/ringup/recipe/*
)

# TensorFlow 1.4.1 by pip
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir 'tensorflow-gpu==1.4.1' gast==0.2.2 h5py==2.10.0
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "6.0.21".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.6").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "2.1.15-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 3.0.0
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import tensorflow'
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
