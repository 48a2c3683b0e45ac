# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# arch aarch64
# torch 2.15.0 - the only one that 'torch==2.15.0' admits; default on PyPI for aarch64 too since 2.11; compute capabilities of the build script [pypi;pytorch-161257;pytorch-166044]
# cuda 13.2.2 - the newest that works; GH200 has compute capability 9.0 (>=7.5;<=12.1); the wheel of torch 2.15.0 brings it; nothing of it is installed beside; torch 2.15.0 needs CUDA >=13.2,<14; what torch 2.15.0 was tested with; cuDNN 9.26.0.51 (built for CUDA 13) needs CUDA >=13,<14; the driver minimum is the runfile's; the release notes name the branch only; driver driver_minor gcc sm compat as of 13.2.1 [pypi;spack-cuda;common-knowledge;pytorch-161257;pytorch-166044]
# cudnn 9.26.0.51 - the wheel of torch 2.15.0 brings it; nothing of it is installed beside [pypi;pytorch-161257;pytorch-166044]
# nccl 2.30.7 - the wheel of torch 2.15.0 brings it; nothing of it is installed beside [pypi;pytorch-161257;pytorch-166044]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-driver-guide;nvidia-container-images;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; torch 2.15.0 needs glibc >=2.28; comes with the OS [common-knowledge;pypi;pytorch-161257;pytorch-166044]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 13.2.2 needs gcc >=6,<16; the OS's own; 13.2.0 at the release [common-knowledge;pypi]
# python 3.12 - the newest that works; for ubuntu24.04; torch 2.15.0 needs Python >=3.11,<3.16; the OS's own interpreter [common-knowledge;pypi;pytorch-161257;pytorch-166044]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.2.2 and knows the GPUs; any newer one does too [pypi]
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-13-2 cuda-driver-dev-13-2
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-13.2/targets/sbsa-linux --with-cuda-libdir=/usr/local/cuda-13.2/targets/sbsa-linux/lib/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
# torch 2.15.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'cuda-bindings==13.5.0 --hash=sha256:40eadfad6ae1554f8c1aa456620a85a49a275fc902f2c6dd93ee8c488b2c5e9f' \
      'cuda-pathfinder==1.9.0 --hash=sha256:622df7440f7702f36b7a02a1699aa0b084fe04034d9939188fee9b16d0c36366' \
      'cuda-toolkit==13.2.2 --hash=sha256:d12edc1aad1356236a2ee10c0d794b1aff5d3e79bfeca54867c3bb8e5afd87b0' \
      'filelock==4.2.11 --hash=sha256:020e229e4bb9d410fc799c07ddf45fa217cba970278f40b30751d94f309b69e2' \
      'fsspec==2026.9.0 --hash=sha256:8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.4 --hash=sha256:6a45c3d514f2436064db00d7fc8778d888f0236ebfed649b53d13a59e69ad51b' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.7 --hash=sha256:e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0' \
      'numpy==2.5.5 --hash=sha256:a0750f2156d53446caca85663d0b65d67214e1664b9050454a731ea1418d176a' \
      'nvidia-cublas==13.4.1.3 --hash=sha256:4eb1472bf92b741e7cf24da7978dde251b58ddec2092d9f6a04f3623eb4e9a15' \
      'nvidia-cuda-cccl==13.3.5.0.6 --hash=sha256:6f30b8076b3e69951c459c94ae190bde51924b320076ebaec376d36848b4c76e' \
      'nvidia-cuda-cupti==13.2.86 --hash=sha256:d9a5c133f73fcb9013f3ada0da6fb54d4117618d81f3f5a0419417ea6ee829d4' \
      'nvidia-cuda-nvrtc==13.2.86 --hash=sha256:1e5d7b411a2eb83f5c71c98d58133a763fc9fa86a4241ee320c5c4782d9ad1fd' \
      'nvidia-cuda-runtime==13.2.86 --hash=sha256:37844957894bfdecf90243568d21a2cb251b66106915b71459a23c8e6ef2da69' \
      'nvidia-cudnn-cu13==9.26.0.51 --hash=sha256:8e5b4f5eccff721416f70ecf4353172fc4d5cdd8ca869fe6f983a4a5b0147b20' \
      'nvidia-cufft==12.2.0.57 --hash=sha256:1ed438568ae1088ba2c25789d10205d4104b8b140b7bd942e39a787947a0fb74' \
      'nvidia-cufile==1.17.1.22 --hash=sha256:bec33d7f1f12691dce330275246587569c2ed90b1ce43b0f94b3e1ce9268744b' \
      'nvidia-cusolver==12.2.0.11 --hash=sha256:8be097fca28de6be0990ab216ee9b804dd51077e1d1d83acf6c9850650bdc64d' \
      'nvidia-cusparse==12.7.10.12 --hash=sha256:597eff2cd83e3ab1d1e3a0dce9c9c879d77cf64ec2659bfdb5af6a5d02e7aaa9' \
      'nvidia-cusparselt-cu13==0.8.1 --hash=sha256:4dca476c50bf4780d46cd0bfbd82e2bc10a08e4fef7950917ce8d7578d22a23f' \
      'nvidia-nccl-cu13==2.30.7 --hash=sha256:ca786ffa5a647c75d4d1f5cc72a6c4f537947e2ba8823d7c8aaf768e7a7b9f77' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc' \
      'nvidia-nvshmem-cu13==3.7.2 --hash=sha256:0e748308b9e0a8a8d81859353f3e6c98fbe85a85f652a915a2ba60149a0bd124' \
      'nvidia-nvtx==13.2.86 --hash=sha256:1c6ae1be92fba569dd271f7b9b3056f99f5642726dc6c53d1b93ae4110c398fb' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5' \
      'torch==2.15.0 --hash=sha256:9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18' \
      'triton==3.9.0 --hash=sha256:5542f4328472fd827dbb1ec43873364c2894682cc3f5d1c74a643762900e243e' \
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
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.12".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.30.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.15.0")'; \
    python3 -c 'import torch; a, b, d = map(int, "9.26.0.51".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.arch="aarch64" org.ringup.stack.torch="2.15.0" org.ringup.stack.cuda="13.2.2" org.ringup.stack.cudnn="9.26.0.51" \
      org.ringup.stack.nccl="2.30.7" org.ringup.stack.os="ubuntu24.04" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="13.3.0" \
      org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06" org.ringup.stack.gpu="GH200"
CMD ["/usr/local/bin/ringup-entry"]
