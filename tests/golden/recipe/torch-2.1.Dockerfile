# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.1.2 - the newest that 'torch==2.1.2' admits; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# cuda 12.1.1 - the newest that works; the wheel of torch 2.1.2 brings it; nothing of it is installed beside; torch 2.1.2 needs CUDA >=12.1,<13; what torch 2.1.2 was tested with; cuDNN 8.9.2.26 (built for CUDA 12.1) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi;aws-deep-learning-containers;onnxruntime-24189]
# cudnn 8.9.2.26 - the wheel of torch 2.1.2 brings it; nothing of it is installed beside [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# nccl 2.18.1 - the wheel of torch 2.1.2 brings it; nothing of it is installed beside [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; torch 2.1.2 needs glibc >=2.17; comes with the OS [common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 12.1.1 needs gcc >=6,<13; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.10 - the newest that works; for ubuntu22.04; torch 2.1.2 needs Python >=3.8,<3.12; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.1.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-12-1 cuda-driver-dev-12-1
# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2" -o /tmp/openmpi-4.1.6.tar.bz2; \
    echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /tmp/openmpi-4.1.6.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.6.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-12.1/targets/x86_64-linux; \
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
# torch 2.1.2 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'filelock==3.15.1 --hash=sha256:71b3102950e91dfc1bb4209b64be4dc8854f40e5f534428d8684f953ac847fac' \
      'fsspec==2024.6.0 --hash=sha256:58d7122eb8a1a46f7f13453187bfea4972d66bf01618d37366521b1998034cee' \
      'jinja2==3.1.4 --hash=sha256:bc5dd2abb727a5319567b7a813e6a2e7318c39f4f487cfe6c89c6f9c7d25197d' \
      'markupsafe==2.1.5 --hash=sha256:2174c595a0d73a3080ca3257b40096db99799265e1c27cc5a610743acd86d62f' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.3 --hash=sha256:28575580c6ebdaf4505b22c6256a2b9de86b316dc63ba9e93abde3d78dfdbcf2' \
      'numpy==1.26.4 --hash=sha256:ffa75af20b44f8dba823498024771d5ac50620e6915abac414251bd971b4529f' \
      'nvidia-cublas-cu12==12.1.3.1 --hash=sha256:ee53ccca76a6fc08fb9701aa95b6ceb242cdaab118c3bb152af4e579af792728' \
      'nvidia-cuda-cupti-cu12==12.1.105 --hash=sha256:e54fde3983165c624cb79254ae9818a456eb6e87a7fd4d56a2352c24ee542d7e' \
      'nvidia-cuda-nvrtc-cu12==12.1.105 --hash=sha256:339b385f50c309763ca65456ec75e17bbefcbbf2893f462cb8b90584cd27a1c2' \
      'nvidia-cuda-runtime-cu12==12.1.105 --hash=sha256:6e258468ddf5796e25f1dc591a31029fa317d97a0a94ed93468fc86301d61e40' \
      'nvidia-cudnn-cu12==8.9.2.26 --hash=sha256:5ccb288774fdfb07a7e7025ffec286971c06d8d7b4fb162525334616d7629ff9' \
      'nvidia-cufft-cu12==11.0.2.54 --hash=sha256:794e3948a1aa71fd817c3775866943936774d1c14e7628c74f6f7417224cdf56' \
      'nvidia-curand-cu12==10.3.2.106 --hash=sha256:9d264c5036dde4e64f1de8c50ae753237c12e0b1348738169cd0f8a536c0e1e0' \
      'nvidia-cusolver-cu12==11.4.5.107 --hash=sha256:8a7ec542f0412294b15072fa7dab71d31334014a69f953004ea7a118206fe0dd' \
      'nvidia-cusparse-cu12==12.1.0.106 --hash=sha256:f3b50f42cf363f86ab21f720998517a659a48131e8d538dc02f8768237bd884c' \
      'nvidia-nccl-cu12==2.18.1 --hash=sha256:1a6c4acefcbebfa6de320f412bf7866de856e786e0462326ba1bac40de0b5e71' \
      'nvidia-nvjitlink-cu12==12.5.40 --hash=sha256:d9714f27c1d0f0895cd8915c07a87a1d0029a0aa36acaf9156952ec2a8a12189' \
      'nvidia-nvtx-cu12==12.1.105 --hash=sha256:dc21cf308ca5691e7c04d962e213f8a4aa9bbfa23d95412f452254c2caeb09e5' \
      'setuptools==70.0.0 --hash=sha256:54faa7f2e8d2d11bcd2c07bed282eef1046b5c080d1c32add737d7b5817b1ad4' \
      'sympy==1.12.1 --hash=sha256:9b2cbc7f1a640289430e13d2a56f02f867a1da0190f2f99d8968c2f74da0e515' \
      'torch==2.1.2 --hash=sha256:3a871edd6c02dae77ad810335c0833391c1a4ce49af21ea8cf0f6a5d2096eea8' \
      'triton==2.1.0 --hash=sha256:66439923a30d5d48399b08a9eae10370f6c261a5ec864a64983bae63152d39d7' \
      'typing-extensions==4.12.2 --hash=sha256:04e5ca0351e0f3f85c6853954072df659d0d13fac324d0072316b67d7794700d' \
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
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.18.1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.6; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.1.2")'; \
    python3 -c 'import torch; a, b, d = map(int, "8.9.2.26".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.1.2" org.ringup.stack.cuda="12.1.1" org.ringup.stack.cudnn="8.9.2.26" org.ringup.stack.nccl="2.18.1" \
      org.ringup.stack.os="ubuntu22.04" org.ringup.stack.glibc="2.35" org.ringup.stack.gcc="11.4.0" org.ringup.stack.python="3.10" \
      org.ringup.stack.openmpi="4.1.6" org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]
