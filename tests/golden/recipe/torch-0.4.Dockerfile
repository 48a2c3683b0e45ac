# Cluster image for ubuntu16.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 0.4.1 - the newest that 'torch==0.4.1' admits; cuDNN 7 is inferred from its neighbours; compute capabilities as 1.7.1 with the 3.5 that went after 1.3.0 [pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# cuda 9.2.148 - the newest that works; torch 0.4.1 needs CUDA ==9.2.*; what torch 0.4.1 was tested with; cuDNN 7.6.5.32 (built for CUDA 9.2) needs CUDA ==9.2.*; NCCL 2.4.8-1 (built for CUDA 9.2) needs CUDA ==9.2.* [cuda-release-notes;cuda-compatibility;spack-cuda;easybuild;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;cudnn-support-matrix-7.6]
# cudnn 7.6.5.32 - the newest that works; torch 0.4.1 needs cuDNN ==7.*; its builds for CUDA 9.2; first image 2019-11-26 [nvidia-container-images;common-knowledge;cudnn-support-matrix-7.6;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# nccl 2.4.8-1 - the newest that works; its builds for CUDA 9.2; first image 2019-08-16 [nvidia-container-images]
# os ubuntu16.04 - the only one that 'os==ubuntu16.04' admits; Ubuntu 16.04 xenial; extended support: ESM 2026-04 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.23 - the newest that works; for ubuntu16.04; torch 0.4.1 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# gcc 5.4.0 - the newest that works; for ubuntu16.04; CUDA 9.2.148 needs gcc >=4.4.7,<8; the OS's own [cuda-10.1-installation-guide;cuda-release-notes;cuda-compatibility;spack-cuda;easybuild;nvidia-container-images;common-knowledge]
# python 3.5 - the newest that works; for ubuntu16.04; torch 0.4.1 needs Python ==2.7.* or >=3.5,<3.8; the OS's own interpreter [common-knowledge;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# openmpi 3.1.4 - the only one that 'openmpi==3.1.4' admits; 3.1.3 is reported to hang Horovod with several GPUs [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 396.37 - the oldest known driver that runs CUDA 9.2.148; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;easybuild;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:16.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libgomp1 libibverbs1 libmlx4-1 \
      libmlx5-1 ibverbs-utils librdmacm1
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu1604/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda && \
    step nvidia developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1604/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-libraries-9-2=9.2.148-1 libcudnn7=7.6.5.32-1+cuda9.2 libnccl2=2.4.8-1+cuda9.2
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-9.2 /usr/local/cuda; \
    echo /usr/local/cuda-9.2/lib64 >/etc/ld.so.conf.d/cuda-9-2.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==20.3.4 --hash=sha256:217ae5161a0e08c0fb873858806e3478c9775caffce5168b50ec885e358c199d' \
      'setuptools==50.3.2 --hash=sha256:2c242a0856fbad7efbe560df4a7add9324f340cf48df43651e9604924466794a' \
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
# the toolkit, and headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-toolkit-9-2=9.2.148-1 libcudnn7-dev=7.6.5.32-1+cuda9.2 libnccl-dev=2.4.8-1+cuda9.2
# Open MPI 3.1.4 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v3.1/openmpi-3.1.4.tar.bz2" -o /tmp/openmpi-3.1.4.tar.bz2; \
    echo "17a69e0054db530c7dc119f75bd07d079efa147cf94bf27e590905864fe379d6  /tmp/openmpi-3.1.4.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-3.1.4.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda; \
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
# torch 0.4.1 by pip, from this index only, and NumPy, which it imports
RUN set -eu; step python3 -m pip install --no-cache-dir numpy==1.16.6; step python3 -m pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cu92 'torch==0.4.1'
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-9.2/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.5".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "7.6.5.32".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.4.8-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 3.1.4; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("0.4.1")'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; assert torch.version.cuda.split(".")[:2] == "9.2.148".split(".")[:2]'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="0.4.1" org.ringup.stack.cuda="9.2.148" org.ringup.stack.cudnn="7.6.5.32" org.ringup.stack.nccl="2.4.8-1" \
      org.ringup.stack.os="ubuntu16.04" org.ringup.stack.glibc="2.23" org.ringup.stack.gcc="5.4.0" org.ringup.stack.python="3.5" \
      org.ringup.stack.openmpi="3.1.4" org.ringup.stack.driver="396.37"
CMD ["/usr/local/bin/ringup-entry"]
