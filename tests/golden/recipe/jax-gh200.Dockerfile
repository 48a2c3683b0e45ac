# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# arch aarch64
# jax 0.12.0.1 - the newest that 'jax==0.12.0.1' admits; the newest cuDNN and NCCL of its day; compute capabilities as the build file of 2025 has them; the facts of its wheel for x86_64 [pypi;jax-bazelrc;jax-installation]
# cuda 13.0.3 - the newest that works; GH200 has compute capability 9.0 (>=7.5;<=12.1); the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside; JAX 0.12.0.1 needs CUDA >=13.0,<14; what JAX 0.12.0.1 was tested with; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge;pypi;jax-bazelrc;jax-installation]
# cudnn 9.27.0.42 - the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside [pypi;jax-bazelrc;jax-installation]
# nccl 2.32.3 - the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside [pypi;jax-bazelrc;jax-installation]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-driver-guide;nvidia-container-images;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; JAX 0.12.0.1 needs glibc >=2.27; comes with the OS [common-knowledge;pypi;jax-bazelrc;jax-installation]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 13.0.3 needs gcc >=6,<16; the OS's own; 13.2.0 at the release [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility]
# python 3.12 - the newest that works; for ubuntu24.04; JAX 0.12.0.1 needs Python >=3.12,<3.16; the OS's own interpreter [common-knowledge;pypi;jax-bazelrc;jax-installation]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.3 and knows the GPUs; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# gpu GH200 - GH200: compute capability 9.0 [spack-cuda;common-knowledge]
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-13-0 cuda-driver-dev-13-0
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-13.0/targets/sbsa-linux --with-cuda-libdir=/usr/local/cuda-13.0/targets/sbsa-linux/lib/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
# JAX 0.12.0.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'jax==0.12.0.1 --hash=sha256:e9dfd256ba090259b10f97f0755d4fc92535b8cb38c0a40df6488a8c8a7dd8ae' \
      'jax-cuda13-pjrt==0.12.0.1 --hash=sha256:40758d042df8c06991b6a1a8016b56e9cefb1ed4c677c062125c3eb71c3dab97' \
      'jax-cuda13-plugin==0.12.0.1 --hash=sha256:087f1331cd5ab27dcd4303bad7129efaf7f1deed830d564b8d05d7efec946d61' \
      'jaxlib==0.12.0.1 --hash=sha256:40812201c3bcd4cb104b88f71f58fec4cbd0c32ba90e5c92b3fa8f40819f6774' \
      'ml-dtypes==0.6.0 --hash=sha256:37da32aa97749251025666d62372775019594577b9c9e9cfda83bed48d778fdb' \
      'numpy==2.5.5 --hash=sha256:a0750f2156d53446caca85663d0b65d67214e1664b9050454a731ea1418d176a' \
      'nvidia-cublas==13.10.0.20 --hash=sha256:c5f3418c0a845232a8cabc58f6fa52cfae7d8bd3680d94c3907aca710fd48d70' \
      'nvidia-cuda-cccl==13.3.5.0.6 --hash=sha256:6f30b8076b3e69951c459c94ae190bde51924b320076ebaec376d36848b4c76e' \
      'nvidia-cuda-crt==13.5.37 --hash=sha256:9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0' \
      'nvidia-cuda-cupti==13.5.25 --hash=sha256:d7e4d908315461b6ecbdadfd3c403cc796ed218b293ad117568c947e811cff28' \
      'nvidia-cuda-nvcc==13.5.37 --hash=sha256:588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8' \
      'nvidia-cuda-nvrtc==13.5.37 --hash=sha256:36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096' \
      'nvidia-cuda-runtime==13.0.96 --hash=sha256:ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55' \
      'nvidia-cudnn-cu13==9.27.0.42 --hash=sha256:41b3aae756032ed13b1fcac39c79330cfc5434059d0c5251914e0f6ce582c7ea' \
      'nvidia-cufft==12.5.0.14 --hash=sha256:091cde103312d6e09366122fe3f67092dcfd94cc9785029d695d6bcffaa76fdf' \
      'nvidia-cusolver==12.4.1.2 --hash=sha256:1f54c8e0d5b1ebd183b4c5a79f0709fa90241e8254da381ca5b969ee97c8de32' \
      'nvidia-cusparse==12.9.4.2 --hash=sha256:e2ce97f185c9c4b285e4a8fbf02cb96dd1b8dd66736ebe2f0a8da5f6012a4fb7' \
      'nvidia-nccl-cu13==2.32.3 --hash=sha256:a5bee92b2f4af218c109f8d221c3c9adcc752b94ae0ffcb0ed5abf9341a7724c' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc' \
      'nvidia-nvshmem-cu13==3.8.0 --hash=sha256:8120175024f52a64323cfc5d645e95ac7345f1ee243a998d140ce19163285294' \
      'nvidia-nvvm==13.5.37 --hash=sha256:b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a' \
      'opt-einsum==3.4.0 --hash=sha256:69bb92469f86a1565195ece4ac0323943e83477171b91d24c35afe028a90d7cd' \
      'scipy==1.18.1 --hash=sha256:3c085faa2cfa879c5141df483f836f4d691045a078224a670fa570fa01612d89' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      >/tmp/jax.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/jax.txt
# all programs find the NCCL that comes with jax
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
    python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "9.27.0.42".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.32.3".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    JAX_PLATFORMS=cpu python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.12.0.1"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.arch="aarch64" org.ringup.stack.jax="0.12.0.1" org.ringup.stack.cuda="13.0.3" org.ringup.stack.cudnn="9.27.0.42" \
      org.ringup.stack.nccl="2.32.3" org.ringup.stack.os="ubuntu24.04" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="13.3.0" \
      org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06" org.ringup.stack.gpu="GH200"
CMD ["/usr/local/bin/ringup-entry"]
