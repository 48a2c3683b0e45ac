# Cluster image for rockylinux10, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# cuda 13.0.2 - the only one that 'cuda==13.0.2' admits; cuDNN 9.14.0.64 (built for CUDA 13) needs CUDA >=13,<14; NCCL 2.28.3-1 (built for CUDA 13.0) needs CUDA >=13,<14 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;immich-23110;nvidia-container-images]
# cudnn 9.14.0.64 - the newest that works; its builds for CUDA 13; first image 2025-11-05 [pytorch-cudnn-init;immich-23110;nvidia-container-images;common-knowledge]
# nccl 2.28.3-1 - the best of several that 'nccl==2.28.3-1' admits; its builds for CUDA 13.0; first image 2025-09-10 [nvidia-container-images]
# os rockylinux10 - the only one that 'os==rockylinux10' admits; Rocky Linux 10 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for rockylinux10; comes with the OS [common-knowledge]
# gcc 14.2.0 - the newest that works; for rockylinux10; CUDA 13.0.2 needs gcc >=6,<16; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.12 - the newest that works; for rockylinux10; the OS's own interpreter [common-knowledge]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/rockylinux/rockylinux:10 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      ca-certificates openssh-server openssh-clients iproute procps-ng python3 python3-devel python3-pip libibverbs libibverbs-utils \
      librdmacm
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/rhel10/x86_64 CDF6BA43.pub afbea87d3b979b3788ef34223aeeb323ade481128e2c133723ae99b8a51368bb cuda
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      cuda-libraries-13-0-13.0.2-1 libcudnn9-cuda-13-9.14.0.64-1 libnccl-2.28.3-1+cuda13.0 cuda-compat-13-0
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-13.0 /usr/local/cuda; \
    echo /usr/local/cuda-13.0/lib64 >/etc/ld.so.conf.d/cuda-13-0.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility

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
# the toolkit, and headers of NVIDIA's libraries
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      cuda-toolkit-13-0-13.0.2-1 libcudnn9-devel-cuda-13-9.14.0.64-1 libnccl-devel-2.28.3-1+cuda13.0
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda --with-cuda-libdir=/usr/local/cuda/lib64/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
COPY --from=build /usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.14.0.64".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.28.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.cuda="13.0.2" org.ringup.stack.cudnn="9.14.0.64" org.ringup.stack.nccl="2.28.3-1" \
      org.ringup.stack.os="rockylinux10" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="14.2.0" org.ringup.stack.python="3.12" \
      org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06"
CMD ["/usr/local/bin/ringup-entry"]
