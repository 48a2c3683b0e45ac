# Cluster image for ubuntu16.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# cuda 8.0.61 - the only one that 'cuda==8.0.61' admits; cuDNN 6.0.21 (built for CUDA 8.0) needs CUDA ==8.0.*; NCCL 2.1.15-1 (built for CUDA 8.0) needs CUDA ==8.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;caffe-492]
# cudnn 6.0.21 - the newest that 'cudnn==6.0.21' admits; its builds for CUDA 8.0; first image 2019-07-11 [nvidia-container-images;common-knowledge]
# nccl 2.1.15-1 - the newest that works; its builds for CUDA 8.0 [caffe-492]
# os ubuntu16.04 - the only one that 'os==ubuntu16.04' admits; Ubuntu 16.04 xenial; extended support: ESM 2026-04 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.23 - the newest that works; for ubuntu16.04; comes with the OS [cuda-10.1-installation-guide]
# gcc 5.4.0 - the newest that works; for ubuntu16.04; CUDA 8.0.61 needs gcc >=4.4.7,<6; the OS's own [cuda-10.1-installation-guide;cuda-release-notes;cuda-compatibility;spack-cuda;nvidia-container-images;common-knowledge]
# python 3.5 - the newest that works; for ubuntu16.04; the OS's own interpreter [common-knowledge]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 375.26 - the oldest known driver that runs CUDA 8.0.61; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# NVIDIA has no package with only CUDA's libraries before 9.0: the toolkit with its compiler is deployed too

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
      cuda-toolkit-8-0=8.0.61-1 libcudnn6=6.0.21-1+cuda8.0 libnccl2=2.1.15-1+cuda8.0
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-8.0 /usr/local/cuda; \
    echo /usr/local/cuda-8.0/lib64 >/etc/ld.so.conf.d/cuda-8-0.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==20.3.4 --hash=sha256:217ae5161a0e08c0fb873858806e3478c9775caffce5168b50ec885e358c199d' \
      'setuptools==50.3.2 --hash=sha256:2c242a0856fbad7efbe560df4a7add9324f340cf48df43651e9604924466794a' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt

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
# headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn6-dev=6.0.21-1+cuda8.0 libnccl-dev=2.1.15-1+cuda8.0
# Open MPI 4.0.2 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.2.tar.bz2" -o /tmp/openmpi-4.0.2.tar.bz2; \
    echo "900bf751be72eccf06de9d186f7b1c4b5c2fa9fa66458e53b77778dffdfe4057  /tmp/openmpi-4.0.2.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.2.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-8.0/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "6.0.21".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.6").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; c.CDLL("libnccl.so.2").ncclGetErrorString'; \
    mpirun --version | grep -F 4.0.2; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.cuda="8.0.61" org.ringup.stack.cudnn="6.0.21" org.ringup.stack.nccl="2.1.15-1" org.ringup.stack.os="ubuntu16.04" \
      org.ringup.stack.glibc="2.23" org.ringup.stack.gcc="5.4.0" org.ringup.stack.python="3.5" org.ringup.stack.openmpi="4.0.2" \
      org.ringup.stack.driver="375.26"
CMD ["/usr/local/bin/ringup-entry"]
