# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.13.0 - the newest that 'torch==2.13.0' admits; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are assumed from 2.9 to 2.11 [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# cuda 13.0.3 - the newest that works; H100 SXM5 has compute capability 9.0 (>=7.5;<=12.1); the wheel of torch 2.13.0 brings it; nothing of it is installed beside; torch 2.13.0 needs CUDA >=13.0,<14; what torch 2.13.0 was tested with; cuDNN 9.20.0.48 (built for CUDA 13) needs CUDA >=13,<14; aws-ofi-nccl 1.18.0 needs CUDA >=11; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge;gpu-capability-tables;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi;immich-23110;spack-cudnn;spack-aws-ofi-nccl;aws-ofi-nccl-releases]
# cudnn 9.20.0.48 - the wheel of torch 2.13.0 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# nccl 2.29.7 - the wheel of torch 2.13.0 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; torch 2.13.0 needs glibc >=2.28; libfabric 2.4.0 needs glibc >=2.35; aws-ofi-nccl 1.18.0 needs glibc >=2.35; comes with the OS [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi;spack-libfabric;spack-aws-ofi-nccl;aws-ofi-nccl-releases]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 13.0.3 needs gcc >=6,<16; the OS's own [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility]
# python 3.10 - the newest that works; for ubuntu22.04; torch 2.13.0 needs Python >=3.10,<3.15; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pypi]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# libfabric 2.4.0 - the only one that 'libfabric==2.4.0' admits; aws-ofi-nccl 1.18.0 needs libfabric >=1.22; with the OS's libefa; tried on Debian 12 with 2.1.0 [spack-libfabric;spack-aws-ofi-nccl;aws-ofi-nccl-releases]
# aws-ofi-nccl 1.18.0 - the only one that 'aws-ofi-nccl==1.18.0' admits; its builds for CUDA >=11; its support for AWS asks for libfabric 1.22; as the notes of 1.21.1 say [spack-aws-ofi-nccl;aws-ofi-nccl-releases]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.3 and knows the GPUs; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# gpu H100 SXM5 - H100 SXM5: compute capability 9.0 [spack-cuda;gpu-capability-tables;common-knowledge]
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
      ibverbs-utils librdmacm1 libc6-dev gcc g++ libhwloc15
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
      libc6-dev gcc g++ libibverbs-dev librdmacm-dev libnuma-dev libhwloc-dev autoconf automake libtool ca-certificates curl bzip2 \
      xz-utils make perl file
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stubs of the driver's libraries, for Open MPI and the libraries of the network
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-13-0 cuda-driver-dev-13-0 cuda-nvml-dev-13-0
# libfabric 2.4.0 from its tarball, with the provider for EFA
RUN set -eu; export CC=gcc CXX=g++; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/github.com/ofiwg/libfabric/releases/download/v2.4.0/libfabric-2.4.0.tar.bz2" -o /tmp/libfabric-2.4.0.tar.bz2; \
    echo "13f508e1d770c44f872c4117d9bcbfc102dc9d7532d3292455e0e0e5ef7b3bba  /tmp/libfabric-2.4.0.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/libfabric; tar -xf /tmp/libfabric-2.4.0.tar.bz2 -C /tmp/libfabric --strip-components=1 --no-same-owner; \
    cd /tmp/libfabric; ./configure --prefix=/opt/libfabric --disable-static --enable-efa --disable-psm2 --disable-psm3 \
      --disable-opx --disable-usnic --with-cuda=/usr/local/cuda-13.0/targets/x86_64-linux --enable-cuda-dlopen; \
    make -j"$(nproc)" install; \
    echo /opt/libfabric/lib >/etc/ld.so.conf.d/libfabric.conf; ldconfig; cd /; \
    step
# aws-ofi-nccl 1.18.0 from the archive of its tag: NCCL's plug-in for EFA
RUN set -eu; export CC=gcc CXX=g++; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/github.com/aws/aws-ofi-nccl/archive/v1.18.0.tar.gz" -o /tmp/v1.18.0.tar.gz; \
    echo "12fd67f05872600c485d74b8e3c3a640d063322371170f3a9c17d67a5a2ca681  /tmp/v1.18.0.tar.gz" | sha256sum -c -; \
    mkdir /tmp/plugin; tar -xf /tmp/v1.18.0.tar.gz -C /tmp/plugin --strip-components=1 --no-same-owner; \
    cd /tmp/plugin; ./autogen.sh; ./configure --prefix=/opt/aws-ofi-nccl --with-libfabric=/opt/libfabric \
      --with-cuda=/usr/local/cuda-13.0/targets/x86_64-linux --enable-platform-aws --disable-tests; \
    make -j"$(nproc)" install; cd /; \
    step
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
# libfabric as it was built
COPY --from=build /opt/libfabric/ /opt/libfabric/
RUN echo /opt/libfabric/lib >/etc/ld.so.conf.d/libfabric.conf && step ldconfig
# NCCL's plug-in for EFA as it was built, where NCCL looks for it
COPY --from=build /opt/aws-ofi-nccl/ /opt/aws-ofi-nccl/
RUN set -- /opt/aws-ofi-nccl/lib/libnccl-net*.so; ln -sf "$1" /usr/lib/libnccl-net.so
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# torch 2.13.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'cuda-bindings==13.4.4 --hash=sha256:85d961133658fff3167cfcf69de1beac8e46453c15fd4bcaa4a96d3ef1110c69' \
      'cuda-pathfinder==1.8.3 --hash=sha256:e29e59829c297a7a5233bd9cc71094fc5bddbd076951482670178f9eade39b1f' \
      'cuda-toolkit==13.0.3.0 --hash=sha256:d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f' \
      'filelock==4.1.0 --hash=sha256:2ce9818e3e2d8f284c1a964414447ef148d42a5fd5e2a477a7118e574b293ec1' \
      'fsspec==2026.9.0 --hash=sha256:8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.4 --hash=sha256:d1aca03ede943eb80ab3d63bb082c84b7aab85ea83bd0fd0c200260945fb49d9' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.4.2 --hash=sha256:df5d4365b724cf81b8c6a7312509d0c22386097011ad1abe274afd5e9d3bbc5f' \
      'numpy==2.2.6 --hash=sha256:fc7b73d02efb0e18c000e9ad8b83480dfcd5dfd11065997ed4c6747470ae8915' \
      'nvidia-cublas==13.1.1.3 --hash=sha256:37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436' \
      'nvidia-cuda-cupti==13.0.85 --hash=sha256:4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8' \
      'nvidia-cuda-nvrtc==13.0.88 --hash=sha256:ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575' \
      'nvidia-cuda-runtime==13.0.96 --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548' \
      'nvidia-cudnn-cu13==9.20.0.48 --hash=sha256:0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304' \
      'nvidia-cufft==12.0.0.61 --hash=sha256:6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3' \
      'nvidia-cufile==1.15.1.6 --hash=sha256:08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44' \
      'nvidia-curand==10.4.0.35 --hash=sha256:1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc' \
      'nvidia-cusolver==12.0.4.66 --hash=sha256:0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112' \
      'nvidia-cusparse==12.6.3.3 --hash=sha256:2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b' \
      'nvidia-cusparselt-cu13==0.8.1 --hash=sha256:786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0' \
      'nvidia-nccl-cu13==2.29.7 --hash=sha256:edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb' \
      'nvidia-nvshmem-cu13==3.4.5 --hash=sha256:290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80' \
      'nvidia-nvtx==13.0.85 --hash=sha256:4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5' \
      'torch==2.13.0 --hash=sha256:c78b7b4d04461855a764cf01bae9a462bb88bc93defcfa11235cbc8fdf3e12c4' \
      'triton==3.7.1 --hash=sha256:ee89fbf782ec2ad50391dd1cf26cbea4f4467154c37f4773026da8fc31c0f58e' \
      'typing-extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/torch.txt
# all programs find the NCCL that comes with torch
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
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.29.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    /opt/libfabric/bin/fi_info --version | grep -F 2.4.0; /opt/libfabric/bin/fi_info -l | grep -x efa:; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.13.0")'; \
    test -e /usr/lib/libnccl-net.so; \
    python3 -c 'import torch; a, b, d = map(int, "9.20.0.48".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.13.0" org.ringup.stack.cuda="13.0.3" org.ringup.stack.cudnn="9.20.0.48" org.ringup.stack.nccl="2.29.7" \
      org.ringup.stack.os="ubuntu22.04" org.ringup.stack.glibc="2.35" org.ringup.stack.gcc="11.4.0" org.ringup.stack.python="3.10" \
      org.ringup.stack.openmpi="5.0.8" org.ringup.stack.libfabric="2.4.0" org.ringup.stack.aws-ofi-nccl="1.18.0" \
      org.ringup.stack.driver="580.65.06" org.ringup.stack.gpu="H100 SXM5"
CMD ["/usr/local/bin/ringup-entry"]
