# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# arch aarch64
# torch 2.14.1 - the only one that 'torch==2.14.1' admits; default on PyPI for aarch64 too since 2.11; compute capabilities of the build script [pypi;pytorch-161257;pytorch-166044]
# cuda 13.0.3 - the newest that works; GH200 has compute capability 9.0 (>=7.5;<=12.1); the wheel of torch 2.14.1 brings it; nothing of it is installed beside; torch 2.14.1 needs CUDA >=13.0,<14; what torch 2.14.1 was tested with; cuDNN 9.24.0.43 (built for CUDA 13) needs CUDA >=13,<14; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge;pypi;pytorch-161257;pytorch-166044;pytorch-cudnn-init;immich-23110;public-pins]
# cudnn 9.24.0.43 - the wheel of torch 2.14.1 brings it; nothing of it is installed beside [pypi;pytorch-161257;pytorch-166044]
# nccl 2.30.7 - the wheel of torch 2.14.1 brings it; nothing of it is installed beside [pypi;pytorch-161257;pytorch-166044]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-driver-guide;nvidia-container-images;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; torch 2.14.1 needs glibc >=2.28; comes with the OS [common-knowledge;pypi;pytorch-161257;pytorch-166044]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 13.0.3 needs gcc >=6,<16; the OS's own [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility]
# python 3.10 - the newest that works; for ubuntu22.04; torch 2.14.1 needs Python >=3.10,<3.15; the OS's own interpreter [common-knowledge;pypi;pytorch-161257;pytorch-166044]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.3 and knows the GPUs; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# gpu GH200 - GH200: compute capability 9.0 [spack-cuda;common-knowledge]
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/sbsa 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
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
# torch 2.14.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'cuda-bindings==13.4.4 --hash=sha256:90f85a00fc89dd4a8f7c4beb0a2f3f788b845c8496fe84adc1217830206db9e0' \
      'cuda-pathfinder==1.8.3 --hash=sha256:e29e59829c297a7a5233bd9cc71094fc5bddbd076951482670178f9eade39b1f' \
      'cuda-toolkit==13.0.3.0 --hash=sha256:d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f' \
      'filelock==4.1.0 --hash=sha256:2ce9818e3e2d8f284c1a964414447ef148d42a5fd5e2a477a7118e574b293ec1' \
      'fsspec==2026.9.0 --hash=sha256:8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.4 --hash=sha256:cf63c214fe879a65e69a386f915e36104fc84254ab141240f8854602d8e0be2a' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.4.2 --hash=sha256:df5d4365b724cf81b8c6a7312509d0c22386097011ad1abe274afd5e9d3bbc5f' \
      'numpy==2.2.6 --hash=sha256:efd28d4e9cd7d7a8d39074a4d44c63eda73401580c5c76acda2ce969e0a38e83' \
      'nvidia-cublas==13.1.1.3 --hash=sha256:b7a210458267ac818974c53038fbec2e969d5c99f305ab15c72522fa9f001dd5' \
      'nvidia-cuda-cupti==13.0.85 --hash=sha256:796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151' \
      'nvidia-cuda-nvrtc==13.0.88 --hash=sha256:d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b' \
      'nvidia-cuda-runtime==13.0.96 --hash=sha256:ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55' \
      'nvidia-cudnn-cu13==9.24.0.43 --hash=sha256:a6812a554a1ff0413e9c52b84c26c050380649ab9615f9c16bded368ce9f421f' \
      'nvidia-cufft==12.0.0.61 --hash=sha256:2708c852ef8cd89d1d2068bdbece0aa188813a0c934db3779b9b1faa8442e5f5' \
      'nvidia-cufile==1.15.1.6 --hash=sha256:bdc0deedc61f548bddf7733bdc216456c2fdb101d020e1ab4b88d232d5e2f6d1' \
      'nvidia-curand==10.4.0.35 --hash=sha256:133df5a7509c3e292aaa2b477afd0194f06ce4ea24d714d616ff36439cee349a' \
      'nvidia-cusolver==12.0.4.66 --hash=sha256:02c2457eaa9e39de20f880f4bd8820e6a1cfb9f9a34f820eb12a155aa5bc92d2' \
      'nvidia-cusparse==12.6.3.3 --hash=sha256:80bcc4662f23f1054ee334a15c72b8940402975e0eab63178fc7e670aa59472c' \
      'nvidia-cusparselt-cu13==0.8.1 --hash=sha256:4dca476c50bf4780d46cd0bfbd82e2bc10a08e4fef7950917ce8d7578d22a23f' \
      'nvidia-nccl-cu13==2.30.7 --hash=sha256:ca786ffa5a647c75d4d1f5cc72a6c4f537947e2ba8823d7c8aaf768e7a7b9f77' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc' \
      'nvidia-nvshmem-cu13==3.4.5 --hash=sha256:6dc2a197f38e5d0376ad52cd1a2a3617d3cdc150fd5966f4aee9bcebb1d68fe9' \
      'nvidia-nvtx==13.0.85 --hash=sha256:cb7780edb6b14107373c835bf8b72e7a178bac7367e23da7acb108f973f157a6' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5' \
      'torch==2.14.1 --hash=sha256:957df236525bcd940ccd9ca59074e9821182171253417c0d98e7b82647254799' \
      'triton==3.8.0 --hash=sha256:398f4b009c7ab08ed9aeb1d1282dee822945b53f399a5e12a4fecb643cf2007d' \
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
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.30.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.14.1")'; \
    python3 -c 'import torch; a, b, d = map(int, "9.24.0.43".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.arch="aarch64" org.ringup.stack.torch="2.14.1" org.ringup.stack.cuda="13.0.3" org.ringup.stack.cudnn="9.24.0.43" \
      org.ringup.stack.nccl="2.30.7" org.ringup.stack.os="ubuntu22.04" org.ringup.stack.glibc="2.35" org.ringup.stack.gcc="11.4.0" \
      org.ringup.stack.python="3.10" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06" org.ringup.stack.gpu="GH200"
CMD ["/usr/local/bin/ringup-entry"]
