# Cluster image for debian12, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.14.1 - the only one that 'torch==2.14.1' admits; Triton 3.8.0 needs torch ==2.14.0 or ==2.14.1; NVSHMEM 3.4.5 needs torch ==2.11.0 or ==2.12.0 or ==2.12.1 or ==2.13.0 or ==2.14.0 or ==2.14.1; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are those of 2.14.0 [pypi;public-pins]
# triton 3.8.0 - the newest that works; torch's wheel asks for it by this version [pypi]
# nvshmem 3.4.5 - the best of several that 'nvshmem==3.4.5' admits; torch's wheel asks for it by this version [pypi]
# cuda 13.0.3 - the newest that works; the wheel of torch 2.14.1 brings it; nothing of it is installed beside; torch 2.14.1 needs CUDA >=13.0,<14; what torch 2.14.1 was tested with; Triton 3.8.0 needs CUDA >=11.7; NVSHMEM 3.4.5 needs CUDA ==13.0.*; cuDNN 9.24.0.43 (built for CUDA 13) needs CUDA >=13,<14; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge;pypi;public-pins;pytorch-cudnn-init;immich-23110]
# cudnn 9.24.0.43 - the wheel of torch 2.14.1 brings it; nothing of it is installed beside [pypi;public-pins]
# nccl 2.30.7 - the wheel of torch 2.14.1 brings it; nothing of it is installed beside [pypi;public-pins]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; torch 2.14.1 needs glibc >=2.28; comes with the base root filesystem [debian-bookworm;pypi;public-pins]
# gcc 12.2.0 - the newest that works; for debian12; CUDA 13.0.3 needs gcc >=6,<16; compiles the worker in the build stage [debian-bookworm;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# python 3.11.2 - the newest that works; for debian12; torch 2.14.1 needs Python >=3.10,<3.15; Triton 3.8.0 needs Python <3.15; Debian's own interpreter [debian-bookworm;pypi;public-pins]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.3; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# ---- the stack: what the build and the image both need
FROM ringup-base:debian12-HASH AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2-1+b1 libibverbs1 ibverbs-providers ibverbs-utils \
      librdmacm1 libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 g++=4:12.2.0-3 g++-12=12.2.0-14+deb12u1 python3-pip=23.0.1+dfsg-1 \
      python3-dev=3.11.2-1+b1
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
      libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 g++=4:12.2.0-3 g++-12=12.2.0-14+deb12u1 ca-certificates curl bzip2 xz-utils make \
      perl file
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
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
# torch 2.14.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'cuda-bindings==13.5.0 --hash=sha256:08b7e8d674c3266facb00453a7e34ea7d3ea965c2f594bb728f269f45f39fbe2' \
      'cuda-pathfinder==1.9.0 --hash=sha256:622df7440f7702f36b7a02a1699aa0b084fe04034d9939188fee9b16d0c36366' \
      'cuda-toolkit==13.0.3.0 --hash=sha256:d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f' \
      'filelock==4.2.11 --hash=sha256:020e229e4bb9d410fc799c07ddf45fa217cba970278f40b30751d94f309b69e2' \
      'fsspec==2026.9.0 --hash=sha256:8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.4 --hash=sha256:6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.6.1 --hash=sha256:d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762' \
      'numpy==2.4.6 --hash=sha256:89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93' \
      'nvidia-cublas==13.1.1.3 --hash=sha256:37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436' \
      'nvidia-cuda-cupti==13.0.85 --hash=sha256:4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8' \
      'nvidia-cuda-nvrtc==13.0.88 --hash=sha256:ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575' \
      'nvidia-cuda-runtime==13.0.96 --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548' \
      'nvidia-cudnn-cu13==9.24.0.43 --hash=sha256:71f181cd810e90f9b6023b01186fe82d13d65f0ec098581ee201d39fad769e4b' \
      'nvidia-cufft==12.0.0.61 --hash=sha256:6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3' \
      'nvidia-cufile==1.15.1.6 --hash=sha256:08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44' \
      'nvidia-curand==10.4.0.35 --hash=sha256:1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc' \
      'nvidia-cusolver==12.0.4.66 --hash=sha256:0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112' \
      'nvidia-cusparse==12.6.3.3 --hash=sha256:2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b' \
      'nvidia-cusparselt-cu13==0.8.1 --hash=sha256:786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0' \
      'nvidia-nccl-cu13==2.30.7 --hash=sha256:cefa7fdb9710efd0f39c5f1be1d61ff6fc9a996c451265bd7fbdcf9455ed4b50' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb' \
      'nvidia-nvshmem-cu13==3.4.5 --hash=sha256:290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80' \
      'nvidia-nvtx==13.0.85 --hash=sha256:4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5' \
      'torch==2.14.1 --hash=sha256:305a61f61f35f128579f299c5bd33d475f6a01c6307336139632e30856c4854d' \
      'triton==3.8.0 --hash=sha256:68988ac85d5e7086baeda0ddc175af9667db7529b3c5e11a5c0601b8bef2200a' \
      'typing-extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/torch.txt
# all programs find the NCCL that comes with torch
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# for torch, by pip; torch, NumPy and all else that is there stay as they are
RUN set -eu; python3 -m pip list --format=freeze >/tmp/stays.txt; \
    step python3 -m pip install --no-cache-dir -c /tmp/stays.txt triton==3.8.0 nvidia-nvshmem-cu13==3.4.5
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.11".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.30.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.14.1")'; \
    python3 -c 'import torch; a, b, d = map(int, "9.24.0.43".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -m pip list --format=freeze | tr _ - | sed 's/+.*//' >/tmp/there.txt; if printf '%s\n' triton==3.8.0 nvidia-nvshmem-cu13==3.4.5 | grep -ixvF -f /tmp/there.txt; then exit 1; fi; \
    python3 -c 'import torch, triton'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.14.1" org.ringup.stack.triton="3.8.0" org.ringup.stack.nvshmem="3.4.5" org.ringup.stack.cuda="13.0.3" \
      org.ringup.stack.cudnn="9.24.0.43" org.ringup.stack.nccl="2.30.7" org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" \
      org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06"
CMD ["/usr/local/bin/ringup-entry"]
