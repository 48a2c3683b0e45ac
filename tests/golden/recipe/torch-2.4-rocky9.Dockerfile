# Cluster image for rockylinux9, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.4.1 - the newest that 'torch==2.4.1' admits; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# cuda 12.1.1 - the newest that works; the wheel of torch 2.4.1 brings it; nothing of it is installed beside; torch 2.4.1 needs CUDA >=12.1,<13; what torch 2.4.1 was tested with; cuDNN 9.1.0.70 (built for CUDA 12) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi;nvidia-container-images;cudnn-support-matrix-9.0;onnxruntime-24189]
# cudnn 9.1.0.70 - the wheel of torch 2.4.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# nccl 2.20.5 - the wheel of torch 2.4.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pypi]
# os rockylinux9 - the only one that 'os==rockylinux9' admits; Rocky Linux 9 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.34 - the newest that works; for rockylinux9; torch 2.4.1 needs glibc >=2.17; comes with the OS [common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi]
# gcc 11.5.0 - the newest that works; for rockylinux9; CUDA 12.1.1 needs gcc >=6,<13; the OS's own; 11.2 at 9.0 [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.9 - the newest that works; for rockylinux9; torch 2.4.1 needs Python >=3.8,<3.13; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pypi]
# openmpi 5.0.5 - the only one that 'openmpi==5.0.5' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.1.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/rockylinux/rockylinux:9 AS stack
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
      librdmacm glibc-devel gcc gcc-c++
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
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
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      glibc-devel gcc gcc-c++ ca-certificates tar xz bzip2 diffutils findutils make perl which file
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      cuda-cudart-devel-12-1 cuda-driver-devel-12-1
# Open MPI 5.0.5 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.5.tar.bz2" -o /tmp/openmpi-5.0.5.tar.bz2; \
    echo "6588d57c0a4bd299a24103f4e196051b29e8b55fbda49e11d5b3d32030a32776  /tmp/openmpi-5.0.5.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.5.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-12.1/targets/x86_64-linux --with-cuda-libdir=/usr/local/cuda-12.1/targets/x86_64-linux/lib/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
# torch 2.4.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'filelock==3.17.0 --hash=sha256:533dc2f7ba78dc2f0f531fc6c4940addf7b70a481e269a5a3b93be94ffbe8338' \
      'fsspec==2025.2.0 --hash=sha256:9de2ad9ce1f85e1931858535bc882543171d197001a0a5eb2ddc04f1781ab95b' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.2 --hash=sha256:88b49a3b9ff31e19998750c38e030fc7bb937398b1f78cfa599aaef92d693144' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.2.1 --hash=sha256:f18c69adc97877c42332c170849c96cefa91881c99a7cb3e95b7c659ebdc1ec2' \
      'numpy==2.0.2 --hash=sha256:f26b258c385842546006213344c50655ff1555a9338e2e5e02a0756dc3e803dd' \
      'nvidia-cublas-cu12==12.1.3.1 --hash=sha256:ee53ccca76a6fc08fb9701aa95b6ceb242cdaab118c3bb152af4e579af792728' \
      'nvidia-cuda-cupti-cu12==12.1.105 --hash=sha256:e54fde3983165c624cb79254ae9818a456eb6e87a7fd4d56a2352c24ee542d7e' \
      'nvidia-cuda-nvrtc-cu12==12.1.105 --hash=sha256:339b385f50c309763ca65456ec75e17bbefcbbf2893f462cb8b90584cd27a1c2' \
      'nvidia-cuda-runtime-cu12==12.1.105 --hash=sha256:6e258468ddf5796e25f1dc591a31029fa317d97a0a94ed93468fc86301d61e40' \
      'nvidia-cudnn-cu12==9.1.0.70 --hash=sha256:165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f' \
      'nvidia-cufft-cu12==11.0.2.54 --hash=sha256:794e3948a1aa71fd817c3775866943936774d1c14e7628c74f6f7417224cdf56' \
      'nvidia-curand-cu12==10.3.2.106 --hash=sha256:9d264c5036dde4e64f1de8c50ae753237c12e0b1348738169cd0f8a536c0e1e0' \
      'nvidia-cusolver-cu12==11.4.5.107 --hash=sha256:8a7ec542f0412294b15072fa7dab71d31334014a69f953004ea7a118206fe0dd' \
      'nvidia-cusparse-cu12==12.1.0.106 --hash=sha256:f3b50f42cf363f86ab21f720998517a659a48131e8d538dc02f8768237bd884c' \
      'nvidia-nccl-cu12==2.20.5 --hash=sha256:057f6bf9685f75215d0c53bf3ac4a10b3e6578351de307abad9e18a99182af56' \
      'nvidia-nvjitlink-cu12==12.8.61 --hash=sha256:45fd79f2ae20bd67e8bc411055939049873bfd8fac70ff13bd4865e0b9bdab17' \
      'nvidia-nvtx-cu12==12.1.105 --hash=sha256:dc21cf308ca5691e7c04d962e213f8a4aa9bbfa23d95412f452254c2caeb09e5' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'sympy==1.13.3 --hash=sha256:54612cf55a62755ee71824ce692986f23c88ffa77207b30c1368eda4a7060f73' \
      'torch==2.4.1 --hash=sha256:40f6d3fe3bae74efcf08cb7f8295eaddd8a838ce89e9d26929d4edd6d5e4329d' \
      'triton==3.0.0 --hash=sha256:6e5727202f7078c56f91ff13ad0c1abab14a0e7f2c87e91b12b6f64f3e8ae609' \
      'typing-extensions==4.12.2 --hash=sha256:04e5ca0351e0f3f85c6853954072df659d0d13fac324d0072316b67d7794700d' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/torch.txt
# all programs find the NCCL that comes with torch
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.9".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.20.5".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.5; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.4.1")'; \
    python3 -c 'import torch; a, b, d = map(int, "9.1.0.70".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.4.1" org.ringup.stack.cuda="12.1.1" org.ringup.stack.cudnn="9.1.0.70" org.ringup.stack.nccl="2.20.5" \
      org.ringup.stack.os="rockylinux9" org.ringup.stack.glibc="2.34" org.ringup.stack.gcc="11.5.0" org.ringup.stack.python="3.9" \
      org.ringup.stack.openmpi="5.0.5" org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]
