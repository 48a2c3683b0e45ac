#!/usr/bin/env bash
# Cluster host for ubuntu20.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# tensorflow 2.11.1 - the only one that 'tensorflow==2.11.1' admits; Horovod 0.27.0 needs TensorFlow >=1.15.0; what Horovod 0.27.0 was tested with; system CUDA/cuDNN needed on LD_LIBRARY_PATH; built and tested with CUDA 11.2: the rest of the major is inferred; the facts of 2.11.0; Python from the wheels on PyPI [tensorflow-install-source;common-knowledge;pypi;horovod-tags]
# horovod 0.27.0 - the only one that 'horovod==0.27.0' admits; TensorFlow from 2.10 needs g++ 8 or newer (C++17); HOROVOD_GPU_OPERATIONS and the flags per operation exclude each other; NCCL: alltoall needs >=2.7.0; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 11.2.2 - the newest that works; TensorFlow 2.11.1 needs CUDA >=11.2,<12; what TensorFlow 2.11.1 was tested with; cuDNN 8.1.1.33 (built for CUDA 11.2) needs CUDA >=11,<12; NCCL 2.8.4-1 (built for CUDA 11.2) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;tensorflow-install-source;pypi;nvidia-container-images]
# cudnn 8.1.1.33 - the newest that works; TensorFlow 2.11.1 needs cuDNN >=8.1,<9; what TensorFlow 2.11.1 was tested with; its builds for CUDA 11.2; first image 2021-03-08 [nvidia-container-images;common-knowledge;tensorflow-install-source;pypi]
# nccl 2.8.4-1 - the newest that works; Horovod 0.27.0 needs NCCL >=2.0; its builds for CUDA 11.2; first image 2021-02-12 [nvidia-container-images;horovod-tags;pypi]
# os ubuntu20.04 - the only one that 'os==ubuntu20.04' admits; Ubuntu 20.04 focal; extended support: ESM 2030; few packages in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.31 - the newest that works; for ubuntu20.04; TensorFlow 2.11.1 needs glibc >=2.17; comes with the OS [common-knowledge;tensorflow-install-source;pypi]
# gcc 9.4.0 - the newest that works; for ubuntu20.04; Horovod 0.27.0 needs gcc >=5; CUDA 11.2.2 needs gcc >=5,<11; the OS's own [common-knowledge;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.8 - the newest that 'python==3.8' admits; for ubuntu20.04; TensorFlow 2.11.1 needs Python >=3.8,<3.11; Horovod 0.27.0 needs Python >=3.6; what Horovod 0.27.0 was tested with; the OS's own interpreter [common-knowledge;tensorflow-install-source;pypi;horovod-tags]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; Horovod 0.27.0 needs Open MPI >=1.10,<5; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.2.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
[[ $ID == ubuntu && ($VERSION_ID == 20.04 || $VERSION_ID == 20.04.*) ]] ||
	die "this host has $PRETTY_NAME, and the stack is for ubuntu20.04: ask for a recipe with the right os=="
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
	add developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
	apt-get update
	packages \
	  cuda-toolkit-11-2=11.2.2-1 \
	  libcudnn8=8.1.1.33-1+cuda11.2 \
	  libnccl2=2.8.4-1+cuda11.2
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn8-dev=8.1.1.33-1+cuda11.2 \
	  libnccl-dev=2.8.4-1+cuda11.2
)

[[ -e /usr/local/cuda ]] || ln -s cuda-11.2 /usr/local/cuda

# an environment of its own for the stack's Python packages
packages python3.8-venv
python3.8 -m venv /opt/ringup/venv

# the OS's pip is too old for the wheels and indexes of today
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir pip==24.0 setuptools==65.7.0 wheel==0.42.0
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

# Open MPI 4.1.4 from its tarball; no user and no host of the build is written into it
(
	export CC=gcc CXX=g++ USER=root HOSTNAME=ringup
	curl -fsSL --retry 3 https://download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.4.tar.bz2 -o /var/lib/ringup/recipe/openmpi-4.1.4.tar.bz2
	echo "92912e175fd1234368c8730c03f4996fe5942e7479bb1d10059405e7f2b3930d  /var/lib/ringup/recipe/openmpi-4.1.4.tar.bz2" | sha256sum -c -
	mkdir /var/lib/ringup/recipe/openmpi; tar -xf /var/lib/ringup/recipe/openmpi-4.1.4.tar.bz2 -C /var/lib/ringup/recipe/openmpi --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda
	make -j"$(nproc)" install
	echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /
	rm -rf /var/lib/ringup/recipe/*
)

# TensorFlow 2.11.1 by pip
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir 'tensorflow==2.11.1' protobuf==3.19.6 'numpy<1.24'
	rm -rf /var/lib/ringup/recipe/*
)

# Horovod 0.27.0 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
(
	export CC=gcc CXX=g++ HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 \
	  HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
	  HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir wheel==0.37.1 packaging==21.3 cffi==1.15.1 psutil==5.9.8 pyyaml==6.0.1 cloudpickle==2.2.1 cmake==3.25.2
	echo 'horovod==0.27.0 --hash=sha256:8a76a98266579de46a1b1cde53d5ec115fc163ffdaa65a8f771aee936e804b33' >/var/lib/ringup/recipe/horovod.txt
	ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs
	/opt/ringup/venv/bin/python -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /var/lib/ringup/recipe/horovod.txt -d /var/lib/ringup/recipe
	mkdir /var/lib/ringup/recipe/horovod; tar -xf /var/lib/ringup/recipe/horovod-0.27.0.tar.gz -C /var/lib/ringup/recipe/horovod --strip-components=1 --no-same-owner
	cd /var/lib/ringup/recipe/horovod; /opt/ringup/venv/bin/python setup.py bdist_wheel -d /var/lib/ringup/wheels; cd /
	rm -f /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig
	rm -rf /var/lib/ringup/recipe/*
)

# Horovod as it was built, and what it imports
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir packaging==21.3 cffi==1.15.1 psutil==5.9.8 pyyaml==6.0.1 cloudpickle==2.2.1 /var/lib/ringup/wheels/horovod-*.whl
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import horovod'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import horovod.tensorflow'
! command -v allreduce >/dev/null || allreduce --version
/opt/ringup/venv/bin/python -c 'import ssl'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "8.1.1.33".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "2.8.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.1.4
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import tensorflow'
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
