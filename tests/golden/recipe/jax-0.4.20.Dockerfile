# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# jax 0.4.20 - the newest that 'jax==0.4.20' admits; jaxlib is on its own index; the newest cuDNN and NCCL of its day; compute capabilities as those of 0.4.30 [pypi;jax-installation;jax-blackwell]
# cuda 12.2.2 - the newest that works; the wheel of JAX 0.4.20 brings it; nothing of it is installed beside; JAX 0.4.20 needs CUDA >=12.2,<13; what JAX 0.4.20 was tested with; cuDNN 8.9.6.50 (built for CUDA 12.2) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pypi;jax-installation;jax-blackwell;nvidia-container-images;onnxruntime-24189]
# cudnn 8.9.6.50 - the wheel of JAX 0.4.20 brings it; nothing of it is installed beside [pypi;jax-installation;jax-blackwell]
# nccl 2.19.3 - the wheel of JAX 0.4.20 brings it; nothing of it is installed beside [pypi;jax-installation;jax-blackwell]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; JAX 0.4.20 needs glibc >=2.17; comes with the OS [common-knowledge;pypi;jax-installation;jax-blackwell]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 12.2.2 needs gcc >=6,<13; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.10 - the newest that works; for ubuntu22.04; JAX 0.4.20 needs Python >=3.9,<3.13; the OS's own interpreter [common-knowledge;pypi;jax-installation;jax-blackwell]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.2.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:22.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
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
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-12-2 cuda-driver-dev-12-2
# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2" -o /tmp/openmpi-4.1.6.tar.bz2; \
    echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /tmp/openmpi-4.1.6.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.6.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-12.2/targets/x86_64-linux; \
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
# JAX 0.4.20 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir --find-links https://storage.googleapis.com/jax-releases/jax_cuda_releases.html 'jax[cuda12_pip]==0.4.20' 'numpy<2' 'nvidia-cuda-runtime-cu12==12.2.*' nvidia-cudnn-cu12==8.9.6.50 nvidia-nccl-cu12==2.19.3
# all programs find the NCCL that comes with jax
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.10".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "8.9.6.50".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.19.3".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.6; \
    JAX_PLATFORMS=cpu python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.4.20"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.jax="0.4.20" org.ringup.stack.cuda="12.2.2" org.ringup.stack.cudnn="8.9.6.50" org.ringup.stack.nccl="2.19.3" \
      org.ringup.stack.os="ubuntu22.04" org.ringup.stack.glibc="2.35" org.ringup.stack.gcc="11.4.0" org.ringup.stack.python="3.10" \
      org.ringup.stack.openmpi="4.1.6" org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]
