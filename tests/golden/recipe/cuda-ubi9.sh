#!/usr/bin/env bash
# Cluster host for ubi9, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# cuda 12.4.1 - the only one that 'cuda==12.4.1' admits; cuDNN 9.10.2.21 (built for CUDA 12) needs CUDA >=12,<13; NCCL 2.21.5-1 (built for CUDA 12.4) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;nvidia-container-images;cudnn-support-matrix-9.0]
# cudnn 9.10.2.21 - the newest that works; its builds for CUDA 12; first image 2025-06-24 [nvidia-container-images;common-knowledge;cudnn-support-matrix-9.0]
# nccl 2.21.5-1 - the newest that works; its builds for CUDA 12.4; first image 2024-04-09 [nvidia-container-images]
# os ubi9 - the only one that 'os==ubi9' admits; Red Hat UBI 9 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.34 - the newest that works; for ubi9; comes with the OS [common-knowledge]
# gcc 11.5.0 - the newest that works; for ubi9; CUDA 12.4.1 needs gcc >=6,<14; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.9 - the newest that works; for ubi9; the OS's own interpreter [common-knowledge]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.4.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
[[ $ID == rhel && ($VERSION_ID == 9 || $VERSION_ID == 9.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for ubi9: ask for a recipe with the right os=="
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
	add developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
	packages \
	  cuda-toolkit-12-4-12.4.1-1 \
	  libcudnn9-cuda-12-9.10.2.21-1 \
	  libnccl-2.21.5-1+cuda12.4
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn9-devel-cuda-12-9.10.2.21-1 \
	  libnccl-devel-2.21.5-1+cuda12.4
)

[[ -e /usr/local/cuda ]] || ln -s cuda-12.4 /usr/local/cuda

# the OS's pip is too old for the wheels and indexes of today
(
	python3 -m pip install --no-cache-dir pip==24.0 setuptools==65.7.0 wheel==0.42.0
	rm -rf /var/lib/ringup/recipe/*
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

# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2
	echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.1.6.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.10.2.21".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.21.5-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.1.6
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
