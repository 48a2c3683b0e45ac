# Cluster image for ubuntu18.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 1.4.0 - the newest that 'torch==1.4.0' admits; default on PyPI; compute capabilities as 1.7.1 of the same CUDA; cuDNN as 1.7.1 of the same CUDA [pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# cuda 10.1.243 - the newest that works; the wheel of torch 1.4.0 brings it; nothing of it is installed beside; torch 1.4.0 needs CUDA ==10.1.*; what torch 1.4.0 was tested with; NCCL 2.8.3-1 (built for CUDA 10.1) needs CUDA ==10.1.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# cudnn 7.6.3.30 - the wheel of torch 1.4.0 brings it; nothing of it is installed beside [pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# nccl 2.8.3-1 - the newest that works; its builds for CUDA 10.1; first image 2021-01-14 [nvidia-container-images]
# os ubuntu18.04 - the only one that 'os==ubuntu18.04' admits; Ubuntu 18.04 bionic; extended support: ESM 2028 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.27 - the newest that works; for ubuntu18.04; torch 1.4.0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# gcc 7.5.0 - the newest that works; for ubuntu18.04; CUDA 10.1.243 needs gcc >=4.4.7,<9; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images]
# python 3.6 - the newest that works; for ubuntu18.04; torch 1.4.0 needs Python ==2.7.* or >=3.5,<3.9; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;pytorch-builder;pytorch-44253;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# openmpi 4.0.3 - the only one that 'openmpi==4.0.3' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 418.39 - the oldest known driver that runs CUDA 10.1.243; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:18.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libgomp1 libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda && \
    step nvidia developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1804/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libnccl2=2.8.3-1+cuda10.1
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==21.3.1 --hash=sha256:deaf32dcd9ab821e359cd8330786bcd077604b5c5730c0b096eda46f95c24a2d' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc g++ ca-certificates curl bzip2 xz-utils make perl file
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-10-1 cuda-driver-dev-10-1
# Open MPI 4.0.3 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.3.tar.bz2" -o /tmp/openmpi-4.0.3.tar.bz2; \
    echo "1402feced8c3847b3ab8252165b90f7d1fa28c23b6b2ca4632b6e4971267fd03  /tmp/openmpi-4.0.3.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.3.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-10.1/targets/x86_64-linux; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# torch 1.4.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'numpy==1.19.0 --hash=sha256:13af0184177469192d80db9bd02619f6fa8b922f9f327e077d6f2a6acb1ce1c0 --hash=sha256:fa1fe75b4a9e18b66ae7f0b122543c42debcf800aaafa0212aaff3ad273c2596' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'torch==1.4.0 --hash=sha256:8856f334aa9ecb742c1504bd2563d0ffb8dceb97149c8d72a04afa357f667dbc' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/torch.txt
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.6".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.8.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.0.3; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("1.4.0")'; \
    python3 -c 'import torch; n = torch.backends.cudnn.version(); print("cuDNN", n); assert n // 1000 == 7'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="1.4.0" org.ringup.stack.cuda="10.1.243" org.ringup.stack.cudnn="7.6.3.30" org.ringup.stack.nccl="2.8.3-1" \
      org.ringup.stack.os="ubuntu18.04" org.ringup.stack.glibc="2.27" org.ringup.stack.gcc="7.5.0" org.ringup.stack.python="3.6" \
      org.ringup.stack.openmpi="4.0.3" org.ringup.stack.driver="418.39"
CMD ["/usr/local/bin/ringup-entry"]
