# Cluster image for ubuntu20.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 1.8.1 - the newest that 'torch==1.8.1' admits; 3.5 is out of the binaries since 1.3.1; NCCL as in the wheel of CUDA 10.2 [pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;torch-wheels-nccl]
# cuda 11.1.1 - the newest that works; the wheel of torch 1.8.1 brings it; nothing of it is installed beside; torch 1.8.1 needs CUDA >=11.1,<12; what torch 1.8.1 was tested with; cuDNN 8.0.5.39 (built for CUDA 11.1) needs CUDA >=11,<12; NCCL 2.8.4-1 (built for CUDA 11.1) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;torch-wheels-nccl;nvidia-container-images;nvidia-tensorflow-116]
# cudnn 8.0.5.39 - the wheel of torch 1.8.1 brings it; nothing of it is installed beside [pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;torch-wheels-nccl]
# nccl 2.8.4-1 - the newest that works; its builds for CUDA 11.1; first image 2021-02-12 [nvidia-container-images]
# os ubuntu20.04 - the only one that 'os==ubuntu20.04' admits; Ubuntu 20.04 focal; extended support: ESM 2030; few packages in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.31 - the newest that works; for ubuntu20.04; torch 1.8.1 needs glibc >=2.17; comes with the OS [common-knowledge;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;torch-wheels-nccl]
# gcc 9.4.0 - the newest that works; for ubuntu20.04; CUDA 11.1.1 needs gcc >=5,<11; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.7 - the best of several that 'python==3.7' admits; torch 1.8.1 needs Python >=3.6,<3.10; not the OS's own: built from python.org's source; its ssl module needs OpenSSL 1.0.2 or newer; its release 3.7.17 [python-source;python-whatsnew;pyenv;pytorch-builder;pytorch-44253;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;torch-wheels-nccl]
# openmpi 4.1.1 - the only one that 'openmpi==4.1.1' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.1.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- Python 3.7, which ubuntu20.04 has no package of
FROM docker.io/library/ubuntu:20.04 AS python
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# to fetch and to build it
RUN step apt-get install -y --no-install-recommends \
      ca-certificates curl gcc libc6-dev make libbz2-dev libffi-dev liblzma-dev libreadline-dev \
      libsqlite3-dev libssl-dev uuid-dev zlib1g-dev
RUN set -eu; export PYTHONHASHSEED=0; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/www.python.org/ftp/python/3.7.17/Python-3.7.17.tgz" -o /tmp/Python-3.7.17.tgz; \
    echo "fd50161bc2a04f4c22a0971ff0f3856d98b4bf294f89740a9f06b520aae63b49  /tmp/Python-3.7.17.tgz" | sha256sum -c -; \
    mkdir /tmp/python; tar -xf /tmp/Python-3.7.17.tgz -C /tmp/python --strip-components=1 --no-same-owner; \
    cd /tmp/python; ./configure --prefix=/opt/python --with-ensurepip=install; \
    make -j"$(nproc)"; make install; cd /; \
    /opt/python/bin/python3.7 -c 'import bz2, ctypes, lzma, readline, sqlite3, ssl, zlib'; \
    rm -rf /opt/python/lib/python3.7/test /opt/python/lib/libpython*.a; \
    step

# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:20.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps libibverbs1 ibverbs-providers ibverbs-utils librdmacm1
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libnccl2=2.8.4-1+cuda11.1
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# Python 3.7 as it was built; the OS's own Python brings the libraries that it needs
COPY --from=python /opt/python/ /opt/python/
RUN step apt-get install -y --no-install-recommends python3
ENV PATH=/opt/python/bin:$PATH
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==24.0 --hash=sha256:ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
      >/tmp/pip.txt; \
    step /opt/python/bin/python3.7 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v /opt/python/bin/python3.7)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec /opt/python/bin/python3.7 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

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
      cuda-cudart-dev-11-1 cuda-driver-dev-11-1
# Open MPI 4.1.1 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.1.tar.bz2" -o /tmp/openmpi-4.1.1.tar.bz2; \
    echo "e24f7a778bd11a71ad0c14587a7f5b00e68a71aa5623e2157bafee3d44c07cda  /tmp/openmpi-4.1.1.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.1.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-11.1/targets/x86_64-linux; \
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
# torch 1.8.1 by pip
RUN set -eu; step /opt/python/bin/python3.7 -m pip install --no-cache-dir --find-links https://download.pytorch.org/whl/torch_stable.html 'torch==1.8.1+cu111' 'numpy<2'
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.7".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    /opt/python/bin/python3.7 -c 'import ctypes as c; a, b, d = map(int, "2.8.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.1; \
    /opt/python/bin/python3.7 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("1.8.1")'; \
    /opt/python/bin/python3.7 -c 'import torch; a, b, d = map(int, "8.0.5.39".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="1.8.1" org.ringup.stack.cuda="11.1.1" org.ringup.stack.cudnn="8.0.5.39" org.ringup.stack.nccl="2.8.4-1" \
      org.ringup.stack.os="ubuntu20.04" org.ringup.stack.glibc="2.31" org.ringup.stack.gcc="9.4.0" org.ringup.stack.python="3.7" \
      org.ringup.stack.openmpi="4.1.1" org.ringup.stack.driver="450.80.02"
CMD ["/usr/local/bin/ringup-entry"]
