#!/usr/bin/env bash
# Cluster host for centos7, cuda
# Made by ringup; ringup.lock names the catalog that it comes from. Run it as root on each host; it may be run again.
#
# tensorflow 1.12.0 - the only one that 'tensorflow==1.12.0' admits; Horovod 0.19.5 needs TensorFlow >=1.1.0; system CUDA/cuDNN needed on LD_LIBRARY_PATH; manylinux1 by its tag; some wheels need glibc 2.23 [tensorflow-install-source;common-knowledge;tensorflow-docs-33;horovod-tags;pypi]
# horovod 0.19.5 - the newest that works; g++ of 4.9 or newer for torch; its ABI must be the TensorFlow wheel's; CMake only for Gloo; NCCL: torch wants >=2.2 on RoCE/IB; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 9.0.176 - the newest that works; driver 418.87 runs it (>=384.81); Tesla V100 SXM2 has compute capability 7.0 (>=3.0;<=7.0); TensorFlow 1.12.0 needs CUDA ==9.0.*; what TensorFlow 1.12.0 was tested with; cuDNN 7.6.5.32 (built for CUDA 9.0) needs CUDA ==9.0.*; NCCL 2.5.6-1 (built for CUDA 9.0) needs CUDA ==9.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;gpu-capability-tables;tensorflow-install-source;tensorflow-docs-33;public-dockerfiles]
# cudnn 7.6.5.32 - the newest that works; TensorFlow 1.12.0 needs cuDNN >=7.2,<8; what TensorFlow 1.12.0 was tested with; its builds for CUDA 9.0; first image 2021-08-04 [nvidia-container-images;common-knowledge;tensorflow-install-source;tensorflow-docs-33]
# nccl 2.5.6-1 - the best of several that 'nccl==2.5.6-1' admits; Horovod 0.19.5 needs NCCL >=2.0; its builds for CUDA 9.0; repo rpm nvidia-machine-learning-repo-rhel7-1.0.0-1.x86_64 [public-dockerfiles;horovod-tags;pypi]
# os centos7 - the only one that 'os==centos7' admits; CentOS 7; SCLo and EPEL: vault.centos.org and archives.fedoraproject.org [nvidia-container-images;cuda-repo-management-1;nvidia-container-toolkit-574;docker-images-277;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.17 - the newest that works; for centos7; TensorFlow 1.12.0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;tensorflow-install-source;common-knowledge;tensorflow-docs-33]
# gcc 4.8.5 - the newest that works; for centos7; Horovod 0.19.5 needs gcc >=4.8.5; CUDA 9.0.176 needs gcc >=4.4.7,<7; the OS's own [cuda-10.1-installation-guide;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;nvidia-container-images;common-knowledge]
# python 3.6 - the best of several that 'python==3.6' admits; for centos7; TensorFlow 1.12.0 needs Python ==2.7.* or >=3.3,<3.7; Horovod 0.19.5 needs Python ==2.7.* or >=3.4; what Horovod 0.19.5 was tested with; the OS's own interpreter; since CentOS 7.7 [common-knowledge;tensorflow-install-source;tensorflow-docs-33;horovod-tags;pypi]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; Horovod 0.19.5 needs Open MPI >=1.10,<5; what Horovod 0.19.5 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 418.87 - it is there: the stack is made to fit it [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# gpu Tesla V100 SXM2 - Tesla V100 SXM2: compute capability 7.0 [spack-cuda;gpu-capability-tables;common-knowledge]
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

# the driver is the host's own
if command -v nvidia-smi >/dev/null; then
	driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -V | sed -n 1p)
	[[ $(printf '%s\n' "$driver" 418.87 | sort -V | sed -n 1p) == 418.87 ]] ||
		echo "$0: warning: the driver here is $driver; the stack needs 418.87 or newer" >&2
else
	echo "$0: warning: there is no NVIDIA driver here yet; the stack needs 418.87 or newer" >&2
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
	add developer.download.nvidia.com/compute/cuda/repos/rhel7/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
	add developer.download.nvidia.com/compute/machine-learning/repos/rhel7/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
	packages \
	  cuda-toolkit-9-0-9.0.176-1 \
	  libcudnn7-7.6.5.32-1.cuda9.0 \
	  libnccl-2.5.6-1+cuda9.0
)

# headers of NVIDIA's libraries
(
	packages \
	  libcudnn7-devel-7.6.5.32-1.cuda9.0 \
	  libnccl-devel-2.5.6-1+cuda9.0
)

[[ -e /usr/local/cuda ]] || ln -s cuda-9.0 /usr/local/cuda

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

# TensorFlow 1.12.0 by pip
(
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir 'tensorflow-gpu==1.12.0' gast==0.2.2 h5py==2.10.0
	rm -rf /var/lib/ringup/recipe/*
)

# Horovod 0.19.5 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
(
	export CC=gcc CXX=g++ HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 \
	  HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
	  HOROVOD_GPU_ALLREDUCE=NCCL HOROVOD_GPU_BROADCAST=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda
	/opt/ringup/venv/bin/python -m pip install --no-cache-dir wheel==0.37.1 packaging==21.3 cffi==1.15.1 psutil==5.9.8 pyyaml==6.0.1 cloudpickle==2.2.1
	echo 'horovod==0.19.5 --hash=sha256:428d9ba5ff277467be77e4e707d40b915f7d9e6920a2645f647fcb2cea59c366' >/var/lib/ringup/recipe/horovod.txt
	ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs
	/opt/ringup/venv/bin/python -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /var/lib/ringup/recipe/horovod.txt -d /var/lib/ringup/recipe
	mkdir /var/lib/ringup/recipe/horovod; tar -xf /var/lib/ringup/recipe/horovod-0.19.5.tar.gz -C /var/lib/ringup/recipe/horovod --strip-components=1 --no-same-owner
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
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "7.6.5.32".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import ctypes as c; a, b, d = map(int, "2.5.6-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'
mpirun --version | grep -F 4.0.2
LD_LIBRARY_PATH="/var/lib/ringup/recipe/stub:${LD_LIBRARY_PATH:-}" /opt/ringup/venv/bin/python -c 'import tensorflow'
rm -rf /var/lib/ringup/recipe
echo "$0: done; a new login has the stack, and so has this one after: source /etc/profile.d/ringup.sh"
