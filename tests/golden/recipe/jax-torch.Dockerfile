# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.12.1 - the newest that 'torch==2.12.1' admits; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are assumed from 2.9 to 2.11 [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# jax 0.10.2 - the newest that 'jax==0.10.2' admits; the newest cuDNN and NCCL of its day; compute capabilities as the build file of 2025 has them [pypi;jax-bazelrc;jax-installation]
# cuda 13.0.2 - the newest that works; the wheel of torch 2.12.1 brings it; nothing of it is installed beside; torch 2.12.1 needs CUDA >=13.0,<14; what torch 2.12.1 was tested with; JAX 0.10.2 needs CUDA >=13.0,<14; what JAX 0.10.2 was tested with; cuDNN 9.20.0.48 (built for CUDA 13) needs CUDA >=13,<14 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi;jax-bazelrc;jax-installation;immich-23110;spack-cudnn]
# cudnn 9.20.0.48 - the wheel of torch 2.12.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# nccl 2.29.7 - the wheel of torch 2.12.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; torch 2.12.1 needs glibc >=2.28; JAX 0.10.2 needs glibc >=2.27; comes with the OS [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi;jax-bazelrc;jax-installation]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 13.0.2 needs gcc >=6,<16; the OS's own; 13.2.0 at the release [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.12 - the newest that works; for ubuntu24.04; torch 2.12.1 needs Python >=3.10,<3.15; JAX 0.10.2 needs Python >=3.11,<3.15; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi;jax-bazelrc;jax-installation]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:24.04 AS stack
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
      ibverbs-utils librdmacm1 libc6-dev gcc g++
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-13-0 cuda-driver-dev-13-0
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-13.0/targets/x86_64-linux --with-cuda-libdir=/usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
# torch 2.12.1 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir 'torch==2.12.1' 'numpy<3'
# JAX 0.10.2 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir 'jax[cuda13]==0.10.2'
# all programs find the NCCL that comes with torch
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.12".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.29.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    JAX_PLATFORMS=cpu python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.10.2"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.12.1")'; \
    python3 -c 'import torch; a, b, d = map(int, "9.20.0.48".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.12.1" org.ringup.stack.jax="0.10.2" org.ringup.stack.cuda="13.0.2" org.ringup.stack.cudnn="9.20.0.48" \
      org.ringup.stack.nccl="2.29.7" org.ringup.stack.os="ubuntu24.04" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="13.3.0" \
      org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06"
CMD ["/usr/local/bin/ringup-entry"]
