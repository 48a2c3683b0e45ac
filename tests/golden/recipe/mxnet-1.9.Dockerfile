# Cluster image for ubuntu20.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# mxnet 1.9.1 - the newest that 'mxnet==1.9.1' admits; mxnet retired (attic) after 1.9.1; needs numpy<1.24; NCCL 2 is linked statically; machine code from compute capability 3.5; the wheel takes any Python 3; 3.6 to 3.8 were tested; NumPy 1.23.5 is the last that it works with and has no wheel for Python 3.12 [horovod-install;mxnet-index;common-knowledge;mxnet-21165;pypi]
# cuda 11.7.1 - the newest that works; MXNet 1.9.1 needs CUDA >=11.7,<12; what MXNet 1.9.1 was tested with; cuDNN 8.5.0.96 (built for CUDA 11.7) needs CUDA >=11,<12; NCCL 2.13.4-1 (built for CUDA 11.7) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;horovod-install;mxnet-index;mxnet-21165;pypi;nvidia-container-images;nvidia-tensorflow-116]
# cudnn 8.5.0.96 - the newest that works; MXNet 1.9.1 needs cuDNN ==8.*; its builds for CUDA 11.7; first image 2022-08-12 [nvidia-container-images;common-knowledge;nvidia-tensorflow-116;horovod-install;mxnet-index;mxnet-21165;pypi]
# nccl 2.13.4-1 - the newest that works; its builds for CUDA 11.7; first image 2022-07-20 [nvidia-container-images]
# os ubuntu20.04 - the only one that 'os==ubuntu20.04' admits; Ubuntu 20.04 focal; extended support: ESM 2030; few packages in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.31 - the newest that works; for ubuntu20.04; MXNet 1.9.1 needs glibc >=2.17; comes with the OS [common-knowledge;horovod-install;mxnet-index;mxnet-21165;pypi]
# gcc 9.4.0 - the newest that works; for ubuntu20.04; CUDA 11.7.1 needs gcc >=6,<12; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.8 - the newest that works; for ubuntu20.04; MXNet 1.9.1 needs Python >=3.6,<3.12; the OS's own interpreter [common-knowledge;horovod-install;mxnet-index;mxnet-21165;pypi]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.7.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:11.7.1-devel-ubuntu20.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:11.7.1-cudnn8-runtime-ubuntu20.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# NVIDIA's image has an old key for its repository, and holds its libraries back from updates
RUN rm -f /etc/apt/sources.list.d/cuda*.list /etc/apt/sources.list.d/nvidia-ml.list; apt-mark showhold | xargs -r apt-mark unhold
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libgomp1 libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1 libquadmath0
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn8=8.5.0.96-1+cuda11.7 libnccl2=2.13.4-1+cuda11.7
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==24.0 --hash=sha256:ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
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
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-11.7/ /usr/local/cuda-11.7/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn8-dev=8.5.0.96-1+cuda11.7 libnccl-dev=2.13.4-1+cuda11.7
# Open MPI 4.1.4 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.4.tar.bz2" -o /tmp/openmpi-4.1.4.tar.bz2; \
    echo "92912e175fd1234368c8730c03f4996fe5942e7479bb1d10059405e7f2b3930d  /tmp/openmpi-4.1.4.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.4.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# MXNet 1.9.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'certifi==2022.12.7 --hash=sha256:4ad3232f5e926d6718ec31cfc1fcadfde020920e278684144551c91769c7bc18' \
      'charset-normalizer==3.0.1 --hash=sha256:7e189e2e1d3ed2f4aebabd2d5b0f931e883676e51c7624826e0a4e5fe8a0bf24 --hash=sha256:e696f0dd336161fca9adbb846875d40752e6eba585843c768935ba5c9960722b' \
      'graphviz==0.8.4 --hash=sha256:7caa53f0b0be42c5f2eaa3f3d71dcc863b15bacceb5d531c2ad7519e1980ff82' \
      'idna==3.4 --hash=sha256:90b77e79eaa3eba6de819a0c442c0b4ceefc341a7a2ab77d7562bf49f425c5c2' \
      'mxnet-cu117==1.9.1 --hash=sha256:dd68fe970cb33461e2cd23038749633be36008c2f9cf57df1051081396057b4d' \
      'numpy==1.23.5 --hash=sha256:d208a0f8729f3fb790ed18a003f3a57895b989b40ea4dce4717e9cf4af62c6bb' \
      'requests==2.28.2 --hash=sha256:64299f4909223da747622c030b781c0d7811e359c37124b4bd368fb8c6518baa' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'urllib3==1.26.14 --hash=sha256:75edcdc2f7d85b137124a6c3c9fc3933cdeaa12ecb9a6a959f22797a0feca7e1' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
      >/tmp/mxnet.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/mxnet.txt
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-11.7/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.8".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "8.5.0.96".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.13.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.4; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import mxnet'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.mxnet="1.9.1" org.ringup.stack.cuda="11.7.1" org.ringup.stack.cudnn="8.5.0.96" org.ringup.stack.nccl="2.13.4-1" \
      org.ringup.stack.os="ubuntu20.04" org.ringup.stack.glibc="2.31" org.ringup.stack.gcc="9.4.0" org.ringup.stack.python="3.8" \
      org.ringup.stack.openmpi="4.1.4" org.ringup.stack.driver="450.80.02"
CMD ["/usr/local/bin/ringup-entry"]
