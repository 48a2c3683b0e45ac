#!/usr/bin/env bash
# Cluster host for centos7, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# torch 1.9.1 - the newest that 'torch==1.9.1' admits; 3.5 is out of the binaries since 1.3.1 [pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# cuda 11.1.1 - the newest that works; torch 1.9.1 needs CUDA >=11.1,<12; what torch 1.9.1 was tested with; cuDNN 8.0.5.39 (built for CUDA 11.1) needs CUDA >=11,<12; NCCL 2.8.4-1 (built for CUDA 11.1) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;nvidia-container-images]
# cudnn 8.0.5.39 - the newest that works; torch 1.9.1 needs cuDNN >=8.0,<9; what torch 1.9.1 was tested with; its builds for CUDA 11.1; first image 2020-12-17 [nvidia-container-images;common-knowledge;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# nccl 2.8.4-1 - the newest that works; its builds for CUDA 11.1; first image 2021-02-12 [nvidia-container-images]
# os centos7 - the only one that 'os==centos7' admits; CentOS 7; SCLo and EPEL: vault.centos.org and archives.fedoraproject.org [nvidia-container-images;cuda-repo-management-1;nvidia-container-toolkit-574;docker-images-277;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.17 - the newest that works; for centos7; torch 1.9.1 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# gcc 10 - the newest that works; for centos7; CUDA 11.1.1 needs gcc >=5,<11; Software Collection devtoolset-10; its repository (SCLo) is archived; enable it with scl or /opt/rh/devtoolset-10/enable [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.6 - the newest that works; for centos7; torch 1.9.1 needs Python >=3.6,<3.10; the OS's own interpreter; since CentOS 7.7 [common-knowledge;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# openmpi 4.1.1 - the only one that 'openmpi==4.1.1' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.1.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
[[ $ID == centos && ($VERSION_ID == 7 || $VERSION_ID == 7.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for centos7: ask for a recipe with the right os=="
# shellcheck disable=SC2034 # for what stands beside this script
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# sources are fetched and built here
rm -rf /var/lib/ringup/recipe
mkdir -p /var/lib/ringup
mkdir -m 700 /var/lib/ringup/recipe
packages() {
	yum install -y --setopt=skip_missing_names_on_install=False "$@"
}

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
(
	sed -i -e 's/^mirrorlist=/#&/' -e 's|^#* *baseurl=http://mirror\.centos\.org/[^/]*/[^/]*/|baseurl=https://vault.centos.org/7.9.2009/|' /etc/yum.repos.d/CentOS-*.repo
)

(
	yum install -y centos-release-scl
	sed -i -e 's/^mirrorlist=/#&/' -e 's|^#* *baseurl=http://mirror\.centos\.org/centos/7/|baseurl=https://vault.centos.org/7.9.2009/|' /etc/yum.repos.d/CentOS-SCLo-*.repo
)

# the driver is the host's own
if command -v nvidia-smi >/dev/null; then
	driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -V | sed -n 1p)
	[[ $(printf '%s\n' "$driver" 450.80.02 | sort -V | sed -n 1p) == 450.80.02 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 450.80.02 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 450.80.02 or newer" >&2
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
	  devtoolset-10-gcc-c++
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
	add developer.download.nvidia.com/compute/cuda/repos/rhel7/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
	packages \
	  cuda-toolkit-11-1-11.1.1-1 \
	  libcudnn8-8.0.5.39-1.cuda11.1 \
	  libnccl-2.8.4-1+cuda11.1
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn8-devel-8.0.5.39-1.cuda11.1 \
	  libnccl-devel-2.8.4-1+cuda11.1
)

[[ -e /usr/local/cuda ]] || ln -s cuda-11.1 /usr/local/cuda

# an environment of its own for the stack's Python packages
packages python3
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
	  tar \
	  xz \
	  bzip2 \
	  make \
	  perl \
	  file
)

# Open MPI 4.1.1 from its tarball; no user and no host of the build is written into it
(
	export PATH="/opt/rh/devtoolset-10/root/usr/bin:$PATH" CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.1.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2
	echo "e24f7a778bd11a71ad0c14587a7f5b00e68a71aa5623e2157bafee3d44c07cda  /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.1.1.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda
	make -j"$(nproc)" install
	echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /
	rm -rf /var/lib/ringup/recipe/*
)

# torch 1.9.1 by pip
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir --find-links https://download.pytorch.org/whl/torch_stable.html 'torch==1.9.1+cu111'
	rm -rf /var/lib/ringup/recipe/*
)

# the all-reduce worker, when its sources are beside this script (ringup recipe --format script -o DIR)
if [[ -d $here/worker ]]; then
	(
		export PATH="/opt/rh/devtoolset-10/root/usr/bin:$PATH" CC=gcc CXX=g++
		sh "$here/worker/build.sh" /usr/local/bin
	)
fi


# ---- smoke checks: what the stack promises starts
mkdir /var/lib/ringup/recipe/stub; ln -s /usr/local/cuda/lib64/stubs/libcuda.so /var/lib/ringup/recipe/stub/libcuda.so.1
! command -v allreduce >/dev/null || allreduce --version
/opt/ringup/venv/bin/python -c 'import ssl'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "8.0.5.39".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "2.8.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.1.1
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import torch'
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
