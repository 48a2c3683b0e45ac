# Cluster image for rockylinux8, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# cuda 11.2.2 - the only one that 'cuda==11.2.2' admits; cuDNN 9.1.0.70 (built for CUDA 11) needs CUDA >=11,<12; NCCL 2.10.3-1 needs CUDA >=10,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;nvidia-container-images;cudnn-support-matrix-9.0;onnxruntime-24189;nccl-tags;spack-nccl]
# cudnn 9.1.0.70 - the newest that works; its builds for CUDA 11; the CUDA 11 build beside that of CUDA 12; PyTorch 2.4 to 2.6 pin this version for cu118 [nvidia-container-images;common-knowledge;cudnn-support-matrix-9.0;onnxruntime-24189]
# nccl 2.10.3-1 - the best of several that 'nccl==2.10.3-1' admits; its builds for CUDA >=10;<12; the CUDA range is Spack's rule [nccl-tags;spack-nccl]
# os rockylinux8 - the only one that 'os==rockylinux8' admits; Rocky Linux 8; old libnccl and libcudnn7 in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.28 - the newest that works; for rockylinux8; comes with the OS [common-knowledge]
# gcc 8.5.0 - the newest that works; for rockylinux8; CUDA 11.2.2 needs gcc >=5,<11; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.6 - the newest that works; for rockylinux8; the OS's own interpreter [common-knowledge]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.2.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:11.2.2-devel-rockylinux8 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:11.2.2-runtime-rockylinux8 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      ca-certificates openssh-server openssh-clients iproute procps-ng python36 python36-devel python3-pip libibverbs libibverbs-utils \
      librdmacm
# the NCCL that NVIDIA's image brings is not the one of this stack
RUN rpm -qa 'libnccl*' | xargs -r rpm -e
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/rhel8/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      libcudnn9-cuda-11-9.1.0.70-1
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==21.3.1 --hash=sha256:deaf32dcd9ab821e359cd8330786bcd077604b5c5730c0b096eda46f95c24a2d' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      glibc-devel gcc gcc-c++ ca-certificates tar xz bzip2 diffutils findutils make perl which file
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-11.2/ /usr/local/cuda-11.2/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# headers of NVIDIA's libraries
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      libcudnn9-devel-cuda-11-9.1.0.70-1
# Open MPI 4.1.4 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.4.tar.bz2" -o /tmp/openmpi-4.1.4.tar.bz2; \
    echo "92912e175fd1234368c8730c03f4996fe5942e7479bb1d10059405e7f2b3930d  /tmp/openmpi-4.1.4.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.4.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH
# NCCL 2.10.3-1 from its tagged source: NVIDIA has no package of it for this CUDA
RUN set -eu; export CC=gcc CXX=g++; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/github.com/NVIDIA/nccl/archive/refs/tags/v2.10.3-1.tar.gz" -o /tmp/v2.10.3-1.tar.gz; \
    echo "55de166eb7dcab9ecef2629cdb5fb0c5ebec4fae03589c469ebe5dcb5716b3c5  /tmp/v2.10.3-1.tar.gz" | sha256sum -c -; \
    mkdir /tmp/nccl; tar -xf /tmp/v2.10.3-1.tar.gz -C /tmp/nccl --strip-components=1 --no-same-owner; \
    which make; make -C /tmp/nccl -j"$(nproc)" src.build CUDA_HOME=/usr/local/cuda; \
    mkdir -p /opt/nccl; cp -a /tmp/nccl/build/include /tmp/nccl/build/lib /opt/nccl/; rm -f /opt/nccl/lib/*.a; \
    echo /opt/nccl/lib >/etc/ld.so.conf.d/nccl.conf; ldconfig; \
    step
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
# NCCL as it was built
COPY --from=build /opt/nccl/ /opt/nccl/
RUN echo /opt/nccl/lib >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-11.2/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.1.0.70".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.10.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.4; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.cuda="11.2.2" org.ringup.stack.cudnn="9.1.0.70" org.ringup.stack.nccl="2.10.3-1" org.ringup.stack.os="rockylinux8" \
      org.ringup.stack.glibc="2.28" org.ringup.stack.gcc="8.5.0" org.ringup.stack.python="3.6" org.ringup.stack.openmpi="4.1.4" \
      org.ringup.stack.driver="450.80.02"
CMD ["/usr/local/bin/ringup-entry"]
